let f x = exp x +
let g = 1
