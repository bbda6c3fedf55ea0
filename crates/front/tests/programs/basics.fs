(* What F# is made of. *)
open System

let square x = x * x          // int, as nothing else is known

let area (radius : float) : float = Math.PI * radius ** 2.0

let hypotenuse a b = sqrt (a * a + b * b)

let rec factorial n = if n <= 1 then 1 else n * factorial (n - 1)

let sign x =
    if x > 0.0 then 1
    elif x < 0.0 then -1
    else 0

let name n =
    match n with
    | 0 -> "none"
    | 1 -> "one"
    | _ -> "many"

type Shape =
    | Dot
    | Circle of radius: float
    | Box of float * float

let size shape =
    match shape with
    | Dot -> 0.0
    | Circle r -> area r
    | Box (w, h) -> w * h

let shadow x =
    let y = x + 1.0
    let f z = z * y
    let y = 10.0 * y
    f y + y

let dot (v : float[]) w = Array.map2 (*) v w |> Array.sum

let mean v = Array.sum v / float (Array.length v)

let variance v =
    let m = mean v
    v |> Array.map (fun x -> pown (x - m) 2) |> Array.average

let polynomial (coefficients : float[]) x =
    Array.fold (fun value c -> value * x + c) 0.0 coefficients

let swap (a : int, b : int) = (b, a + 1)

let powers n = [| for i in 1 .. n -> pown 2.0 i |]

let table = Array2D.init 2 3 (fun i j -> float (i * 3 + j))

let slope f0 = grad (fun x -> exp (2.0 * x) + f0) 0.0

[<EntryPoint>]
let main argv =
    printfn "%d %f %f %d" (square 3) (area 1.0) (hypotenuse 3.0 4.0) (factorial 5)
    printfn "%d %d %d %s %s" (sign 2.0) (sign -2.0) (sign 0.0) (name 1) (name 7)
    printfn "%f %f %f" (size Dot) (size (Circle 1.0)) (size (Box(2.0, 3.0)))
    printfn "%f %f %f" (shadow 1.0) (dot [| 1.0; 2.0 |] [| 3.0; 4.0 |]) (variance [| 1.0; 2.0; 3.0 |])
    let a, b = swap (1, 2)
    printfn "%d %d %f %A" a b (polynomial [| 1.0; 2.0; 3.0 |] 2.0) (powers 3)
    printfn "%A %f %A" table (slope 1.0) table.[1, 1..2]
    printfn "%b" (not (a > b && b < 3 || a <> 2))
    0

//> 9 3.14159 5 120
//> 1 -1 0 one many
//> 0 3.14159 6
//> 60 11 0.666667
//> 2 2 11 [2, 4, 8]
//> [[0, 1, 2], [3, 4, 5]] 2 [4, 5]
//> 1
//= area
//= hypotenuse
//= size_
//= shadow
//= dot_
//= variance
//= polynomial
//= slope
