//! An expression as a graph: a node for each place of its tree, edges from and to its parts, and links between equal parts.

use super::kinds;
use super::marks::{Group, Marks};
use crate::ir::{ExprId, Node, Store, TypeId, VarId};
use crate::stack;
use labrys_nn::{EdgeArrays, Segments};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// Types of edges: from parent to the first, second, third and to any other child, the same upwards, and equal subtrees.
pub const EDGE_TYPES: usize = 2 * SLOTS + 1;
/// Which child: first, second, third, or one of a tuple (or of another list of any length).
const SLOTS: usize = 4;
/// The slot of an element of a list.
const ELEMENT: u8 = 3;
/// Larger expressions are not looked at: their graphs would not fit into the caches, and the search is local anyway.
const MOST_NODES: u32 = 4096;

/// An expression as a graph. Nodes are in the order of the tree, parents before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExprGraph {
    /// Kind of each node.
    pub kinds: Vec<u16>,
    /// Kind of the type of each node.
    pub types: Vec<u8>,
    /// Parent of each node but the first.
    pub parents: Vec<u32>,
    /// Which child of its parent each node but the first is.
    pub slots: Vec<u8>,
    /// Pairs of roots of equal subtrees: each with the one before it.
    pub links: Vec<(u32, u32)>,
    /// What is known of each node from the whole: see [`Marks`].
    pub marks: Vec<u16>,
}

impl ExprGraph {
    /// The graph of an expression; none if it is too large to be looked at.
    pub fn new(store: &Store, expr: ExprId) -> Option<Self> {
        if store.size(expr) > MOST_NODES {
            return None;
        }
        let mut walk = Walk {
            store,
            graph: Self::default(),
            depths: vec![],
            bound: FxHashMap::default(),
            keys: FxHashMap::default(),
            groups: vec![],
            group_of: vec![],
        };
        walk.visit(expr, 0, 0);
        walk.mark();
        Some(walk.graph)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.kinds.len()
    }

    /// Whether every number is in its range: graphs are read from files, too.
    pub fn is_valid(&self, kinds: usize) -> bool {
        let nodes = self.nodes();
        let inner = nodes.checked_sub(1);
        inner == Some(self.parents.len())
            && inner == Some(self.slots.len())
            && self.types.len() == nodes
            && self.marks.len() == nodes
            && self.marks.iter().all(|&mark| Marks::from_code(mark).is_some())
            && self.kinds.iter().all(|&kind| usize::from(kind) < kinds)
            && self.types.iter().all(|&kind| usize::from(kind) < kinds::TYPES)
            && self.slots.iter().all(|&slot| usize::from(slot) < SLOTS)
            && self.parents.iter().all(|&parent| (parent as usize) < nodes)
            && self.links.iter().all(|&(a, b)| (a as usize) < nodes && (b as usize) < nodes)
    }
}

struct Walk<'s> {
    store: &'s Store,
    graph: ExprGraph,
    /// How deep each node is.
    depths: Vec<u32>,
    /// What stands for each bound variable in keys: what it is bound to.
    bound: FxHashMap<VarId, u64>,
    /// The group of each key. Keys are hashes: a collision adds a link that says nothing.
    keys: FxHashMap<u64, u32>,
    groups: Vec<Group>,
    group_of: Vec<u32>,
}

impl Walk<'_> {
    /// Adds an expression below a parent; returns its key. Equal keys are equal expressions up to names.
    fn visit(&mut self, expr: ExprId, parent: u32, slot: u8) -> u64 {
        let node = self.store.node(expr);
        let at = self.add(kinds::node_kind(node), self.store.ty(expr), parent, slot);
        let key = match node {
            Node::Var(var) => self.bound.get(&var).copied().unwrap_or_else(|| hash(&("free", var))),
            Node::Let(var, value, body) => {
                let value_key = self.part(value, at, 1);
                self.binder(var, value_key, at);
                let body = self.scope(var, value_key, body, at, 2);
                hash(&("let", value_key, body))
            }
            Node::Lam(var, body) => {
                // As deep as it stands among binders, so that loops over the same range have equal parts.
                let key = hash(&("lam", self.bound.len()));
                self.binder(var, key, at);
                let body = self.scope(var, key, body, at, 1);
                hash(&("lam", body))
            }
            _ => self.parts(node, at),
        };
        self.link(key, at);
        key
    }

    /// One part of the node `at`.
    fn part(&mut self, expr: ExprId, at: u32, slot: u8) -> u64 {
        stack::grow(|| self.visit(expr, at, slot))
    }

    fn parts(&mut self, node: Node, at: u32) -> u64 {
        let mut children = vec![];
        self.store.for_each_child(node, |child| children.push(child));
        let is_list = matches!(node, Node::Tuple(_)) || children.len() > usize::from(ELEMENT);
        let mut hasher = FxHasher::default();
        own_key(node).hash(&mut hasher);
        for (number, child) in children.into_iter().enumerate() {
            let slot = if is_list { ELEMENT } else { number as u8 };
            self.part(child, at, slot).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn add(&mut self, kind: u16, ty: TypeId, parent: u32, slot: u8) -> u32 {
        let graph = &mut self.graph;
        let at = graph.kinds.len() as u32;
        self.group_of.push(0);
        self.depths.push(if at == 0 { 0 } else { self.depths[parent as usize] + 1 });
        graph.kinds.push(kind);
        graph.types.push(kinds::type_kind(self.store, ty));
        if at > 0 {
            graph.parents.push(parent);
            graph.slots.push(slot);
        }
        at
    }

    /// The place where a variable is bound: the first child of the node that binds it, linked to its uses.
    fn binder(&mut self, var: VarId, key: u64, at: u32) {
        let binder = self.add(kinds::BINDER, self.store.var_type(var), at, 0);
        self.link(key, binder);
    }

    fn scope(&mut self, var: VarId, key: u64, body: ExprId, at: u32, slot: u8) -> u64 {
        let outer = self.bound.insert(var, key);
        let body = self.part(body, at, slot);
        match outer {
            Some(outer) => self.bound.insert(var, outer),
            None => self.bound.remove(&var),
        };
        body
    }

    fn link(&mut self, key: u64, at: u32) {
        let number = *self.keys.entry(key).or_insert(self.groups.len() as u32);
        self.group_of[at as usize] = number;
        let kind = self.graph.kinds[at as usize];
        match self.groups.get(number as usize).copied() {
            None => self.groups.push(Group::new(kind, at)),
            Some(group) => {
                self.graph.links.push((group.last, at));
                self.groups[number as usize] = group.with(kind, at, self.around(group.home, at));
            }
        }
    }

    /// The innermost node around two.
    fn around(&self, mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let deeper = if self.depths[a as usize] > self.depths[b as usize] { &mut a } else { &mut b };
            *deeper = self.graph.parents[*deeper as usize - 1];
        }
        a
    }

    /// Says of each node what the whole knows.
    fn mark(&mut self) {
        let graph = &mut self.graph;
        let mut work: Vec<f32> = graph.kinds.iter().map(|kind| kinds::work(*kind)).collect();
        for node in (1..work.len()).rev() {
            work[graph.parents[node - 1] as usize] += work[node];
        }
        let depths = &self.depths;
        let marks = work.iter().enumerate().map(|(node, &work)| {
            let group = &self.groups[self.group_of[node] as usize];
            Marks::new(work, group, depths[node] - depths[group.home as usize]).code()
        });
        graph.marks = marks.collect();
    }
}

/// A node without its parts.
fn own_key(node: Node) -> u64 {
    match node {
        Node::Get(field, _) => hash(&("get", field)),
        Node::Call(fun, _) => hash(&("call", fun)),
        Node::Construct(data, constructor, _) => hash(&("construct", data, constructor)),
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) => hash(&node),
        Node::Prim(prim, _) => hash(&("prim", prim)),
        _ => hash(&kinds::node_kind(node)),
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Graphs side by side, as the network takes them.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Kind of each node.
    pub kinds: Vec<u32>,
    /// Kind of the type of each node.
    pub types: Vec<u32>,
    /// What is known of each node from the whole, as the rows of [`Marks`].
    pub marks: Vec<u16>,
    /// Edges by type.
    pub edges: Vec<EdgeArrays>,
    /// The nodes of each graph.
    pub graphs: Segments,
}

impl Batch {
    /// Several graphs; `rows` has the number of each kind in the network.
    pub fn new<'g>(graphs: impl Iterator<Item = &'g ExprGraph> + Clone, rows: &[u32]) -> Self {
        let mut batch = Self {
            kinds: vec![],
            types: vec![],
            marks: vec![],
            edges: vec![EdgeArrays::default(); EDGE_TYPES],
            graphs: Segments::new(graphs.clone().map(ExprGraph::nodes)),
        };
        graphs.for_each(|graph| batch.push(graph, rows));
        batch
    }

    fn push(&mut self, graph: &ExprGraph, rows: &[u32]) {
        let first = self.kinds.len() as u32;
        self.kinds.extend(graph.kinds.iter().map(|&kind| rows[usize::from(kind)]));
        self.types.extend(graph.types.iter().map(|&kind| u32::from(kind)));
        self.marks.extend_from_slice(&graph.marks);
        for ((child, &parent), &slot) in (first + 1..).zip(&graph.parents).zip(&graph.slots) {
            let (parent, slot) = (first + parent, usize::from(slot));
            self.add(slot, parent, child);
            self.add(SLOTS + slot, child, parent);
        }
        for &(a, b) in &graph.links {
            self.add(EDGE_TYPES - 1, first + a, first + b);
            self.add(EDGE_TYPES - 1, first + b, first + a);
        }
    }

    fn add(&mut self, edge_type: usize, source: u32, target: u32) {
        self.edges[edge_type].sources.push(source);
        self.edges[edge_type].targets.push(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Prim, TypeId};

    /// `(let (x (exp a)) (add x (exp a)))`
    #[test]
    fn a_let_shows_its_binder_and_links_equal_parts() {
        let mut store = Store::default();
        let a = store.fresh("a", TypeId::FLOAT);
        let a = store.var(a);
        let value = store.prim(Prim::Exp, &[a]);
        let x = store.fresh("x", TypeId::FLOAT);
        let use_x = store.var(x);
        let sum = store.prim(Prim::Add, &[use_x, value]);
        let expr = store.let_(x, value, sum);
        let graph = ExprGraph::new(&store, expr).unwrap();
        let names = kinds::names();
        let nodes: Vec<&str> = graph.kinds.iter().map(|&kind| &names[usize::from(kind)][..]).collect();
        assert_eq!(nodes, ["let", "prim exp", "var", "binder", "prim add", "var", "prim exp", "var"]);
        assert_eq!(graph.parents, [0, 1, 0, 0, 4, 4, 6]);
        assert_eq!(graph.slots, [1, 0, 0, 2, 0, 1, 0]);
        // The value, its binder, its use, and the same value again; and the two a.
        assert_eq!(graph.links, [(1, 3), (3, 5), (2, 7), (5, 6)]);
        assert!(graph.is_valid(names.len()));
    }

    #[test]
    fn names_and_ids_do_not_matter() {
        let graph = |names: [&str; 2]| {
            let mut store = Store::default();
            let n = store.integer(3);
            let loops = names.map(|name| {
                let i = store.fresh(name, TypeId::INTEGER);
                let use_i = store.var(i);
                let body = store.prim(Prim::ToFloat, &[use_i]);
                let lam = store.lam(i, body);
                store.prim(Prim::Sumbuild, &[n, lam])
            });
            let sum = store.prim(Prim::Add, &loops);
            ExprGraph::new(&store, sum).unwrap()
        };
        assert_eq!(graph(["i", "i"]), graph(["j", "k"]));
        // Equal up to names: the loops are linked at their roots.
        assert!(graph(["i", "j"]).links.contains(&(1, 7)));
    }

    #[test]
    fn a_batch_shifts_every_graph() {
        let mut store = Store::default();
        let (one, two) = (store.float(1.0), store.float(2.0));
        let sum = store.prim(Prim::Add, &[one, two]);
        let graph = ExprGraph::new(&store, sum).unwrap();
        let rows: Vec<u32> = (0..kinds::names().len() as u32).collect();
        let batch = Batch::new([&graph, &graph].into_iter(), &rows);
        assert_eq!((batch.kinds.len(), batch.graphs.len()), (6, 2));
        assert_eq!((&batch.edges[0].sources[..], &batch.edges[0].targets[..]), (&[0, 3][..], &[1, 4][..]));
        assert_eq!(
            (&batch.edges[SLOTS + 1].sources[..], &batch.edges[SLOTS + 1].targets[..]),
            (&[2, 5][..], &[0, 3][..])
        );
    }
}
