let apply f x = f x + 1.0
let twice = Array.rev [| 1.0 |]
