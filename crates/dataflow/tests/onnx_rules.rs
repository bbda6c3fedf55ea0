//! What the reader makes of bodies, functions, symbolic dimensions and computed shapes.

mod onnx_support;

use labrys_dataflow::onnx::{self, OnnxModel, Options, proto::*};
use labrys_dataflow::{Error, OpId};
use onnx_support::*;
use prost::Message;

fn read_with(model: &ModelProto, dims: &[(&str, u64)]) -> Result<OnnxModel, Error> {
    let dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    onnx::read(&model.encode_to_vec(), &Options { dims })
}

fn read(model: &ModelProto) -> OnnxModel {
    read_with(model, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Size of the tensor called `name`.
fn bytes(model: &OnnxModel, name: &str) -> u64 {
    let graph = &model.graph;
    let tensor = graph.tensors().find(|&t| graph.tensor_name(t) == name);
    graph.bytes(tensor.unwrap_or_else(|| panic!("no tensor '{name}'")))
}

fn op(model: &OnnxModel, kind: &str) -> OpId {
    model.graph.ops().find(|&op| model.graph.kind(op) == kind).unwrap_or_else(|| panic!("no {kind}"))
}

#[test]
fn symbolic_dimensions_need_a_size() {
    let relu = |dims: &[&str]| model(graph(vec![info("x", FLOAT, dims)], vec![node("Relu", &["x"], &["y"])], &["y"]));
    let batch = relu(&["batch", "8"]);
    assert_eq!(bytes(&read_with(&batch, &[("batch", 4)]).unwrap(), "y"), 4 * 8 * 4);
    let open = read_with(&batch, &[]).unwrap_err();
    assert_eq!(open.to_string(), "dimension 'batch' of graph input 'x' has no size");
    assert_eq!(open.hint(), Some("--dim batch=VALUE"));
    let typo = read_with(&batch, &[("bathc", 4)]).unwrap_err();
    assert_eq!(typo.to_string(), "no graph input has a dimension 'bathc'");
    assert_eq!(typo.hint(), Some("open dimensions: batch"));
    let nameless = relu(&["-1", "8"]);
    assert_eq!(read_with(&nameless, &[]).unwrap_err().hint(), Some("--dim x.0=VALUE"));
    assert_eq!(bytes(&read_with(&nameless, &[("x.0", 2)]).unwrap(), "y"), 2 * 8 * 4);
    let mut elsewhere = batch;
    elsewhere.graph.as_mut().unwrap().value_info = vec![info("x", FLOAT, &["3", "8"])];
    assert_eq!(bytes(&read(&elsewhere), "y"), 3 * 8 * 4);
}

/// The way exporters write `x.view(x.shape[0], -1)`.
#[test]
fn shapes_computed_by_the_model_are_propagated() {
    let nodes = vec![
        node("Shape", &["x"], &["shape"]),
        node("Gather", &["shape", "zero"], &["n"]).int("axis", 0),
        node("Unsqueeze", &["n", "axes"], &["row"]),
        node("Concat", &["row", "rest"], &["target"]).int("axis", 0),
        node("Reshape", &["x", "target"], &["y"]),
        node("Mul", &["n", "two"], &["m"]),
        node("Range", &["none", "m", "one"], &["r"]),
    ];
    let mut chain = model(graph(vec![info("x", FLOAT, &["n", "3", "4"])], nodes, &["y"]));
    let scalars =
        [("zero", 0), ("two", 2), ("none", 0), ("one", 1)].map(|(name, value)| int_tensor(name, &[], &[value]));
    let lists = [("axes", 0), ("rest", -1)].map(|(name, value)| int_tensor(name, &[1], &[value]));
    chain.graph.as_mut().unwrap().initializer = scalars.into_iter().chain(lists).collect();
    let model = read_with(&chain, &[("n", 5)]).unwrap();
    assert_eq!((bytes(&model, "y"), bytes(&model, "r")), (5 * 12 * 4, 10 * 8));
    let work = model.graph.work(op(&model, "Reshape"));
    assert_eq!((work.flops, work.bytes), (0, 0), "a view moves nothing");
}

/// A branch that reads `x` and the weight `w` of the graph around it.
fn branch(kind: &str) -> GraphProto {
    graph(vec![], vec![node(kind, &["x", "w"], &["r"])], &["r"])
}

#[test]
fn a_branch_reads_what_its_bodies_capture_and_costs_the_dearer_one() {
    let nodes =
        vec![node("If", &["c"], &["y"]).body("then_branch", branch("MatMul")).body("else_branch", branch("Add"))];
    let mut model = model(graph(vec![info("c", BOOL, &[]), info("x", FLOAT, &["8", "8"])], nodes, &["y"]));
    model.graph.as_mut().unwrap().initializer = vec![weight("w", &[8, 8])];
    let model = read(&model);
    let (graph, op) = (&model.graph, op(&model, "If"));
    let inputs: Vec<_> = graph.inputs(op).iter().map(|&t| graph.tensor_name(t)).collect();
    assert_eq!((inputs, graph.reads(op).len()), (vec!["c", "x"], 1));
    assert_eq!((graph.work(op).flops, bytes(&model, "y")), (2 * 8 * 8 * 8, 256));
    assert_eq!(graph.scratch(op), 0, "the body holds nothing but its result");
}

#[test]
fn a_constant_condition_chooses_the_branch() {
    let nodes = vec![
        node("Equal", &["one", "one"], &["c"]),
        node("If", &["c"], &["y"]).body("then_branch", branch("Add")).body("else_branch", branch("MatMul")),
    ];
    let mut model = model(graph(vec![info("x", FLOAT, &["8", "8"])], nodes, &["y"]));
    model.graph.as_mut().unwrap().initializer = vec![weight("w", &[8, 8]), int_tensor("one", &[], &[1])];
    let model = read(&model);
    assert_eq!(model.graph.work(op(&model, "If")).flops, 64);
}

#[test]
fn a_loop_costs_its_body_times_the_constant_trip_count() {
    let body_inputs = vec![info("i", INT64, &[]), info("go", BOOL, &[]), info("s", FLOAT, &["4"])];
    let body =
        graph(body_inputs, vec![node("Add", &["s", "x"], &["t"]), node("Relu", &["t"], &["u"])], &["go", "t", "u"]);
    let repeat = |trips| {
        let nodes = vec![node("Loop", &["n", "", "x"], &["last", "all"]).body("body", body.clone())];
        let mut model = model(graph(vec![info("x", FLOAT, &["4"])], nodes, &["last", "all"]));
        model.graph.as_mut().unwrap().initializer = vec![int_tensor("n", &[], &[trips])];
        read(&model)
    };
    let ten = repeat(10);
    assert_eq!(ten.graph.work(op(&ten, "Loop")).flops, 10 * 8);
    assert_eq!((bytes(&ten, "last"), bytes(&ten, "all")), (16, 160));
    let endless = repeat(i64::MAX);
    assert_eq!(endless.graph.work(op(&endless, "Loop")).flops, 8, "a bound that nobody means counts once");
}

#[test]
fn a_scan_walks_its_sequence() {
    let body_inputs = vec![info("s", FLOAT, &["4"]), info("x", FLOAT, &["4"])];
    let body = graph(body_inputs, vec![node("Add", &["s", "x"], &["t"])], &["t", "t"]);
    let nodes = vec![node("Scan", &["start", "seq"], &["last", "all"]).int("num_scan_inputs", 1).body("body", body)];
    let inputs = vec![info("start", FLOAT, &["4"]), info("seq", FLOAT, &["6", "4"])];
    let model = read(&model(graph(inputs, nodes, &["last", "all"])));
    assert_eq!(model.graph.work(op(&model, "Scan")).flops, 6 * 4);
    assert_eq!((bytes(&model, "last"), bytes(&model, "all")), (16, 96));
}

/// The body's attribute is an argument of the function, with a default.
#[test]
fn a_function_is_one_op_costed_by_its_body() {
    let mut flatten = node("Flatten", &["a"], &["b"]).int("axis", 0);
    flatten.attribute[0] =
        AttributeProto { name: Some("axis".into()), ref_attr_name: Some("at".into()), ..flatten.attribute[0].clone() };
    let default = AttributeProto { name: Some("at".into()), i: Some(1), ..AttributeProto::default() };
    let function = FunctionProto {
        name: Some("Gram".into()),
        domain: Some("my.ops".into()),
        input: vec!["a".into()],
        output: vec!["y".into()],
        attribute_proto: vec![default],
        node: vec![flatten, node("Transpose", &["b"], &["c"]), node("MatMul", &["b", "c"], &["y"])],
        ..FunctionProto::default()
    };
    let call = |node: NodeProto| {
        let call = NodeProto { domain: Some("my.ops".into()), ..node };
        let mut model = model(graph(vec![info("x", FLOAT, &["2", "3", "4"])], vec![call], &["y"]));
        model.functions = vec![function.clone()];
        read(&model)
    };
    let by_default = call(node("Gram", &["x"], &["y"]));
    assert_eq!((by_default.graph.op_count(), bytes(&by_default, "y")), (2, 2 * 2 * 4));
    assert_eq!(by_default.graph.work(op(&by_default, "Gram")).flops, 2 * 2 * 2 * 12);
    assert_eq!(by_default.graph.scratch(op(&by_default, "Gram")), 2 * 96, "both operands of the product");
    let given = call(node("Gram", &["x"], &["y"]).int("at", 2));
    assert_eq!(bytes(&given, "y"), 6 * 6 * 4);
}

#[test]
fn a_call_may_leave_out_optional_inputs_of_a_function() {
    let function = FunctionProto {
        name: Some("Project".into()),
        input: vec!["a".into(), "b".into(), "bias".into()],
        output: vec!["y".into()],
        node: vec![node("Gemm", &["a", "b", "bias"], &["y"])],
        ..FunctionProto::default()
    };
    let flops = |inputs: &[&str]| {
        let mut model =
            model(graph(vec![info("x", FLOAT, &["4", "4"])], vec![node("Project", inputs, &["y"])], &["y"]));
        model.functions = vec![function.clone()];
        let model = read(&model);
        model.graph.work(op(&model, "Project")).flops
    };
    assert_eq!((flops(&["x", "x"]), flops(&["x", "x", ""]), flops(&["x", "x", "x"])), (128, 128, 144));
}

#[test]
fn files_need_not_be_sorted_and_optional_operands_may_be_absent() {
    let nodes = vec![node("Clip", &["b", "", "high"], &["y", ""]), node("Relu", &["x"], &["b"])];
    let mut model = model(graph(vec![info("x", FLOAT, &["4"])], nodes, &["y"]));
    model.graph.as_mut().unwrap().initializer = vec![weight("high", &[])];
    let model = read(&model);
    assert_eq!(model.node_of_op, [None, Some(0), Some(1)]);
    assert_eq!(model.graph.topological(), [OpId(0), OpId(2), OpId(1)]);
    assert_eq!((model.graph.op_name(OpId(1)), model.graph.tensor_count()), ("Clip_0", 3));
}

/// Before IR version 4 initializers are listed among the inputs.
#[test]
fn initializers_are_weights_even_if_listed_as_inputs() {
    let inputs = vec![info("x", FLOAT, &["2", "3"]), info("w", FLOAT, &["3", "5"])];
    let nodes = vec![node("Constant", &[], &["c"]).ints("value_ints", &[7]), node("MatMul", &["x", "w"], &["y"])];
    let mut model = model(graph(inputs, nodes, &["y"]));
    model.graph.as_mut().unwrap().initializer = vec![weight("w", &[3, 5])];
    let graph = read(&model).graph;
    assert_eq!((graph.op_count(), graph.weight_count()), (2, 2));
    assert_eq!(graph.weights().map(|w| graph.weight_bytes(w)).collect::<Vec<_>>(), [60, 8]);
}

#[test]
fn ops_with_the_same_name_stay_apart() {
    let named = |input, output| NodeProto { name: Some("n".into()), ..node("Relu", &[input], &[output]) };
    let nodes = vec![named("n", "b"), named("b", "c")];
    let graph = read(&model(graph(vec![info("n", FLOAT, &["4"])], nodes, &["c"]))).graph;
    let names: Vec<_> = graph.ops().map(|op| graph.op_name(op)).collect();
    assert_eq!(names, ["n", "n#1", "n#2"]);
}
