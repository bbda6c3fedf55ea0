# Mistakes that only a run finds are shown here too.
def at(v: list[float], i: int) -> float:
    return v[i]


print(at([1.0, 2.0], 2))
