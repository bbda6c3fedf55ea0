"""What statements become."""
import math


# The sign of a number.
def sign(x: float) -> int:
    if x > 0:
        return 1
    elif x < 0:
        return -1
    return 0


def clamp(x: float, low: float, high: float) -> float:
    """Between two bounds."""
    y = x
    if y < low:
        y = low
    if y > high:
        y = high
    return y


def total(v: list[float]) -> float:
    s = 0
    for x in v:
        s += x
    return s


def fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def horner(coefficients: list[float], x: float) -> float:
    value = 0.0
    for i in range(len(coefficients)):
        value = value * x + coefficients[-1] * 0 + coefficients[len(coefficients) - 1 - i]
    return value


def newton(a: float, steps: int) -> float:
    x = a
    for i in range(1, steps):
        if i % 2 == 0:
            next_x = 0.5 * (x + a / x)
        else:
            next_x = (x + a / x) / 2
        x = next_x
    return x


def outer(n: int) -> float:
    scale = 2.0

    def inner(x: float) -> float:
        return scale * x

    scale = 3.0
    return inner(1.0) + n


def checked(x: float) -> float:
    assert x > 0.0
    y: float = 1
    return math.log(x) + y


# A function may stand below its use.
def caller(x: float) -> float:
    return callee(x) + OFFSET


def callee(x: float) -> float:
    return x ** 2


OFFSET = 1.5


def table(rows: int) -> None:
    for i in range(rows):
        print("row", i, end=";")


def main() -> None:
    print(sign(2.0), sign(-0.5), sign(0))
    print(clamp(3.0, 0.0, 1.0), clamp(-3.0, 0.0, 1.0), clamp(0.25, 0, 1))
    print(total([1.0, 2.5]), fibonacci(10), horner([1.0, 2.0, 3.0], 2.0))
    print(f"sqrt 2 is {newton(2.0, 6)}", checked(1.0), sep=", ")
    print(outer(1), caller(2.0))
    print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 7 / 2)
    table(3)
    print()


if __name__ == "__main__":
    main()

#> 1 -1 0
#> 1 0 0.25
#> 3.5 55 17
#> sqrt 2 is 1.41421, 1
#> 4 5.5
#> 3 -4 1 2 1024 3.5
#> row 0;row 1;row 2;
#= clamp
#= total
#= horner
#= newton --range 1:2
#= caller
#= checked --range 1:2
