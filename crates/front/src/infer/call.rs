//! Types of calls.

use super::{Binding, Infer, Signature};
use crate::Language;
use crate::builtin::Builtin;
use crate::error::{Mistake, Result, outside, similar};
use crate::tree::{Call, Expr, Kind, Param};
use crate::types::Type;
use labrys_compiler::Span;
use std::rc::Rc;

impl Infer<'_> {
    pub(super) fn call(&mut self, call: &Call, whole: &Expr) -> Result<Type> {
        if let Some(signature) = self.function(&call.name) {
            return self.call_of(call, &signature);
        }
        if let Some(fields) = self.declared.records.get(&call.name) {
            let params = fields.iter().map(|(name, ty)| (Some(name.clone()), ty.clone())).collect();
            let result = Type::Named(call.name.clone());
            return self.call_of(call, &Signature { params, result, is_value: false });
        }
        if let Some((union, fields)) = self.declared.fields(&call.name) {
            let params = fields.iter().map(|(name, ty)| (Some(name.clone()), ty.clone())).collect();
            let signature = Signature { params, result: Type::Named(union.clone()), is_value: false };
            return self.call_of(call, &signature);
        }
        match call.builtin {
            Some(builtin) => self.builtin(builtin, call, whole),
            None => self.unknown_function(call),
        }
    }

    /// What a function of the program takes and gives.
    fn function(&self, name: &str) -> Option<Rc<Signature>> {
        match self.binding(name) {
            Some(Binding::Function(signature)) => Some(Rc::clone(signature)),
            Some(Binding::Variable(_)) => None,
            None => self.globals.get(name).filter(|signature| !signature.is_value).cloned(),
        }
    }

    fn unknown_function<T>(&self, call: &Call) -> Result<T> {
        if self.binding(&call.name).is_some() || self.globals.contains_key(&call.name) {
            let hint = "only functions that are defined can be called";
            return outside(call.at, "calling a value is", hint);
        }
        let known = self.globals.keys().chain(self.declared.constructors.keys()).map(String::as_str);
        let hint = similar(&call.name, known.chain(crate::builtin::MATH));
        Err(Mistake::Unknown { what: "function", name: call.name.clone(), hint }.at(call.at))
    }

    fn call_of(&mut self, call: &Call, signature: &Signature) -> Result<Type> {
        let names: Vec<Option<&str>> = signature.params.iter().map(|(name, _)| name.as_deref()).collect();
        let args = arranged(call, &names)?;
        for (number, (arg, (_, expected))) in args.iter().zip(&signature.params).enumerate() {
            let found = self.expr(arg)?;
            self.expect(expected, &found, arg.span, || format!("argument {} of '{}'", number + 1, call.name))?;
        }
        Ok(signature.result.clone())
    }

    fn builtin(&mut self, builtin: Builtin, call: &Call, whole: &Expr) -> Result<Type> {
        if matches!(builtin, Builtin::Grad | Builtin::ValueAndGrad | Builtin::Adam) {
            return self.derivative(builtin, call, whole);
        }
        if let Some((name, span, _)) = call.named.first() {
            return outside(*span, format!("the argument '{name}' is"), "");
        }
        let types = call.args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        let types: Vec<Type> = types.iter().map(|ty| self.unifier.resolve(ty)).collect();
        let result = self.builtin_result(builtin, &types);
        result.ok_or_else(|| self.no_overload(builtin, call, &types).at(call.at))
    }

    fn no_overload(&self, builtin: Builtin, call: &Call, types: &[Type]) -> Mistake {
        let shown: Vec<String> = types.iter().map(|ty| self.show(ty)).collect();
        let found = if shown.is_empty() { "no arguments".to_owned() } else { shown.join(" and ") };
        let hint = match (builtin, types) {
            (_, types) if types.iter().any(|ty| matches!(ty, Type::List(_))) => {
                Some("np.array(...) makes an array of a list".to_owned())
            }
            (Builtin::Math(_), [Type::Int]) => Some("it takes a float".to_owned()),
            _ => None,
        };
        Mistake::NoOverload { name: call.name.clone(), found, hint }
    }

    /// What a built-in function gives for arguments of these types.
    fn builtin_result(&mut self, builtin: Builtin, types: &[Type]) -> Option<Type> {
        use Builtin as B;
        match (builtin, types) {
            (B::Math("abs"), [ty]) if ty.is_number() => Some(ty.clone()),
            (B::Math(_), [ty]) => self.floats(ty),
            (B::Neg, [ty @ (Type::Int | Type::Float)]) => Some(ty.clone()),
            (B::Neg, [Type::Unknown(_)]) => {
                self.unifier.is_number(&types[0]);
                Some(types[0].clone())
            }
            (B::Neg, [ty]) => self.floats(ty),
            (B::Not, [ty]) => self.unifier.unify(ty, &Type::Bool).then_some(Type::Bool),
            (B::Pi, []) => Some(Type::Float),
            (B::ToFloat, [ty]) if ty.is_number() => Some(Type::Float),
            (B::ToFloat, [ty]) => self.unifier.unify(ty, &Type::Int).then_some(Type::Float),
            (B::Max | B::Min, [a, b]) => self.greater(a, b),
            (B::Pow, [a, b]) => {
                let floats = self.accepts_float(a) && (b.is_number() || self.accepts_float(b));
                floats.then_some(Type::Float)
            }
            (B::Length, [Type::List(_) | Type::Array(..)]) => Some(Type::Int),
            (B::Length, [ty]) => self.vector_of_something(ty).map(|_| Type::Int),
            (B::Extent(axis), [Type::Array(rank, _)]) => (axis < *rank).then_some(Type::Int),
            (B::Sum, [Type::List(element) | Type::Array(_, element)]) => Some((**element).clone()),
            (B::Sum, [ty]) => self.vector_of_something(ty),
            (B::Mean | B::Norm, [ty]) => self.floats_of_any_rank(ty).map(|_| Type::Float),
            (B::Greatest | B::Smallest, [Type::List(element) | Type::Array(1, element)]) => {
                (**element == Type::Float).then_some(Type::Float)
            }
            (B::Greatest | B::Smallest, [ty]) => self.unifier.unify(ty, &Type::floats(1)).then_some(Type::Float),
            (B::ArgMax, [ty]) => (self.is_vector(ty)).then_some(Type::Int),
            (B::Dot, [a @ Type::List(_), b]) => (self.is_vector(a) && self.is_vector(b)).then_some(Type::Float),
            (B::Dot, [a, b]) => {
                let (a, b) = (self.known_vector(a), self.known_vector(b));
                super::numbers::product(&a, &b)
            }
            (B::Outer, [a, b]) => (self.is_vector(a) && self.is_vector(b)).then_some(Type::floats(2)),
            (B::Concat, [a, b]) => (self.is_vector(a) && self.is_vector(b)).then_some(Type::floats(1)),
            (B::Transpose, [ty @ Type::Array(2, _)]) => Some(ty.clone()),
            (B::Full, [size, value]) => {
                let rank = self.rank_of_size(size)?;
                Some(Type::Array(rank, Box::new(value.clone())))
            }
            (B::Zeros | B::Ones, [size]) => self.rank_of_size(size).map(Type::floats),
            (B::ZerosLike, [ty @ Type::Array(..)]) => Some(ty.clone()),
            (B::Arange, [ty]) => self.unifier.unify(ty, &Type::Int).then(|| Type::Array(1, Box::new(Type::Int))),
            (B::Eye, [ty]) => self.unifier.unify(ty, &Type::Int).then(|| Type::floats(2)),
            (B::ToArray, [ty]) => array_of(ty, self.language == Language::FSharp),
            _ => None,
        }
    }

    /// A function of floats gives a float or an array, like its argument.
    fn floats(&mut self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Array(_, element) if **element == Type::Float => Some(ty.clone()),
            _ => self.accepts_float(ty).then_some(Type::Float),
        }
    }

    fn accepts_float(&mut self, ty: &Type) -> bool {
        self.unifier.accepts(&Type::Float, ty)
    }

    fn greater(&mut self, a: &Type, b: &Type) -> Option<Type> {
        if let (Type::Array(_, element), scalar) | (scalar, Type::Array(_, element)) = (a, b)
            && !matches!(scalar, Type::Array(..))
        {
            let array = if matches!(a, Type::Array(..)) { a } else { b };
            let fits = **element == Type::Float && self.accepts_float(scalar);
            return fits.then(|| array.clone());
        }
        let joined = self.unifier.join(a, b)?;
        self.unifier.is_number(&joined);
        let is_scalar = joined.is_number() || matches!(joined, Type::Unknown(_));
        (is_scalar || matches!(&joined, Type::Array(_, element) if **element == Type::Float)).then_some(joined)
    }

    fn vector_of_something(&mut self, ty: &Type) -> Option<Type> {
        let element = self.unifier.fresh();
        self.unifier.unify(ty, &Type::Array(1, Box::new(element.clone()))).then_some(element)
    }

    fn floats_of_any_rank(&mut self, ty: &Type) -> Option<()> {
        match ty {
            Type::List(element) | Type::Array(_, element) => (**element == Type::Float).then_some(()),
            _ => self.unifier.unify(ty, &Type::floats(1)).then_some(()),
        }
    }

    fn is_vector(&mut self, ty: &Type) -> bool {
        ty.element() == Some(&Type::Float) || self.unifier.unify(ty, &Type::floats(1))
    }

    /// The type itself, or a vector if nothing is known of it.
    fn known_vector(&mut self, ty: &Type) -> Type {
        if let Type::Unknown(_) = ty {
            self.unifier.unify(ty, &Type::floats(1));
        }
        self.unifier.resolve(ty)
    }

    fn rank_of_size(&mut self, size: &Type) -> Option<u32> {
        match size {
            Type::Tuple(sizes) if sizes.len() > 1 => {
                sizes.iter().all(|size| self.unifier.unify(size, &Type::Int)).then_some(sizes.len() as u32)
            }
            _ => self.unifier.unify(size, &Type::Int).then_some(1),
        }
    }

    /// `grad f x ...`, `adam f x`.
    fn derivative(&mut self, builtin: Builtin, call: &Call, whole: &Expr) -> Result<Type> {
        let Some((function, args)) = call.args.split_first().filter(|(_, args)| !args.is_empty()) else {
            let (name, expected) = (call.name.clone(), "a function and where to start".to_owned());
            return Err(Mistake::Arguments { name, expected, found: call.args.len() }.at(whole.span));
        };
        let args: Vec<Type> = args.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
        let is_search = builtin == Builtin::Adam;
        if is_search && args.len() > 1 {
            let (name, expected) = (call.name.clone(), "a function and where to start".to_owned());
            return Err(Mistake::Arguments { name, expected, found: args.len() + 1 }.at(whole.span));
        }
        let result = self.function_argument(function, &args)?;
        self.expect(&Type::Float, &result, function.span, || "the result of what is differentiated".to_owned())?;
        for (name, span, value) in &call.named {
            let expected = match name.as_str() {
                "rate" if is_search => Type::Float,
                "steps" if is_search => Type::Int,
                _ => return outside(*span, format!("the argument '{name}' is"), ""),
            };
            let found = self.expr(value)?;
            self.expect(&expected, &found, value.span, || format!("the argument '{name}'"))?;
        }
        let first = self.unifier.resolve(&args[0]);
        let tangent = self.declared.tangent(&first);
        Ok(match builtin {
            Builtin::Grad => tangent,
            Builtin::ValueAndGrad => Type::Tuple(vec![Type::Float, tangent]),
            _ => first,
        })
    }

    /// The result of a function that is an argument, given what it will be called with.
    fn function_argument(&mut self, function: &Expr, args: &[Type]) -> Result<Type> {
        let result = match &function.kind {
            Kind::Lambda(params, body) => self.lambda(params, body, args, function.span)?,
            Kind::Name(name) => {
                let Some(signature) = self.function(name) else {
                    return outside(
                        function.span,
                        format!("differentiating '{name}' is"),
                        "give a function of the program",
                    );
                };
                if signature.params.len() != args.len() {
                    let (name, expected) = (name.clone(), format!("{} arguments", signature.params.len()));
                    return Err(Mistake::Arguments { name, expected, found: args.len() }.at(function.span));
                }
                for ((_, expected), found) in signature.params.iter().zip(args) {
                    self.expect(expected, found, function.span, || format!("an argument of '{name}'"))?;
                }
                signature.result.clone()
            }
            _ => return outside(function.span, "this as a function is", "give its name, or a lambda"),
        };
        let ty = Type::Function(args.to_vec(), Box::new(result.clone()));
        self.exprs[function.id] = (ty, Some(function.span));
        Ok(result)
    }

    fn lambda(&mut self, params: &[Param], body: &Expr, args: &[Type], span: Span) -> Result<Type> {
        if params.len() != args.len() {
            let (name, expected) = ("the function".to_owned(), format!("{} arguments", params.len()));
            return Err(Mistake::Arguments { name, expected, found: args.len() }.at(span));
        }
        for (param, found) in params.iter().zip(args) {
            if let Some(expected) = &param.ty {
                let expected = self.unifier.opened(expected);
                self.expect(&expected, found, param.pattern.span(), || "the parameter".to_owned())?;
            }
        }
        let bound = self.bind_all(params.iter().map(|param| &param.pattern).zip(args))?;
        let result = self.expr(body);
        self.unbind(bound);
        result
    }
}

/// The array that `np.array` makes of a list, or F#'s `matrix` of arrays.
fn array_of(ty: &Type, is_nested: bool) -> Option<Type> {
    let element = match ty {
        Type::Array(1, element) if is_nested && element.element().is_some() => element,
        Type::List(element) => element,
        Type::Array(..) => return Some(ty.clone()),
        _ => return None,
    };
    match &**element {
        // Rows of rank 1 only.
        Type::List(_) | Type::Array(1, _) => match array_of(element, is_nested)? {
            Type::Array(rank, element) => Some(Type::Array(rank + 1, element)),
            _ => None,
        },
        Type::Array(..) => None,
        _ => Some(Type::Array(1, element.clone())),
    }
}

/// The arguments of a call in the order of the parameters.
pub(crate) fn arranged<'a>(call: &'a Call, params: &[Option<&str>]) -> Result<Vec<&'a Expr>> {
    // A tuple for a constructor of several fields, as F# writes it.
    if let ([Expr { kind: Kind::Tuple(parts), .. }], true) = (&call.args[..], params.len() > 1)
        && parts.len() == params.len()
        && call.named.is_empty()
    {
        return Ok(parts.iter().collect());
    }
    let mut args: Vec<Option<&Expr>> = call.args.iter().map(Some).collect();
    args.resize(params.len().max(args.len()), None);
    for (name, span, value) in &call.named {
        let hint = similar(name, params.iter().copied().flatten());
        let Some(at) = params.iter().position(|param| *param == Some(name)) else {
            return Err(Mistake::Unknown { what: "argument", name: name.clone(), hint }.at(*span));
        };
        if args[at].replace(value).is_some() {
            return Err(Mistake::Duplicate(name.clone()).at(*span));
        }
    }
    let found = call.args.len() + call.named.len();
    let complete: Option<Vec<&Expr>> = args.into_iter().collect();
    complete.filter(|args| args.len() == params.len()).ok_or_else(|| {
        let expected = format!("{} argument{}", params.len(), if params.len() == 1 { "" } else { "s" });
        Mistake::Arguments { name: call.name.clone(), expected, found }.at(call.at)
    })
}
