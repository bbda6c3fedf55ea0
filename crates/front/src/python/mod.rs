//! Python: from the parser's tree to [`crate::tree`]. `stmt` makes values of statements, `expr` and `call` read expressions, `types` annotations.

mod call;
mod classes;
mod expr;
mod stmt;
mod types;

use crate::error::{Mistake, Result, outside};
use crate::tree::{Expr, Function, Kind, Module, Pattern, Statement};
use crate::types::Type;
use labrys_compiler::source::FileId;
use labrys_compiler::{Error, Span};
use ruff_python_ast as py;
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads a program.
///
/// # Errors
/// What the parser says, or what is outside the subset.
pub fn read(file: FileId, text: &str) -> std::result::Result<Module, Vec<Error>> {
    let parsed = ruff_python_parser::parse_module(text).map_err(|error| {
        let span = span_in(file, error.location);
        vec![Mistake::Syntax(error.error.to_string()).at(span)]
    })?;
    let suite = parsed.into_suite();
    let mut reader = Reader::new(file, text);
    reader.module(&suite)
}

fn span_in(file: FileId, range: TextRange) -> Span {
    Span { file, start: range.start().into(), end: range.end().into() }
}

/// What is known while a program is read.
struct Reader<'a> {
    file: FileId,
    text: &'a str,
    /// How many expressions there are.
    exprs: usize,
    /// What imported names stand for: `np` for `numpy`, `exp` for `math.exp`.
    imports: FxHashMap<String, String>,
    /// Types by name.
    types: FxHashMap<String, Type>,
    /// Constructors of unions, which are no types of their own.
    constructors: FxHashSet<String>,
    /// Fields of classes, in order.
    fields: FxHashMap<String, Vec<String>>,
    /// Names that mean a variable in the function that is being read.
    defined: Vec<String>,
}

impl<'a> Reader<'a> {
    fn new(file: FileId, text: &'a str) -> Self {
        Self {
            file,
            text,
            exprs: 0,
            imports: FxHashMap::default(),
            types: FxHashMap::default(),
            constructors: FxHashSet::default(),
            fields: FxHashMap::default(),
            defined: vec![],
        }
    }

    fn span(&self, node: &impl Ranged) -> Span {
        span_in(self.file, node.range())
    }

    fn make(&mut self, span: Span, kind: Kind) -> Expr {
        self.exprs += 1;
        Expr { id: self.exprs - 1, span, kind }
    }

    fn module(&mut self, suite: &[py::Stmt]) -> std::result::Result<Module, Vec<Error>> {
        let mut module = Module { types: self.type_defs(suite).map_err(|error| vec![error])?, ..Module::default() };
        let (mut errors, mut main) = (vec![], vec![]);
        for stmt in suite {
            if let Err(error) = self.top(stmt, &mut module, &mut main) {
                errors.push(error);
            }
        }
        if let (true, Err(error)) = (errors.is_empty(), self.main(&mut module, &main)) {
            errors.push(error);
        }
        module.exprs = self.exprs;
        if errors.is_empty() { Ok(module) } else { Err(errors) }
    }

    /// A statement of the module; what is to be done at the start of the program goes to `main`.
    fn top<'s>(&mut self, stmt: &'s py::Stmt, module: &mut Module, main: &mut Vec<&'s py::Stmt>) -> Result<()> {
        match stmt {
            py::Stmt::Import(import) => import.names.iter().try_for_each(|alias| self.import(alias)),
            py::Stmt::ImportFrom(import) => self.import_from(import),
            // Classes and types are read already.
            py::Stmt::ClassDef(_) | py::Stmt::TypeAlias(_) | py::Stmt::Pass(_) => Ok(()),
            py::Stmt::FunctionDef(def) => {
                let function = self.function(def)?;
                self.add(module, function)
            }
            py::Stmt::Assign(assign) => match &assign.targets[..] {
                [py::Expr::Name(name)] if self.types.contains_key(name.id.as_str()) => Ok(()),
                [py::Expr::Name(name)] => self.value(name, None, &assign.value, stmt, module),
                _ => outside(self.span(stmt), "this assignment outside a function is", "put it into a function main()"),
            },
            py::Stmt::AnnAssign(assign) => match (&*assign.target, &assign.value) {
                (py::Expr::Name(name), Some(value)) => {
                    let ty = self.ty(&assign.annotation)?;
                    self.value(name, Some(ty), value, stmt, module)
                }
                _ => outside(self.span(stmt), "this declaration is", "write name: type = value"),
            },
            py::Stmt::If(test) if is_main_test(test) => {
                main.extend(test.body.iter());
                Ok(())
            }
            py::Stmt::Expr(expr) if matches!(&*expr.value, py::Expr::StringLiteral(_)) => Ok(()),
            py::Stmt::Expr(_) => {
                main.push(stmt);
                Ok(())
            }
            _ => outside(self.span(stmt), "this statement outside a function is", "put it into a function main()"),
        }
    }

    fn add(&self, module: &mut Module, function: Function) -> Result<()> {
        if module.functions.iter().any(|other| other.name == function.name) {
            return Err(Mistake::Duplicate(function.name).at(function.span));
        }
        module.functions.push(function);
        Ok(())
    }

    /// A global value.
    fn value(
        &mut self,
        name: &py::ExprName,
        ty: Option<Type>,
        value: &py::Expr,
        stmt: &py::Stmt,
        module: &mut Module,
    ) -> Result<()> {
        self.defined.clear();
        let body = self.expr(value)?;
        let comment = self.comment_above(stmt);
        let (name, span) = (name.id.to_string(), self.span(name));
        self.add(module, Function { name, span, comment, params: vec![], result: ty, body, is_value: true })
    }

    /// The function `main`, of what stands outside functions.
    fn main(&mut self, module: &mut Module, stmts: &[&py::Stmt]) -> Result<()> {
        let is_call_of_main = |stmt: &&py::Stmt| match stmt {
            py::Stmt::Expr(expr) => match &*expr.value {
                py::Expr::Call(call) => matches!(&*call.func, py::Expr::Name(name) if name.id.as_str() == "main"),
                _ => false,
            },
            _ => false,
        };
        let Some(first) = stmts.first() else { return Ok(()) };
        if stmts.iter().all(is_call_of_main) && stmts.len() == 1 {
            return Ok(());
        }
        self.defined.clear();
        let span = self.span(*first);
        let owned: Vec<py::Stmt> = stmts.iter().map(|stmt| (*stmt).clone()).collect();
        let body = self.body(&owned, span)?;
        let (name, comment) = ("main".to_owned(), vec![]);
        self.add(
            module,
            Function { name, span, comment, params: vec![], result: Some(Type::unit()), body, is_value: false },
        )
    }

    fn import(&mut self, alias: &py::Alias) -> Result<()> {
        let module = alias.name.id.as_str();
        let known = ["math", "numpy", "jax", "jax.numpy", "labrys", "typing", "dataclasses"];
        if !known.contains(&module) {
            return outside(
                self.span(alias),
                format!("the module '{module}' is"),
                "there are math, numpy, jax and labrys",
            );
        }
        let name = alias.asname.as_ref().map_or(module, |name| name.id.as_str());
        self.imports.insert(name.to_owned(), canonical(module).to_owned());
        Ok(())
    }

    fn import_from(&mut self, import: &py::StmtImportFrom) -> Result<()> {
        let module = import.module.as_ref().map_or("", |module| module.id.as_str());
        let known = [
            "math",
            "numpy",
            "numpy.typing",
            "numpy.linalg",
            "jax",
            "jax.numpy",
            "labrys",
            "typing",
            "dataclasses",
            "collections.abc",
            "jaxtyping",
            "__future__",
        ];
        if !known.contains(&module) || import.level > 0 {
            return outside(
                self.span(import),
                format!("the module '{module}' is"),
                "there are math, numpy, jax and labrys",
            );
        }
        for alias in &import.names {
            let name = alias.name.id.as_str();
            if name == "*" {
                return outside(self.span(alias), "import * is", "name what you import");
            }
            let own = alias.asname.as_ref().map_or(name, |own| own.id.as_str());
            self.imports.insert(own.to_owned(), format!("{}.{name}", canonical(module)));
        }
        Ok(())
    }

    /// The lines of comments right above a statement.
    fn comment_above(&self, stmt: &impl Ranged) -> Vec<String> {
        let start = usize::from(stmt.range().start());
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let above = self.text[..line_start].lines().rev();
        let comment = above.map_while(|line| line.trim_start().strip_prefix('#'));
        let mut lines: Vec<String> = comment.map(|line| line.trim().to_owned()).collect();
        lines.reverse();
        lines
    }

    /// A function, at the top or within another.
    fn function(&mut self, def: &py::StmtFunctionDef) -> Result<Function> {
        let span = self.span(&def.name);
        if def.is_async || !def.decorator_list.is_empty() || def.type_params.is_some() {
            return outside(span, "async, decorated and generic functions are", "");
        }
        let outer = std::mem::take(&mut self.defined);
        let params = self.params(&def.parameters)?;
        self.defined = outer.clone();
        self.defined.extend(params.iter().flat_map(|param| param.pattern.names()).map(str::to_owned));
        let result = def.returns.as_ref().map(|ty| self.ty(ty)).transpose()?;
        let mut comment = self.comment_above(def);
        let body = match documentation(&def.body) {
            Some((lines, rest)) => {
                comment.extend(lines);
                self.body(rest, span)
            }
            None => self.body(&def.body, span),
        };
        self.defined = outer;
        let name = def.name.id.to_string();
        Ok(Function { name, span, comment, params, result, body: body?, is_value: false })
    }

    fn params(&mut self, params: &py::Parameters) -> Result<Vec<crate::tree::Param>> {
        if params.vararg.is_some() || params.kwarg.is_some() {
            return outside(self.span(params), "* and ** parameters are", "name each parameter");
        }
        let mut all = vec![];
        for param in params.iter_non_variadic_params() {
            let name = param.name();
            if let Some(default) = &param.default {
                return outside(self.span(&**default), "default values are", "give the argument in each call");
            }
            let Some(annotation) = param.parameter.annotation() else {
                return Err(Mistake::NoAnnotation(name.id.to_string()).at(self.span(name)));
            };
            let ty = Some(self.ty(annotation)?);
            all.push(crate::tree::Param { pattern: Pattern::Name(name.id.to_string(), self.span(name)), ty });
        }
        Ok(all)
    }

    /// A block whose statements are read already.
    fn block(&mut self, statements: Vec<Statement>, result: Expr) -> Expr {
        if statements.is_empty() {
            return result;
        }
        let span = result.span;
        self.make(span, Kind::Block(statements, Box::new(result)))
    }
}

/// The name by which a module goes here.
fn canonical(module: &str) -> &str {
    match module {
        "jax.numpy" | "numpy.typing" => "numpy",
        "jax" => "labrys",
        _ => module,
    }
}

/// `if __name__ == "__main__":`
fn is_main_test(test: &py::StmtIf) -> bool {
    match &*test.test {
        py::Expr::Compare(compare) => matches!(&*compare.left, py::Expr::Name(name) if name.id.as_str() == "__name__"),
        _ => false,
    }
}

/// The documentation of a function, and the statements after it.
fn documentation(body: &[py::Stmt]) -> Option<(Vec<String>, &[py::Stmt])> {
    let (py::Stmt::Expr(expr), rest) = body.split_first()? else { return None };
    let py::Expr::StringLiteral(text) = &*expr.value else { return None };
    let lines = text.value.to_str().lines().map(|line| line.trim().to_owned());
    Some((lines.filter(|line| !line.is_empty()).collect(), rest))
}
