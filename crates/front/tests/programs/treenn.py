"""The tree network of the Knossos draft, figure 3, in Python."""
from dataclasses import dataclass

import numpy as np
from labrys import Matrix, Vector, adam


@dataclass
class Leaf:
    word: int


@dataclass
class Node:
    left: "Tree"
    right: "Tree"


# A phrase.
Tree = Leaf | Node


@dataclass
class Weights:
    embedding: list[Vector]
    Wl: Matrix
    Wr: Matrix


def embedding(weights: Weights, phrase: Tree) -> Vector:
    match phrase:
        case Leaf(word):
            return weights.embedding[word]
        case Node(l, r):
            sl = embedding(weights, l)
            sr = embedding(weights, r)
            return np.tanh(weights.Wl @ sl + weights.Wr @ sr)


def loss(weights: Weights, examples: list[tuple[Tree, float]]) -> float:
    return sum((embedding(weights, phrase).sum() - target) ** 2 for phrase, target in examples)


def start() -> Weights:
    words = [np.array([0.1, 0.2]), np.array([-0.3, 0.4])]
    return Weights(words, Wl=np.array([[0.5, -0.25], [0.75, 0.125]]), Wr=np.array([[0.25, 0.5], [-0.5, 1.0]]))


def main() -> None:
    examples = [(Leaf(0), 1.0), (Node(Leaf(0), Leaf(1)), -1.0), (Node(Node(Leaf(1), Leaf(0)), Leaf(1)), 0.5)]
    weights_init = start()
    weights_trained = adam(lambda w: loss(w, examples), weights_init, rate=0.05, steps=200)
    print(embedding(weights_init, Node(Leaf(0), Leaf(1))))
    print(loss(weights_trained, examples) < 0.001 * loss(weights_init, examples))


main()

#> [0.124353, 0.57167]
#> 1
#= embedding --at "(tuple (start) (Node (Node (Leaf 1) (Leaf 0)) (Leaf 1)))"
#= loss --at "(tuple (start) (Vec_init (tuple (Node (Leaf 0) (Leaf 1)) 0.5)))"
