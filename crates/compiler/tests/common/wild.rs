//! Random expressions that fail, print, divide by zero, and look like what rules look for.

use labrys_search::Seed;
use labrys_search::seed::Rng;
use rand::RngExt as _;

/// The parameters of every function that is made here.
pub const PARAMETERS: &str =
    "((x : Float) (y : Float) (i : Integer) (j : Integer) (p : Bool) (v : Vec Float) (w : Vec Float))";
/// What the functions may call.
pub const CALLED: &str = "
(def g Float ((a : Float) (b : Float)) (add (mul a b) (index 0 (Vec_init a b))))
(def again Float ((n : Integer) (a : Float)) (if (lte n 0) a (again (sub n 1) (mul 0.5 a))))
";

/// Types of random expressions.
pub const TYPES: [&str; 5] = ["Float", "Integer", "Bool", "(Vec Float)", "(Tuple Float Float)"];

pub struct Wild {
    rng: Rng,
    /// Variables with their types.
    pub scope: Vec<(String, String)>,
    names: usize,
    /// Whether no Float is NaN or infinite, as far as numbers of moderate size are concerned.
    pub is_tame: bool,
}

impl Wild {
    pub fn new(seed: u64) -> Self {
        let scope = [("x", "Float"), ("y", "Float"), ("i", "Integer"), ("j", "Integer"), ("p", "Bool")];
        let vectors = [("v", "(Vec Float)"), ("w", "(Vec Float)")];
        let scope = scope.into_iter().chain(vectors).map(|(name, ty)| (name.to_owned(), ty.to_owned())).collect();
        Self { rng: Seed(seed).stream("wild", 0), scope, names: 0, is_tame: false }
    }

    pub fn below(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count)
    }

    fn one_of(&mut self, texts: &[&str]) -> String {
        texts[self.below(texts.len())].to_owned()
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn variable(&mut self, ty: &str) -> Option<String> {
        let fitting: Vec<String> = self.scope.iter().filter(|(_, t)| t == ty).map(|(name, _)| name.clone()).collect();
        (!fitting.is_empty()).then(|| fitting[self.below(fitting.len())].clone())
    }

    fn leaf(&mut self, ty: &str) -> String {
        if self.below(3) > 0
            && let Some(name) = self.variable(ty)
        {
            return name;
        }
        match ty {
            "Float" if self.is_tame => self.one_of(&["1.0", "-1.0", "0.5", "2.0"]),
            "Float" => self.one_of(&["0.0", "-0.0", "1.0", "-1.0", "0.5", "2.0", "1e999", "(div 0.0 0.0)"]),
            "Integer" => self.one_of(&["0", "1", "-1", "2", "3", "(size v)"]),
            "Bool" => self.one_of(&["true", "false"]),
            "(Vec Float)" => self.one_of(&["v", "w", "(constVec 0 1.5)", "(Vec_init 1.0 -0.0)"]),
            _ => format!("(tuple {} {})", self.leaf("Float"), self.leaf("Float")),
        }
    }

    /// The expression that `make` makes with a variable in scope.
    fn with(&mut self, name: &str, ty: &str, make: impl FnOnce(&mut Self) -> String) -> String {
        self.scope.push((name.to_owned(), ty.to_owned()));
        let made = make(self);
        self.scope.pop();
        made
    }

    /// What serves as a size: most often one that is certainly one.
    fn size(&mut self, fuel: usize) -> String {
        match self.below(8) {
            0 => self.expr("Integer", fuel),
            1 | 2 => "2".to_owned(),
            3 => "0".to_owned(),
            4 => "(size w)".to_owned(),
            _ => "(size v)".to_owned(),
        }
    }

    pub fn expr(&mut self, ty: &str, fuel: usize) -> String {
        if fuel == 0 || self.below(5) == 0 {
            return self.leaf(ty);
        }
        let fuel = fuel - 1;
        match self.below(12) {
            0 => {
                let (name, bound) = (self.name(), TYPES[self.below(TYPES.len())]);
                let value = self.expr(bound, fuel);
                let body = self.with(&name, bound, |wild| wild.expr(ty, fuel));
                format!("(let ({name} {value}) {body})")
            }
            1 => format!("(if {} {} {})", self.expr("Bool", fuel), self.expr(ty, fuel), self.expr(ty, fuel)),
            2 if self.below(3) == 0 => format!("(assert {} {})", self.expr("Bool", fuel), self.expr(ty, fuel)),
            3 if ty == "Float" => format!("(get$1$2 {})", self.expr("(Tuple Float Float)", fuel)),
            _ => match ty {
                "Float" => self.float(fuel),
                "Integer" => self.integer(fuel),
                "Bool" => self.bool(fuel),
                "(Vec Float)" => self.vector(fuel),
                _ => match self.below(3) {
                    0 => format!("(ts_add {} {})", self.expr(ty, fuel), self.expr(ty, fuel)),
                    1 => format!("(ts_scale {} {})", self.expr("Float", fuel), self.expr(ty, fuel)),
                    _ => format!("(tuple {} {})", self.expr("Float", fuel), self.expr("Float", fuel)),
                },
            },
        }
    }

    fn float(&mut self, fuel: usize) -> String {
        let binary =
            |wild: &mut Self, op: &str| format!("({op} {} {})", wild.expr("Float", fuel), wild.expr("Float", fuel));
        match self.below(18) {
            5 | 7 | 10 if self.is_tame => self.leaf("Float"),
            0 | 1 => binary(self, "add"),
            2 => binary(self, "sub"),
            3 | 4 => binary(self, "mul"),
            5 => binary(self, "div"),
            6 => format!("(exp {})", self.expr("Float", fuel)),
            7 => format!("(log {})", self.expr("Float", fuel)),
            8 => format!("(neg {})", self.expr("Float", fuel)),
            9 => format!("(abs {})", self.expr("Float", fuel)),
            10 => format!("(sqrt {})", self.expr("Float", fuel)),
            11 => format!("(to_float {})", self.expr("Integer", fuel)),
            12 | 13 => format!("(index {} {})", self.expr("Integer", fuel), self.expr("(Vec Float)", fuel)),
            14 => format!("(sum {})", self.expr("(Vec Float)", fuel)),
            15 => self.sumbuild("Float", fuel),
            16 => binary(self, "g"),
            _ => {
                let (state, over) = (self.name(), self.expr("(Vec Float)", fuel));
                let init = self.expr("Float", fuel);
                let body = self.with(&state, "(Tuple Float Float)", |wild| wild.expr("Float", fuel));
                format!("(fold (lam ({state} : Tuple Float Float) {body}) {init} {over})")
            }
        }
    }

    fn sumbuild(&mut self, ty: &str, fuel: usize) -> String {
        let (index, size) = (self.name(), self.size(fuel));
        let body = self.with(&index, "Integer", |wild| wild.expr(ty, fuel));
        format!("(sumbuild {size} (lam ({index} : Integer) {body}))")
    }

    fn integer(&mut self, fuel: usize) -> String {
        let binary =
            |wild: &mut Self, op: &str| format!("({op} {} {})", wild.expr("Integer", fuel), wild.expr("Integer", fuel));
        match self.below(9) {
            0 => binary(self, "add"),
            1 => binary(self, "sub"),
            2 | 3 => binary(self, "mul"),
            4 => binary(self, "div"),
            5 => format!("(size {})", self.expr("(Vec Float)", fuel)),
            6 => self.sumbuild("Integer", fuel),
            7 => format!("(neg {})", self.expr("Integer", fuel)),
            _ => format!("(print {})", self.expr("Float", fuel)),
        }
    }

    fn bool(&mut self, fuel: usize) -> String {
        match self.below(6) {
            0 => format!("(gt {} {})", self.expr("Float", fuel), self.expr("Float", fuel)),
            1 => format!("(gte {} {})", self.expr("Integer", fuel), self.expr("Integer", fuel)),
            2 => format!("(eq {} {})", self.expr("Float", fuel), self.expr("Float", fuel)),
            3 => format!("(eq {} {})", self.expr("Integer", fuel), self.expr("Integer", fuel)),
            4 => format!("(and {} {})", self.expr("Bool", fuel), self.expr("Bool", fuel)),
            _ => format!("(or {} {})", self.expr("Bool", fuel), self.expr("Bool", fuel)),
        }
    }

    fn vector(&mut self, fuel: usize) -> String {
        let name = self.name();
        match self.below(7) {
            0 | 1 => {
                let size = self.size(fuel);
                let body = self.with(&name, "Integer", |wild| wild.expr("Float", fuel));
                format!("(build {size} (lam ({name} : Integer) {body}))")
            }
            2 => {
                let over = self.expr("(Vec Float)", fuel);
                let body = self.with(&name, "Float", |wild| wild.expr("Float", fuel));
                format!("(map (lam ({name} : Float) {body}) {over})")
            }
            3 => format!("(constVec {} {})", self.size(fuel), self.expr("Float", fuel)),
            4 => format!("(deltaVec {} {} {})", self.size(fuel), self.expr("Integer", fuel), self.expr("Float", fuel)),
            5 => format!("(ts_add {} {})", self.expr("(Vec Float)", fuel), self.expr("(Vec Float)", fuel)),
            _ => format!("(ts_scale {} {})", self.expr("Float", fuel), self.expr("(Vec Float)", fuel)),
        }
    }

    /// A number of which something is known, for a rule that asks for it.
    pub fn known(&mut self, ty: &str) -> String {
        match ty {
            "Float" => {
                self.one_of(&["2.0", "(add 1.5 (mul x x))", "(to_float i)", "(abs 0.5)", "(cosh y)", "(exp 0.25)"])
            }
            _ => self.one_of(&["2", "3", "(size v)"]),
        }
    }
}
