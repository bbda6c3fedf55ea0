//! Certificates: what was done to a program, step by step, so that anybody can do it again.
//!
//! ```text
//! ;! labrys certificate 1
//! ;! fp strict, 64 bits, bounds checked
//! ;! def [f (Tuple Float Float)]
//! ;! mul_one@0.1
//! ;! lift_bind@.#2
//! ```
//!
//! The lines are comments of `.ks`, so an optimised program carries its certificate. A step is the name of a rule, the numbers of the
//! parts on the way from the body of the function to the place (`.` for the body itself), and after `#` which of several ways, if it
//! is not the first.

use super::place::{read_path, show_path};
use super::rule::{Mode, Settings};
use crate::interpret::Width;
use crate::ir::print::show_string;
use std::fmt;

/// What every line of a certificate starts with.
const MARK: &str = ";! ";
const TITLE: &str = "labrys certificate 1";

/// What was done to a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// What may differ.
    pub settings: Settings,
    /// The functions that something was done to.
    pub functions: Vec<Steps>,
}

/// What was done to the body of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Its full name, as in `[f Float]`.
    pub function: String,
    /// In this order.
    pub steps: Vec<Step>,
}

/// One step, in words that do not depend on how rules and places are numbered inside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The name of the rule.
    pub rule: String,
    /// The numbers of the parts on the way to the place.
    pub path: Vec<usize>,
    /// Which of several ways, from 0.
    pub choice: u16,
}

/// A certificate that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: expected {expected}")]
pub struct CertificateError {
    /// The line of the text, from 1.
    pub line: usize,
    /// What should stand there.
    pub expected: &'static str,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain =
            !self.rule.is_empty() && !self.rule.contains(|c: char| c.is_whitespace() || c == '"' || c == '@');
        let rule = if is_plain { self.rule.clone() } else { show_string(&self.rule) };
        write!(f, "{rule}@{}", show_path(&self.path))?;
        if self.choice > 0 { write!(f, "#{}", self.choice) } else { Ok(()) }
    }
}

impl Step {
    /// A step as it is written.
    pub fn read(text: &str) -> Option<Self> {
        let (rule, place) = text.rsplit_once('@')?;
        let (path, choice) = place.split_once('#').unwrap_or((place, "0"));
        Some(Self { rule: read_name(rule)?, path: read_path(path)?, choice: choice.parse().ok()? })
    }
}

/// A name, in quotes where it needs them.
fn read_name(text: &str) -> Option<String> {
    let Some(quoted) = text.strip_prefix('"') else { return (!text.is_empty()).then(|| text.to_owned()) };
    let mut name = String::new();
    let mut chars = quoted.strip_suffix('"')?.chars();
    while let Some(c) = chars.next() {
        name.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            c => c,
        });
    }
    Some(name)
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { mode, width, checks_bounds } = self.settings;
        let bits = if width == Width::Bits32 { 32 } else { 64 };
        let bounds = if checks_bounds { "bounds checked" } else { "bounds unchecked" };
        writeln!(f, "{MARK}{TITLE}")?;
        writeln!(f, "{MARK}fp {}, {bits} bits, {bounds}", mode.keyword())?;
        for function in &self.functions {
            writeln!(f, "{MARK}def {}", function.function)?;
            for step in &function.steps {
                writeln!(f, "{MARK}{step}")?;
            }
        }
        Ok(())
    }
}

impl Certificate {
    /// The certificate in a text: of a program that carries it, or on its own. None if there is none.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn read(text: &str) -> Result<Option<Self>, CertificateError> {
        let lines = text.lines().enumerate().filter_map(|(number, line)| Some((number + 1, line.strip_prefix(MARK)?)));
        let mut lines = lines.skip_while(|(_, line)| *line != TITLE).skip(1);
        let Some((line, settings)) = lines.next() else { return Ok(None) };
        let wrong = |line, expected| CertificateError { line, expected };
        let settings = read_settings(settings)
            .ok_or_else(|| wrong(line, "what may differ, such as 'fp strict, 64 bits, bounds checked'"))?;
        let mut functions: Vec<Steps> = vec![];
        for (number, line) in lines {
            match (line.strip_prefix("def "), functions.last_mut()) {
                (Some(name), _) => functions.push(Steps { function: name.to_owned(), steps: vec![] }),
                (None, None) => return Err(wrong(number, "the function that is changed, such as 'def [f Float]'")),
                (None, Some(function)) => {
                    let step = Step::read(line);
                    function.steps.push(step.ok_or_else(|| wrong(number, "a step such as 'mul_one@0.1'"))?);
                }
            }
        }
        Ok(Some(Self { settings, functions }))
    }
}

fn read_settings(text: &str) -> Option<Settings> {
    let [mode, bits, bounds] = text.split(", ").collect::<Vec<_>>().try_into().ok()?;
    let mode = Mode::ALL.into_iter().find(|known| Some(known.keyword()) == mode.strip_prefix("fp "))?;
    let width = match bits {
        "64 bits" => Width::Bits64,
        "32 bits" => Width::Bits32,
        _ => return None,
    };
    let checks_bounds = match bounds {
        "bounds checked" => true,
        "bounds unchecked" => false,
        _ => return None,
    };
    Some(Settings { mode, width, checks_bounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_read_back() {
        let step = |rule: &str, path: &[usize], choice| Step { rule: rule.to_owned(), path: path.to_vec(), choice };
        let certificate = Certificate {
            settings: Settings { mode: Mode::Real, width: Width::Bits32, checks_bounds: false },
            functions: vec![
                Steps {
                    function: "[f Float]".to_owned(),
                    steps: vec![step("add_zero", &[], 0), step("mul.1", &[0, 12], 3)],
                },
                Steps { function: "[rev [g (Tuple)]]".to_owned(), steps: vec![step("a @ \"b\"\n\\", &[2], 0)] },
            ],
        };
        let text = format!("(def f Float (x : Float) x)\n{certificate}");
        assert_eq!(Certificate::read(&text), Ok(Some(certificate)));
        assert_eq!(Certificate::read("; nothing\n"), Ok(None));
        let wrong =
            Certificate::read(";! labrys certificate 1\n;! fp strict, 64 bits, bounds checked\n;! add_zero@0\n");
        assert_eq!(wrong.unwrap_err().line, 3);
    }
}
