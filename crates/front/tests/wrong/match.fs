type Tree = Leaf of int | Node of Tree * Tree
let rec depth t =
    match t with
    | Leaf _ -> 0
let rec width t =
    match t with
    | Leef x -> x
    | _ -> 0
