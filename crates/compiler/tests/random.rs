//! What must hold of all programs, on random ones.

mod common;

use common::generate::programs;
use common::run;
use labrys_compiler::interpret::Options;
use labrys_compiler::ir::{Body, Def, Node};
use labrys_compiler::syntax::format::format;
use labrys_compiler::{Sources, compile};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn programs_run_and_survive_printing_and_formatting(program in programs()) {
        let expected = run("random.ks", &program.text, Options::default()).unwrap();
        prop_assert_eq!(expected.lines().count(), program.functions.len());
        let sources = Sources::with("random.ks", program.text.as_str()).unwrap();
        let shown = compile(&sources).unwrap().show();
        prop_assert_eq!(&run("shown.ks", &shown, Options::default()).unwrap(), &expected, "{}", shown);
        let formatted = format(&sources, sources.ids().last().unwrap()).unwrap();
        prop_assert_eq!(&run("formatted.ks", &formatted, Options::default()).unwrap(), &expected);
        let again = Sources::with("formatted.ks", formatted.as_str()).unwrap();
        prop_assert_eq!(format(&again, again.ids().last().unwrap()).unwrap(), formatted);
    }

    /// A let is its body with the value in the place of the variable; binders may be renamed.
    #[test]
    fn substitution_and_renaming_keep_the_meaning(program in programs()) {
        let expected = run("random.ks", &program.text, Options::default()).unwrap();
        let sources = Sources::with("random.ks", program.text.as_str()).unwrap();
        let mut changed = compile(&sources).unwrap();
        let defs: Vec<Def> = changed.defs().copied().filter(|def| def.span.file != Sources::PRELUDE).collect();
        for def in defs {
            let Body::Expr(param, body) = def.body else { continue };
            let renamed = changed.store.refresh(body);
            prop_assert!(changed.store.alpha_equal(body, renamed));
            let mut inlined = renamed;
            while let Node::Let(var, value, rest) = changed.store.node(inlined) {
                inlined = changed.store.substitute(rest, var, value);
            }
            changed.define(Def { body: Body::Expr(param, inlined), ..def });
        }
        prop_assert_eq!(changed.validate(), Ok(()));
        let shown = changed.show();
        prop_assert_eq!(run("changed.ks", &shown, Options::default()).unwrap(), expected, "{}", shown);
    }
}
