//! Programs as graphs for Graphviz: a box for each step, equal steps once, an edge for each argument.

use super::names::literal;
use crate::ir::{Body, Def, ExprId, Node, Program, Store};
use std::fmt::Write as _;

/// Most steps of a graph: more cannot be looked at, and Graphviz takes minutes.
const MOST_STEPS: usize = 2000;

/// The definitions as a graph. A comment at the end says what was cut off.
pub(super) fn dot(program: &Program, defs: &[Def]) -> String {
    let mut text = "digraph program {\n  node [shape=box, fontname=monospace];\n".to_owned();
    let mut left = MOST_STEPS;
    for (number, def) in defs.iter().enumerate() {
        let Body::Expr(_, body) = def.body else { continue };
        let parts = program.store.post_order(body);
        if parts.len() > left {
            _ = writeln!(text, "  // {} definitions are cut off: more than {MOST_STEPS} steps", defs.len() - number);
            break;
        }
        left -= parts.len();
        let name = literal(&program.store.show_fun(def.fun));
        _ = writeln!(text, "  subgraph cluster_{number} {{\n    label={name};");
        for part in parts {
            step(&mut text, &program.store, number, part);
        }
        text += "  }\n";
    }
    text + "}\n"
}

fn step(text: &mut String, store: &Store, graph: usize, expr: ExprId) {
    let id = |expr: ExprId| format!("d{graph}_{}", expr.index());
    _ = writeln!(text, "    {} [label={}];", id(expr), literal(&label(store, expr)));
    for (number, child) in store.children(expr).into_iter().enumerate() {
        _ = writeln!(text, "    {} -> {} [label={number}];", id(expr), id(child));
    }
}

fn label(store: &Store, expr: ExprId) -> String {
    match store.node(expr) {
        Node::Tuple(_) => "tuple".to_owned(),
        Node::Get(field, _) => format!("get {}", field + 1),
        Node::Let(var, ..) => format!("let {}", store.var_name(var)),
        Node::If(..) => "if".to_owned(),
        Node::Assert(..) => "assert".to_owned(),
        Node::Lam(var, _) => format!("lam {}", store.var_name(var)),
        Node::Call(fun, _) => store.show_fun(fun),
        Node::Prim(prim, _) => prim.name().to_owned(),
        Node::Construct(data, constructor, _) => {
            store.text(store.types.data(data).constructors[constructor as usize].0).to_owned()
        }
        Node::Match(..) => "match".to_owned(),
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => store.show(expr),
    }
}
