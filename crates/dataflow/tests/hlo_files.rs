//! Real HLO modules load, and their sums are what one computes by hand.

mod instances;

use labrys_dataflow::read::{Loaded, Options, Source, decode};
use std::collections::BTreeMap;

fn modules() -> BTreeMap<String, Loaded> {
    let mut modules = BTreeMap::new();
    for path in ["hlo", "hlo-production"].into_iter().flat_map(instances::files) {
        let loaded = decode(std::fs::read(&path).unwrap(), None, &Options::default());
        let loaded = loaded.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        modules.insert(path.file_name().unwrap().to_string_lossy().into_owned(), loaded);
    }
    modules
}

fn gigaflops(module: &Loaded, kind: Option<&str>) -> f64 {
    let graph = &module.graph;
    let ops = graph.ops().filter(|&op| kind.is_none_or(|kind| graph.kind(op) == kind));
    ops.map(|op| graph.work(op).flops).sum::<u64>() as f64 / 1e9
}

#[test]
fn every_file_loads() {
    for (name, module) in modules() {
        let graph = &module.graph;
        let is_scheduled = name.contains(".scheduled.");
        assert!(matches!(module.source, Source::Hlo { is_scheduled: found } if found == is_scheduled), "{name}");
        assert!(graph.tensors().any(|t| graph.is_kept(t)), "{name}: nothing is kept");
        // Definitions come before uses in HLO text, so the file order is a topological one.
        assert!(graph.topological().is_sorted(), "{name}: the order is not that of the file");
        assert!(
            graph.ops().all(|op| graph.work(op).bytes > 0 || graph.outputs(op).is_empty()),
            "{name}: an op without bytes"
        );
    }
}

#[test]
fn sums_are_those_of_the_models() {
    let modules = modules();
    // Batch 256: forward and both gradients of five layers, no input gradient of the first.
    let mlp6 = 2e-9 * 256.0 * (2.0 * 784.0 * 1024.0 + 3.0 * (3.0 * 1024.0 * 1024.0 + 1024.0 * 512.0 + 512.0 * 10.0));
    // 6 flops a parameter and token, and attention's custom calls are not counted.
    let llama = 6.0 * 8.0 * 2.0 * 8192.0;
    let cases = [
        ("mlp6_sgd.hlo.txt", Some("dot"), mlp6, 1e-9),
        ("resnet50_keras_jax_f32.hlo.gz", Some("convolution"), 7.5, 0.1),
        ("hlo_llama31_8b_bf16_1x8.hlo.gz", Some("dot"), llama, 0.05),
    ];
    for (name, kind, expected, tolerance) in cases {
        let Some(module) = modules.get(name) else { continue };
        let found = gigaflops(module, kind);
        assert!((found / expected - 1.0).abs() <= tolerance, "{name}: {found} GFLOP, expected {expected}");
    }
}

#[test]
fn scheduling_keeps_the_arithmetic() {
    let modules = modules();
    for (name, scheduled) in modules.iter().filter(|(name, _)| name.contains(".scheduled.")) {
        let before = &modules[&name.replace(".scheduled.hlo.txt.gz", ".hlo.txt")];
        let ratio = gigaflops(scheduled, None) / gigaflops(before, None);
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {ratio} times the flops");
    }
}
