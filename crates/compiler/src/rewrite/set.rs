//! Sets of rules, and which of them may apply to an expression.

use super::builtin::{self, Root};
use super::pattern::{self, Head, PatternKind, RuleError};
use super::rule::{Kind, Rule, RuleId, Settings};
use crate::error::{Error, ErrorKind};
use crate::ir::{self, Node, Prim, Program, Type, TypeId, Types};
use crate::source::Sources;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The files of the rules that are data.
const FILES: &[(&str, &str)] = &[
    ("arithmetic", include_str!("../../rules/arithmetic.ks")),
    ("binding", include_str!("../../rules/binding.ks")),
    ("conditionals", include_str!("../../rules/conditionals.ks")),
    ("division", include_str!("../../rules/division.ks")),
    ("exp_log", include_str!("../../rules/exp_log.ks")),
    ("sums", include_str!("../../rules/sums.ks")),
    ("tensors", include_str!("../../rules/tensors.ks")),
];
/// Steps that are no primitives, and leaves.
const OTHER_ROOTS: usize = 10;

/// Rules for the expressions of one program. Sets that are made of one another number their rules alike.
#[derive(Clone, Debug)]
pub struct RuleSet {
    settings: Settings,
    rules: Arc<[Rule]>,
    enabled: Arc<[bool]>,
    /// The enabled rules that may apply, by what stands at the root of an expression.
    by_root: Arc<[Vec<RuleId>]>,
}

impl RuleSet {
    /// The built-in rules that the mode of the settings allows.
    pub fn standard(program: &mut Program, settings: Settings) -> Self {
        Self::of_rules(standard_rules(program), settings)
    }

    /// The built-in rules and those of the program.
    ///
    /// # Errors
    /// A rule of the program that cannot be used.
    pub fn with_rules_of(program: &mut Program, settings: Settings) -> Result<Self, Error> {
        let mut rules = standard_rules(program);
        let mut names: FxHashSet<String> = rules.iter().map(|rule| rule.name.clone()).collect();
        for rule in program.rules.clone() {
            let compiled = pattern::compile(&mut program.store, &rule, &mut |_, ty| ty);
            let compiled = compiled.map_err(|error| Error::new(rule.span, ErrorKind::Rule(error)))?;
            if rules.len() > usize::from(u16::MAX) {
                return Err(Error::new(rule.span, ErrorKind::Rule(RuleError::TooMany)));
            }
            let mut made = rule_of(rule, "program", compiled);
            let mut number = 2;
            while !names.insert(made.name.clone()) {
                made.name = format!("{}~{number}", program_name(&made.name));
                number += 1;
            }
            rules.push(made);
        }
        Ok(Self::of_rules(rules, settings))
    }

    fn of_rules(rules: Vec<Rule>, settings: Settings) -> Self {
        let enabled = rules.iter().map(|rule| settings.mode.allows(rule.class)).collect();
        Self::indexed(rules.into(), enabled, settings)
    }

    fn indexed(rules: Arc<[Rule]>, enabled: Arc<[bool]>, settings: Settings) -> Self {
        let mut by_root = vec![vec![]; OTHER_ROOTS + Prim::ALL.len()];
        for (number, rule) in rules.iter().enumerate().filter(|(number, _)| enabled[*number]) {
            for root in roots(rule) {
                by_root[root].push(RuleId(number as u16));
            }
        }
        Self { settings, rules, enabled, by_root: by_root.into() }
    }

    /// Those rules of the set that pass a test.
    #[must_use]
    pub fn filtered(&self, mut keeps: impl FnMut(&Rule) -> bool) -> Self {
        let enabled = self.rules.iter().zip(self.enabled.iter()).map(|(rule, enabled)| *enabled && keeps(rule));
        Self::indexed(self.rules.clone(), enabled.collect(), self.settings)
    }

    /// What the rules know of how the program will run.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// A rule, whether it is in the set or in the one that this was made of.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    /// The rules of the set, in order.
    pub fn rules(&self) -> impl Iterator<Item = (RuleId, &Rule)> {
        let enabled = self.rules.iter().enumerate().filter(|(number, _)| self.enabled[*number]);
        enabled.map(|(number, rule)| (RuleId(number as u16), rule))
    }

    /// The rule of a name.
    pub fn find(&self, name: &str) -> Option<RuleId> {
        self.rules().find(|(_, rule)| rule.name == name).map(|(id, _)| id)
    }

    /// Rules that may apply to an expression.
    pub(super) fn for_root(&self, node: Node) -> &[RuleId] {
        &self.by_root[root_of(node)]
    }
}

/// A name without the number that tells it from others.
fn program_name(name: &str) -> &str {
    name.rsplit_once('~').map_or(name, |(name, _)| name)
}

/// The rules of the files and those in Rust.
fn standard_rules(program: &mut Program) -> Vec<Rule> {
    let Parsed { mut store, rules: parsed } = PARSED.with(Parsed::clone);
    let mut rules = vec![];
    for (subject, rule) in parsed {
        let types = &mut program.store.types;
        let compiled = pattern::compile(&mut store, &rule, &mut |from, ty| translate(from, types, ty));
        rules.extend(compiled.map(|compiled| Rule { span: None, ..rule_of(rule, subject, compiled) }));
    }
    rules.extend(builtin::all().map(|builtin| Rule {
        name: builtin.name.to_owned(),
        class: builtin.class,
        big: builtin.big,
        subject: builtin.subject.to_owned(),
        span: None,
        kind: Kind::Builtin(builtin),
    }));
    rules
}

fn rule_of(rule: ir::Rule, subject: &str, compiled: pattern::PatternRule) -> Rule {
    let kind = Kind::Pattern(Box::new(compiled));
    Rule {
        name: rule.name,
        class: rule.class,
        big: rule.is_big,
        subject: subject.to_owned(),
        span: Some(rule.span),
        kind,
    }
}

/// The rules of the files as they are written, and their store.
pub(super) fn standard_patterns() -> (ir::Store, Vec<ir::Rule>) {
    let Parsed { store, rules } = PARSED.with(Parsed::clone);
    (store, rules.into_iter().map(|(_, rule)| rule).collect())
}

/// The rules of the files, each with its subject, and the store of their expressions.
#[derive(Clone)]
struct Parsed {
    store: ir::Store,
    rules: Vec<(&'static str, ir::Rule)>,
}

thread_local! {
    /// Read once: sets are made for each function that is optimised.
    static PARSED: Parsed = parse();
}

/// Reads the rules of the files. Mistakes in the files are left out: a test sees to
/// it that there are none.
fn parse() -> Parsed {
    let mut sources = Sources::new();
    for (name, text) in FILES {
        _ = sources.add(*name, *text);
    }
    let program = crate::check::check(&sources).unwrap_or_default();
    let subject = |rule: &ir::Rule| {
        let file = &sources.file(rule.span.file).name;
        FILES.iter().map(|(name, _)| *name).find(|name| name == file).unwrap_or_default()
    };
    let rules = program.rules.iter().map(|rule| (subject(rule), rule.clone())).collect();
    Parsed { store: program.store, rules }
}

/// A type of one store in another. Types of rules hold no sum types.
pub(super) fn translate(from: &Types, to: &mut Types, ty: TypeId) -> TypeId {
    match from.get(ty) {
        Type::Float | Type::Integer | Type::Bool | Type::String | Type::Any | Type::Data(_) => ty,
        Type::Tuple(list) => {
            let fields: Vec<TypeId> = from.list(list).iter().map(|field| translate(from, to, *field)).collect();
            to.tuple(&fields)
        }
        Type::Tensor(rank, element) => {
            let element = translate(from, to, element);
            to.tensor(rank, element)
        }
        Type::Lam(a, b) => {
            let (a, b) = (translate(from, to, a), translate(from, to, b));
            to.lam(a, b)
        }
        Type::LinearMap(a, b) => {
            let (a, b) = (translate(from, to, a), translate(from, to, b));
            to.linear_map(a, b)
        }
    }
}

/// The numbers of the roots of expressions that a rule may apply to.
fn roots(rule: &Rule) -> Vec<usize> {
    match &rule.kind {
        Kind::Pattern(pattern) => match &pattern.lhs.kind {
            PatternKind::Step(step) => vec![root_of_head(step.head)],
            _ => (0..OTHER_ROOTS + Prim::ALL.len()).collect(),
        },
        Kind::Builtin(builtin) => {
            let every_step = || (1..OTHER_ROOTS + Prim::ALL.len()).collect::<Vec<_>>();
            let number = |root: &Root| match root {
                Root::Any => every_step(),
                Root::Let => vec![root_of_head(Head::Let)],
                Root::Get => vec![root_of_head(Head::Get(0))],
                Root::Call => vec![CALL],
                Root::Prim(prim) => vec![root_of_head(Head::Prim(*prim))],
            };
            builtin.roots.iter().flat_map(number).collect()
        }
    }
}

const CALL: usize = 6;
const CONSTRUCT: usize = 8;

fn root_of_head(head: Head) -> usize {
    match head {
        Head::Tuple => 1,
        Head::Get(_) => 2,
        Head::Let => 3,
        Head::If => 4,
        Head::Assert => 5,
        Head::Call(_) => CALL,
        Head::Lam => 7,
        Head::Construct(..) => CONSTRUCT,
        Head::Match => 9,
        Head::Prim(prim) => OTHER_ROOTS + prim as usize,
    }
}

/// The number of what stands at the root of an expression; 0 for leaves.
fn root_of(node: Node) -> usize {
    match node {
        Node::Integer(_) | Node::Float(_) | Node::Bool(_) | Node::String(_) | Node::Var(_) => 0,
        Node::Tuple(_) => root_of_head(Head::Tuple),
        Node::Get(..) => root_of_head(Head::Get(0)),
        Node::Let(..) => root_of_head(Head::Let),
        Node::If(..) => root_of_head(Head::If),
        Node::Assert(..) => root_of_head(Head::Assert),
        Node::Call(..) => CALL,
        Node::Lam(..) => root_of_head(Head::Lam),
        Node::Construct(..) => CONSTRUCT,
        Node::Match(..) => root_of_head(Head::Match),
        Node::Prim(prim, _) => root_of_head(Head::Prim(prim)),
    }
}
