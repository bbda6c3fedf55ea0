//! `labrys repl`: forms and expressions, one after another.

use crate::error::CliError;
use crate::ks::{self, Bits};
use crate::output;
use clap::Args;
use labrys_compiler::check::State;
use labrys_compiler::interpret::value::show;
use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::syntax::{self, SexpId, Tree};
use labrys_compiler::{Error, ErrorKind, Sources, derive, render};
use std::io::{BufRead as _, IsTerminal as _, Write as _};

#[derive(Args, Debug)]
pub(crate) struct ReplArgs {
    /// Files to read first
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Bits of Float and Integer
    #[arg(long, value_enum, default_value = "64")]
    float: Bits,
}

const HELP: &str = "an expression is evaluated, a form such as (def f Float (x : Float) (mul x x)) is added
:type e    the type of an expression
:quit      end (so does the end of input)";

/// What came of an input.
enum Outcome {
    /// Text for stdout.
    Text(String),
    /// The input goes on in the next line.
    Incomplete,
    End,
}

pub(crate) fn run(args: &ReplArgs) -> Result<(), CliError> {
    let mut session = Session::start(args)?;
    let is_terminal = std::io::stdin().is_terminal();
    let mut input = String::new();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        if is_terminal {
            // On stderr: stdout is data.
            _ = write!(std::io::stderr(), "{}", if input.is_empty() { "ks> " } else { "..> " });
        }
        let Some(line) = lines.next() else { break };
        input += &line?;
        input.push('\n');
        match session.answer(&input) {
            Ok(Outcome::Incomplete) => continue,
            Ok(Outcome::End) => return Ok(()),
            Ok(Outcome::Text(text)) => session.out.extend(text.into_bytes()),
            Err(text) => _ = writeln!(std::io::stderr(), "{}", output::printable(&text)),
        }
        // What was printed before a mistake counts.
        let printed = std::mem::take(&mut session.out);
        output::to_stdout(|out| out.write_all(&printed))?;
        input.clear();
    }
    match input.trim().is_empty() || is_terminal {
        true => Ok(()),
        false => Err(CliError::input("the input ends within an expression")),
    }
}

struct Session {
    sources: Sources,
    state: State,
    options: Options,
    inputs: usize,
    /// What is still to be written to stdout.
    out: Vec<u8>,
}

impl Session {
    fn start(args: &ReplArgs) -> Result<Self, CliError> {
        let (sources, mut state) = ks::state(&args.files)?;
        state.allow_redefinition();
        let options = Options { width: args.float.into(), ..Options::default() };
        Ok(Self { sources, state, options, inputs: 0, out: vec![] })
    }

    fn answer(&mut self, input: &str) -> Result<Outcome, String> {
        match input.trim() {
            "" => Ok(Outcome::Text(String::new())),
            ":quit" | ":q" => Ok(Outcome::End),
            ":help" | ":h" => Ok(Outcome::Text(format!("{HELP}\n"))),
            command if command.starts_with(":type ") => self.read(&command[6..], true),
            command if command.starts_with(':') => {
                Err(format!("error: unknown command {command}\nhint: :help lists them"))
            }
            _ => self.read(input, false),
        }
    }

    fn read(&mut self, text: &str, type_only: bool) -> Result<Outcome, String> {
        self.inputs += 1;
        let file = self.sources.add(format!("input {}", self.inputs), text).map_err(|error| error.to_string())?;
        match syntax::parse(file, &self.sources.file(file).text) {
            Ok(tree) => self.evaluate(&tree, type_only),
            Err(error) if is_open(&error.kind) && !type_only => Ok(Outcome::Incomplete),
            Err(error) => Err(self.show(&error)),
        }
    }

    fn show(&self, error: &Error) -> String {
        let hint = error.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("error: {}{hint}", render::message(error, &self.sources))
    }

    fn evaluate(&mut self, tree: &Tree, type_only: bool) -> Result<Outcome, String> {
        for root in &tree.roots {
            let done = match self.state.is_form(&self.sources, tree, *root) {
                true => self.state.add_form(&self.sources, tree, *root),
                false => self.evaluate_expression(tree, *root, type_only),
            };
            done.map_err(|error| self.show(&error))?;
        }
        Ok(Outcome::Text(String::new()))
    }

    /// Works on a copy of the state: derivations that the expression needs must not outlive a redefinition.
    fn evaluate_expression(&mut self, tree: &Tree, root: SexpId, type_only: bool) -> Result<(), Error> {
        let mut state = self.state.clone();
        let expr = state.expression(&self.sources, tree, root)?;
        let text = if type_only {
            state.program.store.show_type(state.program.store.ty(expr))
        } else {
            derive::complete_expression(&mut state.program, expr)?;
            let value = Interpreter::new(&state.program, self.options, &mut self.out).evaluate(expr)?;
            show(&state.program.store, &value, state.program.store.ty(expr))
        };
        self.out.extend(format!("{text}\n").into_bytes());
        Ok(())
    }
}

/// Whether more input could mend it.
fn is_open(error: &ErrorKind) -> bool {
    matches!(error, ErrorKind::Unclosed(_) | ErrorKind::UnclosedString | ErrorKind::UnclosedComment)
}
