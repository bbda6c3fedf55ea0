//! Primitives that are no loops.

use super::Failure;
use super::function::Emitter;
use super::loops::{Source, Steps};
use super::types::{has_maps, points};
use super::value::Val;
use crate::ir::{ExprId, Node, Prim, Type, TypeId};

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    pub(super) fn prim(&mut self, prim: Prim, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        if prim.is_function() {
            return self.scalar(prim, args, expr, hint);
        }
        match prim {
            Prim::Build => self.build(args[0], args[1], expr, hint),
            Prim::Sumbuild => self.sumbuild(args[0], args[1], expr, hint),
            Prim::Sumbuild4 | Prim::Sumbuild8 => self.sum_in_lanes(prim.lanes().unwrap_or(1), args, expr, hint),
            Prim::Fold | Prim::MapAccum => self.fold(prim, args, expr, hint),
            Prim::Map | Prim::Map2 => self.map(args[0], &args[1..], expr, hint),
            Prim::Sum => self.sum(args[0], expr, hint),
            Prim::Accumulate => self.accumulate(args[0], args[1]),
            Prim::AddTo => self.add_to(args[0], args[1]),
            Prim::Index => self.index(args[0], args[1], expr, hint),
            Prim::Size => {
                let value = self.shaped(args[0])?;
                let (rank, _) = self.element_type(self.ty(args[0]));
                let sizes = (0..rank).map(|axis| Val::Text(format!("{}.size[{axis}]", value.scalar())));
                let mut sizes: Vec<Val> = sizes.collect();
                Ok(if rank == 1 { sizes.remove(0) } else { Val::Tuple(sizes) })
            }
            Prim::Unzip => self.unzip(args[0], expr, hint),
            Prim::Diag => self.diag(args, expr, hint),
            Prim::BuildFromSparse | Prim::BuildFromSparseTupled => self.sparse(prim, args, expr, hint),
            Prim::Print | Prim::Trace | Prim::Inline | Prim::Copydown | Prim::LmVariant => self.act(prim, args, hint),
            Prim::Check => self.check(args, expr, hint),
            _ if prim >= Prim::LmApply => self.linear(prim, args, expr, hint),
            Prim::Shape | Prim::Zero => {
                let value = self.shaped(args[0])?;
                Ok(self.shape_or_zero(prim, &value, self.ty(args[0]), hint))
            }
            _ => self.strict(prim, args, expr, hint),
        }
    }

    /// Functions of scalars.
    fn scalar(&mut self, prim: Prim, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let values = self.values(args)?;
        let texts: Vec<&str> = values.iter().map(Val::scalar).collect();
        let is_integer = self.ty(args[0]) == TypeId::INTEGER;
        let infix = |operator: &str| format!("({} {operator} {})", texts[0], texts[1]);
        let call = |name: &str| format!("{name}({})", texts.join(", "));
        let text = match prim {
            Prim::Div if is_integer && self.is_plain_divisor(args[1]) => infix("/"),
            Prim::Div if is_integer => {
                let text = format!("ks::quotient({}, {})", texts.join(", "), self.place(expr));
                return Ok(self.now(text, TypeId::INTEGER, hint));
            }
            Prim::Add if is_integer => call("ks::add"),
            Prim::Sub if is_integer => call("ks::sub"),
            Prim::Mul if is_integer => call("ks::mul"),
            Prim::Neg if is_integer => call("ks::neg"),
            Prim::Add => infix("+"),
            Prim::Sub => infix("-"),
            Prim::Mul => infix("*"),
            Prim::Div => infix("/"),
            Prim::Neg => format!("(-{})", texts[0]),
            Prim::Gt => infix(">"),
            Prim::Lt => infix("<"),
            Prim::Gte => infix(">="),
            Prim::Lte => infix("<="),
            Prim::And => infix("&&"),
            Prim::Or => infix("||"),
            Prim::Pow if self.ty(args[1]) == TypeId::INTEGER => call("ks::power"),
            Prim::Polygamma => call("ks::polygamma"),
            Prim::Ranhashdoub => call("ks::hash"),
            Prim::ToFloat => call("static_cast<ks::real>"),
            Prim::Exp | Prim::Tanh if self.options.wide_functions => call(&format!("ks::{}", prim.name())),
            _ => call(&format!("std::{}", if prim == Prim::Abs { "fabs" } else { prim.name() })),
        };
        Ok(Val::Text(text))
    }

    /// Whether a division by this neither fails nor overflows.
    fn is_plain_divisor(&self, divisor: ExprId) -> bool {
        matches!(self.program.store.node(divisor), Node::Integer(value) if value > 0)
    }

    fn index(&mut self, index: ExprId, over: ExprId, expr: ExprId, hint: &str) -> Result<Val> {
        let ty = self.ty(expr);
        if let (Node::Prim(Prim::Build, args), false) = (self.program.store.node(over), self.options.debug_bounds) {
            let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
            let (var, body) = self.lambda(lam);
            if self.is_total(body) && self.is_total(size) {
                let at = self.value_atom(index, "i")?;
                let outer = self.env.insert(var, at);
                let value = self.value_named(body, hint)?;
                self.unbind(var, outer);
                return Ok(value);
            }
        }
        let index = self.taken_by(index)?;
        let over = self.value_atom(over, "v")?;
        let text = self.access(over.scalar(), &index, expr);
        if ty == TypeId::UNIT {
            return Ok(Val::unit());
        }
        if self.options.debug_bounds {
            return Ok(self.now(text, ty, hint));
        }
        Ok(Val::Text(text))
    }

    fn unzip(&mut self, over: ExprId, expr: ExprId, hint: &str) -> Result<Val> {
        let types = self.field_types(self.ty(expr)).unwrap_or_default();
        let (source, sizes) = match self.program.store.node(over) {
            Node::Prim(Prim::Build, args) => {
                let (size, lam) = (self.program.store.list(args)[0], self.program.store.list(args)[1]);
                let (var, body) = self.lambda(lam);
                let sizes = self.sizes(size)?;
                (Source::Virtual(var, body), sizes)
            }
            _ => self.source(over)?,
        };
        let made: Vec<String> = types.iter().map(|ty| self.make(*ty, &sizes, expr, hint)).collect();
        let of = self.element_type(self.ty(over)).1;
        let parts = self.field_types(of).unwrap_or_default();
        let has_points = points(&self.program.store, of);
        let steps = match &source {
            Source::Virtual(var, body) => Steps::of(!has_points && self.is_independent(*var, *body)),
            Source::Tensor(_) => Steps::InOrder,
        };
        let (position, index) = self.open_counters(&sizes, "i", &steps);
        let scope = self.open_scope();
        let value = self.element_of(&source, &position, &index, of)?;
        let (whole, cpp) = (self.whole(&value, of), self.cpp(of));
        let is_movable = has_points && !has_maps(&self.program.store, of);
        let mark = if is_movable { self.mark_of_garbage(&scope, &whole) } else { None };
        let fields = match mark {
            Some(mark) => {
                let kept = self.body.constant(&cpp, "kept", format!("ks::keep(memory, {mark}, {whole})"), false);
                self.fields(&Val::Text(kept), of)
            }
            None => self.fields(&value, of),
        };
        for ((made, field), ty) in made.iter().zip(&fields).zip(&parts) {
            if *ty != TypeId::UNIT {
                self.set(&Val::Text(format!("{made}.data[{position}]")), field, *ty);
            }
        }
        if let (false, Some(mark)) = (has_points, self.mark_of(&scope)) {
            self.body.code(format!("memory.release({mark});"));
        }
        self.close_scope(scope);
        self.close_loops(&sizes);
        Ok(Val::Tuple(made.into_iter().map(Val::Text).collect()))
    }

    fn act(&mut self, prim: Prim, args: &[ExprId], hint: &str) -> Result<Val> {
        match prim {
            Prim::Print => {
                let mut texts = vec![];
                for arg in args {
                    let (value, ty) = (self.value(*arg)?, self.ty(*arg));
                    texts.push(self.whole(&value, ty));
                }
                for text in texts {
                    self.body.code(format!("ks::print({text});"));
                }
                Ok(Val::Text(args.len().to_string()))
            }
            Prim::Trace => {
                let (value, ty) = (self.value_atom(args[0], hint)?, self.ty(args[0]));
                let whole = self.whole(&value, ty);
                self.body.code(format!("ks::trace({whole});"));
                Ok(value)
            }
            _ => self.value_named(args[0], hint),
        }
    }

    /// The shape of a value, or the zero of its tangent type.
    pub(super) fn shape_or_zero(&mut self, prim: Prim, value: &Val, ty: TypeId, hint: &str) -> Val {
        let types = &mut self.program.store.types;
        let result = if prim == Prim::Zero { types.tangent(ty) } else { types.shape(ty) };
        if result == TypeId::UNIT {
            return Val::unit();
        }
        match self.program.store.types.get(ty) {
            Type::Float => Val::Text(super::names::float(0.0, self.is_single())),
            Type::Tuple(_) => {
                let fields = self.fields(value, ty).into_iter().zip(self.field_types(ty).unwrap_or_default());
                Val::Tuple(fields.map(|(field, ty)| self.shape_or_zero(prim, &field, ty, hint)).collect())
            }
            Type::Tensor(1, _) if result == TypeId::INTEGER => Val::Text(format!("{}.size[0]", value.scalar())),
            _ => {
                self.body.allocate();
                let (whole, cpp) = (self.whole(value, ty), self.cpp(result));
                let name = if prim == Prim::Zero { "zero" } else { "shape" };
                self.pure(format!("ks::{name}<{cpp}>(memory, {whole})"), result, hint)
            }
        }
    }

    /// Primitives that only look at the values of their arguments.
    fn strict(&mut self, prim: Prim, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let types: Vec<TypeId> = args.iter().map(|arg| self.ty(*arg)).collect();
        let mut values = vec![];
        for arg in args {
            values.push(self.value_atom(*arg, "t")?);
        }
        let ty = self.ty(expr);
        let place = self.place(expr);
        Ok(match prim {
            Prim::VecInit => {
                let made = self.make(ty, &[args.len().to_string()], expr, hint);
                for (number, (value, of)) in values.iter().zip(&types).enumerate() {
                    if *of != TypeId::UNIT {
                        self.set(&Val::Text(format!("{made}.data[{number}]")), value, *of);
                    }
                }
                Val::Text(made)
            }
            Prim::ConstVec => self.constant_tensor(&values, &types, ty, &place, hint),
            Prim::DeltaVec => self.one_hot(&values, &types, ty, expr, hint),
            Prim::Delta => self.delta(&values, &types),
            Prim::Eq | Prim::Ne => {
                let not = if prim == Prim::Ne { "!" } else { "" };
                Val::Text(match self.program.store.types.get(types[0]) {
                    Type::Float | Type::Integer | Type::Bool => {
                        let operator = if prim == Prim::Eq { "==" } else { "!=" };
                        format!("({} {operator} {})", values[0].scalar(), values[1].scalar())
                    }
                    _ => {
                        let (a, b) = (self.whole(&values[0], types[0]), self.whole(&values[1], types[1]));
                        format!("{not}ks::equal({a}, {b})")
                    }
                })
            }
            Prim::TsAdd => self.ts_add(&values, &types, &place, hint),
            Prim::TsDot => {
                let (a, b) = (self.whole(&values[0], types[0]), self.whole(&values[1], types[1]));
                self.now(format!("ks::dot({a}, {b}, {place})"), ty, hint)
            }
            _ => self.by_numbers(prim, &values, &types, hint),
        })
    }

    fn constant_tensor(&mut self, values: &[Val], types: &[TypeId], ty: TypeId, place: &str, hint: &str) -> Val {
        let sizes: Vec<String> =
            self.parts_of_index(&values[0], types[0]).iter().map(|size| format!("ks::integer({size})")).collect();
        let (element, whole) = (self.cpp(types[1]), self.whole(&values[1], types[1]));
        self.body.allocate();
        self.now(format!("memory.fill<{element}>({place}, {whole}, {})", sizes.join(", ")), ty, hint)
    }

    fn one_hot(&mut self, values: &[Val], types: &[TypeId], ty: TypeId, expr: ExprId, hint: &str) -> Val {
        let zero = self.zero_like(&values[2], types[2]);
        let filled =
            self.constant_tensor(&[values[0].clone(), zero], &[types[0], types[2]], ty, &self.place(expr), hint);
        if types[2] == TypeId::UNIT {
            return filled;
        }
        let index: Vec<String> =
            self.parts_of_index(&values[1], types[1]).iter().map(|part| format!("ks::integer({part})")).collect();
        let whole = self.whole(&values[2], types[2]);
        let (name, index) = (filled.scalar(), index.join(", "));
        self.body.code(format!("if ({name}.has({index})) {name}({index}) = {whole};"));
        filled
    }

    /// The zero that has the type and the shape of a value.
    pub(super) fn zero_like(&mut self, value: &Val, ty: TypeId) -> Val {
        match self.program.store.types.get(ty) {
            Type::Float => Val::Text(super::names::float(0.0, self.is_single())),
            Type::Integer => Val::Text("0".to_owned()),
            Type::Bool => Val::Text("false".to_owned()),
            Type::String => Val::Text("ks::text{\"\", 0}".to_owned()),
            Type::Tuple(_) => {
                let fields = self.fields(value, ty).into_iter().zip(self.field_types(ty).unwrap_or_default());
                Val::Tuple(fields.map(|(field, ty)| self.zero_like(&field, ty)).collect())
            }
            _ => {
                self.body.allocate();
                let (whole, cpp) = (self.whole(value, ty), self.cpp(ty));
                self.pure(format!("ks::zero<{cpp}>(memory, {whole})"), ty, "zero")
            }
        }
    }

    fn delta(&mut self, values: &[Val], types: &[TypeId]) -> Val {
        let (i, j) = (self.parts_of_index(&values[0], types[0]), self.parts_of_index(&values[1], types[1]));
        let same: Vec<String> = i.iter().zip(&j).map(|(i, j)| format!("{i} == {j}")).collect();
        let zero = self.zero_like(&values[2], types[2]);
        let same = Val::Text(self.body.constant("bool", "same", same.join(" && "), true));
        self.choose(same.scalar(), &values[2], &zero, types[2])
    }

    fn choose(&mut self, condition: &str, then: &Val, otherwise: &Val, ty: TypeId) -> Val {
        if let Some(types) = self.field_types(ty) {
            let (then, otherwise) = (self.fields(then, ty), self.fields(otherwise, ty));
            let parts = then.iter().zip(&otherwise).zip(types);
            return Val::Tuple(
                parts.map(|((then, otherwise), ty)| self.choose(condition, then, otherwise, ty)).collect(),
            );
        }
        Val::Text(format!("({condition} ? {} : {})", then.scalar(), otherwise.scalar()))
    }

    fn ts_add(&mut self, values: &[Val], types: &[TypeId], place: &str, hint: &str) -> Val {
        let (a, b) = (&values[0], &values[1]);
        match self.program.store.types.get(types[0]) {
            _ if types[1] == TypeId::UNIT => a.clone(),
            Type::Float => Val::Text(format!("({} + {})", a.scalar(), b.scalar())),
            Type::Tuple(_) => {
                let (of_a, of_b) = (self.fields(a, types[0]), self.fields(b, types[1]));
                let (types_a, types_b) =
                    (self.field_types(types[0]).unwrap_or_default(), self.field_types(types[1]).unwrap_or_default());
                let sums = of_a.into_iter().zip(of_b).zip(types_a.into_iter().zip(types_b));
                Val::Tuple(sums.map(|((a, b), (s, t))| self.ts_add(&[a, b], &[s, t], place, hint)).collect())
            }
            _ => {
                self.body.allocate();
                let (a, b) = (self.whole(a, types[0]), self.whole(b, types[1]));
                self.now(format!("ks::sum(memory, {a}, {b}, {place})"), types[0], hint)
            }
        }
    }

    /// `ts_neg` and `ts_scale`
    fn by_numbers(&mut self, prim: Prim, values: &[Val], types: &[TypeId], hint: &str) -> Val {
        let (value, ty) = match (values, types) {
            ([_, value], [_, ty]) | ([value], [ty]) => (value, *ty),
            _ => return Val::unit(),
        };
        match (self.program.store.types.get(ty), prim) {
            (Type::Float, Prim::TsNeg) => Val::Text(format!("(-{})", value.scalar())),
            (Type::Float, _) => Val::Text(format!("({} * {})", values[0].scalar(), value.scalar())),
            (Type::Tuple(_), _) => {
                let fields = self.fields(value, ty).into_iter().zip(self.field_types(ty).unwrap_or_default());
                let scaled = fields.map(|(field, ty)| match prim {
                    Prim::TsNeg => self.by_numbers(prim, &[field], &[ty], hint),
                    _ => self.by_numbers(prim, &[values[0].clone(), field], &[types[0], ty], hint),
                });
                Val::Tuple(scaled.collect())
            }
            _ => {
                self.body.allocate();
                let whole = self.whole(value, ty);
                let text = match prim {
                    Prim::TsNeg => format!("ks::negative(memory, {whole})"),
                    _ => format!("ks::scaled(memory, {}, {whole})", values[0].scalar()),
                };
                self.pure(text, ty, hint)
            }
        }
    }

    /// `(diag n m f)`
    fn diag(&mut self, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let (rows, columns) = (self.sizes(args[0])?, self.sizes(args[1])?);
        let ty = self.ty(expr);
        let (_, row) = self.element_type(ty);
        let made = self.make(ty, &rows, expr, hint);
        let (var, body) = self.lambda(args[2]);
        let (position, outer) = self.open_loops(&rows, var, &Steps::InOrder);
        let value = self.value_atom(body, "x")?;
        let types = [TypeId::INTEGER, TypeId::INTEGER, self.ty(body)];
        let values = [Val::Text(columns[0].clone()), Val::Text(position.clone()), value];
        let made_row = self.one_hot(&values, &types, row, expr, "row");
        self.set(&Val::Text(format!("{made}.data[{position}]")), &made_row, row);
        self.unbind(var, outer);
        self.close_loops(&rows);
        Ok(Val::Text(made))
    }

    /// `buildFromSparse` and its form for several tensors at once.
    fn sparse(&mut self, prim: Prim, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let (shape, ty) = (self.value_atom(args[0], "shape")?, self.ty(expr));
        let shape_type = self.ty(args[0]);
        let sizes = self.sizes(args[1])?;
        self.check_sizes(args[1], &sizes, expr);
        let is_tupled = prim == Prim::BuildFromSparseTupled;
        let (types, shapes) = match (is_tupled, self.field_types(ty), self.field_types(shape_type)) {
            (true, Some(types), Some(shape_types)) => {
                (types, self.fields(&shape, shape_type).into_iter().zip(shape_types).collect())
            }
            _ => (vec![ty], vec![(shape, shape_type)]),
        };
        let made: Vec<String> =
            types.iter().zip(&shapes).map(|(ty, (shape, of))| self.sparse_zero(*ty, shape, *of, expr, hint)).collect();
        let (var, body) = self.lambda(args[2]);
        let (_, outer) = self.open_loops(&sizes, var, &Steps::InOrder);
        let pairs_type = self.ty(body);
        let value = self.value_atom(body, "pair")?;
        let pairs = match self.field_types(pairs_type) {
            Some(types) if is_tupled => self.fields(&value, pairs_type).into_iter().zip(types).collect(),
            _ => vec![(value, pairs_type)],
        };
        for (made, (pair, pair_type)) in made.iter().zip(&pairs) {
            self.add_pair(made, pair, *pair_type, expr);
        }
        self.unbind(var, outer);
        self.close_loops(&sizes);
        let mut made: Vec<Val> = made.into_iter().map(Val::Text).collect();
        Ok(if is_tupled { Val::Tuple(made) } else { made.remove(0) })
    }

    fn sparse_zero(&mut self, ty: TypeId, shape: &Val, of: TypeId, expr: ExprId, hint: &str) -> String {
        let (_, element) = self.element_type(ty);
        if self.program.store.types.rank_of_index(of).is_some() {
            let like = Val::unit();
            let zero = if element == TypeId::UNIT { like } else { self.trivial_zero(element) };
            let place = self.place(expr);
            let value = self.constant_tensor(&[shape.clone(), zero], &[of, element], ty, &place, hint);
            return value.scalar().to_owned();
        }
        self.body.allocate();
        let (whole, cpp) = (self.whole(shape, of), self.cpp(ty));
        let value = self.pure(format!("ks::zero_of_skeleton<{cpp}>(memory, {whole})"), ty, hint);
        value.scalar().to_owned()
    }

    fn trivial_zero(&mut self, ty: TypeId) -> Val {
        let cpp = self.cpp(ty);
        Val::Text(format!("ks::trivial_zero<{cpp}>()"))
    }

    /// Adds `(tuple i e)`; what is out of range adds to nothing.
    fn add_pair(&mut self, made: &str, pair: &Val, ty: TypeId, expr: ExprId) {
        let (fields, types) = (self.fields(pair, ty), self.field_types(ty).unwrap_or_default());
        let index: Vec<String> =
            self.parts_of_index(&fields[0], types[0]).iter().map(|part| format!("ks::integer({part})")).collect();
        let index = index.join(", ");
        let place = self.place(expr);
        self.body.open(format!("if ({made}.has({index})) {{"));
        let target = Val::Text(self.body.variable("auto&", "target", &format!("{made}({index})")));
        self.add_now(&target, &fields[1], types[1], &place);
        self.body.close();
    }

    /// `$check`: |dt . (f(s+ds) - f(s)) - rev_f(s, dt) . ds|
    fn check(&mut self, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let &[f, reverse, s, again, ds, dt] = args else { return Ok(Val::unit()) };
        let mut wholes = vec![];
        for arg in [s, again, ds, dt] {
            let (value, ty) = (self.value_atom(arg, "t")?, self.ty(arg));
            wholes.push(self.whole(&value, ty));
        }
        let (f, reverse) = (self.closure(f)?, self.closure(reverse)?);
        let (pair, cotangent) = (self.lambda(args[1]).0, self.ty(dt));
        let (pair, cotangent) = (self.cpp(self.program.store.var_type(pair)), self.cpp(cotangent));
        let place = self.place(expr);
        self.body.allocate();
        let text = format!(
            "ks::check_derivative<{pair}, {cotangent}>(memory, {f}, {reverse}, {}, {place})",
            wholes.join(", ")
        );
        Ok(self.now(text, TypeId::FLOAT, hint))
    }

    /// Adds to a place in memory, whoever may see it.
    fn add_now(&mut self, target: &Val, value: &Val, ty: TypeId, place: &str) {
        let whole = self.whole(value, ty);
        self.body.code(format!("ks::add_to({}, {whole}, {place});", target.scalar()));
    }
}
