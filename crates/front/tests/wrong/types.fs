let half (x : float) = x / 2
let scale (v : float[]) = v * 2
