//! Broken and malicious files: a typed error or a graph, never a panic, never a blow-up.

mod onnx_support;

use labrys_dataflow::onnx::{self, Options, proto::*};
use onnx_support::*;
use proptest::prelude::*;
use prost::Message;

fn read(bytes: &[u8]) -> Result<onnx::OnnxModel, String> {
    onnx::read(bytes, &Options::default()).map_err(|e| e.to_string())
}

fn error(model: ModelProto) -> String {
    read(&model.encode_to_vec()).expect_err("the model is broken")
}

/// A model with one of everything: initializers, constants, a body, a function.
fn varied() -> ModelProto {
    let body = |op| graph(vec![], vec![node(op, &["a"], &["r"])], &["r"]);
    let nodes = vec![
        node("Conv", &["x", "w"], &["a"]).ints("pads", &[1, 1, 1, 1]).text("auto_pad", "NOTSET"),
        node("Constant", &[], &["s"]).ints("value_ints", &[1, -1]),
        node("If", &["flag"], &["b"]).body("then_branch", body("Relu")).body("else_branch", body("Sigmoid")),
        node("Reshape", &["b", "s"], &["c"]),
        node("Einsum", &["c", "c"], &["d"]).text("equation", "ij,kj->ik"),
        node("Slice", &["d", "i", "i", "i"], &["e"]),
        node("Split", &["c"], &["p", "q"]).int("axis", 1),
        node("Twice", &["q"], &["y"]),
    ];
    let inputs = vec![info("x", FLOAT, &["1", "3", "8", "8"]), info("flag", BOOL, &[])];
    let mut model = model(graph(inputs, nodes, &["y", "e"]));
    let graph = model.graph.as_mut().unwrap();
    graph.initializer = vec![weight("w", &[4, 3, 3, 3]), int_tensor("i", &[1], &[0])];
    model.functions.push(FunctionProto {
        name: Some("Twice".into()),
        input: vec!["v".into()],
        output: vec!["w".into()],
        node: vec![node("Add", &["v", "v"], &["w"])],
        ..FunctionProto::default()
    });
    model
}

#[test]
fn every_prefix_of_a_model_is_an_error_or_a_graph() {
    let bytes = varied().encode_to_vec();
    assert!(read(&bytes).is_ok(), "{:?}", read(&bytes).err());
    for end in 0..bytes.len() {
        let _ = read(&bytes[..end]);
    }
    let example = squeezenet();
    for end in (0..example.len()).step_by(7) {
        let _ = read(&example[..end]);
    }
    assert!(read(&[]).unwrap_err().contains("no graph"));
    assert!(read(b"version https://git-lfs.github.com/spec/v1").unwrap_err().contains("not an ONNX model"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(3000)))]

    #[test]
    fn flipped_bytes_never_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = varied().encode_to_vec();
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = read(&bytes);
    }

    #[test]
    fn hostile_integers_never_panic(op in any::<prop::sample::Index>(), dims in hostile_list(), list in hostile_list(), scalar in hostile_int()) {
        let _ = read(&hostile_node(OPS[op.index(OPS.len())], &dims, &list, scalar).encode_to_vec());
    }
}

fn hostile_int() -> impl Strategy<Value = i64> {
    prop_oneof![40 => 0i64..6, 5 => -4i64..0, 1 => any::<i64>(), 1 => Just(i64::MAX), 1 => Just(i64::MIN), 1 => Just(1 << 40)]
}

fn hostile_list() -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec(hostile_int(), 0..6)
}

/// Op types whose rules compute with numbers from the file.
const OPS: &[&str] = &[
    "Conv",
    "ConvTranspose",
    "ConvInteger",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "MaxUnpool",
    "RoiAlign",
    "MatMul",
    "Gemm",
    "Einsum",
    "Det",
    "Reshape",
    "Flatten",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Concat",
    "Split",
    "Slice",
    "Expand",
    "Tile",
    "Pad",
    "CenterCropPad",
    "DepthToSpace",
    "SpaceToDepth",
    "ReduceSum",
    "ArgMax",
    "Gather",
    "GatherElements",
    "GatherND",
    "Compress",
    "OneHot",
    "TopK",
    "NonZero",
    "Unique",
    "NonMaxSuppression",
    "LayerNormalization",
    "LRN",
    "LSTM",
    "GRU",
    "Attention",
    "ConstantOfShape",
    "Shape",
    "Size",
    "Range",
    "RandomNormal",
    "Multinomial",
    "Resize",
    "Upsample",
    "GridSample",
    "AffineGrid",
    "Col2Im",
    "DFT",
    "STFT",
    "MelWeightMatrix",
    "HannWindow",
    "Add",
    "Mod",
    "Div",
    "Pow",
    "Where",
    "Cast",
    "EyeLike",
    "TreeEnsembleClassifier",
    "LinearRegressor",
    "QuantizeLinear",
    "Loop",
    "Scan",
];

/// An op whose inputs, attributes and constants are all the same nonsense.
fn hostile_node(op: &str, dims: &[i64], list: &[i64], scalar: i64) -> ModelProto {
    let mut node = node(op, &["x", "list", "list", "list", "x"], &["a", "b", "c"]).text("equation", "i...j,j->...i");
    for name in
        ["axes", "kernel_shape", "strides", "pads", "dilations", "perm", "shape", "split", "output_shape", "starts"]
    {
        node = node.ints(name, list);
    }
    for name in [
        "axis",
        "group",
        "blocksize",
        "k",
        "to",
        "dtype",
        "num_heads",
        "q_num_heads",
        "kv_num_heads",
        "num_scan_inputs",
    ] {
        node = node.int(name, scalar);
    }
    let body = graph(vec![info("u", FLOAT, &[]), info("v", FLOAT, &[])], vec![], &["u", "v"]);
    let dims: Vec<String> = dims.iter().map(i64::to_string).collect();
    let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
    let mut model = model(graph(vec![info("x", FLOAT, &dims)], vec![node.body("body", body)], &["a"]));
    model.graph.as_mut().unwrap().initializer = vec![int_tensor("list", &[list.len() as i64], list)];
    model
}

#[test]
fn huge_and_negative_sizes_are_errors() {
    let relu = |dims: &[&str]| model(graph(vec![info("x", FLOAT, dims)], vec![node("Relu", &["x"], &["y"])], &["y"]));
    assert!(error(relu(&["9223372036854775807", "9223372036854775807"])).contains("larger than 2^58 bytes"));
    assert!(error(relu(&["-5"])).contains("has no size"));
    let deep: Vec<&str> = vec!["1"; 65];
    assert!(error(relu(&deep)).contains("rank 65"));
    let mut negative = relu(&["1"]);
    negative.graph.as_mut().unwrap().initializer.push(weight("w", &[-1]));
    assert!(error(negative).contains("negative dimension -1"));
    let tile = node("Tile", &["x", "n"], &["y"]);
    let mut tiles = model(graph(vec![info("x", FLOAT, &["1000"])], vec![tile], &["y"]));
    tiles.graph.as_mut().unwrap().initializer = vec![int_tensor("n", &[1], &[i64::MAX])];
    assert!(error(tiles).contains("larger than 2^58 bytes"));
}

#[test]
fn wrong_names_are_errors() {
    let x = || vec![info("x", FLOAT, &["2"])];
    let relu = |a, b| node("Relu", &[a], &[b]);
    let cases = [
        (graph(x(), vec![relu("z", "y")], &["y"]), "node 'Relu_0' (Relu): input 'z' is not defined"),
        (graph(x(), vec![relu("x", "y"), relu("x", "y")], &["y"]), "output 'y' is already produced by node 'Relu_0'"),
        (graph(x(), vec![relu("x", "x")], &["x"]), "output 'x' is already an input or initializer"),
        (graph(x(), vec![relu("x", "y")], &["z"]), "graph output 'z' is not defined"),
        (graph(x(), vec![relu("b", "a"), relu("a", "b")], &["b"]), "cycle: Relu_1 -> Relu_0 -> Relu_1"),
        (graph([x(), x()].concat(), vec![relu("x", "y")], &["y"]), "tensor 'x' is defined twice"),
        (graph(x(), vec![node("Frobnicate", &["x"], &["y"])], &["y"]), "(Frobnicate): there is no shape rule"),
        (graph(vec![], vec![], &[]), "the graph has no ops"),
    ];
    for (graph, expected) in cases {
        let message = error(model(graph));
        assert!(message.contains(expected), "{message}; expected {expected}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let mut body = graph(vec![], vec![node("Relu", &["x"], &["r"])], &["r"]);
    for _ in 0..40 {
        let branch = node("If", &["flag"], &["r"])
            .body("then_branch", body.clone())
            .body("else_branch", graph(vec![], vec![], &["x"]));
        body = graph(vec![], vec![branch], &["r"]);
    }
    body.input = vec![info("x", FLOAT, &["2"]), info("flag", BOOL, &[])];
    assert!(error(model(body)).contains("recursion limit"));
}

/// Functions that call the previous one twice: 2^100 nodes if nobody counts.
#[test]
fn functions_that_explode_or_recurse_are_refused() {
    let function = |name: &str, callee: &str| FunctionProto {
        name: Some(name.into()),
        input: vec!["v".into()],
        output: vec!["w".into()],
        node: vec![node(callee, &["v"], &["u"]), node(callee, &["u"], &["w"])],
        ..FunctionProto::default()
    };
    let call = |name: &str| model(graph(vec![info("x", FLOAT, &["2"])], vec![node(name, &["x"], &["y"])], &["y"]));
    let mut recursive = call("F");
    recursive.functions = vec![function("F", "F")];
    assert!(error(recursive).contains("nest deeper"));
    let mut exploding = call("F40");
    exploding.functions = (1..=40).map(|i| function(&format!("F{i}"), &format!("F{}", i - 1))).collect();
    exploding.functions.push(function("F0", "Relu"));
    assert!(error(exploding).contains("expand to more than"));
}
