//! C++ types: one for each type of the program that the emitted code mentions.

use super::names::Names;
use crate::ir::{DataId, Store, Type, TypeId};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt::Write as _;

/// The structs of a program: tuples and sum types.
#[derive(Default)]
pub(super) struct CppTypes {
    /// Names of structs and their definitions, parts before the whole. A definition is empty while it is being made.
    structs: IndexMap<TypeId, Struct, FxBuildHasher>,
    names: FxHashMap<TypeId, String>,
    tuples: usize,
}

#[derive(Default)]
struct Struct {
    text: String,
    /// Whether it holds what it holds by address, and so may be defined before it.
    is_boxed: bool,
}

impl CppTypes {
    /// The C++ type.
    pub(super) fn name(&mut self, store: &mut Store, names: &mut Names, ty: TypeId) -> String {
        if let Some(name) = self.names.get(&ty) {
            return name.clone();
        }
        let name = match store.types.get(ty) {
            Type::Float => "ks::real".to_owned(),
            Type::Integer => "ks::integer".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::String => "ks::text".to_owned(),
            Type::Tuple(list) if store.types.list(list).is_empty() => "ks::unit".to_owned(),
            Type::Tensor(rank, element) => {
                let element = self.name(store, names, element);
                return format!("ks::tensor<{element}, {rank}>");
            }
            Type::LinearMap(from, to) => {
                let (from, to) = (store.types.tangent(from), store.types.tangent(to));
                let (from, to) = (self.name(store, names, from), self.name(store, names, to));
                return format!("ks::linear<{from}, {to}>");
            }
            Type::Tuple(_) => return self.tuple(store, names, ty),
            Type::Data(data) => return self.data(store, names, ty, data),
            // Lambdas and rules are not values.
            Type::Lam(..) | Type::Any => "void".to_owned(),
        };
        self.names.insert(ty, name.clone());
        name
    }

    fn tuple(&mut self, store: &mut Store, names: &mut Names, ty: TypeId) -> String {
        let fields = store.types.fields(ty).map(<[_]>::to_vec).unwrap_or_default();
        self.tuples += 1;
        let name = names.unique(&format!("tuple_{}", self.tuples));
        self.names.insert(ty, name.clone());
        let mut text = format!("struct {name} {{  // {}\n", store.show_type(ty));
        for (number, field) in fields.iter().enumerate() {
            let field = self.name(store, names, *field);
            _ = writeln!(text, "  {field} f{number};");
        }
        let points = fields.iter().any(|field| points(store, *field));
        _ = writeln!(text, "  static constexpr bool is_tuple = true, points = {points};");
        text += "  template <class F, class... X>\n  static void each(F&& f, X&&... x) {\n";
        for number in 0..fields.len() {
            _ = writeln!(text, "    f(x.f{number}...);");
        }
        text += "  }\n};\n";
        self.structs.insert(ty, Struct { text, is_boxed: false });
        name
    }

    fn data(&mut self, store: &mut Store, names: &mut Names, ty: TypeId, data: DataId) -> String {
        let declared = store.types.data(data).clone();
        let base = super::names::identifier(store.text(declared.name));
        let is_tangent = store.types.base_of_tangent(data).is_some();
        let name = names.unique(&if is_tangent { format!("{base}_tangent") } else { base });
        self.names.insert(ty, name.clone());
        let is_boxed = is_recursive(store, ty);
        let held: Vec<String> = declared.constructors.iter().map(|(_, held)| self.name(store, names, *held)).collect();
        let labels: Vec<&str> = declared.constructors.iter().map(|(label, _)| store.text(*label)).collect();
        let has_points = is_boxed || declared.constructors.iter().any(|(_, held)| points(store, *held));
        let text = data_struct(&name, &held, &labels, is_boxed, has_points);
        self.structs.insert(ty, Struct { text, is_boxed });
        name
    }

    /// All structs, in an order that C++ takes.
    pub(super) fn definitions(&self) -> String {
        let mut text = String::new();
        for ty in self.structs.keys() {
            _ = writeln!(text, "struct {};", self.names[ty]);
        }
        let (boxed, plain): (Vec<_>, Vec<_>) = self.structs.values().partition(|made| made.is_boxed);
        for made in boxed.into_iter().chain(plain) {
            text += "\n";
            text += &made.text;
        }
        text
    }
}

fn data_struct(name: &str, held: &[String], labels: &[&str], is_boxed: bool, points: bool) -> String {
    let mut text = format!("struct {name} {{\n  int tag;\n");
    if is_boxed {
        text += "  void* held;\n";
    } else {
        let fields: String = held.iter().enumerate().map(|(number, held)| format!(" {held} h{number};")).collect();
        _ = writeln!(text, "  union {{{fields} }};");
    }
    _ = writeln!(text, "  static constexpr bool boxed = {is_boxed}, points = {points};");
    for (number, held) in held.iter().enumerate() {
        _ = match (is_boxed, held == "ks::unit") {
            (true, true) => writeln!(text, "  ks::unit& held{number}() const {{ return ks::nil; }}"),
            (true, false) => {
                writeln!(text, "  {held}& held{number}() const {{ return *static_cast<{held}*>(held); }}")
            }
            (false, _) => writeln!(
                text,
                "  {held}& held{number}() {{ return h{number}; }}\n  const {held}& held{number}() const {{ return h{number}; }}"
            ),
        };
    }
    text += "  template <int K, class H>\n";
    if is_boxed {
        _ = writeln!(text, "  static {name} make(ks::arena& memory, const H& value) {{");
        text += "    if constexpr (std::is_same_v<H, ks::unit>) return {K, nullptr};\n";
        text += "    else return {K, memory.put(value)};\n  }\n";
    } else {
        _ = writeln!(text, "  static {name} make(const H& value) {{\n    {name} made;\n    made.tag = K;");
        for number in 0..held.len() {
            _ = writeln!(text, "    if constexpr (K == {number}) made.h{number} = value;");
        }
        text += "    return made;\n  }\n";
    }
    let cases = |action: &dyn Fn(usize) -> String| -> String {
        let last = held.len().saturating_sub(1);
        let label = |number| if number == last { "default:".to_owned() } else { format!("case {number}:") };
        (0..held.len()).map(|number| format!("      {} {}\n", label(number), action(number))).collect()
    };
    text += "  template <class X, class... Y>\n  static int tag_of(const X& x, const Y&...) { return x.tag; }\n";
    text += "  template <class F, class... X>\n  static void visit(F&& f, X&&... x) {\n    switch (tag_of(x...)) {\n";
    text += &cases(&|number| format!("f(x.held{number}()...); break;"));
    text += "    }\n  }\n";
    let memory = if is_boxed { "& memory" } else { "&" };
    _ = writeln!(text, "  template <class F, class... X>\n  static {name} map(ks::arena{memory}, F&& f, X&&... x) {{");
    text += "    switch (tag_of(x...)) {\n";
    text += &cases(&|number| {
        let memory = if is_boxed { "memory, " } else { "" };
        format!("return make<{number}>({memory}f(ks::type<{}>{{}}, x.held{number}()...));", held[number])
    });
    text += "    }\n  }\n";
    let labels: Vec<String> = labels.iter().map(|label| super::names::literal(label)).collect();
    _ = writeln!(
        text,
        "  static const char* name(int tag) {{\n    static const char* const names[] = {{{}}};\n    return names[tag];\n  }}\n}};",
        labels.join(", ")
    );
    text
}

/// Whether values of the type hold addresses, so that what they point to must live as long as they do.
pub(super) fn points(store: &Store, ty: TypeId) -> bool {
    match store.types.get(ty) {
        Type::Tensor(..) | Type::LinearMap(..) => true,
        Type::Tuple(list) => store.types.list(list).iter().any(|field| points(store, *field)),
        Type::Data(data) => {
            is_recursive(store, ty) || store.types.data(data).constructors.iter().any(|(_, held)| points(store, *held))
        }
        _ => false,
    }
}

/// Whether there is a linear map in values of the type: these never move.
pub(super) fn has_maps(store: &Store, ty: TypeId) -> bool {
    reaches(store, ty, &|ty| matches!(store.types.get(ty), Type::LinearMap(..)))
}

/// Whether there is a value of a recursive sum type in values of the type.
pub(super) fn has_boxes(store: &Store, ty: TypeId) -> bool {
    reaches(store, ty, &|ty| matches!(store.types.get(ty), Type::Data(_)) && is_recursive(store, ty))
}

/// Whether values of a sum type may hold values of the same type.
pub(super) fn is_recursive(store: &Store, ty: TypeId) -> bool {
    let Type::Data(data) = store.types.get(ty) else { return false };
    store.types.data(data).constructors.iter().any(|(_, held)| reaches(store, *held, &|part| part == ty))
}

fn reaches(store: &Store, ty: TypeId, found: &dyn Fn(TypeId) -> bool) -> bool {
    let (mut seen, mut stack) = (vec![], vec![ty]);
    while let Some(ty) = stack.pop() {
        if found(ty) {
            return true;
        }
        if seen.contains(&ty) {
            continue;
        }
        seen.push(ty);
        match store.types.get(ty) {
            Type::Tuple(list) => stack.extend(store.types.list(list)),
            Type::Tensor(_, element) => stack.push(element),
            Type::Data(data) => stack.extend(store.types.data(data).constructors.iter().map(|(_, held)| *held)),
            _ => {}
        }
    }
    false
}
