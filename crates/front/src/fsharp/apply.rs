//! Calls: what the functions of F#'s library stand for.

use super::Parser;
use super::expr::Application;
use crate::builtin::{Builtin, math};
use crate::error::{Mistake, Result, outside};
use crate::tree::{Call, Collect, Expr, Fold, Generator, Kind, Over, Param, Pattern, Sequence};
use labrys_compiler::Span;

/// Modules whose functions are known.
pub(super) fn is_module(name: &str) -> bool {
    ["Array", "Array2D", "Seq", "Vector", "Matrix", "DenseVector", "DenseMatrix", "Math", "System", "System.Math"]
        .contains(&name)
}

/// Properties of arrays, and methods without arguments.
pub(super) fn property(name: &str) -> Option<Builtin> {
    Some(match name {
        "Length" | "Count" => Builtin::Length,
        "RowCount" => Builtin::Extent(0),
        "ColumnCount" => Builtin::Extent(1),
        "Transpose" => Builtin::Transpose,
        "Sum" => Builtin::Sum,
        "Maximum" => Builtin::Greatest,
        "Minimum" => Builtin::Smallest,
        "MaximumIndex" => Builtin::ArgMax,
        "L2Norm" => Builtin::Norm,
        _ => return None,
    })
}

/// A function of which the arguments are values.
fn plain(name: &str) -> Option<(Builtin, usize)> {
    let (module, function) = name.rsplit_once('.').unwrap_or(("", name));
    let one = |builtin| Some((builtin, 1));
    let two = |builtin| Some((builtin, 2));
    match (module, function) {
        ("", "float" | "double") => one(Builtin::ToFloat),
        ("", "not") => one(Builtin::Not),
        ("", "max") => two(Builtin::Max),
        ("", "min") => two(Builtin::Min),
        ("", "pown") => two(Builtin::Pow),
        ("", name) => math(name).and_then(one),
        ("Math" | "System.Math", "Pow") => two(Builtin::Pow),
        ("Math" | "System.Math", "Max") => two(Builtin::Max),
        ("Math" | "System.Math", "Min") => two(Builtin::Min),
        ("Math" | "System.Math", name) => math(&name.to_lowercase()).and_then(one),
        ("Array" | "Seq", "length") => one(Builtin::Length),
        ("Array" | "Seq" | "Vector" | "Matrix", "sum") => one(Builtin::Sum),
        ("Array" | "Seq", "average") => one(Builtin::Mean),
        ("Array" | "Seq" | "Vector", "max") => one(Builtin::Greatest),
        ("Array" | "Seq" | "Vector", "min") => one(Builtin::Smallest),
        ("Vector", "norm") => one(Builtin::Norm),
        ("Vector", "dot") => two(Builtin::Dot),
        ("Array", "append") => two(Builtin::Concat),
        ("Array" | "DenseVector", "create") => two(Builtin::Full),
        ("Array" | "DenseVector", "zeroCreate" | "zero") => one(Builtin::Zeros),
        ("Array2D", "length1") => one(Builtin::Extent(0)),
        ("Array2D", "length2") => one(Builtin::Extent(1)),
        ("Matrix", "transpose") => one(Builtin::Transpose),
        ("DenseMatrix", "identity") => one(Builtin::Eye),
        _ => None,
    }
}

/// How many arguments a function with a function among them takes.
fn higher_order(name: &str) -> Option<usize> {
    let (module, function) = name.rsplit_once('.')?;
    match (module, function) {
        ("Array" | "Seq" | "Vector", "map" | "mapi") => Some(2),
        ("Array" | "DenseVector" | "Vector", "init") => Some(2),
        ("Array" | "Seq" | "Vector", "map2") => Some(3),
        ("Array" | "Seq", "sumBy" | "averageBy") => Some(2),
        ("Array" | "Seq" | "Vector", "fold") => Some(3),
        ("Array2D" | "DenseMatrix", "init") => Some(3),
        _ => None,
    }
}

impl Parser {
    /// A function and its arguments, put together.
    pub(super) fn applied(&mut self, application: Application) -> Result<Expr> {
        let Application { head, mut args } = application;
        let span = args.last().map_or(head.span, |last| head.span.to(last.span));
        let (name, at) = match head.kind {
            Kind::Name(name) => (name, head.span),
            Kind::Lambda(params, body) if args.len() == params.len() => {
                return Ok(self.inlined(params, *body, args, span));
            }
            _ if args.is_empty() => return Ok(head),
            _ => return outside(head.span, "calling a value is", "only functions that are defined can be called"),
        };
        if args.is_empty() {
            return self.name(name, at);
        }
        // `Math.Pow(x, y)`
        if let ([Expr { kind: Kind::Tuple(_), .. }], true) = (&args[..], name.contains('.'))
            && let Some(Expr { kind: Kind::Tuple(parts), .. }) = args.pop()
        {
            args = parts;
        }
        match name.as_str() {
            "printfn" | "printf" => return self.print(&name, args, span),
            "ignore" => return outside(at, "ignore is", "leave out what is not used"),
            "int" => return outside(at, "making an int of a float is", "keep an int beside it"),
            "failwith" | "raise" => return outside(at, "exceptions are", ""),
            "vector" if args.len() == 1 => return Ok(args.remove(0)),
            "matrix" => return Ok(self.builtin(Builtin::ToArray, &name, args, span)),
            "grad" => return Ok(self.derivative(Builtin::Grad, name, at, args, span)),
            "valueAndGrad" => return Ok(self.derivative(Builtin::ValueAndGrad, name, at, args, span)),
            "adam" => return Ok(self.derivative(Builtin::Adam, name, at, args, span)),
            "adamWith" if args.len() == 4 => return Ok(self.adam_with(at, args, span)),
            "fst" | "snd" if args.len() == 1 => return Ok(self.half(&name, args.remove(0), span)),
            "Array2D.create" if args.len() == 3 => return Ok(self.filled(args, span)),
            "Array2D.zeroCreate" if args.len() == 2 => {
                args.push(self.make(span, Kind::Float(0.0)));
                return Ok(self.filled(args, span));
            }
            _ => {}
        }
        if let Some(count) = higher_order(&name) {
            self.check_count(&name, count, &args, at)?;
            return self.loops(&name, args, span);
        }
        let builtin = plain(&name);
        if builtin.is_none() && name.contains('.') {
            return outside(at, format!("'{name}' is"), "docs/front-ends.md lists the functions that are known");
        }
        if let [Expr { kind: Kind::Tuple(parts), .. }] = &args[..]
            && parts.is_empty()
        {
            args.clear();
        }
        let builtin = builtin.filter(|(_, count)| *count == args.len()).map(|(builtin, _)| builtin);
        Ok(self.make(span, Kind::Call(Call { name, at, builtin, args, named: vec![] })))
    }

    /// A name without arguments.
    fn name(&mut self, name: String, span: Span) -> Result<Expr> {
        match name.as_str() {
            "Math.PI" | "System.Math.PI" => Ok(self.builtin(Builtin::Pi, &name, vec![], span)),
            "Math.E" | "System.Math.E" => Ok(self.make(span, Kind::Float(std::f64::consts::E))),
            _ => Ok(self.make(span, Kind::Name(name))),
        }
    }

    fn check_count(&self, name: &str, count: usize, args: &[Expr], at: Span) -> Result<()> {
        if args.len() == count {
            return Ok(());
        }
        let (name, expected) = (name.to_owned(), format!("{count} arguments"));
        Err(Mistake::Arguments { name, expected, found: args.len() }.at(at))
    }

    fn derivative(&mut self, builtin: Builtin, name: String, at: Span, args: Vec<Expr>, span: Span) -> Expr {
        self.make(span, Kind::Call(Call { name, at, builtin: Some(builtin), args, named: vec![] }))
    }

    /// `adamWith rate steps f x`
    fn adam_with(&mut self, at: Span, mut args: Vec<Expr>, span: Span) -> Expr {
        let (rate, steps) = (args.remove(0), args.remove(0));
        let named = vec![("rate".to_owned(), rate.span, rate), ("steps".to_owned(), steps.span, steps)];
        let call = Call { name: "adamWith".to_owned(), at, builtin: Some(Builtin::Adam), args, named };
        self.make(span, Kind::Call(call))
    }

    /// `fst` and `snd`
    fn half(&mut self, name: &str, pair: Expr, span: Span) -> Expr {
        let (x, y) = (self.unused_name("x"), self.unused_name("y"));
        let (kept, pattern) = match name {
            "fst" => (x.clone(), Pattern::Tuple(vec![Pattern::Name(x, span), Pattern::Wildcard(span)], span)),
            _ => (y.clone(), Pattern::Tuple(vec![Pattern::Wildcard(span), Pattern::Name(y, span)], span)),
        };
        let result = self.make(span, Kind::Name(kept));
        self.make(span, Kind::Block(vec![crate::tree::Statement::Let(pattern, pair)], Box::new(result)))
    }

    /// An array of rank 2 of equal elements.
    fn filled(&mut self, mut args: Vec<Expr>, span: Span) -> Expr {
        let value = args.pop();
        let size = self.make(span, Kind::Tuple(args));
        self.builtin(Builtin::Full, "Array2D.create", [size].into_iter().chain(value).collect(), span)
    }

    /// `(fun x -> e) y`
    fn inlined(&mut self, params: Vec<Param>, body: Expr, args: Vec<Expr>, span: Span) -> Expr {
        let lets = params.into_iter().zip(args).map(|(param, arg)| crate::tree::Statement::Let(param.pattern, arg));
        let lets = lets.collect();
        self.make(span, Kind::Block(lets, Box::new(body)))
    }

    /// The patterns and the body of a function with so many parameters.
    fn function(&mut self, function: Expr, count: usize) -> Result<(Vec<Pattern>, Expr)> {
        let span = function.span;
        match function.kind {
            Kind::Lambda(params, body) if params.len() == count => {
                Ok((params.into_iter().map(|param| param.pattern).collect(), *body))
            }
            Kind::Lambda(params, _) => {
                let (name, expected) = ("this function".to_owned(), format!("{} parameters", params.len()));
                Err(Mistake::Arguments { name, expected, found: count }.at(span))
            }
            kind => {
                // `Array.map f v` is `Array.map (fun x -> f x) v`.
                let (head, mut args) = match kind {
                    Kind::Call(Call { name, at, args, .. }) => (self.make(at, Kind::Name(name)), args),
                    kind => (Expr { kind, ..function }, vec![]),
                };
                let names: Vec<String> = ["x", "y"].iter().take(count).map(|name| self.unused_name(name)).collect();
                let words = names.iter().map(|name| self.make(span, Kind::Name(name.clone()))).collect::<Vec<_>>();
                args.extend(words);
                let body = self.applied(Application { head, args })?;
                Ok((names.into_iter().map(|name| Pattern::Name(name, span)).collect(), body))
            }
        }
    }

    /// Functions of a function: comprehensions and folds.
    fn loops(&mut self, name: &str, mut args: Vec<Expr>, span: Span) -> Result<Expr> {
        let (_, function) = name.rsplit_once('.').unwrap_or(("", name));
        let last = args.pop();
        let sequence = Collect::Sequence(Sequence::Array);
        let (Some(last), first) = (last, args.remove(0)) else { return self.fail(span, "expected an argument") };
        match (function, args.pop()) {
            ("init", None) => {
                let (patterns, body) = self.function(last, 1)?;
                Ok(self.collected(sequence, patterns, body, Over::Range(None, first), span))
            }
            ("init", Some(columns)) => self.matrix(first, columns, last, span),
            ("map", _) => {
                let (patterns, body) = self.function(first, 1)?;
                Ok(self.collected(sequence, patterns, body, Over::Elements(last), span))
            }
            ("sumBy", _) => {
                let (patterns, body) = self.function(first, 1)?;
                Ok(self.collected(Collect::Sum, patterns, body, Over::Elements(last), span))
            }
            ("averageBy", _) => {
                let (patterns, body) = self.function(first, 1)?;
                let values = self.collected(sequence, patterns, body, Over::Elements(last), span);
                Ok(self.builtin(Builtin::Mean, name, vec![values], span))
            }
            ("mapi", _) => {
                let (patterns, body) = self.function(first, 2)?;
                let pair = vec![Pattern::Tuple(patterns, span)];
                Ok(self.collected(sequence, pair, body, Over::Enumerate(last), span))
            }
            ("map2", Some(other)) => {
                let (patterns, body) = self.function(first, 2)?;
                let pair = vec![Pattern::Tuple(patterns, span)];
                Ok(self.collected(sequence, pair, body, Over::Zip(vec![other, last]), span))
            }
            ("fold", Some(init)) => {
                let (mut patterns, body) = self.function(first, 2)?;
                let (item, state) = (patterns.remove(1), patterns.remove(0));
                let each = Generator { pattern: item, over: Over::Elements(last), conditions: vec![] };
                Ok(self.make(span, Kind::Fold(Box::new(Fold { state, init, each, body }))))
            }
            _ => outside(span, format!("'{name}' is, like this,"), ""),
        }
    }

    fn collected(&mut self, collect: Collect, mut patterns: Vec<Pattern>, body: Expr, over: Over, span: Span) -> Expr {
        let each = Generator { pattern: patterns.remove(0), over, conditions: vec![] };
        self.make(span, Kind::Collect(collect, Box::new(body), vec![each]))
    }

    /// `Array2D.init rows columns (fun i j -> e)`
    fn matrix(&mut self, rows: Expr, columns: Expr, function: Expr, span: Span) -> Result<Expr> {
        let (mut patterns, body) = self.function(function, 2)?;
        let (column, row) = (patterns.remove(1), patterns.remove(0));
        let sequence = Collect::Sequence(Sequence::List);
        let inner = self.collected(sequence, vec![column], body, Over::Range(None, columns), span);
        let outer = self.collected(sequence, vec![row], inner, Over::Range(None, rows), span);
        Ok(self.builtin(Builtin::ToArray, "Array2D.init", vec![outer], span))
    }

    /// `printfn "x is %f" x`
    fn print(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Result<Expr> {
        let mut args = args.into_iter();
        let Some(Expr { kind: Kind::Text(format), span: at, .. }) = args.next() else {
            return outside(span, format!("{name} without a constant format is"), "write printfn \"%f\" x");
        };
        let (mut parts, mut text) = (vec![], String::new());
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some('%') => text.push('%'),
                Some('f' | 'g' | 'e' | 'd' | 'i' | 'b' | 's' | 'A' | 'O') => {
                    let Some(value) = args.next() else {
                        return self.fail(at, "the format has more places than there are values");
                    };
                    if !text.is_empty() {
                        parts.push(self.make(at, Kind::Text(std::mem::take(&mut text))));
                    }
                    parts.push(value);
                }
                _ => {
                    return outside(
                        at,
                        "formats with widths and digits are",
                        "floats are printed with 6 significant digits: %f",
                    );
                }
            }
        }
        if name == "printfn" {
            text.push('\n');
        }
        if !text.is_empty() {
            parts.push(self.make(at, Kind::Text(text)));
        }
        match args.next() {
            Some(extra) => self.fail(extra.span, "the format has no place for this"),
            None => Ok(self.make(span, Kind::Print(parts))),
        }
    }
}
