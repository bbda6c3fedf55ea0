//! Every rule, in its class, against the interpreter: on expressions that look like its left side, and in random sequences.
//!
//! `LABRYS_FUZZ_PROGRAMS=10000` sets how many programs are tried.

mod common;

use common::generate;
use common::pair::{Pair, any, none, out_of_range};
use common::wild::{CALLED, PARAMETERS, TYPES, Wild};
use labrys_compiler::ir::{ExprId, Program};
use labrys_compiler::rewrite::compare::Verdict;
use labrys_compiler::rewrite::{Class, Mode, Rewriter, RuleSet, Settings};
use labrys_compiler::syntax::{self, SexpId};
use labrys_compiler::{ErrorKind, Sources, compile};
use std::collections::BTreeMap;
use std::path::Path;

fn cases() -> usize {
    std::env::var("LABRYS_FUZZ_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(40)
}

fn mode_of(class: Class) -> Mode {
    match class {
        Class::Exact => Mode::Strict,
        Class::Real => Mode::Real,
        Class::Unsafe => Mode::Fast,
    }
}

/// A rule of the files, as text.
struct Written {
    name: String,
    /// Variables with their types.
    vars: BTreeMap<String, String>,
    guarded: Vec<String>,
    lhs: SexpId,
}

/// The rules of a file.
fn written(sources: &Sources, tree: &syntax::Tree) -> Vec<Written> {
    let text = |id: SexpId| sources.text(tree.get(id).span).to_owned();
    let rule = |root: &SexpId| {
        let parts = tree.parts(*root);
        let params = tree.parts(parts[2]);
        let params = if params.first().is_some_and(|first| tree.parts(*first).is_empty()) {
            vec![parts[2]]
        } else {
            params.to_vec()
        };
        let var = |param: &SexpId| {
            let words = tree.parts(*param);
            let ty: Vec<String> = words[2..].iter().map(|id| text(*id)).collect();
            let ty = if ty.len() == 1 { ty[0].clone() } else { format!("({})", ty.join(" ")) };
            (text(words[0]), ty)
        };
        let is_guard = |option: &&SexpId| tree.parts(**option).first().is_some_and(|test| text(*test) != "covered");
        let guards = parts[5..].iter().filter(is_guard);
        Written {
            name: text(parts[1]).trim_matches('"').to_owned(),
            vars: params.iter().map(var).collect(),
            guarded: guards.map(|guard| text(tree.parts(*guard)[1])).collect(),
            lhs: parts[3],
        }
    };
    tree.roots.iter().map(rule).collect()
}

/// Makes an expression that looks like the left side of a rule.
struct Instance<'a> {
    sources: &'a Sources,
    tree: &'a syntax::Tree,
    rule: &'a Written,
    wild: Wild,
    any: &'static str,
    made: BTreeMap<String, String>,
}

impl Instance<'_> {
    fn text(&mut self, id: SexpId) -> String {
        let here = self.sources.text(self.tree.get(id).span).to_owned();
        let parts = self.tree.parts(id).to_vec();
        if parts.is_empty() {
            return self.leaf(here);
        }
        let head = self.sources.text(self.tree.get(parts[0]).span);
        let binder = self.tree.parts(*parts.get(1).unwrap_or(&id)).to_vec();
        match head {
            "lam" => {
                let word = |id: SexpId| self.sources.text(self.tree.get(id).span);
                let name = word(binder[0]).to_owned();
                let ty = word(*binder.last().unwrap()).replace("Any", self.any);
                self.wild.scope.push((name.clone(), ty.clone()));
                let body = self.text(parts[2]);
                self.wild.scope.pop();
                format!("(lam ({name} : {ty}) {body})")
            }
            "let" => {
                let name = self.sources.text(self.tree.get(binder[0]).span).to_owned();
                let value = self.text(binder[1]);
                format!("(let ({name} {value}) {})", self.text(parts[2]))
            }
            _ => {
                let parts: Vec<String> = parts.into_iter().map(|part| self.text(part)).collect();
                format!("({})", parts.join(" "))
            }
        }
    }

    fn leaf(&mut self, here: String) -> String {
        let Some(ty) = self.rule.vars.get(&here) else { return here };
        if let Some(made) = self.made.get(&here) {
            return made.clone();
        }
        let ty = ty.replace("Any", self.any);
        let fuel = self.wild.below(3);
        let made = if self.rule.guarded.contains(&here) && self.wild.below(4) > 0 {
            self.wild.known(&ty)
        } else if ty == "(Tuple Integer Integer)" {
            format!("(tuple {} {})", self.wild.known("Integer"), self.wild.expr("Integer", fuel))
        } else if ty.starts_with("(Vec") && ty != "(Vec Float)" {
            let element = ty.trim_start_matches("(Vec ").trim_end_matches(')').to_owned();
            let element = if element.contains('(') { format!("{element})") } else { element };
            format!("(build {} (lam (q : Integer) {}))", self.wild.known("Integer"), self.wild.expr(&element, fuel))
        } else {
            self.wild.expr(&ty, fuel)
        };
        self.made.insert(here, made.clone());
        made
    }
}

/// How rules are used, and which errors may be lost then.
type Use = (Settings, fn(&ErrorKind) -> bool);

fn uses(mode: Mode) -> [Use; 3] {
    let checked = Settings { mode, ..Settings::default() };
    let unchecked = Settings { checks_bounds: false, ..checked };
    [(checked, none), (unchecked, out_of_range), (Settings { mode: Mode::Fast, ..checked }, any)]
}

/// Applies a rule wherever it applies in a value and compares, by the standards of its class. Says how often that told something, or
/// what is wrong.
fn try_rule(value: &str, rule: &str, class: Class, ((settings, is_lost), seed): (Use, u64)) -> Result<usize, String> {
    let text = format!("{CALLED}(def f Integer {PARAMETERS} (let (r {value}) 0))");
    let Ok(program) = compile(&Sources::with("f.ks", text).unwrap()) else { return Ok(0) };
    let mut pair = Pair::of_value(program);
    let rules = RuleSet::standard(&mut pair.program, settings).filtered(|other| other.name == rule);
    let mut rewriter = Rewriter::new(&rules);
    let (_, start) = rewriter.begin(&mut pair.program, pair.param, pair.body);
    let mut found = vec![];
    rewriter.actions(&mut pair.program, start, &mut found);
    let mut told = 0;
    for (action, result) in found {
        let verdicts = pair.compare(result, mode_of(class), is_lost, seed);
        let shown = pair.program.store.show(result);
        if verdicts.contains(&Verdict::Different) {
            return Err(format!("{rule} {action:?} of\n{value}\nwith {settings:?}:\n{shown}\n"));
        }
        told += usize::from(verdicts.contains(&Verdict::Same));
    }
    Ok(told)
}

/// Tries a rule on an expression for each seed.
fn try_all(rule: &str, name: &str, mut value: impl FnMut(u64) -> String) -> Result<(), String> {
    let (class, mut told) = (class_of(rule), 0);
    for seed in 0..cases() as u64 {
        let value = value(seed);
        for used in uses(mode_of(class)) {
            told += try_rule(&value, rule, class, (used, seed))?;
        }
    }
    if told == 0 { Err(format!("{name} was never seen to do anything\n")) } else { Ok(()) }
}

/// Rules that are in the class of a rule must not be tried as something looser.
fn class_of(name: &str) -> Class {
    let mut program = Program::default();
    let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
    rules.rules().find(|(_, rule)| rule.name == name).unwrap_or_else(|| panic!("{name} is missing")).1.class
}

fn files() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rules");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "ks")).collect();
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn rules_of_the_files_hold_in_their_class() {
    let mut wrong = vec![];
    for (name, text) in files() {
        let sources = Sources::with(&name, text.as_str()).unwrap();
        let tree = syntax::parse(sources.ids().next_back().unwrap(), &text).unwrap();
        for rule in &written(&sources, &tree) {
            let is_tame = class_of(&rule.name) == Class::Unsafe;
            let value = |seed| {
                let any = TYPES[seed as usize % TYPES.len()];
                let (sources, tree, mut wild) = (&sources, &tree, Wild::new(seed));
                wild.is_tame = is_tame;
                Instance { sources, tree, rule, wild, any, made: BTreeMap::new() }.text(rule.lhs)
            };
            wrong.extend(try_all(&rule.name, &rule.name, value).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Expressions that rules in Rust look for; F, I, B, V, T stand for expressions of a type.
const BUILTIN: &[(&str, &[&str])] = &[
    ("new_bind", &["(add F (mul F F))", "(if B F (exp F))", "(index I (map (lam (q : Float) (add q F)) V))"]),
    (
        "lift_bind",
        &[
            "(mul F (let (a F) (add a F)))",
            "(let (a F) (let (b F) (add a b)))",
            "(let (a (let (b F) (mul b b))) (sub a F))",
            "(if B (let (a F) a) F)",
            "(assert (let (a B) a) F)",
            "(tuple F (let (a F) (let (b F) (mul a b))))",
            "(build (let (a I) (add a 1)) (lam (k : Integer) (let (b F) (add b F))))",
        ],
    ),
    (
        "cse_bind",
        &[
            "(let (a (exp x)) (let (b (exp x)) (sub a (mul b F))))",
            "(let (a (index i v)) (let (b (index i v)) (mul a b)))",
        ],
    ),
    (
        "inline_let",
        &[
            "(let (a F) (add a (mul a F)))",
            "(let (a V) (build (size a) (lam (k : Integer) (index k a))))",
            "(let (a F) (let (b F) (mul a b)))",
        ],
    ),
    (
        "lift_if",
        &[
            "(add F (if B F F))",
            "(let (a (if B F F)) (mul a a))",
            "(let (a F) (if B a F))",
            "(if (if B B B) F F)",
            "(if B (if B F F) F)",
            "(assert B (if B F F))",
        ],
    ),
    ("select_of_tuple", &["(get$1$2 (tuple F F))", "(get$2$3 (tuple I F V))"]),
    ("add_tuples", &["(ts_add (tuple F F) (tuple F F))", "(ts_add (tuple F V) (tuple F V))"]),
    ("mul_tuple_scalar", &["(ts_scale F (tuple F V))", "(ts_scale F (tuple F F))"]),
    (
        "sumbuild_of_tuple",
        &["(sumbuild N (lam (k : Integer) (tuple F (index k v))))", "(sumbuild N (lam (k : Integer) (tuple F I)))"],
    ),
    (
        "build_of_build",
        &[
            "(build (size v) (lam (k : Integer) (add F (index k (build (size v) (lam (l : Integer) (mul (index l v) F)))))))",
            "(sumbuild 3 (lam (k : Integer) (index k (build 3 (lam (l : Integer) (to_float (mul l l)))))))",
        ],
    ),
    (
        "hoist_bind",
        &[
            "(build N (lam (k : Integer) (let (a F) (add a (to_float k)))))",
            "(map (lam (q : Float) (let (a F) (mul a q))) V)",
            "(fold (lam (s : Tuple Float Float) (let (a F) (add a (get$1$2 s)))) F V)",
        ],
    ),
    ("hoist_if", &["(build N (lam (k : Integer) (if B F (to_float k))))", "(map (lam (q : Float) (if B q F)) V)"]),
    (
        "fold_of_map",
        &[
            "(fold (lam (s : Tuple Float Float) (add (get$1$2 s) (get$2$2 s))) F (map (lam (q : Float) (mul q F)) V))",
            "(fold (lam (s : Tuple Float Integer) (mul (get$1$2 s) F)) F (map (lam (q : Float) I) V))",
        ],
    ),
    ("inline_call", &["(g F F)", "(add (g F F) F)"]),
    ("cprop_add", &["(add 1.5 2.25)", "(add 3 -4)"]),
    ("cprop_sub", &["(sub 1.5 -0.0)", "(sub 3 -4)"]),
    ("cprop_mul", &["(mul 1.5 0.0)", "(mul 3 -4)"]),
    ("cprop_div", &["(div 1.5 0.0)", "(div -7 2)"]),
    ("cprop_neg", &["(neg 0.0)", "(neg 3)"]),
    ("cprop_to_float", &["(to_float 3)"]),
    ("cprop_eq", &["(eq 0.0 -0.0)", "(ne 3 4)", "(eq true false)"]),
    ("cprop_gt", &["(gt 1.0 0.5)", "(lt 3 3)"]),
    ("cprop_gteq", &["(gte 1.0 1e999)", "(lte 3 3)"]),
    ("cprop_and_or", &["(and true false)", "(or true false)"]),
    ("cprop_exp", &["(exp 1.5)"]),
    ("cprop_log", &["(log 1.5)"]),
];

/// A pattern with random expressions in it.
fn fill(pattern: &str, wild: &mut Wild) -> String {
    let mut out = String::new();
    for (number, word) in pattern.split_inclusive([' ', '(', ')']).enumerate() {
        let (name, rest) = word.split_at(word.trim_end_matches([' ', '(', ')']).len());
        let fuel = wild.below(3);
        let is_type = out.ends_with(": ") || out.ends_with("Tuple ") || out.ends_with("Float ");
        let made = match name {
            _ if is_type || number == 0 => name.to_owned(),
            "F" => wild.expr("Float", fuel),
            "I" => wild.expr("Integer", fuel),
            "B" => wild.expr("Bool", fuel),
            "V" => wild.expr("(Vec Float)", fuel),
            "N" => wild.known("Integer"),
            _ => name.to_owned(),
        };
        out += &made;
        out += rest;
    }
    out
}

#[test]
fn rules_in_rust_hold_in_their_class() {
    let tried = BUILTIN.iter().flat_map(|(rule, patterns)| patterns.iter().map(move |pattern| (rule, pattern)));
    let wrong: Vec<String> = tried
        .filter_map(|(rule, pattern)| {
            try_all(rule, &format!("{rule} of {pattern}"), |seed| fill(pattern, &mut Wild::new(seed))).err()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every rule is tried above.
#[test]
fn no_rule_is_left_out() {
    let mut program = Program::default();
    let rules = RuleSet::standard(&mut program, Settings { mode: Mode::Fast, ..Settings::default() });
    let mut names: Vec<&str> = rules.rules().map(|(_, rule)| rule.name.as_str()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "names are unique");
    let in_files: usize = files()
        .iter()
        .map(|(name, text)| {
            let sources = Sources::with(name, text.as_str()).unwrap();
            syntax::parse(sources.ids().next_back().unwrap(), text).unwrap().roots.len()
        })
        .sum();
    assert_eq!(count, in_files + BUILTIN.len());
}

/// Strict mode changes no bit, whatever is done in whatever order, to programs that fail, print and compute with NaN.
#[test]
fn strict_mode_changes_no_bit() {
    for seed in 0..cases() as u64 {
        let mut wild = Wild::new(seed.wrapping_mul(31) + 7);
        let ty = TYPES[wild.below(TYPES.len())];
        let value = wild.expr(ty, 5);
        let text = format!("{CALLED}(def f {ty} {PARAMETERS} {value})");
        let program = compile(&Sources::with("f.ks", text.clone()).unwrap()).unwrap();
        walk(Pair::last(program), uses(Mode::Strict)[0], seed, &text);
    }
}

/// The same for programs with data types, recursion, tensors of tensors and folds, and for their gradients, which accumulate in place.
#[test]
fn strict_mode_changes_no_bit_of_larger_programs() {
    for seed in 0..cases() as u64 / 2 {
        let mut wild = Wild::new(seed);
        let choices: Vec<u32> = (0..300).map(|_| wild.below(1 << 20) as u32).collect();
        let generated = generate::generate(&choices);
        let functions = generated.text.split("(def main").next().unwrap().to_owned();
        let last = &generated.functions.last().unwrap().name;
        for text in [functions.clone(), format!("{functions}(gdef rev {last})")] {
            let program = compile(&Sources::with("f.ks", text.clone()).unwrap()).unwrap();
            walk(Pair::last(program), uses(Mode::Strict)[0], seed, &text);
        }
    }
}

/// What fails may not fail any more; what did not must not, with the exact rules at least, which keep what decides.
#[test]
fn no_mode_adds_failures() {
    for seed in 0..cases() as u64 {
        let mut wild = Wild::new(seed.wrapping_mul(13) + 5);
        let ty = TYPES[wild.below(TYPES.len())];
        let text = format!("{CALLED}(def f {ty} {PARAMETERS} {})", wild.expr(ty, 5));
        let used = uses(Mode::Strict)[1 + seed as usize % 2];
        walk(Pair::last(compile(&Sources::with("f.ks", text.clone()).unwrap()).unwrap()), used, seed, &text);
    }
}

/// Takes ten random steps by exact rules and compares.
fn walk(mut pair: Pair, (settings, is_lost): Use, seed: u64, text: &str) {
    let rules = RuleSet::standard(&mut pair.program, settings).filtered(|rule| rule.class == Class::Exact);
    let mut rewriter = Rewriter::new(&rules);
    let (param, mut state) = rewriter.begin(&mut pair.program, pair.param, pair.body);
    assert_eq!(param, pair.param);
    let mut wild = Wild::new(seed);
    let mut taken = vec![];
    for _ in 0..10 {
        let mut found = vec![];
        rewriter.actions(&mut pair.program, state, &mut found);
        // Rules that introduce lets have the most places; all rules shall have their turn.
        let mut by_rule: BTreeMap<&str, Vec<ExprId>> = BTreeMap::new();
        for (action, expr) in &found {
            by_rule.entry(&rules.rule(action.rule).name).or_default().push(*expr);
        }
        let Some((rule, choices)) = by_rule.iter().nth(wild.below(by_rule.len().max(1))) else { break };
        state = choices[wild.below(choices.len())];
        taken.push((*rule).to_owned());
    }
    let verdicts = pair.compare(state, Mode::Strict, is_lost, seed);
    let shown = pair.program.store.show(state);
    assert_eq!(pair.program.validate(), Ok(()));
    assert!(!verdicts.contains(&Verdict::Different), "{settings:?}: {taken:?} of\n{text}\ngave\n{shown}");
}

/// A rule that is wrong is found out.
#[test]
fn a_wrong_rule_is_caught() {
    let text = "(rule \"wrong\" (a : Float) (add a 0.0) a exact)
        (def f Float (x : Float) (add x 0.0))";
    let mut pair = Pair::last(compile(&Sources::with("f.ks", text).unwrap()).unwrap());
    let rules = RuleSet::with_rules_of(&mut pair.program, Settings::default()).unwrap();
    let rules = rules.filtered(|rule| rule.name == "wrong");
    let mut rewriter = Rewriter::new(&rules);
    let (_, start) = rewriter.begin(&mut pair.program, pair.param, pair.body);
    let mut found = vec![];
    rewriter.actions(&mut pair.program, start, &mut found);
    let (_, result) = found[0];
    let is_caught = (0..20).any(|seed| pair.compare(result, Mode::Strict, none, seed).contains(&Verdict::Different));
    assert!(is_caught, "-0.0 + 0.0 is 0.0");
}
