let f x =
    while x > 0 do
        printfn "loop"
    x
