//! Random well-typed programs that run without an error, for tests that compare two ways of running or changing a program.
//!
//! A program is made from a sequence of choices, so that proptest shrinks the sequence and with it the program. Every vector has
//! [`LENGTH`] elements, indices are in range, and functions are composed so that numbers stay moderate: results can be
//! compared across implementations and with finite differences.

use proptest::prelude::*;
use std::fmt::Write as _;

/// Elements of every vector, and of every dimension of a tensor.
pub const LENGTH: usize = 3;

/// A type of the generated programs.
#[derive(Clone, PartialEq, Debug)]
pub enum Ty {
    Float,
    Integer,
    Bool,
    Tuple(Vec<Ty>),
    Vec(Box<Ty>),
    Matrix,
    Tree,
}

/// A function of a generated program.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub params: Vec<Ty>,
    pub result: Ty,
    /// One constant expression for each parameter.
    pub args: Vec<String>,
}

/// A program whose `main` prints the result of each function for its arguments, one on a line.
#[derive(Clone, Debug)]
pub struct Generated {
    pub text: String,
    pub functions: Vec<Function>,
}

/// Random programs.
pub fn programs() -> impl Strategy<Value = Generated> {
    proptest::collection::vec(any::<u32>(), 1..600).prop_map(|choices| generate(&choices))
}

/// The program of a sequence of choices.
pub fn generate(choices: &[u32]) -> Generated {
    let mut generator =
        Generator { choices, next: 0, names: 0, scope: vec![], functions: vec![], text: DATA.to_owned() };
    let count = 1 + generator.below(4);
    for _ in 0..count {
        generator.function();
    }
    generator.main();
    Generated { text: generator.text, functions: generator.functions }
}

const DATA: &str = "(data Tree (Leaf Float) (Node Tree Tree))\n\n";

impl Ty {
    /// As programs write it.
    pub fn show(&self) -> String {
        match self {
            Self::Float => "Float".to_owned(),
            Self::Integer => "Integer".to_owned(),
            Self::Bool => "Bool".to_owned(),
            Self::Tuple(fields) => {
                format!("(Tuple{})", fields.iter().map(|ty| format!(" {}", ty.show())).collect::<String>())
            }
            Self::Vec(element) => format!("(Vec {})", element.show()),
            Self::Matrix => "(Tensor 2 Float)".to_owned(),
            Self::Tree => "Tree".to_owned(),
        }
    }

    /// Whether values can be added.
    fn is_additive(&self) -> bool {
        match self {
            Self::Float | Self::Integer | Self::Matrix => true,
            Self::Bool | Self::Tree => false,
            Self::Tuple(fields) => fields.iter().all(Self::is_additive),
            Self::Vec(element) => element.is_additive(),
        }
    }

    /// Whether the type is its own tangent type.
    pub fn is_tangent(&self) -> bool {
        match self {
            Self::Float | Self::Matrix => true,
            Self::Integer | Self::Bool | Self::Tree => false,
            Self::Tuple(fields) => fields.iter().all(Self::is_tangent),
            Self::Vec(element) => element.is_tangent(),
        }
    }
}

struct Generator<'a> {
    choices: &'a [u32],
    next: usize,
    names: usize,
    scope: Vec<(String, Ty)>,
    functions: Vec<Function>,
    text: String,
}

impl Generator<'_> {
    /// A choice below `count`; when the choices have run out, the first.
    fn below(&mut self, count: usize) -> usize {
        let choice = self.choices.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        choice as usize % count
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn scalar_constant(&mut self) -> String {
        ["0.5", "1.25", "-0.75", "2.0", "-1.5", "0.125"][self.below(6)].to_owned()
    }

    fn ty(&mut self, depth: usize) -> Ty {
        match self.below(if depth == 0 { 3 } else { 9 }) {
            0 | 3 | 4 => Ty::Float,
            1 => Ty::Integer,
            2 => Ty::Bool,
            5 => Ty::Tuple((0..2 + self.below(2)).map(|_| self.ty(depth - 1)).collect()),
            6 => Ty::Vec(Box::new(self.ty(depth - 1))),
            7 => Ty::Matrix,
            _ => Ty::Tree,
        }
    }

    /// An expression without variables.
    fn constant(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Float => self.scalar_constant(),
            Ty::Integer => self.below(LENGTH).to_string(),
            Ty::Bool => ["true", "false"][self.below(2)].to_owned(),
            Ty::Tuple(fields) => {
                format!(
                    "(tuple{})",
                    fields.iter().map(|field| format!(" {}", self.constant(field))).collect::<String>()
                )
            }
            Ty::Vec(element) => {
                let (first, other) = (self.constant(element), self.constant(element));
                format!("(build {LENGTH} (lam (i : Integer) (if (eq i 1) {first} {other})))")
            }
            Ty::Matrix => {
                let scale = self.scalar_constant();
                format!(
                    "(build (tuple {LENGTH} {LENGTH}) (lam (ij : Tuple Integer Integer) (let ((i j) ij) (mul {scale} (to_float (sub i (mul 2 j)))))))"
                )
            }
            Ty::Tree => match self.below(2) {
                0 => format!("(Leaf {})", self.scalar_constant()),
                _ => format!(
                    "(Node (Leaf {}) (Node (Leaf {}) (Leaf 1.0)))",
                    self.scalar_constant(),
                    self.scalar_constant()
                ),
            },
        }
    }

    fn function(&mut self) {
        let name = self.name("f");
        let params: Vec<Ty> = (0..1 + self.below(3)).map(|_| self.ty(2)).collect();
        let names: Vec<String> = params.iter().map(|_| self.name("p")).collect();
        self.scope = names.iter().cloned().zip(params.clone()).collect();
        let result = self.ty(2);
        let body = if self.below(5) == 0 { self.recursive(&name, &result) } else { self.expr(&result, 5) };
        let args: Vec<String> = params.iter().map(|ty| self.constant(ty)).collect();
        let shown: Vec<String> =
            names.iter().zip(&params).map(|(name, ty)| format!("({name} : {})", ty.show())).collect();
        _ = writeln!(self.text, "(def {name} {} ({})\n  {body})\n", result.show(), shown.join(" "));
        self.functions.push(Function { name, params, result, args });
    }

    /// Calls a recursive function of its own, which the body of `name` is built around.
    fn recursive(&mut self, name: &str, result: &Ty) -> String {
        let outer =
            std::mem::replace(&mut self.scope, vec![("n".to_owned(), Ty::Integer), ("x".to_owned(), Ty::Float)]);
        let (base, step) = (self.expr(result, 2), self.float(2));
        _ = writeln!(
            self.text,
            "(def {name}_again {} ((n : Integer) (x : Float))\n  (if (lte n 0) {base} ({name}_again (sub n 1) {step})))\n",
            result.show()
        );
        self.scope = outer;
        format!("({name}_again {} {})", 1 + self.below(3), self.float(2))
    }

    fn main(&mut self) {
        let prints: String = self
            .functions
            .iter()
            .map(|function| format!("\n         ({} {}) \"\\n\"", function.name, function.args.join(" ")))
            .collect();
        _ = writeln!(self.text, "(def main Integer ()\n  (print{prints}))");
    }

    /// A variable of the type, if there is one.
    fn variable(&mut self, ty: &Ty) -> Option<String> {
        let fitting: Vec<String> = self.scope.iter().filter(|(_, t)| t == ty).map(|(name, _)| name.clone()).collect();
        (!fitting.is_empty()).then(|| fitting[self.below(fitting.len())].clone())
    }

    /// The expression that `make` makes with a variable in scope.
    fn with(&mut self, name: &str, ty: Ty, make: impl FnOnce(&mut Self) -> String) -> String {
        self.scope.push((name.to_owned(), ty));
        let made = make(self);
        self.scope.pop();
        made
    }

    fn expr(&mut self, ty: &Ty, fuel: usize) -> String {
        if fuel == 0 || self.next >= self.choices.len() {
            return self.variable(ty).unwrap_or_else(|| self.constant(ty));
        }
        match self.below(10) {
            0 => self.variable(ty).unwrap_or_else(|| self.constant(ty)),
            1 => self.let_one(ty, fuel - 1),
            2 => self.let_tuple(ty, fuel - 1),
            3 => format!("(if {} {} {})", self.bool(fuel - 1), self.expr(ty, fuel - 1), self.expr(ty, fuel - 1)),
            4 => self.call(ty, fuel - 1),
            5 => self.looping(ty, fuel - 1),
            6 => self.part_of_larger(ty, fuel - 1),
            7 => self.of_space(ty, fuel - 1),
            _ => self.of_type(ty, fuel),
        }
    }

    fn let_one(&mut self, ty: &Ty, fuel: usize) -> String {
        let (bound, name) = (self.ty(2), self.name("v"));
        let value = self.expr(&bound, fuel);
        let body = self.with(&name, bound, |g| g.expr(ty, fuel));
        format!("(let ({name} {value}) {body})")
    }

    fn let_tuple(&mut self, ty: &Ty, fuel: usize) -> String {
        let (a, b) = (self.ty(1), self.ty(1));
        let (x, y) = (self.name("v"), self.name("v"));
        let value = self.expr(&Ty::Tuple(vec![a.clone(), b.clone()]), fuel);
        let body = self.with(&x, a, |g| g.with(&y, b, |g| g.expr(ty, fuel)));
        format!("(let (({x} {y}) {value}) {body})")
    }

    fn call(&mut self, ty: &Ty, fuel: usize) -> String {
        let fitting: Vec<Function> = self.functions.iter().filter(|f| f.result == *ty).cloned().collect();
        if fitting.is_empty() {
            return self.of_type(ty, fuel + 1);
        }
        let function = fitting[self.below(fitting.len())].clone();
        let args: String = function.params.iter().map(|param| format!(" {}", self.expr(param, fuel.min(2)))).collect();
        format!("({}{args})", function.name)
    }

    /// A fold or a sum over a vector.
    fn looping(&mut self, ty: &Ty, fuel: usize) -> String {
        let (item, name) = (self.ty(1), self.name("v"));
        if ty.is_additive() && self.below(2) == 0 {
            let index = self.name("i");
            let body = self.with(&index, Ty::Integer, |g| g.expr(ty, fuel));
            return format!("(sumbuild {LENGTH} (lam ({index} : Integer) {body}))");
        }
        let over = self.expr(&Ty::Vec(Box::new(item.clone())), fuel);
        let init = self.expr(ty, fuel);
        let (acc, x) = (self.name("v"), self.name("v"));
        let body = self.with(&acc, ty.clone(), |g| g.with(&x, item.clone(), |g| g.expr(ty, fuel)));
        format!(
            "(fold (lam ({name} : (Tuple {} {})) (let (({acc} {x}) {name}) {body})) {init} {over})",
            ty.show(),
            item.show()
        )
    }

    /// A part of something larger.
    fn part_of_larger(&mut self, ty: &Ty, fuel: usize) -> String {
        let index = self.index(fuel);
        match self.below(4) {
            0 => {
                let other = self.ty(1);
                format!("(get$1$2 {})", self.expr(&Ty::Tuple(vec![ty.clone(), other]), fuel))
            }
            1 => {
                let pairs = Ty::Vec(Box::new(Ty::Tuple(vec![ty.clone(), Ty::Integer])));
                format!("(index {index} (get$1$2 (unzip {})))", self.expr(&pairs, fuel))
            }
            2 => self.matching(ty, fuel),
            _ => format!("(index {index} {})", self.expr(&Ty::Vec(Box::new(ty.clone())), fuel)),
        }
    }

    fn matching(&mut self, ty: &Ty, fuel: usize) -> String {
        let value = self.expr(&Ty::Tree, fuel);
        let (leaf, left, right) = (self.name("v"), self.name("v"), self.name("v"));
        let first = self.with(&leaf, Ty::Float, |g| g.expr(ty, fuel));
        let second = self.with(&left, Ty::Tree, |g| g.with(&right, Ty::Tree, |g| g.expr(ty, fuel)));
        format!("(match {value} ((Leaf {leaf}) {first}) ((Node {left} {right}) {second}))")
    }

    /// Sums, multiples and zeros.
    fn of_space(&mut self, ty: &Ty, fuel: usize) -> String {
        if !ty.is_tangent() {
            return self.of_type(ty, fuel + 1);
        }
        match self.below(4) {
            0 => format!("(ts_add {} {})", self.expr(ty, fuel), self.expr(ty, fuel)),
            1 => format!("(ts_scale {} {})", self.scalar_constant(), self.expr(ty, fuel)),
            2 => format!("(ts_neg {})", self.expr(ty, fuel)),
            _ => format!("(delta {} {} {})", self.index(fuel), self.index(fuel), self.expr(ty, fuel)),
        }
    }

    /// What only values of this type have.
    fn of_type(&mut self, ty: &Ty, fuel: usize) -> String {
        let fuel = fuel.saturating_sub(1);
        match ty {
            Ty::Float => self.float(fuel),
            Ty::Integer => self.integer(fuel),
            Ty::Bool => self.bool(fuel),
            Ty::Tuple(fields) => {
                format!(
                    "(tuple{})",
                    fields.iter().map(|field| format!(" {}", self.expr(field, fuel))).collect::<String>()
                )
            }
            Ty::Vec(element) => self.vector(element, fuel),
            Ty::Matrix => self.matrix(fuel),
            Ty::Tree => match self.below(2) {
                0 => format!("(Leaf {})", self.float(fuel)),
                _ => format!("(Node {} (Leaf {}))", self.expr(&Ty::Tree, fuel), self.float(fuel)),
            },
        }
    }

    /// An index of a vector.
    fn index(&mut self, fuel: usize) -> String {
        let loops: Vec<String> =
            self.scope.iter().filter(|(name, _)| name.starts_with('i')).map(|(name, _)| name.clone()).collect();
        match self.below(3) {
            0 if !loops.is_empty() => loops[self.below(loops.len())].clone(),
            1 if fuel > 0 => {
                let index = self.name("w");
                format!(
                    "(let ({index} {}) (if (and (gte {index} 0) (lt {index} {LENGTH})) {index} 0))",
                    self.expr(&Ty::Integer, fuel - 1)
                )
            }
            _ => self.below(LENGTH).to_string(),
        }
    }

    fn float(&mut self, fuel: usize) -> String {
        if fuel == 0 || self.next >= self.choices.len() {
            return self.variable(&Ty::Float).unwrap_or_else(|| self.scalar_constant());
        }
        let fuel = fuel - 1;
        let x = self.expr(&Ty::Float, fuel);
        match self.below(20) {
            0 => format!("(add {x} {})", self.expr(&Ty::Float, fuel)),
            1 => format!("(sub {x} {})", self.expr(&Ty::Float, fuel)),
            2 | 3 => format!("(mul {x} {})", self.expr(&Ty::Float, fuel)),
            4 => format!("(let (d {x}) (div {} (add 1.5 (mul d d))))", self.expr(&Ty::Float, fuel)),
            5 => format!("(exp (tanh {x}))"),
            6 => format!("(let (d {x}) (log (add 1.5 (mul d d))))"),
            7 => format!("(sin {x})"),
            8 => format!("(cos {x})"),
            9 => format!("(let (d {x}) (sqrt (add 1.5 (mul d d))))"),
            10 => format!("(erf {x})"),
            11 => format!("(pow (tanh {x}) {})", self.below(4)),
            12 => format!("(max {x} {})", self.expr(&Ty::Float, fuel)),
            13 => format!("(abs {x})"),
            14 => format!("(to_float {})", self.expr(&Ty::Integer, fuel)),
            15 => format!("(lgamma (add 1.5 (exp (tanh {x}))))"),
            16 => format!(
                "(ts_dot {} {})",
                self.expr(&Ty::Vec(Box::new(Ty::Float)), fuel),
                self.expr(&Ty::Vec(Box::new(Ty::Float)), fuel)
            ),
            17 => format!("(index (tuple {} {}) {})", self.index(fuel), self.index(fuel), self.expr(&Ty::Matrix, fuel)),
            18 => format!("(sum {})", self.expr(&Ty::Vec(Box::new(Ty::Float)), fuel)),
            _ => format!("(neg {x})"),
        }
    }

    fn integer(&mut self, fuel: usize) -> String {
        if fuel == 0 {
            return self.variable(&Ty::Integer).unwrap_or_else(|| self.below(LENGTH).to_string());
        }
        let fuel = fuel - 1;
        let i = self.expr(&Ty::Integer, fuel);
        match self.below(5) {
            0 => format!("(add {i} {})", self.expr(&Ty::Integer, fuel)),
            1 => format!("(sub {i} {})", self.expr(&Ty::Integer, fuel)),
            2 => format!("(div {i} 2)"),
            3 => format!("(size {})", self.expr(&Ty::Vec(Box::new(Ty::Float)), fuel)),
            _ => format!("(imax {})", self.expr(&Ty::Vec(Box::new(Ty::Float)), fuel)),
        }
    }

    fn bool(&mut self, fuel: usize) -> String {
        if fuel == 0 {
            return self.variable(&Ty::Bool).unwrap_or_else(|| "true".to_owned());
        }
        let fuel = fuel - 1;
        match self.below(6) {
            0 => format!("(gt {} 0.3)", self.expr(&Ty::Float, fuel)),
            1 => format!("(lte {} {})", self.expr(&Ty::Integer, fuel), self.below(LENGTH)),
            2 => format!("(and {} {})", self.bool(fuel), self.bool(fuel)),
            3 => format!("(or {} {})", self.bool(fuel), self.bool(fuel)),
            4 => format!("(not {})", self.bool(fuel)),
            _ => format!("(eq {} {})", self.expr(&Ty::Integer, fuel), self.expr(&Ty::Integer, fuel)),
        }
    }

    fn vector(&mut self, element: &Ty, fuel: usize) -> String {
        let index = self.name("i");
        match self.below(6) {
            0 => {
                let items: String = (0..LENGTH).map(|_| format!(" {}", self.expr(element, fuel.min(2)))).collect();
                format!("(Vec_init{items})")
            }
            1 => format!("(constVec {LENGTH} {})", self.expr(element, fuel)),
            2 => {
                let (from, x) = (self.ty(1), self.name("v"));
                let over = self.expr(&Ty::Vec(Box::new(from.clone())), fuel);
                let body = self.with(&x, from.clone(), |g| g.expr(element, fuel));
                format!("(map (lam ({x} : {}) {body}) {over})", from.show())
            }
            3 => {
                let (a, b, pair) = (self.ty(1), self.ty(1), self.name("v"));
                let (first, second) =
                    (self.expr(&Ty::Vec(Box::new(a.clone())), fuel), self.expr(&Ty::Vec(Box::new(b.clone())), fuel));
                let both = Ty::Tuple(vec![a, b]);
                let body = self.with(&pair, both.clone(), |g| g.expr(element, fuel));
                format!("(map2 (lam ({pair} : {}) {body}) {first} {second})", both.show())
            }
            4 if *element == Ty::Float => {
                let at = self.index(0);
                let body = self.with(&index, Ty::Integer, |g| g.expr(element, fuel));
                format!("(buildFromSparse {LENGTH} {LENGTH} (lam ({index} : Integer) (tuple {at} {body})))")
            }
            _ if element.is_tangent() && self.below(3) == 0 => {
                format!("(deltaVec {LENGTH} {} {})", self.index(fuel), self.expr(element, fuel))
            }
            _ => {
                let body = self.with(&index, Ty::Integer, |g| g.expr(element, fuel));
                format!("(build {LENGTH} (lam ({index} : Integer) {body}))")
            }
        }
    }

    fn matrix(&mut self, fuel: usize) -> String {
        let (pair, i, j) = (self.name("v"), self.name("i"), self.name("i"));
        let body = self.with(&i, Ty::Integer, |g| g.with(&j, Ty::Integer, |g| g.float(fuel)));
        format!(
            "(build (tuple {LENGTH} {LENGTH}) (lam ({pair} : (Tuple Integer Integer)) (let (({i} {j}) {pair}) {body})))"
        )
    }
}
