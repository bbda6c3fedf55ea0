//! Reverse mode of calls, and of functions as a whole.

use super::branches::{set_tapes, tape_type};
use super::place::Flow;
use super::reverse::{Part, Result, Reverse};
use super::{lambda, make};
use crate::ir::{Body, Def, Derivation, ExprId, FunId, Node, Program, TypeId, VarId};
use crate::source::Span;

/// Largest function, in nodes, that is written out where it is called: its cotangents then go where they belong at once.
const LARGEST_INLINED: u32 = 1000;
/// Largest function, in nodes, that is written out where nothing depends on what is derived by.
const SMALLEST: u32 = 16;
/// Most nodes that are written out in one derivation: functions that call each other twice would double it with each level.
const MOST_INLINED: u32 = 20_000;

impl Reverse<'_> {
    pub(super) fn call(&mut self, fun: FunId, arg: ExprId) -> Result<(ExprId, Flow)> {
        self.code.refuse_functions(fun, arg)?;
        let (arg, flow) = self.trace(arg)?;
        if matches!(flow, Flow::Inert) {
            // A few steps are cheaper to compute again on the way back than to save.
            if let Some((param, body)) = self.code.program.lambda(fun)
                && self.code.program.store.size(body) <= SMALLEST
                && !calls(self.code.program, body, fun)
            {
                return self.bound(param, arg, flow, body);
            }
            let value = self.code.store().call(fun, arg);
            return Ok((self.code.emit(value), Flow::Inert));
        }
        let own = |reverse: &mut Self, derivation| {
            let derived = reverse.code.store().derived(derivation, fun);
            reverse.code.program.own_def(derived).map(|_| derived)
        };
        let passes = own(self, Derivation::SufFwdPass).zip(own(self, Derivation::SufRevPass));
        if let (None, Some(rev)) = (passes, own(self, Derivation::Rev)) {
            let value = self.code.store().call(fun, arg);
            let value = self.code.emit(value);
            return Ok((value, self.through(rev, arg, flow)));
        }
        if passes.is_none()
            && let Some((param, body)) = self.code.program.lambda(fun)
            && self.code.program.store.size(body) <= LARGEST_INLINED
            && self.inlined < MOST_INLINED
            && !calls(self.code.program, body, fun)
        {
            self.inlined += self.code.program.store.size(body);
            let body = super::linear::eliminate(self.code.program, body, self.code.span)?;
            return self.bound(param, arg, flow, body);
        }
        self.call_passes(fun, arg, flow)
    }

    fn call_passes(&mut self, fun: FunId, arg: ExprId, flow: Flow) -> Result<(ExprId, Flow)> {
        let [there, back] =
            [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| self.code.store().derived(pass, fun));
        make(self.code.program, there, self.code.span)?;
        let both = self.code.store().call(there, arg);
        let both = self.code.emit(both);
        let (value, tape) = self.code.pair(both);
        let back = move |reverse: &mut Reverse<'_>, cotangent: ExprId| {
            let args = reverse.code.tuple(&[cotangent, tape]);
            let part = reverse.code.store().call(back, args);
            let part = reverse.code.emit(part);
            reverse.send(flow, part);
        };
        Ok((value, Flow::Back(Box::new(back))))
    }
}

/// Whether an expression calls a function.
pub(super) fn calls(program: &Program, expr: ExprId, fun: FunId) -> bool {
    let is_call = |part: ExprId| matches!(program.store.node(part), Node::Call(called, _) if called == fun);
    program.store.post_order(expr).into_iter().any(is_call)
}

/// Both ways through a function, with a new parameter. Its fields are named at the start, so that only those that matter are saved.
fn function<'a>(
    program: &'a mut Program,
    span: Span,
    (param, body): (VarId, ExprId),
) -> Result<(Reverse<'a>, VarId, Part)> {
    let mut reverse = Reverse::new(program, span);
    let (arg, at) = reverse.code.fresh_like(param);
    let outer = reverse.code.open();
    let value = reverse.code.named(at);
    let mut fields = reverse.code.close(outer);
    let place = reverse.new_place("x", value);
    reverse.know(param, value, place.clone());
    let vars: Vec<VarId> = fields.iter().map(|(var, _)| *var).collect();
    let mut part =
        reverse.part(&vars, body, |reverse, send| reverse.collect(&place, value, |reverse| send(reverse)))?;
    fields.append(&mut part.forward);
    part.forward = fields;
    Ok((reverse, arg, part))
}

/// `[rev f]`: there and back at once, with nothing packed.
pub(super) fn rev(program: &mut Program, span: Span, lambda: (VarId, ExprId)) -> Result<(VarId, ExprId)> {
    let (mut reverse, arg, part) = function(program, span, lambda)?;
    let code = &mut reverse.code;
    let types = [arg, part.cotangent].map(|var| code.program.store.var_type(var));
    let ty = code.store().types.tuple(&types);
    let (whole, at) = code.fresh("x_dt", ty);
    let (value, cotangent) = (code.field(0, at), code.field(1, at));
    let mut bindings = vec![(arg, value)];
    bindings.extend(&part.forward);
    bindings.push((part.cotangent, cotangent));
    Ok((whole, code.block(&bindings, part.backward)))
}

/// `[suffwdpass f]` and `[sufrevpass f]`. The tape of a recursive function has tapes of its own type in it, so it is a sum type.
pub(super) fn passes(program: &mut Program, of: FunId, span: Span) -> Result<()> {
    let [there, back] = [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| program.store.derived(pass, of));
    if program.is_making(there) {
        return Ok(());
    }
    let rev = program.store.derived(Derivation::Rev, of);
    if program.is_external(of) {
        make(program, rev, span)?;
    }
    if program.own_def(rev).is_some() || program.is_external(of) {
        return by_rev(program, of, rev, span);
    }
    let lambda = lambda(program, Derivation::SufFwdPass, of, span)?;
    program.start_making(there);
    program.start_making(back);
    let made = both_passes(program, of, lambda, span);
    if made.is_err() {
        program.stop_making(there);
        program.stop_making(back);
    }
    made
}

fn both_passes(program: &mut Program, of: FunId, lambda: (VarId, ExprId), span: Span) -> Result<()> {
    let [there, back] = [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| program.store.derived(pass, of));
    let recursive = calls(program, lambda.1, of).then(|| tape_type(program));
    if let Some((_, tape, _)) = recursive {
        declare(program, of, tape);
    }
    let (mut reverse, arg, part) = function(program, span, lambda)?;
    let code = &mut reverse.code;
    let packed = part.tape.pack(code.store());
    let saved = code.ty(packed);
    let (ty, tape) = match &recursive {
        None => (saved, packed),
        Some((data, ty, name)) => {
            set_tapes(code.program, *data, name, &[saved]);
            (*ty, code.store().construct(*data, 0, packed))
        }
    };
    let pair = code.tuple(&[part.value, tape]);
    let forward = code.block(&part.forward, pair);
    let types = [code.program.store.var_type(part.cotangent), ty];
    let argument = code.store().types.tuple(&types);
    let (whole, at) = code.fresh("dt_tape", argument);
    let (cotangent, taped) = (code.field(0, at), code.field(1, at));
    let backward = if recursive.is_some() {
        let (held, packed) = code.fresh("tape", saved);
        let body = reverse.backward(&part, cotangent, packed);
        let arm = reverse.code.store().lam(held, body);
        reverse.code.store().match_(taped, &[arm])
    } else {
        reverse.backward(&part, cotangent, taped)
    };
    if recursive.is_none() {
        declare(program, of, ty);
    }
    program.define(Def { fun: there, body: Body::Expr(arg, forward), span });
    program.define(Def { fun: back, body: Body::Expr(whole, backward), span });
    Ok(())
}

/// Declares the passes of a function, given the type of the tape.
fn declare(program: &mut Program, of: FunId, tape: TypeId) {
    let [there, back] = [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| program.store.derived(pass, of));
    let Some((arg, result)) = program.store.signature(of) else { return };
    let types = &mut program.store.types;
    let (tangent, cotangent) = (types.tangent(arg), types.tangent(result));
    let (pair, args) = (types.tuple(&[result, tape]), types.tuple(&[cotangent, tape]));
    program.store.declare(there, arg, pair);
    program.store.declare(back, args, tangent);
}

/// The passes of a function whose `rev` the program defines: the tape is the argument.
fn by_rev(program: &mut Program, of: FunId, rev: FunId, span: Span) -> Result<()> {
    let [there, back] = [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| program.store.derived(pass, of));
    let Some((arg, result)) = program.store.signature(of) else { return Ok(()) };
    program.start_making(there);
    program.start_making(back);
    declare(program, of, arg);
    let store = &mut program.store;
    let param = store.fresh("x", arg);
    let at = store.var(param);
    let value = store.call(of, at);
    let forward = store.tuple(&[value, at]);
    let cotangent = store.types.tangent(result);
    let both = store.types.tuple(&[cotangent, arg]);
    let whole = store.fresh("dt_x", both);
    let taken = store.var(whole);
    let (dt, at) = (store.get(0, taken), store.get(1, taken));
    let args = store.tuple(&[at, dt]);
    let backward = store.call(rev, args);
    program.define(Def { fun: there, body: Body::Expr(param, forward), span });
    program.define(Def { fun: back, body: Body::Expr(whole, backward), span });
    Ok(())
}

/// `[sufrev f]`: one pass after the other.
pub(super) fn sufrev(program: &mut Program, of: FunId, span: Span) -> Result<(VarId, ExprId)> {
    let [there, back] = [Derivation::SufFwdPass, Derivation::SufRevPass].map(|pass| program.store.derived(pass, of));
    make(program, there, span)?;
    make(program, back, span)?;
    let Some((arg, result)) = program.store.signature(of) else { unreachable!("a made function is declared") };
    let store = &mut program.store;
    let cotangent = store.types.tangent(result);
    let both = store.types.tuple(&[arg, cotangent]);
    let whole = store.fresh("x_dt", both);
    let taken = store.var(whole);
    let (at, dt) = (store.get(0, taken), store.get(1, taken));
    let passed = store.call(there, at);
    let ty = store.ty(passed);
    let pair = store.fresh("pair", ty);
    let tape = store.var(pair);
    let tape = store.get(1, tape);
    let args = store.tuple(&[dt, tape]);
    let backward = store.call(back, args);
    Ok((whole, store.let_(pair, passed, backward)))
}
