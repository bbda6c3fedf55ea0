//! Deep and large programs, made to a size.

use std::fmt::Write as _;

/// `(let (x1 (add x0 1)) (let (x2 (add x1 1)) ... ))`
pub fn lets(depth: usize) -> String {
    let mut text = "(def main Integer () (let (x0 0)\n".to_owned();
    for number in 1..=depth {
        _ = writeln!(text, "(let (x{number} (add x{} 1))", number - 1);
    }
    _ = write!(text, "(print x{depth}){}))", ")".repeat(depth));
    text
}

/// `(let (x1 (add x0 1)) ... (add x1 (add x2 ...)))`: every variable lives to the end.
pub fn long_lived_lets(depth: usize) -> String {
    let mut text = "(def main Integer () (let (x0 0)\n".to_owned();
    for number in 1..=depth {
        _ = writeln!(text, "(let (x{number} (add x{} 1))", number - 1);
    }
    let sum = (1..=depth).fold("0".to_owned(), |sum, number| format!("(add {sum} x{number})"));
    _ = write!(text, "(print {sum}){}))", ")".repeat(depth));
    text
}

/// `(add 1 (add 1 ...))` of about so many bytes.
pub fn nested(bytes: usize) -> String {
    let depth = bytes / 8;
    format!("(def main Integer () (print {}0{}))", "(add 1 ".repeat(depth), ")".repeat(depth))
}

/// Functions that call the one above.
pub fn definitions(count: usize) -> String {
    let mut text = "(def f0 Integer (x : Integer) x)\n".to_owned();
    for number in 1..count {
        _ = writeln!(text, "(def f{number} Integer (x : Integer) (add 1 (f{} x)))", number - 1);
    }
    text + &format!("(def main Integer () (print (f{} 0)))", count - 1)
}

/// A function of a Float with so many lets, each of which is used to the end, and its derivatives.
pub fn smooth_lets(depth: usize) -> String {
    let mut text = "(def f Float (x0 : Float)\n".to_owned();
    for number in 1..=depth {
        _ = writeln!(text, "(let (x{number} (mul 0.5 (sin (add x{} x0))))", number - 1);
    }
    let sum = (1..=depth).fold("x0".to_owned(), |sum, number| format!("(add {sum} x{number})"));
    _ = write!(text, "{sum}{})", ")".repeat(depth));
    text + DERIVATIVES
}

/// `(sin (sin ... x))` of about so many bytes, and its derivatives.
pub fn smooth_nested(bytes: usize) -> String {
    let depth = bytes / 6;
    format!("(def f Float (x : Float) {}x{})", "(sin ".repeat(depth), ")".repeat(depth)) + DERIVATIVES
}

/// Functions that call the one above, and derivatives of the last.
pub fn smooth_definitions(count: usize) -> String {
    let mut text = "(def f0 Float (x : Float) (mul x x))\n".to_owned();
    for number in 1..count {
        _ = writeln!(text, "(def f{number} Float (x : Float) (sin (f{} (mul 0.999 x))))", number - 1);
    }
    text + &format!("(def f Float (x : Float) (f{} x))", count - 1) + DERIVATIVES
}

/// A recursive function, derivatives of which go so deep.
pub fn smooth_recursion(depth: usize) -> String {
    format!(
        "(def g Float ((x : Float) (n : Integer)) (if (eq n 0) (mul x x) (mul x (g (sin x) (sub n 1)))))
        (def f Float (x : Float) (g x {depth}))"
    ) + DERIVATIVES
}

/// Ifs in the second branch of ifs.
pub fn smooth_branches(depth: usize) -> String {
    let branches: String = (0..depth).map(|number| format!("(if (lt x {number}.5) (mul x {number}.0) ")).collect();
    format!("(def f Float (x : Float) {branches}(sin x){})", ")".repeat(depth)) + DERIVATIVES
}

/// Forward, reverse and split mode say the same.
const DERIVATIVES: &str = "
(def main Integer ()
  (let ((forward ([fwd f] 0.3 1.0)) (reverse ([rev f] 0.3 1.0)) (split ([sufrev f] 0.3 1.0)))
    (print (lt (abs (sub forward reverse)) 1e-9) (lt (abs (sub split reverse)) 1e-9))))
";
