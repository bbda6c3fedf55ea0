let f (x : float option) = 1.0
