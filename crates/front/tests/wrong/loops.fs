let total (v : float[]) =
    let mutable s = 0.0
    for x in v do s <- s + x
    s
