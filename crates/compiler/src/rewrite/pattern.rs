//! Rules as data: two expressions with variables that stand for expressions.

use crate::ir::{self, DataId, ExprId, FunId, Node, Prim, Store, Test, Type, TypeId, Types, VarId};

/// Most variables of a rule.
pub(super) const MOST_VARS: usize = 12;
/// Most variables that are bound on the two sides of a rule.
pub(super) const MOST_SLOTS: usize = 8;
/// Deepest nesting of a side.
const DEEPEST: usize = 64;

/// Why a rule of a program cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleError {
    /// Matching has a fixed number of places.
    #[error("a rule has at most {MOST_VARS} variables")]
    TooManyVariables,
    /// As above.
    #[error("a rule binds at most {MOST_SLOTS} variables")]
    TooManyBinders,
    /// Matching recurses.
    #[error("the sides of a rule nest at most {DEEPEST} deep")]
    TooDeep,
    /// What would it be?
    #[error("the right side has the variable {0}, which the left side does not have")]
    UnboundVariable(String),
    /// Which one would a variable of the right side mean?
    #[error("the left side binds {0} twice")]
    BoundTwice(String),
    /// Effects happen as often and in the order in which they are written.
    #[error("a rule cannot contain {0}")]
    Effect(&'static str),
    /// Tells rules apart by 16 bits.
    #[error("there are more than 65535 rules")]
    TooMany,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Equal parts of the two sides have equal numbers.
    pub(super) id: usize,
    /// What it matches.
    pub kind: PatternKind,
}

/// What a part of a pattern matches.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// Any expression of the type of the variable with this number; the same one wherever the variable stands.
    Var(u8),
    /// The variable that the pattern binds in this slot.
    Bound(u8),
    /// A number, a truth value or a text.
    Constant(Node),
    /// A step with so many parts.
    Step(Step),
}

/// A step in a pattern.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is.
    pub head: Head,
    /// The slot of the variable that it binds in its last part, and the type of the variable.
    pub binds: Option<(u8, TypeId)>,
    /// Its parts, in order of evaluation.
    pub parts: Vec<Pattern>,
    /// Its type, if that and the types of its parts are the same whatever the variables stand for.
    pub(super) ty: Option<TypeId>,
}

/// A [`Node`] without its parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // the names of `Node`
pub enum Head {
    Tuple,
    Get(u32),
    Let,
    If,
    Assert,
    Lam,
    Call(FunId),
    Prim(Prim),
    Construct(DataId, u32),
    Match,
}

/// A rule as data.
#[derive(Clone, Debug)]
pub struct PatternRule {
    /// What it matches.
    pub lhs: Pattern,
    /// What it puts there.
    pub rhs: Pattern,
    /// The type of each variable; `Any` matches all types.
    pub vars: Vec<TypeId>,
    /// Conditions, with the number of the variable.
    pub guards: Vec<(Test, u8)>,
    /// One bit for each variable that the right side evaluates only where the left side did; all, if that holds of all that it does.
    pub(super) covered: u16,
    /// For each variable the slots that are bound around it on the left side.
    pub(super) around: Vec<u8>,
    /// For each variable those of them that must not be free in what it stands for.
    pub(super) forbidden: Vec<u8>,
}

/// Makes a pattern of an expression of `store`. `translate` makes a type of the program of a type of the store.
pub(super) fn compile(
    store: &mut Store,
    rule: &ir::Rule,
    translate: &mut dyn FnMut(&Types, TypeId) -> TypeId,
) -> Result<PatternRule, RuleError> {
    if rule.vars.len() > MOST_VARS {
        return Err(RuleError::TooManyVariables);
    }
    let count = rule.vars.len();
    let mut compiler = Compiler {
        store,
        translate,
        vars: &rule.vars,
        slots: vec![],
        scope: vec![],
        around: vec![None; count],
        allowed: vec![u8::MAX; count],
        is_left: true,
    };
    let lhs = compiler.pattern(rule.lhs, 0)?;
    compiler.is_left = false;
    let rhs = compiler.pattern(rule.rhs, 0)?;
    let around: Vec<u8> = compiler.around.iter().map(|around| around.unwrap_or(0)).collect();
    let forbidden = around.iter().zip(&compiler.allowed).map(|(around, allowed)| around & !allowed).collect();
    let vars = rule.vars.iter().map(|var| compiler.type_of_var(*var)).collect();
    let number = |var: VarId| rule.vars.iter().position(|own| *own == var).unwrap_or(0) as u8;
    let guards = rule.guards.iter().map(|guard| (guard.test, number(guard.var))).collect();
    let covered = rule.covered.iter().fold(0, |mask, var| mask | 1u16 << number(*var));
    let covered = if rule.is_covered { u16::MAX } else { covered };
    Ok(PatternRule { lhs, rhs, vars, guards, covered, around, forbidden })
}

struct Compiler<'a> {
    store: &'a mut Store,
    translate: &'a mut dyn FnMut(&Types, TypeId) -> TypeId,
    vars: &'a [VarId],
    /// The variable of each slot.
    slots: Vec<VarId>,
    /// The slots that are bound around.
    scope: Vec<u8>,
    /// For each variable the slots around it on the left side, once it has been seen.
    around: Vec<Option<u8>>,
    /// For each variable the slots that are around it wherever it stands.
    allowed: Vec<u8>,
    is_left: bool,
}

impl Compiler<'_> {
    fn type_of_var(&mut self, var: VarId) -> TypeId {
        (self.translate)(&self.store.types, self.store.var_type(var))
    }

    fn pattern(&mut self, expr: ExprId, depth: usize) -> Result<Pattern, RuleError> {
        if depth > DEEPEST {
            return Err(RuleError::TooDeep);
        }
        let id = expr.index();
        let kind = match self.store.node(expr) {
            node @ (Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_)) => PatternKind::Constant(node),
            Node::Var(var) => self.variable(var)?,
            node => PatternKind::Step(self.step(expr, node, depth)?),
        };
        Ok(Pattern { id, kind })
    }

    fn variable(&mut self, var: VarId) -> Result<PatternKind, RuleError> {
        let Some(number) = self.vars.iter().position(|own| *own == var) else {
            let slot = self.slots.iter().position(|bound| *bound == var).unwrap_or(0);
            return Ok(PatternKind::Bound(slot as u8));
        };
        let scope = self.scope.iter().fold(0u8, |mask, slot| mask | 1 << slot);
        if self.is_left {
            self.around[number] = Some(self.around[number].unwrap_or(0) | scope);
        } else if self.around[number].is_none() {
            return Err(RuleError::UnboundVariable(self.store.var_name(var).to_owned()));
        }
        self.allowed[number] &= scope;
        Ok(PatternKind::Var(number as u8))
    }

    fn step(&mut self, expr: ExprId, node: Node, depth: usize) -> Result<Step, RuleError> {
        let head = head(node)?;
        let mut parts = self.store.children(expr);
        let mut binds = None;
        if let (Some(var), Some(body)) = (self.store.bound_by(expr), parts.last_mut()) {
            let (slot, known) = self.slot(var)?;
            let known = self.store.var(known);
            *body = self.store.substitute(*body, var, known);
            binds = Some((slot, self.type_of_var(var)));
        }
        let last = parts.len().saturating_sub(1);
        let mut compiled = vec![];
        for (number, part) in parts.into_iter().enumerate() {
            let opens = binds.filter(|_| number == last);
            self.scope.extend(opens.map(|(slot, _)| slot));
            compiled.push(self.pattern(part, depth + 1)?);
            if opens.is_some() {
                self.scope.pop();
            }
        }
        let own = self.store.ty(expr);
        let all = self.store.children(expr).into_iter().map(|part| self.store.ty(part)).chain([own]);
        let is_certain = !all.into_iter().any(|ty| mentions_any(&self.store.types, ty));
        let ty = is_certain.then(|| (self.translate)(&self.store.types, own));
        Ok(Step { head, binds, parts: compiled, ty })
    }

    /// The slot of a bound variable, and the variable that stands for it: on the right side that of the same name on the left.
    fn slot(&mut self, var: VarId) -> Result<(u8, VarId), RuleError> {
        let name = self.store.var_name(var);
        let found = self.slots.iter().position(|other| self.store.var_name(*other) == name);
        if let (Some(_), true) = (found, self.is_left) {
            return Err(RuleError::BoundTwice(name.to_owned()));
        }
        let slot = found.unwrap_or(self.slots.len());
        if found.is_none() {
            self.slots.push(var);
        }
        if slot >= MOST_SLOTS { Err(RuleError::TooManyBinders) } else { Ok((slot as u8, self.slots[slot])) }
    }
}

fn head(node: Node) -> Result<Head, RuleError> {
    Ok(match node {
        Node::Tuple(_) => Head::Tuple,
        Node::Get(field, _) => Head::Get(field),
        Node::Let(..) => Head::Let,
        Node::If(..) => Head::If,
        Node::Assert(..) => Head::Assert,
        Node::Lam(..) => Head::Lam,
        Node::Call(fun, _) => Head::Call(fun),
        Node::Prim(prim @ (Prim::Print | Prim::Trace | Prim::Accumulate | Prim::AddTo), _) => {
            return Err(RuleError::Effect(prim.name()));
        }
        Node::Prim(prim, _) => Head::Prim(prim),
        Node::Construct(data, constructor, _) => Head::Construct(data, constructor),
        Node::Match(..) => Head::Match,
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => {
            unreachable!("these are no steps")
        }
    })
}

fn mentions_any(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Any => true,
        Type::Tuple(list) => types.list(list).iter().any(|field| mentions_any(types, *field)),
        Type::Tensor(_, element) => mentions_any(types, element),
        Type::Lam(from, to) | Type::LinearMap(from, to) => mentions_any(types, from) || mentions_any(types, to),
        _ => false,
    }
}

/// Whether a type is what a pattern asks for: `Any` stands for every type.
pub(super) fn fits(types: &Types, pattern: TypeId, ty: TypeId) -> bool {
    if pattern == ty || pattern == TypeId::ANY {
        return true;
    }
    match (types.get(pattern), types.get(ty)) {
        (Type::Tuple(a), Type::Tuple(b)) => {
            let (a, b) = (types.list(a), types.list(b));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| fits(types, *a, *b))
        }
        (Type::Tensor(m, a), Type::Tensor(n, b)) => m == n && fits(types, a, b),
        (Type::Lam(a, b), Type::Lam(c, d)) | (Type::LinearMap(a, b), Type::LinearMap(c, d)) => {
            fits(types, a, c) && fits(types, b, d)
        }
        _ => false,
    }
}
