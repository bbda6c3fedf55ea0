// The tree network of the Knossos draft, figure 3, and its training by Adam.
module TreeNN

type Tree =
    | Leaf of int
    | Node of Tree * Tree

type Weights =
    { embedding : Vector<float>[]
      Wl : Matrix<float>
      Wr : Matrix<float> }

// A vector for a phrase.
let rec embedding (weights : Weights) phrase =
    match phrase with
      | Leaf word ->
          weights.embedding.[word]
      | Node (l,r) ->
          let sl = embedding weights l
          let sr = embedding weights r
          tanh (weights.Wl * sl +
          weights.Wr * sr)

let loss weights examples =
    examples
    |> Array.sumBy (fun (phrase, target) ->
        let miss = Vector.sum (embedding weights phrase) - target
        miss * miss)

let weights_init =
    { embedding = [| vector [ 0.1; 0.2 ]; vector [ -0.3; 0.4 ] |]
      Wl = matrix [ [ 0.5; -0.25 ]; [ 0.75; 0.125 ] ]
      Wr = matrix [ [ 0.25; 0.5 ]; [ -0.5; 1.0 ] ] }

let examples = [| (Leaf 0, 1.0); (Node (Leaf 0, Leaf 1), -1.0); (Node (Node (Leaf 1, Leaf 0), Leaf 1), 0.5) |]

let weights_trained = adam (fun w -> loss w examples) weights_init

printfn "%A" (embedding weights_init (Node (Leaf 0, Leaf 1)))
printfn "%b" (loss weights_trained examples < 0.001 * loss weights_init examples)

//> [0.124353, 0.57167]
//> 1
//= embedding --at "(tuple (weights_init) (Node (Node (Leaf 1) (Leaf 0)) (Leaf 1)))"
//= loss --at "(tuple (weights_init) (Vec_init (tuple (Node (Leaf 0) (Leaf 1)) 0.5)))"
