//! Programs in Python and F#: what they become, what they print, and whether their derivatives are right.

mod common;

use common::{Case, cases, messages};
use labrys_compiler::check::State;
use labrys_compiler::check_grad::{Settings, check, tolerances};
use labrys_compiler::interpret::{Interpreter, Options, Value, Width};
use labrys_compiler::syntax::format::format;
use labrys_compiler::syntax::parse;
use labrys_compiler::{Error, Sources, compile, derive};
use labrys_search::Seed;

/// What a program prints.
fn printed(case: &Case) -> Result<String, String> {
    let sources = case.sources()?;
    let program = compile(&sources).map_err(|errors| messages(&errors, &sources))?;
    let mut output = vec![];
    let result = Interpreter::new(&program, Options::default(), &mut output).run_main();
    result.map_err(|error| messages(&[error], &sources))?;
    Ok(String::from_utf8(output).unwrap())
}

#[test]
fn every_program_prints_what_it_should() {
    let all = cases("tests/programs");
    assert!(all.len() >= 5);
    let mut wrong = vec![];
    for case in &all {
        let expected = case.lines(">").join("\n");
        match printed(case) {
            Ok(output) if output.trim_end() == expected => {}
            Ok(output) => wrong.push(format!("{}:\nexpected {expected}\nfound    {output}", case.name)),
            Err(message) => wrong.push(format!("{}: {message}\n{}", case.name, case.translation().unwrap_or_default())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn translations() {
    for case in cases("tests/programs") {
        let text = case.translation().unwrap();
        let sources = Sources::with("x.ks", text.as_str()).unwrap();
        assert_eq!(format(&sources, sources.ids().last().unwrap()).unwrap(), text, "{} is formatted", case.name);
        insta::assert_snapshot!(case.name.replace('.', "_"), text);
    }
}

/// `f --at "expr" --range 1:2`
struct Check<'a> {
    function: &'a str,
    at: Option<&'a str>,
    range: (f64, f64),
}

impl<'a> Check<'a> {
    fn parse(line: &'a str) -> Self {
        let after = |flag: &str| line.split_once(flag).map(|(_, rest)| rest);
        let range = after("--range ").map_or("-1:1", |rest| rest.split(' ').next().unwrap());
        let (low, high) = range.split_once(':').unwrap();
        Self {
            function: line.split(' ').next().unwrap(),
            at: after("--at \"").and_then(|rest| rest.rsplit_once('"')).map(|(at, _)| at),
            range: (low.parse().unwrap(), high.parse().unwrap()),
        }
    }

    /// The largest differences between the modes, and of finite differences from them.
    fn errors(&self, case: &Case) -> Result<(f64, f64), Error> {
        let mut sources = case.sources().unwrap();
        let mut state = State::default();
        for file in sources.ids().collect::<Vec<_>>() {
            let tree = parse(file, &sources.file(file).text).unwrap();
            assert_eq!(state.add(&sources, &tree), [], "{}", case.name);
        }
        let parsed = |sources: &mut Sources, text: &str| {
            let file = sources.add("test", text).unwrap();
            let tree = parse(file, text).unwrap();
            (tree.roots[0], tree)
        };
        let (root, tree) = parsed(&mut sources, self.function);
        let (fun, span) = (state.function(&sources, &tree, root)?, tree.get(root).span);
        let at: Option<Value> = match self.at {
            Some(text) => {
                let (root, tree) = parsed(&mut sources, text);
                let expr = state.expression(&sources, &tree, root)?;
                derive::complete_expression(&mut state.program, expr)?;
                Some(Interpreter::new(&state.program, Options::default(), &mut std::io::sink()).evaluate(expr)?)
            }
            None => None,
        };
        let settings = Settings { samples: 3, size: 3, range: self.range, seed: Seed(1), width: Width::Bits64 };
        let samples = check(&mut state.program, fun, at.as_ref(), &settings, span)?;
        let worst = |of: &dyn Fn(usize) -> f64| (0..samples.len()).map(of).fold(0.0, f64::max);
        Ok((worst(&|n| samples[n].between_modes()), worst(&|n| samples[n].from_differences())))
    }
}

#[test]
fn derivatives_are_right() {
    let (modes, differences) = tolerances(Width::Bits64);
    let mut checked = 0;
    for case in cases("tests/programs") {
        for line in case.lines("=") {
            let errors = Check::parse(line).errors(&case);
            let (between, from) = errors.unwrap_or_else(|error| panic!("{} {line}: {error}", case.name));
            assert!(between <= modes && from <= differences, "{} {line}: {between} {from}", case.name);
            checked += 1;
        }
    }
    assert!(checked > 15);
}
