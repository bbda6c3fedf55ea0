//! Linear maps, which are values: how they are made, and applied.

use super::Failure;
use super::function::{Dest, Emitter};
use super::value::Val;
use crate::ir::{ExprId, Prim, Type, TypeId};

type Result<T> = std::result::Result<T, Failure>;

impl Emitter<'_> {
    /// Linear maps.
    pub(super) fn linear(&mut self, prim: Prim, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        if prim == Prim::LmFold {
            return self.linear_fold(args, expr, hint);
        }
        let ty = self.ty(expr);
        let types: Vec<TypeId> = args.iter().map(|arg| self.ty(*arg)).collect();
        let mut wholes = vec![];
        for (arg, of) in args.iter().zip(&types) {
            let value = self.value_atom(*arg, "t")?;
            wholes.push(self.whole(&value, *of));
        }
        self.body.allocate();
        let text = match prim {
            Prim::LmApply => format!("{}.forward(memory, {})", wholes[0], wholes[1]),
            Prim::LmApplyR => format!("{}.backward(memory, {})", wholes[1], wholes[0]),
            _ => self.map_text(prim, &wholes, &types, ty),
        };
        Ok(self.now(text, ty, hint))
    }

    /// A new linear map.
    fn map_text(&mut self, prim: Prim, wholes: &[String], types: &[TypeId], ty: TypeId) -> String {
        let map = self.cpp(ty);
        let Type::LinearMap(from, to) = self.program.store.types.get(ty) else { return String::new() };
        let (s, t) = (self.cpp_tangent(from), self.cpp_tangent(to));
        let tangent = |whole: &str, of: &str| format!("ks::tangent<{of}>(memory, {whole})");
        let zero = |whole: &str, of: &str| format!("ks::zero<{of}>(memory, {whole})");
        let how = match prim {
            Prim::LmZero => format!("ks::map_zero<{s}, {t}>{{{}, {}}}", zero(&wholes[0], &s), zero(&wholes[1], &t)),
            Prim::LmOne => format!("ks::map_one<{s}>{{}}"),
            Prim::LmScale => format!("ks::map_scale<{s}>{{{}}}", wholes[1]),
            Prim::LmScaleR => format!("ks::map_scale_r<{t}>{{{}}}", tangent(&wholes[0], &t)),
            Prim::LmDot => format!("ks::map_dot<{s}>{{{}}}", tangent(&wholes[0], &s)),
            Prim::LmCompose => {
                let Type::LinearMap(middle, _) = self.program.store.types.get(types[0]) else { return String::new() };
                format!("ks::map_compose<{s}, {}, {t}>{{{}}}", self.cpp_tangent(middle), wholes.join(", "))
            }
            Prim::LmAdd => format!("ks::map_add<{s}, {t}>{{{}}}", wholes.join(", ")),
            Prim::LmVCat | Prim::LmHCat => {
                let maps = self.program.store.types.tuple(types);
                let name = if prim == Prim::LmVCat { "vcat" } else { "hcat" };
                let maps = self.cpp(maps);
                format!("ks::map_{name}<{s}, {t}, {maps}>{{{{{}}}}}", wholes.join(", "))
            }
            _ => {
                let (rank, part) = self.element_type(types[0]);
                let Type::LinearMap(a, b) = self.program.store.types.get(part) else { return String::new() };
                let name = if prim == Prim::LmVCatV { "vcat" } else { "hcat" };
                format!("ks::map_{name}_v<{}, {}, {rank}>{{{}}}", self.cpp_tangent(a), self.cpp_tangent(b), wholes[0])
            }
        };
        format!("{map}::make(memory, {how})")
    }

    pub(super) fn cpp_tangent(&mut self, ty: TypeId) -> String {
        let tangent = self.program.store.types.tangent(ty);
        self.cpp(tangent)
    }

    /// The derivative of a fold, with the map of each step computed now.
    fn linear_fold(&mut self, args: &[ExprId], expr: ExprId, hint: &str) -> Result<Val> {
        let &[zero, f, g, init, over] = args else { return Ok(Val::unit()) };
        let (zero_type, state_type) = (self.ty(zero), self.ty(init));
        let zero = self.value_atom(zero, "zero")?;
        let zero = self.whole(&zero, zero_type);
        let init = self.value(init)?;
        let state = self.start(&init, state_type, "state");
        let (source, sizes) = self.source(over)?;
        let ((step_var, step), (map_var, map)) = (self.lambda(f), self.lambda(g));
        let map_type = self.ty(map);
        let maps_type = self.program.store.types.vec(map_type);
        let maps = self.make(maps_type, &sizes, expr, "steps");
        let element = self.element_type(self.ty(over)).1;
        let (position, index) = self.open_counters(&sizes, "k", &super::loops::Steps::InOrder);
        let x = self.element_of(&source, &position, &index, element)?;
        let input = Val::Tuple(vec![state.clone(), x]);
        let outer = self.env.insert(map_var, input.clone());
        self.emit(map, &Dest::Set(&Val::Text(format!("{maps}.data[{position}]"))))?;
        self.unbind(map_var, outer);
        let outer = self.env.insert(step_var, input);
        let next = self.value(step)?;
        self.set_together(&state, next, state_type);
        self.unbind(step_var, outer);
        self.close_loops(&sizes);
        let ty = self.ty(expr);
        let (Type::LinearMap(whole, to), Type::LinearMap(part, _)) =
            (self.program.store.types.get(ty), self.program.store.types.get(map_type))
        else {
            return Ok(Val::unit());
        };
        let (z, p) = (self.cpp_tangent(whole), self.cpp_tangent(part));
        let (a, x, map) = (self.cpp_tangent(to), self.cpp_tangent(element), self.cpp(ty));
        let text = format!("{map}::make(memory, ks::map_fold<{z}, {p}, {a}, {x}>{{{zero}, {maps}}})");
        Ok(self.now(text, ty, hint))
    }
}
