//! What stands at the top: `open`, `module`, `type`, `let`, and what is done at the start of the program.

use super::Parser;
use super::lex::{Placed, Token};
use crate::error::{Mistake, Result, outside};
use crate::tree::{Constructors, Expr, Fields, Function, Kind, Module, Param, Pattern, Statement, TypeBody, TypeDef};
use crate::types::Type;
use labrys_compiler::Span;

/// What a `let` binds.
pub(super) enum Bound {
    /// A function, or at the top a value.
    Function(Function),
    /// The parts of a value.
    Parts(Pattern, Expr),
}

impl Parser {
    pub(super) fn module(&mut self) -> Result<Module> {
        let mut module = Module::default();
        let mut main: Vec<Statement> = vec![];
        while self.at < self.tokens.len() {
            if !self.tokens[self.at].is_first || self.tokens[self.at].column != 0 {
                return self.fail(self.tokens[self.at].span, "expected a line that starts a declaration");
            }
            (self.offside, self.start) = (0, self.at);
            self.declaration(&mut module, &mut main)?;
        }
        self.add_main(&mut module, main)?;
        module.exprs = self.exprs;
        Ok(module)
    }

    fn declaration(&mut self, module: &mut Module, main: &mut Vec<Statement>) -> Result<()> {
        let (at, span) = (self.at, self.here());
        if self.takes_word("open") || self.takes_word("module") || self.takes_word("namespace") {
            let head = &self.tokens[at];
            let is_nested = matches!(&head.token, Token::Name(name) if name == "module");
            while self.peek().is_some() {
                if is_nested && self.sees("=") {
                    return outside(
                        self.here(),
                        "modules within a file are",
                        "write the functions one below the other",
                    );
                }
                self.at += 1;
            }
            return Ok(());
        }
        if self.takes("[<") {
            while !self.takes(">]") {
                if self.at >= self.tokens.len() {
                    return self.fail(span, "expected '>]' after an attribute");
                }
                self.at += 1;
            }
            return Ok(());
        }
        if self.takes_word("type") {
            return self.type_def(span, module);
        }
        if self.takes_word("let") {
            let comment = self.comment_above(span);
            return match self.binding(true, comment)? {
                Bound::Function(function) => self.add(module, function),
                Bound::Parts(pattern, _) => {
                    outside(pattern.span(), "taking a value apart outside a function is", "give the value a name")
                }
            };
        }
        self.takes_word("do");
        let effect = self.expr()?;
        if self.peek().is_some() {
            return self.fail(self.here(), "expected the end of this expression");
        }
        main.push(Statement::Effect(effect));
        Ok(())
    }

    fn add(&self, module: &mut Module, function: Function) -> Result<()> {
        if module.functions.iter().any(|other| other.name == function.name) {
            return Err(Mistake::Duplicate(function.name).at(function.span));
        }
        module.functions.push(function);
        Ok(())
    }

    /// The function `main`, of what stands outside functions; that of an entry point has no parameters in `.ks`.
    fn add_main(&mut self, module: &mut Module, statements: Vec<Statement>) -> Result<()> {
        if let Some(main) = module.functions.iter_mut().find(|function| function.name == "main") {
            main.params.clear();
        }
        let Some(Statement::Effect(first)) = statements.first() else { return Ok(()) };
        let span = first.span;
        let unit = self.make(span, Kind::Tuple(vec![]));
        let body = self.make(span, Kind::Block(statements, Box::new(unit)));
        let (name, result) = ("main".to_owned(), Some(Type::unit()));
        self.add(module, Function { name, span, comment: vec![], params: vec![], result, body, is_value: false })
    }

    /// The lines of comments right above a place.
    fn comment_above(&self, span: Span) -> Vec<String> {
        let mut lines = vec![];
        let mut line = self.line(span.start);
        for comment in self.comments.iter().rev().skip_while(|comment| comment.end > span.start) {
            if self.line(comment.end.saturating_sub(1)) + 1 != line {
                break;
            }
            lines.push(comment.text.clone());
            line -= 1;
        }
        lines.reverse();
        lines
    }

    /// `let` behind its word: a function if it has parameters. At the top, a value is a function that is used without a call.
    pub(super) fn binding(&mut self, is_top: bool, comment: Vec<String>) -> Result<Bound> {
        self.takes_word("inline");
        let is_recursive = self.takes_word("rec");
        let is_named =
            matches!(self.peek(), Some(Placed { token: Token::Name(name), .. }) if name != "mutable" && name != "_");
        if !is_named {
            let param = self.binding_pattern()?;
            let value = self.bound_value(param.ty)?;
            return Ok(Bound::Parts(param.pattern, value));
        }
        let (name, span) = self.identifier("a name")?;
        if self.sees(",") {
            return self.tuple_of_names(name, span);
        }
        let mut params: Vec<Param> = vec![];
        while self.sees_param() {
            params.push(self.param()?);
        }
        let ty = if self.takes(":") { Some(self.ty()?) } else { None };
        let is_function = !params.is_empty();
        // `let f () = ...` takes nothing.
        let is_unit = |param: &Param| param.ty == Some(Type::unit()) && matches!(param.pattern, Pattern::Wildcard(_));
        params.retain(|param| !is_unit(param));
        self.expect("=", "after what is bound")?;
        let mut body = self.block()?;
        if self.sees_word("and") {
            return outside(
                self.here(),
                "functions that call each other are",
                "a function may call itself, and those above it",
            );
        }
        let mut is_lambda = false;
        while let (true, Kind::Lambda(..)) = (ty.is_none(), &body.kind) {
            if let Kind::Lambda(more, inner) = body.kind {
                params.extend(more);
                body = *inner;
                is_lambda = true;
            } else {
                break;
            }
        }
        if is_function || is_lambda {
            let function = Function { name, span, comment, params, result: ty, body, is_value: false };
            return Ok(Bound::Function(function));
        }
        if is_recursive {
            return outside(span, "a value that is made of itself is", "");
        }
        match is_top {
            true => Ok(Bound::Function(Function { name, span, comment, params, result: ty, body, is_value: true })),
            false => Ok(Bound::Parts(Pattern::Name(name, span), self.ascribed(body, ty))),
        }
    }

    fn tuple_of_names(&mut self, first: String, span: Span) -> Result<Bound> {
        let mut parts = vec![Pattern::Name(first, span)];
        while self.takes(",") {
            parts.push(self.param()?.pattern);
        }
        let pattern = Pattern::Tuple(parts, span.to(self.before()));
        Ok(Bound::Parts(pattern, self.bound_value(None)?))
    }

    fn bound_value(&mut self, ty: Option<Type>) -> Result<Expr> {
        self.expect("=", "after what is bound")?;
        let body = self.block()?;
        Ok(self.ascribed(body, ty))
    }

    fn ascribed(&mut self, value: Expr, ty: Option<Type>) -> Expr {
        match ty {
            Some(ty) => self.make(value.span, Kind::Ascribed(Box::new(value), ty)),
            None => value,
        }
    }

    /// `type` behind its word: a record, a union, or another name for a type.
    fn type_def(&mut self, start: Span, module: &mut Module) -> Result<()> {
        let comment = self.comment_above(start);
        let (name, span) = self.identifier("the name of a type")?;
        if self.sees("<") {
            return outside(self.here(), "generic types are", "write one for each type");
        }
        if self.types.contains_key(&name) {
            return Err(Mistake::Duplicate(name).at(span));
        }
        self.expect("=", "after the name of a type")?;
        if self.sees("{") {
            let fields = self.record_fields()?;
            self.types.insert(name.clone(), Type::Named(name.clone()));
            module.types.push(TypeDef { name, span, comment, body: TypeBody::Record(fields) });
        } else if self.is_union() {
            self.types.insert(name.clone(), Type::Named(name.clone()));
            let constructors = self.union_cases()?;
            module.types.push(TypeDef { name, span, comment, body: TypeBody::Union(constructors) });
        } else {
            let ty = self.ty()?;
            self.types.insert(name, ty);
        }
        match self.peek() {
            None => Ok(()),
            Some(placed) => self.fail(placed.span, "expected the end of the type"),
        }
    }

    /// Whether what follows are constructors: `|`, or a name that no type has.
    fn is_union(&self) -> bool {
        match self.peek() {
            Some(Placed { token: Token::Symbol(symbol), .. }) => *symbol == "|",
            Some(Placed { token: Token::Name(name), .. }) => {
                let is_type = self.types.contains_key(name)
                    || ["float", "double", "int", "bool", "string", "unit", "Vector", "Matrix"]
                        .contains(&name.as_str());
                !is_type
            }
            _ => false,
        }
    }

    fn record_fields(&mut self) -> Result<Fields> {
        self.expect("{", "of a record")?;
        let mut fields: Fields = vec![];
        while !self.takes("}") {
            let (name, span) = self.identifier("a field, or '}'")?;
            if fields.iter().any(|(other, _)| *other == name) {
                return Err(Mistake::Duplicate(name).at(span));
            }
            self.expect(":", "after the name of a field")?;
            fields.push((name, self.ty()?));
            self.takes(";");
        }
        Ok(fields)
    }

    fn union_cases(&mut self) -> Result<Constructors> {
        let mut cases = vec![];
        self.takes("|");
        loop {
            let (name, span) = self.identifier("a constructor")?;
            let fields = if self.takes_word("of") { self.case_fields()? } else { vec![] };
            if self.constructors.insert(name.clone(), fields.len()).is_some() {
                return Err(Mistake::Duplicate(name).at(span));
            }
            cases.push((name, fields));
            if !self.takes("|") {
                return Ok(cases);
            }
        }
    }

    /// `of left: Tree * right: Tree`
    fn case_fields(&mut self) -> Result<Fields> {
        let mut fields: Fields = vec![];
        loop {
            let is_named = matches!(self.tokens.get(self.at + 1), Some(Placed { token: Token::Symbol(":"), .. }));
            let name = if is_named {
                let (name, _) = self.identifier("the name of a field")?;
                self.expect(":", "after the name of a field")?;
                name
            } else {
                format!("item{}", fields.len() + 1)
            };
            fields.push((name, self.applied_type()?));
            if !self.takes("*") {
                return Ok(fields);
            }
        }
    }
}
