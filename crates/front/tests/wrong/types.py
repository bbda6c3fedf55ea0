from dataclasses import dataclass
import math


@dataclass
class Leaf:
    value: float


@dataclass
class Node:
    left: "Tree"
    right: "Tree"


Tree = Leaf | Node


def result(x: float) -> int:
    return x * 2


def argument(n: int) -> float:
    return math.sqrt([1.0])


def lists(v: list[float], w: list[float]) -> list[float]:
    return v + w


def missing(t: Tree) -> float:
    match t:
        case Leaf(x):
            return x


def unknown(x: float) -> float:
    return math.sqrt(y) + unknwn(x)


def count(x: float) -> float:
    return count(x, x)


def branches(x: float) -> float:
    return 1.0 if x > 0 else [x]


