//! From IR to C++17. `docs/compiler.md` is the design.
//!
//! Suggested reading order: `value` (what stands for a value), `function`, `expr`, `loops`, `sums`, `lanes`, `position` (indices),
//! `independent` (loops that may run several steps at once), `registers` (sums of elements, in variables) and its `places`, `prims`, `linear`, `types`, `body` (lines of code), and `runtime/`, the header that every emitted program starts with.

mod body;
mod dot;
mod expr;
mod function;
mod header;
mod independent;
mod lanes;
mod linear;
mod loops;
mod names;
mod places;
mod position;
mod prims;
mod registers;
mod sums;
mod types;
mod value;

use crate::error::{Error, ErrorKind, RunError};
use crate::interpret::Width;
use crate::ir::{Body, Def, FunId, Node, Program, TypeId};
use crate::simplify::{Settings, simplify};
use crate::source::Sources;
use function::Emitter;
use header::Header;
use rustc_hash::FxHashSet;

/// How a program is emitted.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Bits of numbers.
    pub width: Width,
    /// Whether an index out of range ends the program with its place; otherwise it is undefined behaviour.
    pub debug_bounds: bool,
    /// Functions that C can call, by their names as identifiers: `f`, `rev_f`.
    pub exports: Vec<String>,
    /// Bytes of the one memory of a program that has no heap: then output and failures are functions of its environment.
    pub embedded: Option<usize>,
    /// Threads that outermost `build`s run on, 0 for as many as the machine has; without them, the one that calls.
    pub threads: Option<usize>,
    /// Headers that supply the external functions, as after `#include`.
    pub includes: Vec<String>,
    /// Whether `exp` and `tanh` are those of the runtime, which a C++ compiler computes for several numbers at once, and which are a few units
    /// in the last place off; else those of the machine's library.
    pub wide_functions: bool,
}

/// Why a program cannot be emitted; boxed, since errors are large and rare.
struct Failure(Error);

/// The runtime, in the order in which its parts need each other.
const RUNTIME: [&str; 7] = [
    include_str!("runtime/base.hpp"),
    include_str!("runtime/run.hpp"),
    include_str!("runtime/space.hpp"),
    include_str!("runtime/print.hpp"),
    include_str!("runtime/special.hpp"),
    include_str!("runtime/wide.hpp"),
    include_str!("runtime/linear.hpp"),
];

/// The program as one C++17 file without dependencies: `main`, the C entry points, and what they need.
///
/// # Errors
/// If there is nothing to start from, or if it calls an external function that no header supplies.
pub fn cpp(program: &Program, sources: &Sources, options: &Options) -> Result<String, Error> {
    let part = part(program, sources, options, "program")?;
    let mut text = format!("{}\n{}", runtime(options), part.text);
    if !options.exports.is_empty() {
        text += include_str!("runtime/entries.hpp");
        text += &part.entries;
    }
    if let Some(call) = part.call {
        text += &format!("\nint main() {{\n  ks::run([](ks::arena& memory) {{ {call}; }});\n  return 0;\n}}\n");
    }
    Ok(text)
}

/// The C header for [`Options::exports`].
///
/// # Errors
/// As [`cpp`].
pub fn header(program: &Program, sources: &Sources, options: &Options) -> Result<String, Error> {
    Ok(part(program, sources, options, "program")?.header)
}

/// The program after simplification: what C++ is made of.
///
/// # Errors
/// If there is nothing to start from.
pub fn simplified(program: &Program, options: &Options) -> Result<Program, Error> {
    let mut program = program.clone();
    simplify_for(&mut program, options)?;
    Ok(program)
}

/// The program after simplification, as a graph for Graphviz.
///
/// # Errors
/// If there is nothing to start from.
pub fn dot(program: &Program, options: &Options) -> Result<String, Error> {
    let mut program = program.clone();
    let (_, defs) = simplify_for(&mut program, options)?;
    Ok(dot::dot(&program, &defs))
}

/// Simplifies what the roots need. Gives the roots, and what they still need.
fn simplify_for(program: &mut Program, options: &Options) -> Result<(Vec<FunId>, Vec<Def>), Error> {
    let roots = roots(program, options)?;
    let settings = Settings { width: options.width, checks_bounds: options.debug_bounds };
    let defs = reachable(program, &roots);
    simplify(program, &defs, &settings);
    let defs = reachable(program, &roots);
    Ok((roots, defs))
}

/// What the program starts from: what it exports, in order, and `main`.
fn roots(program: &Program, options: &Options) -> Result<Vec<FunId>, Error> {
    let mut roots = vec![];
    for name in &options.exports {
        let is_named = |def: &&Def| names::function(&program.store, def.fun) == *name;
        let Some(def) = program.defs().rev().find(is_named) else {
            let hint = "a derivation must be asked for: (gdef rev [f Float]) makes rev_f".to_owned();
            let kind = ErrorKind::UnknownFunction { name: name.clone(), hint: Some(hint) };
            return Err(Error::new(Sources::nowhere(), kind));
        };
        roots.push(def.fun);
    }
    roots.extend(program.main());
    if roots.is_empty() { Err(Error::new(Sources::nowhere(), RunError::NoMain.into())) } else { Ok(roots) }
}

/// What every emitted file starts with.
pub fn runtime(options: &Options) -> String {
    let bits = if options.width == Width::Bits32 { 32 } else { 64 };
    let embedded = options
        .embedded
        .map_or_else(String::new, |bytes| format!("#define KS_EMBEDDED\n#define KS_ARENA_BYTES {bytes}\n"));
    let threads = options.threads.map_or_else(String::new, |count| format!("#define KS_THREADS {count}\n"));
    format!("#define KS_FLOAT {bits}\n{embedded}{threads}{}", RUNTIME.concat())
}

/// A program without the runtime, so that several can be in one file.
pub struct Part {
    /// The types and functions, in a namespace of their own.
    pub text: String,
    /// The call of `main`, if there is one, given a `ks::arena& memory`.
    pub call: Option<String>,
    /// The C entry points.
    pub entries: String,
    /// The C header that declares them.
    pub header: String,
}

/// The types and functions of a program in a C++ namespace.
///
/// # Errors
/// As [`cpp`].
pub fn part(program: &Program, sources: &Sources, options: &Options, namespace: &str) -> Result<Part, Error> {
    let mut program = program.clone();
    let (roots, defs) = simplify_for(&mut program, options)?;
    let mut emitter = Emitter::new(&mut program, sources, options);
    let (mut heads, mut texts) = (String::new(), String::new());
    for def in &defs {
        emitter.function(def).map_err(|failure| failure.0)?;
        let emitted = &emitter.functions[&def.fun];
        if !emitted.head.is_empty() {
            heads += &format!("{};\n", emitted.head);
            texts += &format!("\n{} {{\n{}}}\n", emitted.head, emitted.text);
        }
    }
    let (entries, header) = entries(&mut emitter, &roots[..options.exports.len()], options, namespace)?;
    let call = emitter.program.main().map(|main| {
        let emitted = &emitter.functions[&main];
        match emitted.takes_memory {
            true => format!("{namespace}::{}(memory)", emitted.name),
            false => format!("static_cast<void>(memory), {namespace}::{}()", emitted.name),
        }
    });
    let includes: String =
        options.includes.iter().map(|header| format!("#include {}\n", names::literal(header))).collect();
    let types = emitter.types.definitions();
    let text = format!(
        "namespace {namespace} {{\n\n{types}\n}}  // namespace {namespace}\n{includes}\
         \nnamespace {namespace} {{\n\n{heads}{texts}\n}}  // namespace {namespace}\n"
    );
    Ok(Part { text, call, entries, header })
}

/// The C entry points, and the header that declares them.
fn entries(
    emitter: &mut Emitter<'_>,
    exports: &[FunId],
    options: &Options,
    namespace: &str,
) -> Result<(String, String), Error> {
    let (mut text, mut header) = (String::new(), Header::new(options.width));
    for (fun, name) in exports.iter().zip(&options.exports) {
        let (arg, result) = emitter.program.store.signature(*fun).unwrap_or((TypeId::UNIT, TypeId::UNIT));
        let params = emitter.field_types(arg).unwrap_or_else(|| vec![arg]);
        if header.function(emitter.program, name, &params, result).is_none() {
            let reason = "C has no form for its types: numbers, tensors and tuples only".to_owned();
            let span = emitter.program.def(*fun).map_or_else(Sources::nowhere, |def| def.span);
            let kind = ErrorKind::NotExportable { fun: name.clone(), reason };
            return Err(Error::new(span, kind));
        }
        let cpp: Vec<String> = params.iter().map(|ty| emitter.qualified(*ty, namespace)).collect();
        let emitted = &emitter.functions[fun];
        let mut args: Vec<String> = (0..params.len()).map(|number| format!("x{number}")).collect();
        if emitted.takes_memory {
            args.insert(0, "*memory".to_owned());
        }
        let call = format!("{namespace}::{}({})", emitted.name, args.join(", "));
        let result = emitter.qualified(result, namespace);
        text += &header::entry(name, &cpp, &result, &call);
    }
    Ok((text, header.text()))
}

/// What a function needs: those that a function calls come before it, unless they call each other.
fn reachable(program: &Program, roots: &[FunId]) -> Vec<Def> {
    let (mut order, mut seen) = (vec![], FxHashSet::default());
    let mut stack: Vec<(FunId, bool)> = roots.iter().rev().map(|root| (*root, false)).collect();
    while let Some((fun, is_done)) = stack.pop() {
        let Some(def) = program.def(fun) else { continue };
        if is_done {
            order.push(*def);
        } else if seen.insert(fun) {
            stack.push((fun, true));
            let from = stack.len();
            stack.extend(needed(program, &def.body).into_iter().map(|fun| (fun, false)));
            stack[from..].reverse();
        }
    }
    order
}

/// The functions that a definition calls itself.
fn needed(program: &Program, body: &Body) -> Vec<FunId> {
    match *body {
        Body::Expr(_, body) => {
            let parts = program.store.post_order(body).into_iter();
            let calls = parts.filter_map(|part| match program.store.node(part) {
                Node::Call(fun, _) => Some(fun),
                _ => None,
            });
            calls.collect()
        }
        Body::LinearMap { forward, reverse } => vec![forward, reverse],
        Body::External => vec![],
    }
}
