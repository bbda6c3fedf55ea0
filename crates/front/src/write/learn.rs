//! Gradients, and what descends along them.

use super::{Local, Writer, mentioned, wrap};
use crate::builtin::Builtin;
use crate::ks::{Ks, Top, call, float, integer, list, square, word};
use crate::tree::{Call, Expr, Kind, Param};
use crate::types::Type;

/// How far a step goes, and how many there are, unless the program says so.
const RATE: f64 = 0.1;
const STEPS: i64 = 100;

/// A function that is differentiated: its name, and what it takes beside its own arguments.
struct Target {
    name: String,
    captured: Vec<Ks>,
}

impl Target {
    fn args(&self, args: Vec<Ks>) -> Vec<Ks> {
        args.into_iter().chain(self.captured.iter().cloned()).collect()
    }

    fn call(&self, args: Vec<Ks>) -> Ks {
        call(&self.name, self.args(args))
    }

    /// The gradient by the first argument.
    fn gradient(&self, args: Vec<Ks>) -> Ks {
        let mut args = self.args(args);
        let reverse = square(vec![word("rev"), word(self.name.clone())]);
        if args.len() == 1 {
            return list(vec![reverse, args.remove(0), float(1.0)]);
        }
        let count = args.len();
        let all = list(vec![reverse, call("tuple", args), float(1.0)]);
        call(&format!("get$1${count}"), [all])
    }
}

impl Writer<'_> {
    pub(super) fn derivative(&mut self, builtin: Builtin, this: &Call) -> Ks {
        let Some((function, args)) = this.args.split_first() else { return call("tuple", []) };
        let (types, target) = self.target(function);
        let mut args: Vec<Ks> = args.iter().zip(&types).map(|(arg, ty)| self.expr_as(arg, ty)).collect();
        match builtin {
            Builtin::Grad => target.gradient(args),
            Builtin::ValueAndGrad => {
                let names: Vec<String> = args.iter().map(|_| self.fresh("x")).collect();
                let words = |names: &[String]| names.iter().map(|name| word(name.clone())).collect::<Vec<Ks>>();
                let both = call("tuple", [target.call(words(&names)), target.gradient(words(&names))]);
                wrap(words(&names).into_iter().zip(args).collect(), both)
            }
            _ => {
                let first = args.remove(0);
                let named = |writer: &mut Self, name: &str, default: Ks, ty: &Type| {
                    let found = this.named.iter().find(|(given, ..)| given == name);
                    found.map_or(default, |(_, _, value)| writer.expr_as(value, ty))
                };
                let rate = named(self, "rate", float(RATE), &Type::Float);
                let steps = named(self, "steps", integer(STEPS), &Type::Int);
                self.adam(&target, first, &types[0], rate, steps)
            }
        }
    }

    /// The function that is an argument, and the types of its arguments.
    fn target(&mut self, function: &Expr) -> (Vec<Type>, Target) {
        let (types, result) = match self.types.of(function) {
            Type::Function(params, result) => (params.clone(), (**result).clone()),
            _ => (vec![], Type::Float),
        };
        let target = match &function.kind {
            Kind::Lambda(params, body) => self.lifted(params, body, &types, &result),
            Kind::Name(name) => match self.local(name).cloned() {
                Some(Local::Function(lifted)) => Target {
                    name: lifted.name,
                    captured: lifted.captured.into_iter().map(|(name, _)| word(name)).collect(),
                },
                _ => {
                    // As it is declared: Python may give ints where floats are expected.
                    let declared = self.types.global(name).map(|signature| &signature.params);
                    let types = declared.map_or(types, |params| params.iter().map(|(_, ty)| ty.clone()).collect());
                    return (types, Target { name: self.names.function(name), captured: vec![] });
                }
            },
            _ => Target { name: String::new(), captured: vec![] },
        };
        (types, target)
    }

    /// A function without a name becomes a global one that takes what it uses of its surroundings.
    fn lifted(&mut self, params: &[Param], body: &Expr, types: &[Type], result: &Type) -> Target {
        let bound: Vec<&str> = params.iter().flat_map(|param| param.pattern.names()).collect();
        let mut names = mentioned(&[body]);
        names.retain(|name| !bound.contains(&name.as_str()));
        let captured = self.captured(&names);
        let name = self.names.fresh(&format!("{}_objective", self.enclosing));
        let mark = self.order.len();
        let mut lets = vec![];
        let own = params.iter().zip(types).map(|(param, ty)| self.bound_param(&param.pattern, ty, &mut lets));
        let mut all: Vec<Ks> = own.collect();
        all.extend(captured.iter().map(|(name, ty)| self.param(name, ty)));
        let made = self.expr_as(body, result);
        self.unbind(mark);
        let params = if all.len() == 1 { all.remove(0) } else { list(all) };
        let form = call("def", [word(name.clone()), self.ty(result), params, wrap(lets, made)]).at(body.span);
        self.tops.push(Top { comment: vec![], form });
        Target { name, captured: captured.into_iter().map(|(name, _)| word(name)).collect() }
    }

    /// Steps of Adam from a first value.
    fn adam(&mut self, target: &Target, first: Ks, ty: &Type, rate: Ks, steps: Ks) -> Ks {
        let step = self.adam_step(ty);
        let state = Type::Tuple(vec![ty.clone(), ty.clone(), ty.clone()]);
        let [whole, s, i] = ["state_i", "state", "i"].map(|name| self.fresh(name));
        let [p, average, squares] = ["p", "average", "squares"].map(|name| self.fresh(name));
        let named = |names: &[&String]| list(names.iter().map(|name| word((*name).clone())).collect());
        let lets = vec![(named(&[&s, &i]), word(whole.clone())), (named(&[&p, &average, &squares]), word(s.clone()))];
        let gradient = target.gradient(vec![word(p.clone())]);
        let next = call("add", [word(i), integer(1)]);
        self.with_word(rate, "rate", |writer, rate| {
            let stepped = call(&step, [word(p), word(average), word(squares), gradient, rate, next]);
            let pair = Type::Tuple(vec![state, Type::Int]);
            let lam = call("lam", [writer.param(&whole, &pair), wrap(lets, stepped)]);
            writer.with_word(first, "first", |writer, first| {
                let zero = writer.fresh("zero");
                let init = call("tuple", [first.clone(), word(zero.clone()), word(zero.clone())]);
                let last = call("get$1$3", [call("ifold", [steps, lam, init])]);
                wrap(vec![(word(zero), call("ts_scale", [float(0.0), first]))], last)
            })
        })
    }

    /// The function that makes a step of Adam on parameters of a type: an overload for each type that is part of it.
    fn adam_step(&mut self, ty: &Type) -> String {
        let name = self.helper("adam_step");
        self.adam_overload(&name, ty);
        name
    }

    fn adam_overload(&mut self, name: &str, ty: &Type) {
        let result = Type::Tuple(vec![ty.clone(), ty.clone(), ty.clone()]);
        let body = match ty {
            Type::Float => return,
            Type::List(element) | Type::Array(_, element) => {
                self.adam_overload(name, element);
                self.adam_of_array(name, ty)
            }
            _ => {
                let fields = self.fields(ty);
                fields.iter().for_each(|field| self.adam_overload(name, field));
                adam_of_fields(name, fields.len())
            }
        };
        let mut params: Vec<Ks> =
            ["p", "average", "squares", "gradient"].iter().map(|name| self.param(name, ty)).collect();
        params.extend([self.param("rate", &Type::Float), self.param("step", &Type::Int)]);
        let form = call("def", [word(name), self.ty(&result), list(params), body]);
        let shown = format!("{:?}", form.form);
        // Types that are the same in `.ks` have one step.
        if !self.updates.iter().any(|top| format!("{:?}", top.form.form) == shown) {
            self.updates.push(Top { comment: vec![], form });
        }
    }

    fn adam_of_array(&mut self, name: &str, ty: &Type) -> Ks {
        let rank = if let Type::Array(rank, _) = ty { *rank } else { 1 };
        let element = |part: &str| call("index", [word("i"), word(part)]);
        let args = ["p", "average", "squares", "gradient"].into_iter().map(element);
        let step = call(name, args.chain([word("rate"), word("step")]));
        let index = if rank == 1 { Type::Int } else { Type::Tuple(vec![Type::Int; rank as usize]) };
        let lam = call("lam", [self.param("i", &index), step]);
        let size = self.size(word("p"));
        call("unzip", [call("build", [size, lam])])
    }
}

/// Each field has its step; the results are sorted by what they are.
fn adam_of_fields(name: &str, count: usize) -> Ks {
    let of = |what: &str, number: usize| word(format!("{what}{number}"));
    let numbers = || 1..=count;
    let mut lets = vec![];
    for (what, short) in [("p", "p"), ("average", "m"), ("squares", "s"), ("gradient", "g")] {
        lets.push((list(numbers().map(|number| of(short, number)).collect()), word(what)));
    }
    for number in numbers() {
        let args = ["p", "m", "s", "g"].map(|short| of(short, number)).into_iter().chain([word("rate"), word("step")]);
        let names = ["a", "b", "c"].map(|short| of(short, number)).to_vec();
        lets.push((list(names), call(name, args)));
    }
    let parts = ["a", "b", "c"].map(|short| call("tuple", numbers().map(|number| of(short, number))));
    wrap(lets, call("tuple", parts))
}
