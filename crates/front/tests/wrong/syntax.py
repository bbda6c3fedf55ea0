def f(x: float) -> float:
    return x +
