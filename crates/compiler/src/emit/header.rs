//! C entry points: functions that C, Python and Rust can call, and the C header that declares them.

use crate::interpret::Width;
use crate::ir::{Program, Type, TypeId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::fmt::Write as _;

/// The C types that a header declares, by the types of the program.
pub(super) struct Header {
    types: IndexMap<TypeId, String, FxBuildHasher>,
    declarations: String,
    functions: String,
    width: Width,
}

/// What every header starts with.
const START: &str = "#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern \"C\" {
#endif

/* Memory for what functions give: it lasts until it is reset. One thread at a time. */
typedef struct ks_memory ks_memory;
ks_memory* ks_memory_new(void);
void ks_memory_reset(ks_memory* memory);
void ks_memory_free(ks_memory* memory);

";

impl Header {
    pub(super) fn new(width: Width) -> Self {
        Self { types: IndexMap::default(), declarations: String::new(), functions: String::new(), width }
    }

    /// Declares a function of the program by its C name, with its parameters apart. None if a type has no form in C.
    pub(super) fn function(&mut self, program: &Program, name: &str, params: &[TypeId], result: TypeId) -> Option<()> {
        let mut all = vec!["ks_memory* memory".to_owned()];
        for (number, ty) in params.iter().enumerate() {
            all.push(format!("{} x{number}", self.ty(program, *ty)?));
        }
        let result = self.ty(program, result)?;
        _ = writeln!(self.functions, "{result} {name}({});", all.join(", "));
        Some(())
    }

    pub(super) fn text(&self) -> String {
        let end = "\n#ifdef __cplusplus\n}\n#endif\n";
        format!("{START}{}{}{end}", self.declarations, self.functions)
    }

    /// The C type, laid out as the C++ one is.
    fn ty(&mut self, program: &Program, ty: TypeId) -> Option<String> {
        if let Some(name) = self.types.get(&ty) {
            return Some(name.clone());
        }
        let is_single = self.width == Width::Bits32;
        let name = match program.store.types.get(ty) {
            Type::Float => if is_single { "float" } else { "double" }.to_owned(),
            Type::Integer => if is_single { "int32_t" } else { "int64_t" }.to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Tensor(rank, element) => {
                let element = self.ty(program, element)?;
                let integer = self.ty(program, TypeId::INTEGER)?;
                let name = format!("ks_tensor_{rank}_{element}");
                _ = writeln!(
                    self.declarations,
                    "typedef struct {{ {element}* data; {integer} size[{rank}]; }} {name};"
                );
                name
            }
            Type::Tuple(list) => {
                let fields = program.store.types.list(list).to_vec();
                let mut text = String::new();
                for (number, field) in fields.iter().enumerate() {
                    // The empty tuple is one byte that nobody reads.
                    let field = if *field == TypeId::UNIT { "char".to_owned() } else { self.ty(program, *field)? };
                    text += &format!(" {field} f{number};");
                }
                let name = format!("ks_tuple_{}", self.types.len());
                _ = writeln!(self.declarations, "typedef struct {{{text} }} {name};");
                name
            }
            _ => return None,
        };
        self.types.insert(ty, name.clone());
        Some(name)
    }
}

/// The C++ side of a C entry point.
pub(super) fn entry(name: &str, params: &[String], result: &str, call: &str) -> String {
    let all: String = params.iter().enumerate().map(|(number, ty)| format!(", {ty} x{number}")).collect();
    format!(
        "extern \"C\" {result} {name}(ks::arena* memory{all}) {{\n  static_cast<void>(memory);\n  return {call};\n}}\n"
    )
}
