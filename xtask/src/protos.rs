//! `cargo xtask protos`: generates the protobuf types that are checked in, without `protoc`.

use std::error::Error;
use std::path::Path;

/// Each `.proto` and the Rust file generated from it, relative to the workspace root.
const PROTOS: [(&str, &str); 1] = [("crates/dataflow/src/onnx/onnx.proto", "crates/dataflow/src/onnx/proto.rs")];

/// Rewrites every generated file.
pub(crate) fn run(root: &Path) -> Result<(), Box<dyn Error>> {
    for (source, target) in PROTOS {
        let code = generate(&root.join(source))?;
        std::fs::write(
            root.join(target),
            format!("// Generated from {source} by `cargo xtask protos`; do not edit.\n\n{code}"),
        )?;
    }
    Ok(())
}

fn generate(source: &Path) -> Result<String, Box<dyn Error>> {
    let folder = source.parent().ok_or("a .proto lies in a folder")?;
    let descriptors = protox::compile([source], [folder])?;
    let requests = descriptors
        .file
        .into_iter()
        .map(|file| (prost_build::Module::from_protobuf_package_name(file.package()), file))
        .collect();
    let mut config = prost_build::Config::new();
    config.disable_comments(["."]);
    let files = config.generate(requests)?;
    Ok(files.into_values().collect())
}
