//! `labrys repl`: forms and expressions, one after another.

use crate::error::CliError;
use crate::ks::{self, Bits};
use crate::output;
use clap::Args;
use labrys_compiler::check::State;
use labrys_compiler::interpret::value::show;
use labrys_compiler::interpret::{Interpreter, Options};
use labrys_compiler::syntax::{self, Tree};
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
            Ok(Outcome::End) => break,
            Ok(Outcome::Text(text)) => output::to_stdout(|out| out.write_all(text.as_bytes()))?,
            Err(text) => _ = writeln!(std::io::stderr(), "{}", output::printable(&text)),
        }
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
}

impl Session {
    fn start(args: &ReplArgs) -> Result<Self, CliError> {
        let sources = ks::read(&args.files)?;
        let mut state = State::default();
        for file in sources.ids() {
            let tree = syntax::parse(file, &sources.file(file).text).map_err(|error| ks::wrong(&[error], &sources))?;
            let errors = state.add(&sources, &tree);
            if !errors.is_empty() {
                return Err(ks::wrong(&errors, &sources));
            }
        }
        state.allow_redefinition();
        let options = Options { width: args.float.into(), ..Options::default() };
        Ok(Self { sources, state, options, inputs: 0 })
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
        let mut out = vec![];
        for root in &tree.roots {
            if self.state.is_form(&self.sources, tree, *root) {
                self.state.add_form(&self.sources, tree, *root).map_err(|error| self.show(&error))?;
                continue;
            }
            let expr = self.state.expression(&self.sources, tree, *root).map_err(|error| self.show(&error))?;
            let program = &mut self.state.program;
            if type_only {
                out.extend(format!("{}\n", program.store.show_type(program.store.ty(expr))).into_bytes());
                continue;
            }
            derive::complete(program).map_err(|error| self.show(&error))?;
            let value = Interpreter::new(&self.state.program, self.options, &mut out).evaluate(expr);
            let value = value.map_err(|error| self.show(&error))?;
            let store = &self.state.program.store;
            out.extend(format!("{}\n", show(store, &value, store.ty(expr))).into_bytes());
        }
        Ok(Outcome::Text(String::from_utf8_lossy(&out).into_owned()))
    }
}

/// Whether more input could mend it.
fn is_open(error: &ErrorKind) -> bool {
    matches!(error, ErrorKind::Unclosed(_) | ErrorKind::UnclosedString | ErrorKind::UnclosedComment)
}
