import math

import numpy as np
from labrys import Matrix, Tensor, Vector


def softmax(v: Vector) -> Vector:
    e = np.exp(v - np.max(v))
    return e / np.sum(e)


def affine(w: Matrix, x: Vector, b: Vector) -> Vector:
    return np.tanh(w @ x + b)


def gram(m: Matrix) -> Matrix:
    return m.T @ m


def frobenius(m: Matrix) -> float:
    return math.sqrt(sum(x * x for row in m for x in row))


def row_sums(m: Matrix) -> list[float]:
    return [row.sum() for row in m]


def moving(v: Vector) -> list[float]:
    return [(a + b) / 2 for a, b in zip(v[:-1], v[1:])]


def weighted(v: list[float]) -> float:
    return sum(i * x for i, x in enumerate(v) if i > 0)


def corner(m: Matrix) -> Matrix:
    return m[1:, 1:]


def column(m: Matrix, j: int) -> Vector:
    return 2 * m[:, j] - 1.0


def trace(t: Tensor[3]) -> float:
    return sum(t[i, i, i] for i in range(t.shape[0]))


def clipped(v: Vector) -> Vector:
    return np.maximum(np.minimum(v, 1.0), -1.0)


def quadratic(v: Vector, m: Matrix) -> float:
    return v @ m @ v + np.dot(v, v) - np.linalg.norm(v) * np.mean(v)


def nested(n: int) -> float:
    m = np.array([[float(i * j) for j in range(n)] for i in range(n)])
    rows = [[1.0, 2.0], [3.0, 4.0]]
    return m.sum() + rows[1][0] + (np.array(rows) @ np.ones(2))[1]


print(softmax(np.array([1.0, 2.0, 3.0])))
print(affine(np.eye(2), np.array([0.5, -0.5]), np.zeros(2)))
print(gram(np.array([[1.0, 2.0], [3.0, 4.0]])), frobenius(np.eye(4)))
print(row_sums(np.ones((2, 3))), moving(np.array([1.0, 2.0, 4.0])), weighted([5.0, 1.0, 2.0]))
print(corner(np.array([[1.0, 2.0], [3.0, 4.0]])), column(np.eye(2), 1), trace(np.full((2, 2, 2), 2.0)))
print(clipped(np.array([-2.0, 0.5, 7.0])), quadratic(np.array([3.0, 4.0]), np.eye(2)), nested(3))
print(max(1, 2, 3), min([2.0, 1.5]), max([0.5, 0.25]), len([1, 2]), abs(-3), np.argmax(np.array([0.0, 2.0, 1.0])))
print(np.concatenate([np.array([0.0, 1.0]), np.array([9.0])]) if 1 < 2 <= 2 and not False else np.zeros(1))

#> [0.0900306, 0.244728, 0.665241]
#> [0.462117, -0.462117]
#> [[10, 14], [14, 20]] 2
#> [3, 3] [1.5, 3] 5
#> [[4]] [-1, 1] 4
#> [-1, 0.5, 1] 32.5 19
#> 3 1.5 0.5 2 3 1
#> [0, 1, 9]
#= softmax
#= affine
#= gram
#= frobenius --range 0.5:1
#= row_sums
#= moving
#= weighted
#= corner
#= quadratic --range 0.5:1
