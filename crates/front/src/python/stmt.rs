//! Statements: a block becomes bindings and a value.

use super::Reader;
use crate::error::{Result, outside};
use crate::stack;
use crate::tree::{Arm, Expr, Fold, Kind, Operator, Pattern, Statement};
use labrys_compiler::Span;
use ruff_python_ast as py;

/// What a block is for.
#[derive(Clone, Copy)]
enum Goal<'a> {
    /// What the function returns.
    Return,
    /// The values that variables have in the end.
    State(&'a [String]),
}

impl Reader<'_> {
    /// The value of the body of a function.
    pub(super) fn body(&mut self, suite: &[py::Stmt], span: Span) -> Result<Expr> {
        let stmts: Vec<&py::Stmt> = suite.iter().collect();
        self.steps(&stmts, Goal::Return, span)
    }

    /// The value of a block: `span` is its place, for what has no statement.
    fn steps(&mut self, stmts: &[&py::Stmt], goal: Goal<'_>, span: Span) -> Result<Expr> {
        let mark = self.defined.len();
        let mut statements = vec![];
        let result = self.until_result(stmts, goal, span, &mut statements);
        self.defined.truncate(mark);
        let result = result?;
        Ok(self.block(statements, result))
    }

    fn until_result(
        &mut self,
        stmts: &[&py::Stmt],
        goal: Goal<'_>,
        span: Span,
        statements: &mut Vec<Statement>,
    ) -> Result<Expr> {
        for (number, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[number + 1..];
            if ends_early(stmt) {
                return stack::grow(|| self.ending(stmt, rest, goal, span));
            }
            if let py::Stmt::Assert(assert) = stmt {
                let condition = self.expr(&assert.test)?;
                let value = stack::grow(|| self.steps(rest, goal, span))?;
                return Ok(self.make(self.span(*stmt), Kind::Assert(Box::new(condition), Box::new(value))));
            }
            stack::grow(|| self.step(stmt, statements))?;
        }
        match goal {
            Goal::Return => Ok(self.make(span, Kind::Tuple(vec![]))),
            Goal::State(names) => Ok(self.state(names, span)),
        }
    }

    /// The values of variables: one, or a tuple.
    fn state(&mut self, names: &[String], span: Span) -> Expr {
        let mut values: Vec<Expr> = names.iter().map(|name| self.make(span, Kind::Name(name.clone()))).collect();
        match values.len() {
            1 => values.remove(0),
            _ => self.make(span, Kind::Tuple(values)),
        }
    }

    /// A statement that returns, at least in one of its branches.
    fn ending(&mut self, stmt: &py::Stmt, rest: &[&py::Stmt], goal: Goal<'_>, span: Span) -> Result<Expr> {
        if let Goal::State(_) = goal {
            return outside(
                self.span(stmt),
                "returning from within a loop, or in some branches only, is",
                "return at the end of the function",
            );
        }
        match stmt {
            py::Stmt::Return(of) => match (&of.value, rest.first()) {
                (_, Some(dead)) => outside(self.span(*dead), "what follows a return is", "it is never done"),
                (Some(value), None) => self.expr(value),
                (None, None) => Ok(self.make(span, Kind::Tuple(vec![]))),
            },
            py::Stmt::If(test) => self.branches(test, rest, goal, span),
            py::Stmt::Match(of) => {
                let hint = "return in each case";
                if let Some(after) = rest.first() {
                    return outside(self.span(*after), "what follows a match that returns is", hint);
                }
                self.matched(of, goal)
            }
            _ => outside(self.span(stmt), "returning from within a loop is", "return at the end of the function"),
        }
    }

    /// `if` with a return in a branch: what follows belongs to the branch that goes on.
    fn branches(&mut self, test: &py::StmtIf, rest: &[&py::Stmt], goal: Goal<'_>, span: Span) -> Result<Expr> {
        let mut branches: Vec<(Option<&py::Expr>, Vec<&py::Stmt>)> =
            vec![(Some(&*test.test), test.body.iter().collect())];
        branches
            .extend(test.elif_else_clauses.iter().map(|clause| (clause.test.as_ref(), clause.body.iter().collect())));
        if branches.last().is_some_and(|(test, _)| test.is_some()) {
            branches.push((None, vec![]));
        }
        let going_on = branches.iter().filter(|(_, body)| !always_returns(body)).count();
        if going_on > 1 && !rest.is_empty() {
            return outside(
                self.span(test),
                "a return in some branches only is",
                "return in all branches, or in all but one",
            );
        }
        for (_, body) in &mut branches {
            if !always_returns(body) {
                body.extend(rest);
            }
        }
        if let (0, Some(dead)) = (going_on, rest.first()) {
            return outside(self.span(*dead), "what follows a return is", "it is never done");
        }
        let mut value: Option<Expr> = None;
        // From the last branch to the first.
        let conditions = branches
            .iter()
            .map(|(test, _)| test.map(|test| self.expr(test)).transpose())
            .collect::<Result<Vec<_>>>()?;
        for ((_, body), condition) in branches.iter().zip(conditions).rev() {
            let place = body.first().map_or(span, |stmt| self.span(*stmt));
            let branch = self.steps(body, goal, place)?;
            value = Some(match (condition, value) {
                (Some(condition), Some(otherwise)) => {
                    self.make(self.span(test), Kind::If(Box::new(condition), Box::new(branch), Box::new(otherwise)))
                }
                _ => branch,
            });
        }
        value.map_or_else(|| Ok(self.make(span, Kind::Tuple(vec![]))), Ok)
    }

    /// A statement that does not return.
    fn step(&mut self, stmt: &py::Stmt, statements: &mut Vec<Statement>) -> Result<()> {
        let span = self.span(stmt);
        match stmt {
            py::Stmt::Pass(_) => Ok(()),
            py::Stmt::Assign(assign) => match &assign.targets[..] {
                [target] => {
                    let value = self.expr(&assign.value)?;
                    let pattern = self.target(target)?;
                    self.bind(pattern, value, statements);
                    Ok(())
                }
                _ => outside(span, "several targets of one assignment are", "write one assignment for each"),
            },
            py::Stmt::AnnAssign(assign) => {
                let (Some(value), py::Expr::Name(_)) = (&assign.value, &*assign.target) else {
                    return outside(span, "a declaration without a value is", "write name: type = value");
                };
                let ty = self.ty(&assign.annotation)?;
                let value = self.expr(value)?;
                let pattern = self.target(&assign.target)?;
                let value = self.ascribed(value, ty);
                self.bind(pattern, value, statements);
                Ok(())
            }
            py::Stmt::AugAssign(assign) => {
                let py::Expr::Name(name) = &*assign.target else {
                    return outside(span, "changing an element is", "make a new list: [f(x) for x in v]");
                };
                let old = self.make(self.span(name), Kind::Name(name.id.to_string()));
                let (operator, value) = (self.operator(assign.op, span)?, self.expr(&assign.value)?);
                let value = self.make(span, Kind::Binary(operator, Box::new(old), Box::new(value)));
                let pattern = self.target(&assign.target)?;
                self.bind(pattern, value, statements);
                Ok(())
            }
            py::Stmt::Expr(expr) => {
                let value = self.expr(&expr.value)?;
                statements.push(Statement::Effect(value));
                Ok(())
            }
            py::Stmt::FunctionDef(def) => {
                let function = self.function(def)?;
                self.defined.push(function.name.clone());
                statements.push(Statement::Function(function));
                Ok(())
            }
            py::Stmt::If(test) => self.assigning_if(test, statements),
            py::Stmt::For(each) => self.assigning_for(each, statements),
            py::Stmt::Match(of) => {
                let bodies = of.cases.iter().map(|case| case.body.iter().collect()).collect::<Vec<Vec<&py::Stmt>>>();
                let names = self.assigned_in(&bodies);
                let value = self.matched(of, Goal::State(&names))?;
                self.bind_state(names, value, span, statements);
                Ok(())
            }
            py::Stmt::While(_) => {
                outside(span, "while loops are", "write a for over a range, or a function that calls itself")
            }
            py::Stmt::Break(_) | py::Stmt::Continue(_) => {
                outside(span, "break and continue are", "write an if in the loop")
            }
            py::Stmt::Raise(_) | py::Stmt::Try(_) => outside(span, "exceptions are", "assert ends a program"),
            _ => outside(span, "this statement is", ""),
        }
    }

    fn bind(&mut self, pattern: Pattern, value: Expr, statements: &mut Vec<Statement>) {
        self.defined.extend(pattern.names().into_iter().map(str::to_owned));
        statements.push(Statement::Let(pattern, value));
    }

    /// The target of an assignment or a loop.
    pub(super) fn target(&self, target: &py::Expr) -> Result<Pattern> {
        let span = self.span(target);
        match target {
            py::Expr::Name(name) if name.id.as_str() == "_" => Ok(Pattern::Wildcard(span)),
            py::Expr::Name(name) => Ok(Pattern::Name(name.id.to_string(), span)),
            py::Expr::Tuple(py::ExprTuple { elts, .. }) | py::Expr::List(py::ExprList { elts, .. }) => {
                let parts = elts.iter().map(|part| stack::grow(|| self.target(part)));
                Ok(Pattern::Tuple(parts.collect::<Result<_>>()?, span))
            }
            py::Expr::Subscript(_) => outside(span, "changing an element is", "make a new list: [f(x) for x in v]"),
            py::Expr::Attribute(_) => outside(span, "changing a field is", "make a new value of the class"),
            _ => outside(span, "this target is", ""),
        }
    }

    /// Variables that some branches assign, and that have a value after all of them.
    fn assigned_in(&self, branches: &[Vec<&py::Stmt>]) -> Vec<String> {
        let mut all = vec![];
        branches.iter().for_each(|branch| assigned(branch, &mut all));
        let in_each = |name: &String| {
            branches.iter().all(|branch| {
                let mut own = vec![];
                assigned(branch, &mut own);
                own.contains(name)
            })
        };
        all.retain(|name| self.defined.contains(name) || in_each(name));
        all
    }

    fn bind_state(&mut self, names: Vec<String>, value: Expr, span: Span, statements: &mut Vec<Statement>) {
        let pattern = self.state_pattern(&names, span);
        self.bind(pattern, value, statements);
    }

    fn state_pattern(&self, names: &[String], span: Span) -> Pattern {
        let mut parts: Vec<Pattern> = names.iter().map(|name| Pattern::Name(name.clone(), span)).collect();
        if parts.len() == 1 { parts.remove(0) } else { Pattern::Tuple(parts, span) }
    }

    /// `if` that gives variables their values.
    fn assigning_if(&mut self, test: &py::StmtIf, statements: &mut Vec<Statement>) -> Result<()> {
        let span = self.span(test);
        let mut branches: Vec<Vec<&py::Stmt>> = vec![test.body.iter().collect()];
        branches.extend(test.elif_else_clauses.iter().map(|clause| clause.body.iter().collect()));
        if test.elif_else_clauses.last().is_none_or(|clause| clause.test.is_some()) {
            branches.push(vec![]);
        }
        let names = self.assigned_in(&branches);
        let tests =
            [Some(&*test.test)].into_iter().chain(test.elif_else_clauses.iter().map(|clause| clause.test.as_ref()));
        let tests: Vec<&py::Expr> = tests.flatten().collect();
        let conditions = tests.into_iter().map(|test| self.expr(test)).collect::<Result<Vec<_>>>()?;
        let mut values =
            branches.iter().map(|branch| self.steps(branch, Goal::State(&names), span)).collect::<Result<Vec<_>>>()?;
        let Some(mut value) = values.pop() else { return Ok(()) };
        for (condition, branch) in conditions.into_iter().zip(values).rev() {
            value = self.make(span, Kind::If(Box::new(condition), Box::new(branch), Box::new(value)));
        }
        self.bind_state(names, value, span, statements);
        Ok(())
    }

    /// `for`: a fold over what the loop changes.
    fn assigning_for(&mut self, each: &py::StmtFor, statements: &mut Vec<Statement>) -> Result<()> {
        let span = self.span(each);
        if each.is_async || !each.orelse.is_empty() {
            return outside(span, "async and else of loops are", "");
        }
        let body: Vec<&py::Stmt> = each.body.iter().collect();
        let mut names = vec![];
        assigned(&body, &mut names);
        names.retain(|name| self.defined.contains(name));
        let pattern = self.target(&each.target)?;
        names.retain(|name| !pattern.names().contains(&name.as_str()));
        let over = self.over(&each.iter)?;
        let init = self.state(&names, span);
        let mark = self.defined.len();
        self.defined.extend(pattern.names().into_iter().map(str::to_owned));
        let value = self.steps(&body, Goal::State(&names), span);
        self.defined.truncate(mark);
        let generator = crate::tree::Generator { pattern, over, conditions: vec![] };
        let fold = Fold { state: self.state_pattern(&names, span), init, each: generator, body: value? };
        let value = self.make(span, Kind::Fold(Box::new(fold)));
        self.bind_state(names, value, span, statements);
        Ok(())
    }

    fn matched(&mut self, of: &py::StmtMatch, goal: Goal<'_>) -> Result<Expr> {
        let value = self.expr(&of.subject)?;
        let mut arms = vec![];
        for case in &of.cases {
            if let Some(guard) = &case.guard {
                return outside(self.span(&**guard), "conditions of cases are", "write an if in the case");
            }
            let constructor = self.case(&case.pattern)?;
            let mark = self.defined.len();
            let names = constructor.iter().flat_map(|(_, patterns)| patterns.iter().flat_map(Pattern::names));
            self.defined.extend(names.map(str::to_owned).collect::<Vec<_>>());
            let body: Vec<&py::Stmt> = case.body.iter().collect();
            let span = self.span(&case.pattern);
            let value = self.steps(&body, goal, span);
            self.defined.truncate(mark);
            arms.push(Arm { constructor, span, body: value? });
        }
        Ok(self.make(self.span(of), Kind::Match(Box::new(value), arms)))
    }

    /// The constructor of a case, and what it binds.
    fn case(&self, pattern: &py::Pattern) -> Result<Option<(String, Vec<Pattern>)>> {
        let span = self.span(pattern);
        match pattern {
            py::Pattern::MatchAs(py::PatternMatchAs { pattern: None, name: None, .. }) => Ok(None),
            py::Pattern::MatchClass(class) => {
                let Some(name) = self.path(&class.cls).filter(|name| self.fields.contains_key(name)) else {
                    return outside(span, "this pattern is", "write the name of a class: case Leaf(x)");
                };
                let declared = &self.fields[&name];
                let mut bound: Vec<Pattern> = declared.iter().map(|_| Pattern::Wildcard(span)).collect();
                let by_name = class.arguments.keywords.iter().map(|keyword| {
                    (declared.iter().position(|field| field == keyword.attr.id.as_str()), &keyword.pattern)
                });
                let by_place =
                    class.arguments.patterns.iter().enumerate().map(|(place, pattern)| (Some(place), pattern));
                for (place, part) in by_place.chain(by_name) {
                    let Some(slot) = place.and_then(|place| bound.get_mut(place)) else {
                        return outside(self.span(part), format!("a field that '{name}' does not have is"), "");
                    };
                    *slot = self.simple_pattern(part)?;
                }
                Ok(Some((name, bound)))
            }
            _ => outside(span, "this pattern is", "a case is a class, case Leaf(x), or case _"),
        }
    }

    fn simple_pattern(&self, pattern: &py::Pattern) -> Result<Pattern> {
        let span = self.span(pattern);
        match pattern {
            py::Pattern::MatchAs(py::PatternMatchAs { pattern: None, name: Some(name), .. }) => {
                Ok(Pattern::Name(name.id.to_string(), span))
            }
            py::Pattern::MatchAs(py::PatternMatchAs { pattern: None, name: None, .. }) => Ok(Pattern::Wildcard(span)),
            py::Pattern::MatchSequence(of) => {
                let parts = of.patterns.iter().map(|part| stack::grow(|| self.simple_pattern(part)));
                Ok(Pattern::Tuple(parts.collect::<Result<_>>()?, span))
            }
            _ => outside(span, "a pattern in a pattern is", "name the part, and match it in the case"),
        }
    }

    fn operator(&self, operator: py::Operator, span: Span) -> Result<Operator> {
        super::expr::operator(operator).map_or_else(|| outside(span, "operators on bits are", ""), Ok)
    }
}

/// Whether a statement returns, at least in one of its branches.
fn ends_early(stmt: &py::Stmt) -> bool {
    let any = |body: &[py::Stmt]| stack::grow(|| body.iter().any(ends_early));
    match stmt {
        py::Stmt::Return(_) => true,
        py::Stmt::If(test) => any(&test.body) || test.elif_else_clauses.iter().any(|clause| any(&clause.body)),
        py::Stmt::For(each) => any(&each.body),
        py::Stmt::Match(of) => of.cases.iter().any(|case| any(&case.body)),
        _ => false,
    }
}

/// Whether a block returns whatever happens.
fn always_returns(body: &[&py::Stmt]) -> bool {
    let all = |body: &[py::Stmt]| stack::grow(|| always_returns(&body.iter().collect::<Vec<_>>()));
    body.iter().any(|stmt| match stmt {
        py::Stmt::Return(_) => true,
        py::Stmt::If(test) => {
            let has_else = test.elif_else_clauses.last().is_some_and(|clause| clause.test.is_none());
            has_else && all(&test.body) && test.elif_else_clauses.iter().all(|clause| all(&clause.body))
        }
        py::Stmt::Match(of) => of.cases.iter().all(|case| all(&case.body)),
        _ => false,
    })
}

/// The variables that a block assigns, in order.
fn assigned(body: &[&py::Stmt], names: &mut Vec<String>) {
    fn add(target: &py::Expr, names: &mut Vec<String>) {
        match target {
            py::Expr::Name(name) if !names.iter().any(|known| known == name.id.as_str()) => {
                names.push(name.id.to_string())
            }
            py::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| stack::grow(|| add(part, names))),
            _ => {}
        }
    }
    for stmt in body {
        let within = |body: &[py::Stmt], names: &mut Vec<String>| {
            stack::grow(|| assigned(&body.iter().collect::<Vec<_>>(), names));
        };
        match stmt {
            py::Stmt::Assign(assign) => assign.targets.iter().for_each(|target| add(target, names)),
            py::Stmt::AnnAssign(assign) => add(&assign.target, names),
            py::Stmt::AugAssign(assign) => add(&assign.target, names),
            py::Stmt::For(each) => within(&each.body, names),
            py::Stmt::If(test) => {
                within(&test.body, names);
                test.elif_else_clauses.iter().for_each(|clause| within(&clause.body, names));
            }
            py::Stmt::Match(of) => of.cases.iter().for_each(|case| within(&case.body, names)),
            _ => {}
        }
    }
}
