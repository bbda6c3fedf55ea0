import numpy as np
def f(x): return x
def g(x: float) -> float:
    while x > 1.0:
        x = x / 2
    return x
def h(v: list[float]) -> float:
    v[0] = 1.0
    return v[0]
def k(d: dict[str, float]) -> float:
    return 1.0
def two_branches(x: float) -> float:
    if x > 0:
        if x > 1:
            return 2.0
    y = x
    return y
def in_loop(v: list[float]) -> float:
    for x in v:
        if x > 0:
            return x
    return 0.0
def floor(x: float) -> int:
    return int(x)
def text(x: float) -> str:
    return f"{x}"
def evens(v: list[float]) -> list[float]:
    return [x for x in v if x > 0]
def method(v: np.ndarray) -> float:
    return 1.0
def sorted_(v: list[float]) -> float:
    return v.sort()
