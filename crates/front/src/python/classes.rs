//! Records and unions: data classes, and types that are one of several of them.

use super::Reader;
use crate::error::{Mistake, Result, outside};
use crate::tree::{Fields, TypeBody, TypeDef};
use crate::types::Type;
use labrys_compiler::Span;
use ruff_python_ast as py;

/// A union: its name, where it stands, and the classes that it is made of.
struct Union<'a> {
    name: &'a str,
    span: Span,
    members: Vec<&'a py::Expr>,
}

impl Reader<'_> {
    /// Every type that a module defines. Their names are known everywhere in it.
    pub(super) fn type_defs(&mut self, suite: &[py::Stmt]) -> Result<Vec<TypeDef>> {
        // Annotations need what is imported.
        for stmt in suite {
            match stmt {
                py::Stmt::Import(import) => import.names.iter().for_each(|alias| _ = self.import(alias)),
                py::Stmt::ImportFrom(import) => _ = self.import_from(import),
                _ => {}
            }
        }
        let classes: Vec<&py::StmtClassDef> = suite
            .iter()
            .filter_map(|stmt| if let py::Stmt::ClassDef(class) = stmt { Some(class) } else { None })
            .collect();
        let is_class = |expr: &py::Expr| classes.iter().any(|class| is_named(expr, class.name.id.as_str()));
        let unions: Vec<Union<'_>> = suite
            .iter()
            .filter_map(|stmt| self.union(stmt))
            .filter(|u| u.members.iter().all(|m| is_class(m)))
            .collect();
        for union in &unions {
            self.types.insert(union.name.to_owned(), Type::Named(union.name.to_owned()));
        }
        for class in &classes {
            let name = class.name.id.to_string();
            let is_member = unions.iter().any(|union| union.members.iter().any(|member| is_named(member, &name)));
            if is_member {
                self.constructors.insert(name);
            } else {
                self.types.insert(name.clone(), Type::Named(name));
            }
        }
        self.aliases(suite)?;
        let mut defs = vec![];
        let records: Vec<_> =
            classes.iter().filter(|class| !self.constructors.contains(class.name.id.as_str())).collect();
        for class in records {
            let fields = self.class(class)?;
            let (name, span) = (class.name.id.to_string(), self.span(&class.name));
            let holds_itself = fields.iter().any(|(_, ty)| {
                !defs.iter().any(|def: &TypeDef| Type::Named(def.name.clone()) == *ty)
                    && is_record(ty, &classes, &self.constructors)
            });
            if holds_itself {
                return outside(
                    span,
                    "a class that holds itself, or one from further down, is",
                    "a union may: Tree = Leaf | Node",
                );
            }
            defs.push(TypeDef { name, span, comment: vec![], body: TypeBody::Record(fields) });
        }
        for union in &unions {
            let mut constructors = vec![];
            for member in &union.members {
                let Some(class) = classes.iter().find(|class| is_named(member, class.name.id.as_str())) else {
                    continue;
                };
                constructors.push((class.name.id.to_string(), self.class(class)?));
            }
            let comment = self.comment_above(union_stmt(suite, union.name).unwrap_or(&suite[0]));
            defs.push(TypeDef {
                name: union.name.to_owned(),
                span: union.span,
                comment,
                body: TypeBody::Union(constructors),
            });
        }
        Ok(defs)
    }

    /// `Tree = Leaf | Node`, `Tree = Union[Leaf, Node]`, `type Tree = Leaf | Node`
    fn union<'s>(&self, stmt: &'s py::Stmt) -> Option<Union<'s>> {
        let (name, value) = definition(stmt)?;
        let mut members = vec![];
        self.members(value, &mut members);
        (members.len() > 1).then(|| Union { name: name.id.as_str(), span: self.span(name), members })
    }

    fn members<'s>(&self, value: &'s py::Expr, members: &mut Vec<&'s py::Expr>) {
        match value {
            py::Expr::BinOp(or) if or.op == py::Operator::BitOr => {
                crate::stack::grow(|| self.members(&or.left, members));
                members.push(&or.right);
            }
            py::Expr::Subscript(of) if self.path(&of.value).as_deref() == Some("typing.Union") => {
                if let py::Expr::Tuple(tuple) = &*of.slice {
                    members.extend(tuple.elts.iter());
                }
            }
            one => members.push(one),
        }
    }

    /// `Numbers = list[float]`
    fn aliases(&mut self, suite: &[py::Stmt]) -> Result<()> {
        for stmt in suite {
            let Some((name, value)) = definition(stmt) else { continue };
            let is_type = matches!(stmt, py::Stmt::TypeAlias(_)) || self.looks_like_type(value);
            if is_type && !self.types.contains_key(name.id.as_str()) {
                let ty = self.ty(value)?;
                self.types.insert(name.id.to_string(), ty);
            }
        }
        Ok(())
    }

    fn looks_like_type(&self, value: &py::Expr) -> bool {
        match value {
            py::Expr::Name(_) | py::Expr::Attribute(_) => {
                let path = self.path(value).unwrap_or_default();
                self.types.contains_key(&path)
                    || matches!(path.as_str(), "float" | "int" | "bool" | "labrys.Vector" | "labrys.Matrix")
            }
            py::Expr::Subscript(of) => {
                let head = self.path(&of.value).unwrap_or_default();
                ["list", "tuple"].contains(&head.as_str())
                    || ["typing.", "labrys.", "jaxtyping.", "collections."]
                        .iter()
                        .any(|module| head.starts_with(module))
            }
            _ => false,
        }
    }

    /// The fields of a class.
    fn class(&mut self, class: &py::StmtClassDef) -> Result<Fields> {
        let span = self.span(&class.name);
        let is_decorated = class.decorator_list.iter().any(|decorator| {
            let expr = match &decorator.expression {
                py::Expr::Call(call) => &*call.func,
                other => other,
            };
            self.path(expr).as_deref() == Some("dataclasses.dataclass")
        });
        let bases = class.arguments.as_ref().map_or(&[][..], |arguments| &arguments.args);
        let is_tuple = matches!(bases, [base] if self.path(base).as_deref() == Some("typing.NamedTuple"));
        if !(is_decorated && bases.is_empty() || is_tuple) {
            return outside(
                span,
                "classes that are no data are",
                "write @dataclass above it, or (NamedTuple) behind its name",
            );
        }
        let mut fields: Fields = vec![];
        for stmt in &class.body {
            match stmt {
                py::Stmt::AnnAssign(field) if field.value.is_none() => {
                    let py::Expr::Name(name) = &*field.target else {
                        return outside(self.span(field), "this field is", "write name: type");
                    };
                    if fields.iter().any(|(other, _)| other == name.id.as_str()) {
                        return Err(Mistake::Duplicate(name.id.to_string()).at(self.span(name)));
                    }
                    fields.push((name.id.to_string(), self.ty(&field.annotation)?));
                }
                py::Stmt::Pass(_) => {}
                py::Stmt::Expr(expr) if matches!(&*expr.value, py::Expr::StringLiteral(_)) => {}
                _ => {
                    return outside(
                        self.span(stmt),
                        "methods and defaults of classes are",
                        "write functions beside the class",
                    );
                }
            }
        }
        self.fields.insert(class.name.id.to_string(), fields.iter().map(|(name, _)| name.clone()).collect());
        Ok(fields)
    }
}

/// The name and the value of `name = value` and `type name = value`.
fn definition(stmt: &py::Stmt) -> Option<(&py::ExprName, &py::Expr)> {
    match stmt {
        py::Stmt::Assign(assign) => match &assign.targets[..] {
            [py::Expr::Name(name)] => Some((name, &assign.value)),
            _ => None,
        },
        py::Stmt::TypeAlias(alias) => match &*alias.name {
            py::Expr::Name(name) => Some((name, &alias.value)),
            _ => None,
        },
        _ => None,
    }
}

fn union_stmt<'a>(suite: &'a [py::Stmt], name: &str) -> Option<&'a py::Stmt> {
    suite.iter().find(|stmt| definition(stmt).is_some_and(|(defined, _)| defined.id.as_str() == name))
}

/// Whether an expression names a class, as a name or in quotes.
fn is_named(expr: &py::Expr, name: &str) -> bool {
    match expr {
        py::Expr::Name(found) => found.id.as_str() == name,
        py::Expr::StringLiteral(text) => text.value.to_str() == name,
        _ => false,
    }
}

/// Whether a type is, or holds, a class that is no constructor.
fn is_record(ty: &Type, classes: &[&py::StmtClassDef], constructors: &rustc_hash::FxHashSet<String>) -> bool {
    match ty {
        Type::Named(name) => classes.iter().any(|class| class.name.id.as_str() == name) && !constructors.contains(name),
        _ => false,
    }
}
