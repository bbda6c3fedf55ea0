// As the draft writes it.
let loss w examples = w * examples
let weights_trained = adam (w -> loss w 1.0) 2.0
