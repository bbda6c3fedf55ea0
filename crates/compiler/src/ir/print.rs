//! Expressions and programs as `.ks` text, which parses to the same program up to the names of variables.

use super::expr::{ExprId, ExprList, Node, VarId};
use super::name::{FunId, FunName};
use super::prim::Prim;
use super::program::{Body, Def, Program};
use super::rule::{Class, Rule};
use super::store::Store;
use super::types::{Type, TypeId};
use crate::source::Sources;
use crate::stack;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

impl Store {
    /// A type as programs write it.
    pub fn show_type(&self, ty: TypeId) -> String {
        let list = |types: &[TypeId]| types.iter().map(|ty| format!(" {}", self.show_type(*ty))).collect::<String>();
        match self.types.get(ty) {
            Type::Float => "Float".to_owned(),
            Type::Integer => "Integer".to_owned(),
            Type::Bool => "Bool".to_owned(),
            Type::String => "String".to_owned(),
            Type::Any => "Any".to_owned(),
            Type::Tuple(fields) => format!("(Tuple{})", list(self.types.list(fields))),
            Type::Tensor(1, element) => format!("(Vec{})", list(&[element])),
            Type::Tensor(rank, element) => format!("(Tensor {rank}{})", list(&[element])),
            Type::Lam(from, to) => format!("(Lam{})", list(&[from, to])),
            Type::LinearMap(from, to) => format!("(LM{})", list(&[from, to])),
            Type::Data(id) => self.show_data(id),
        }
    }

    fn show_data(&self, id: super::DataId) -> String {
        match self.types.base_of_tangent(id) {
            Some(base) => format!("(Tangent {})", self.text(self.types.data(base).name)),
            None => self.text(self.types.data(id).name).to_owned(),
        }
    }

    /// The full name of a function: `[rev [f Float]]`.
    pub fn show_fun(&self, fun: FunId) -> String {
        match self.fun(fun) {
            FunName::Base(name, arg) => format!("[{} {}]", self.text(name), self.show_type(arg)),
            FunName::Derived(derivation, of) => format!("[{} {}]", derivation.keyword(), self.show_fun(of)),
        }
    }

    /// An expression.
    pub fn show(&self, expr: ExprId) -> String {
        let mut printer = Printer::new(self);
        for var in self.free_vars(expr).iter() {
            printer.name(*var);
        }
        printer.expr(expr, 0);
        printer.out
    }
}

impl Program {
    /// The program without the prelude, in an order in which it can be read again.
    pub fn show(&self) -> String {
        let mut out = String::new();
        for data in self.store.types.declared_data() {
            _ = writeln!(out, "{}\n", self.show_declaration(data));
        }
        for def in self.defs().filter(|def| def.span.file != Sources::PRELUDE) {
            _ = writeln!(out, "{}\n", self.show_def(def));
        }
        for rule in &self.rules {
            _ = writeln!(out, "{}\n", self.show_rule(rule));
        }
        out
    }

    fn show_declaration(&self, data: super::DataId) -> String {
        let data = self.store.types.data(data);
        let constructors = data.constructors.iter().map(|(name, holds)| {
            let one = [*holds];
            let fields = self.store.types.fields(*holds).filter(|fields| fields.len() != 1).unwrap_or(&one);
            let fields: String = fields.iter().map(|ty| format!(" {}", self.store.show_type(*ty))).collect();
            format!(" ({}{fields})", self.store.text(*name))
        });
        format!("(data {}{})", self.store.text(data.name), constructors.collect::<String>())
    }

    fn show_rule(&self, rule: &Rule) -> String {
        let mut printer = Printer::new(&self.store);
        let vars: Vec<String> = rule
            .vars
            .iter()
            .map(|var| format!("({} : {})", printer.name(*var), self.store.show_type(self.store.var_type(*var))))
            .collect();
        _ = write!(printer.out, "(rule {} ({})\n  ", show_string(&rule.name), vars.join(" "));
        printer.expr(rule.lhs, 1);
        printer.line(1);
        printer.expr(rule.rhs, 1);
        let class = (rule.class != Class::default()).then(|| rule.class.keyword().to_owned());
        let big = rule.is_big.then(|| "big".to_owned());
        let all = rule.is_covered.then(|| "covered".to_owned());
        let covered = rule.covered.iter().map(|var| format!("(covered {})", printer.names[var]));
        let guards =
            rule.guards.iter().map(|guard| format!("({} {})", guard.test.keyword(), printer.names[&guard.var]));
        let options: Vec<String> = class.into_iter().chain(big).chain(all).chain(guards).chain(covered).collect();
        if !options.is_empty() {
            printer.line(1);
            printer.out.push_str(&options.join(" "));
        }
        printer.out + ")"
    }

    /// A definition.
    pub fn show_def(&self, def: &Def) -> String {
        let store = &self.store;
        let (arg, result) = store.signature(def.fun).unwrap_or((TypeId::UNIT, TypeId::UNIT));
        let (name, result) = (store.show_fun(def.fun), store.show_type(result));
        match def.body {
            Body::External => format!("(edef {name} {result} {})", store.show_type(arg)),
            Body::LinearMap { .. } => match store.fun(def.fun) {
                FunName::Derived(derivation, of) => format!("(gdef {} {})", derivation.keyword(), store.show_fun(of)),
                FunName::Base(..) => format!("(edef {name} {result} {})", store.show_type(arg)),
            },
            Body::Expr(param, body) => {
                let mut printer = Printer::new(store);
                let param = printer.name(param);
                _ = write!(printer.out, "(def {name} {result} ({param} : {})\n  ", store.show_type(arg));
                printer.expr(body, 1);
                printer.out + ")"
            }
        }
    }
}

/// Deepest indentation, in steps of two blanks: deeper ones would make the text of deep expressions grow with the square.
const DEEPEST: usize = 40;
/// Longest expression on one line, in nodes.
const SHORT: u32 = 12;

struct Printer<'a> {
    store: &'a Store,
    out: String,
    names: FxHashMap<VarId, String>,
    /// How often each name was asked for.
    taken: FxHashMap<String, u32>,
}

impl<'a> Printer<'a> {
    fn new(store: &'a Store) -> Self {
        Self { store, out: String::new(), names: FxHashMap::default(), taken: FxHashMap::default() }
    }

    /// The printed name of a variable: its own, with a number if another variable has that already.
    fn name(&mut self, var: VarId) -> String {
        if let Some(name) = self.names.get(&var) {
            return name.clone();
        }
        let own = self.store.var_name(var).to_owned();
        let count = self.taken.entry(own.clone()).or_insert(0);
        *count += 1;
        let name = if *count == 1 { own } else { format!("{own}_{count}") };
        if *count > 1 && self.taken.contains_key(&name) {
            return self.name_beside(var, name);
        }
        self.taken.entry(name.clone()).or_insert(1);
        self.names.insert(var, name.clone());
        name
    }

    /// Another name, as the numbered one is taken by a variable whose own name looks like it.
    fn name_beside(&mut self, var: VarId, mut name: String) -> String {
        while self.taken.contains_key(&name) {
            name.push('\'');
        }
        self.taken.insert(name.clone(), 1);
        self.names.insert(var, name.clone());
        name
    }

    fn line(&mut self, depth: usize) {
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(depth.min(DEEPEST)));
    }

    fn expr(&mut self, expr: ExprId, depth: usize) {
        stack::grow(|| self.node(expr, depth));
    }

    fn node(&mut self, expr: ExprId, depth: usize) {
        let store = self.store;
        match store.node(expr) {
            Node::Integer(value) => _ = write!(self.out, "{value}"),
            Node::Float(value) => self.out.push_str(&show_float(value.get())),
            Node::Bool(value) => _ = write!(self.out, "{value}"),
            Node::String(text) => self.out.push_str(&show_string(store.text(text))),
            Node::Var(var) => {
                let name = self.name(var);
                self.out.push_str(&name);
            }
            Node::Tuple(fields) => self.list("tuple", fields, expr, depth),
            Node::Get(field, tuple) => {
                let count = store.types.fields(store.ty(tuple)).map_or(0, <[_]>::len);
                self.form(&format!("get${}${count}", field + 1), &[tuple], expr, depth);
            }
            Node::Let(var, value, body) => self.binding(var, value, body, depth),
            Node::If(a, b, c) => self.form("if", &[a, b, c], expr, depth),
            Node::Assert(a, b) => self.form("assert", &[a, b], expr, depth),
            Node::Lam(var, body) => {
                let name = self.name(var);
                _ = write!(self.out, "(lam ({name} : {})", store.show_type(store.var_type(var)));
                self.parts(&[body], expr, depth);
            }
            Node::Call(fun, arg) => match store.node(arg) {
                Node::Tuple(fields) if store.list(fields).len() != 1 => {
                    self.list(&store.show_fun(fun), fields, expr, depth)
                }
                _ => self.form(&store.show_fun(fun), &[arg], expr, depth),
            },
            Node::Prim(prim, args) => self.primitive(prim, args, expr, depth),
            Node::Construct(data, constructor, arg) => {
                let mut head = store.text(store.types.data(data).constructors[constructor as usize].0).to_owned();
                if store.types.base_of_tangent(data).is_some() {
                    head = format!("[{head} {}]", store.show_data(data));
                }
                match store.node(arg) {
                    Node::Tuple(fields) if store.list(fields).len() != 1 => self.list(&head, fields, expr, depth),
                    _ => self.form(&head, &[arg], expr, depth),
                }
            }
            Node::Match(value, arms) => self.matching(value, arms, depth),
        }
    }

    fn list(&mut self, head: &str, list: ExprList, whole: ExprId, depth: usize) {
        self.form(head, self.store.list(list), whole, depth);
    }

    fn primitive(&mut self, prim: Prim, args: ExprList, whole: ExprId, depth: usize) {
        match (prim, self.store.list(args)) {
            // One argument that is a tuple would read as several arguments.
            (Prim::VecInit, &[one]) if self.store.types.is_uniform_tuple(self.store.ty(one)) => {
                self.out.push_str("(constVec 1");
                self.parts(&[one], whole, depth);
            }
            (Prim::Print, &[one]) if matches!(self.store.node(one), Node::Tuple(_)) => {
                self.out.push_str("(let (printed");
                self.parts(&[one], whole, depth);
                self.out.push_str(" (print printed))");
            }
            (_, args) => self.form(prim.name(), args, whole, depth),
        }
    }

    fn form(&mut self, head: &str, parts: &[ExprId], whole: ExprId, depth: usize) {
        self.out.push('(');
        self.out.push_str(head);
        self.parts(parts, whole, depth);
    }

    fn parts(&mut self, parts: &[ExprId], whole: ExprId, depth: usize) {
        let is_short = self.store.size(whole) <= SHORT;
        for part in parts {
            if is_short {
                self.out.push(' ')
            } else {
                self.line(depth + 1)
            }
            self.expr(*part, depth + 1);
        }
        self.out.push(')');
    }

    /// Lets stand below each other, however many there are.
    fn binding(&mut self, var: VarId, value: ExprId, body: ExprId, depth: usize) {
        let name = self.name(var);
        _ = write!(self.out, "(let ({name} ");
        self.expr(value, depth + 1);
        self.out.push(')');
        self.line(depth);
        self.expr(body, depth);
        self.out.push(')');
    }

    fn matching(&mut self, value: ExprId, arms: ExprList, depth: usize) {
        let store = self.store;
        let Type::Data(data) = store.types.get(store.ty(value)) else { return };
        self.out.push_str("(match ");
        self.expr(value, depth + 1);
        for (arm, (constructor, _)) in store.list(arms).iter().zip(&store.types.data(data).constructors) {
            let Node::Lam(var, body) = store.node(*arm) else { continue };
            let name = self.name(var);
            self.line(depth + 1);
            _ = write!(self.out, "(({} {name}) ", store.text(*constructor));
            self.expr(body, depth + 2);
            self.out.push(')');
        }
        self.out.push(')');
    }
}

/// A real number as programs write it, so that it reads back to the same bits where it is finite.
pub fn show_float(value: f64) -> String {
    if value.is_nan() {
        return "(div 0.0 0.0)".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "1e999" } else { "-1e999" }.to_owned();
    }
    let text = format!("{value:?}");
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}

/// A text as programs write it.
pub fn show_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
