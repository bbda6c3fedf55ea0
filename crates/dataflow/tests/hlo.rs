//! Each construct of HLO text, and each way to get it wrong.

use labrys_dataflow::{Graph, hlo};

/// One line an op: `name kind <- inputs | weights | control -> outputs`, kept outputs with a star.
fn describe(graph: &Graph) -> String {
    let mut lines = vec![];
    for op in graph.ops() {
        let list = |names: Vec<&str>| if names.is_empty() { "-".to_owned() } else { names.join(",") };
        let inputs = list(graph.inputs(op).iter().map(|&t| graph.tensor_name(t)).collect());
        let weights = list(graph.reads(op).iter().map(|&w| graph.weight_name(w)).collect());
        let control = list(graph.control(op).iter().map(|&o| graph.op_name(o)).collect());
        let output = |&t| {
            let star = if graph.is_kept(t) { "*" } else { "" };
            format!("{}:{}{star}", graph.tensor_name(t), graph.bytes(t))
        };
        let outputs: Vec<String> = graph.outputs(op).iter().map(output).collect();
        let (name, kind) = (graph.op_name(op), graph.kind(op));
        lines.push(
            format!("{name} {kind} <- {inputs} | {weights} | {control} -> {}", outputs.join(" ")).trim_end().to_owned(),
        );
    }
    lines.join("\n")
}

fn entry(body: &str) -> String {
    format!("HloModule m, is_scheduled=true\n\nENTRY %e (p: f32[4]) -> f32[4] {{\n{body}\n}}\n")
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let module = hlo::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(describe(&module.graph).lines().collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn both_syntaxes_mean_the_same() {
    let expected = ["add.1 add <- - | p.0,c | - -> add.1:16", "r negate <- add.1 | - | - -> r:16*"];
    let short = "  p.0 = f32[4]{0} parameter(0)\n  c = f32[4]{0} constant({1, 2, 3, 4})\n  add.1 = f32[4] add(p.0, c)\n  ROOT r = f32[4] negate(add.1)";
    let long = "  %p.0 = f32[4]{0:T(256)} parameter(0), sharding={devices=[2]<=[2]}, metadata={op_name=\"a \\\"}b\" source_line=3}
  %c = f32[4]{0} constant({1, 2, /*index=2*/3, 4}) // a comment
  %add.1 = f32[4]{0} add(f32[4]{0} %p.0, /*index=1*/f32[4]{0} %c),
     metadata={op_name=\"x\"}, backend_config={\"a\":[\"}\",{}]}
  ROOT %r = f32[4]{0} negate(f32[4]{0} %add.1), frontend_attributes={a=\"b\"}";
    check(&entry(short), &expected);
    check(&entry(long), &expected);
    check(&entry(long).replace('\n', "\r\n"), &expected);
}

#[test]
fn tables_and_trailing_attributes_are_skipped() {
    let text = "HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}\n\nFileNames\n1 \"a {.py\"\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n
        %add (a: f32[], b: f32[]) -> f32[] {\n %a = f32[] parameter(0)\n %b = f32[] parameter(1)\n ROOT %r = f32[] add(%a, %b)\n} // add\n
        ENTRY %e (p: f32[4]) -> f32[] {\n %p = f32[4] parameter(0)\n %z = f32[] constant(0)\n ROOT %s = f32[] reduce(%p, %z), dimensions={0}, to_apply=%add\n}, execution_thread=\"main\"\n";
    check(text, &["s reduce <- - | p,z | - -> s:4*"]);
}

#[test]
fn plumbing_is_no_op() {
    let body = "
        p = (f32[4], (s32[], f32[2])) parameter(0)
        p1 = (s32[], f32[2]) get-tuple-element(p), index=1
        x = f32[2] get-tuple-element(p1), index=1
        y = f32[2] copy(x)
        b = f32[1,2] bitcast(y)
        s = (f32[1,2]) tuple(b)
        t = ((f32[1,2]), f32[2]) tuple(s, x)
        o = ((f32[1,2]), f32[2]) opt-barrier(t)
        ROOT r = ((f32[1,2]), f32[2]) custom-call(o), custom_call_target=\"Sharding\"";
    check(&entry(body), &["y copy <- - | p{1,1} | - -> y:8*"]);
}

#[test]
fn a_root_may_be_a_parameter() {
    check(
        &entry("p = f32[4] parameter(0)\n n = f32[4] negate(p)\n ROOT r = (f32[4], f32[4]) tuple(p, p)"),
        &["n negate <- - | p | - -> n:16"],
    );
}

#[test]
fn tokens_and_control_predecessors_are_control_edges() {
    let body = "
        p = f32[4] parameter(0)
        t0 = token[] after-all()
        in = (f32[4], token[]) infeed(t0)
        d = f32[4] get-tuple-element(in), index=0
        t1 = token[] get-tuple-element(in), index=1
        out = token[] outfeed(d, t1)
        t2 = token[] after-all(t1, out)
        q = f32[4] add-dependency(p, t2)
        a = f32[4] negate(q)
        b = f32[4] abs(p), control-predecessors={%a, %d}
        ROOT c = f32[4] bitcast(b)";
    check(
        &entry(body),
        &[
            "in infeed <- - | - | - -> in{0}:16",
            "out outfeed <- in{0} | - | in ->",
            "a negate <- - | p | in,out -> a:16",
            "b abs <- - | p | in,a -> b:16*",
        ],
    );
}

#[test]
fn asynchronous_pairs_start_as_ops_and_end_as_plumbing() {
    let body = "
        p = f32[4] parameter(0)
        cs = (f32[4], f32[4], u32[]) copy-start(p)
        cd = f32[4] copy-done(cs)
        gs = (f32[4], f32[8]) all-gather-start(cd), dimensions={0}
        gd = f32[8] all-gather-done(gs)
        rs = f32[8] all-reduce-start(gd), to_apply=add
        rd = f32[8] all-reduce-done(rs)
        as = ((f32[8]), f32[2], u32[]) async-start(rd), calls=inner
        au = ((f32[8]), f32[2], u32[]) async-update(as)
        ROOT ad = f32[2] async-done(au)";
    let text = entry(body).replace(
        "ENTRY",
        "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b)\n}
         inner {\n a = f32[8] parameter(0)\n ROOT r = f32[2] slice(a), slice={[0:2]}\n}\nENTRY",
    );
    check(
        &text,
        &[
            "cs copy-start <- - | p | - -> cs{0}:16 cs{2}:4",
            "gs all-gather-start <- cs{0} | - | - -> gs{1}:32",
            "rs all-reduce-start <- gs{1} | - | - -> rs:32",
            "as async-start <- rs | - | - -> as{1}:8* as{2}:4",
        ],
    );
}

#[test]
fn calls_are_inlined_under_the_name_of_the_call() {
    let text = "HloModule m
        inner { a = f32[4] parameter(0)\n k = f32[4] constant({...})\n ROOT r = f32[4] multiply(a, k)\n }
        outer { b = f32[4] parameter(0)\n x = f32[4] call(b), to_apply=inner\n ROOT t = (f32[4], f32[4]) tuple(x, b)\n }
        ENTRY e { p = f32[4] parameter(0)\n c = (f32[4], f32[4]) call(p), to_apply=outer\n g = f32[4] get-tuple-element(c), index=0
          d = f32[4] call(g), to_apply=inner\n ROOT n = f32[4] negate(d)\n }";
    check(
        text,
        &[
            "c/x/r multiply <- - | p,inner/k | - -> c/x/r:16",
            "d/r multiply <- c/x/r | inner/k | - -> d/r:16",
            "n negate <- d/r | - | - -> n:16*",
        ],
    );
}

const LOOP: &str = "HloModule m
    body {
      s = (s32[], f32[8,4], f32[4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      one = s32[] constant(1)
      next = s32[] add(i, one)
      w = f32[8,4] get-tuple-element(s), index=1
      x = f32[4] get-tuple-element(s), index=2
      y = f32[8] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      z = f32[4] dot(w, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
      ROOT r = (s32[], f32[8,4], f32[4]) tuple(next, w, z)
    }
    condition {
      s = (s32[], f32[8,4], f32[4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(10)
      ROOT less = pred[] compare(i, n), direction=LT
    }
    ENTRY e {
      zero = s32[] constant(0)
      w = f32[8,4] parameter(0)
      x = f32[4] parameter(1)
      init = (s32[], f32[8,4], f32[4]) tuple(zero, w, x)
      loop = (s32[], f32[8,4], f32[4]) while(init), condition=condition, body=body
      w1 = f32[8,4] get-tuple-element(loop), index=1
      x1 = f32[4] get-tuple-element(loop), index=2
      ROOT o = f32[8] dot(w1, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    }";

#[test]
fn a_while_is_one_op_that_hands_on_what_its_body_hands_on() {
    check(LOOP, &["loop while <- - | w,x,zero | - -> loop{0}:4 loop{2}:16", "o dot <- loop{2} | w | - -> o:32*"]);
    let graph = hlo::read(LOOP).unwrap().graph;
    let op = graph.ops().next().unwrap();
    // Ten rounds of two dots of 64 flops, an addition and a comparison; in between 32 bytes of `y`.
    assert_eq!(graph.work(op).flops, 10 * (2 * 64 + 2));
    assert_eq!(graph.scratch(op), 32);
}

#[test]
fn a_fusion_moves_its_operands_and_results_only() {
    let text = "HloModule m
        f { w = f32[100,4] parameter(0)\n i = s32[] parameter(1)\n z = s32[] constant(0)\n s = f32[1,4] dynamic-slice(w, i, z), dynamic_slice_sizes={1,4}
            n = f32[1,4] negate(s)\n ROOT e = f32[1,4] multiply(n, s)\n }
        ENTRY e { w = f32[100,4] parameter(0)\n i = s32[] parameter(1)\n ROOT f = f32[1,4] fusion(w, i), kind=kLoop, calls=f\n }";
    check(text, &["f fusion <- - | w,i | - -> f:16*"]);
    let graph = hlo::read(text).unwrap().graph;
    let work = graph.work(graph.ops().next().unwrap());
    assert_eq!((work.flops, work.bytes), (8, 16 + 4 + 16));
}

#[test]
fn a_conditional_costs_its_costliest_branch() {
    let text = "HloModule m
        cheap { a = f32[4] parameter(0)\n ROOT r = f32[4] negate(a)\n }
        dear { a = f32[4] parameter(0)\n b = f32[4] negate(a)\n c = f32[4] negate(b)\n ROOT r = f32[4] negate(c)\n }
        ENTRY e { k = s32[] parameter(0)\n a = f32[4] parameter(1)
          ROOT r = f32[4] conditional(k, a, a, a), branch_computations={cheap, %dear, cheap}\n }";
    check(text, &["r conditional <- - | k,a | - -> r:16*"]);
    let graph = hlo::read(text).unwrap().graph;
    let op = graph.ops().next().unwrap();
    assert_eq!((graph.work(op).flops, graph.scratch(op)), (12, 32));
}

#[test]
fn custom_calls_carry_their_target_and_collectives_cost_bytes() {
    let body = "
        p = f32[4] parameter(0)
        c = (f32[4], u8[9]) custom-call(p), custom_call_target=\"attention\", api_version=API_VERSION_TYPED_FFI, backend_config={heads = 32 : i64}
        x = f32[4] get-tuple-element(c), index=0
        ROOT g = f32[8] all-gather(x), channel_id=1, replica_groups=[1,2]<=[2], dimensions={0}";
    check(
        &entry(body),
        &["c custom-call:attention <- - | p | - -> c{0}:16 c{1}:9", "g all-gather <- c{0} | - | - -> g:32*"],
    );
    let graph = hlo::read(&entry(body)).unwrap().graph;
    let work: Vec<_> = graph.ops().map(|op| (graph.work(op).flops, graph.work(op).bytes)).collect();
    assert_eq!(work, [(0, 16 + 16 + 9), (0, 16 + 32)]);
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let doubling: String = (1..60).map(|i| format!("c{i} {{\n p = f32[] parameter(0)\n a = f32[] call(p), to_apply=c{}\n ROOT b = f32[] call(a), to_apply=c{}\n}}\n", i - 1, i - 1)).collect();
    let doubling = format!(
        "HloModule m\nc0 {{\n p = f32[] parameter(0)\n ROOT n = f32[] negate(p)\n}}\n{doubling}ENTRY e {{\n p = f32[] parameter(0)\n ROOT r = f32[] call(p), to_apply=c59\n}}"
    );
    let e = |body: &str| format!("HloModule m\nENTRY e {{\n p = (f32[], s32[2]) parameter(0)\n{body}\n}}");
    let cases = [
        (String::new(), "line 1: expected 'HloModule', but the file ends here"),
        ("digraph {}".into(), "line 1: expected 'HloModule', found 'digraph {}'"),
        ("HloModule m\n".into(), "line 2: no ENTRY computation before the end of the file"),
        (
            "HloModule m\nc {\n a = f32[] constant(1)\n}".into(),
            "line 4: no ENTRY computation before the end of the file",
        ),
        ("HloModule m\nENTRY e {\n}".into(), "line 2: computation 'e' has no instructions"),
        (
            "HloModule m\nENTRY e {\n a = f32[] constant(1)\n".into(),
            "line 4: expected an instruction or '}', but the file ends here",
        ),
        (e(" a = f32[] negate(q)"), "line 4: unknown operand 'q'"),
        (e(" a = f32[] negate(a)"), "line 4: unknown operand 'a'"),
        (e(" p = f32[] constant(0)"), "line 4: a second instruction 'p' in computation 'e'"),
        (e(" a = f32[2 negate(p)"), "line 4: expected ',', found 'negate(p)'"),
        (e(" a = g32[2] negate(p)"), "line 4: unknown element type 'g32'"),
        (e(" a = f32[2] negate p"), "line 4: expected '(', found ' p'"),
        (e(" a = f32[2] negate(p"), "line 5: expected ',', found '}'"),
        (e(" a = f32[2] negate(p), metadata=("), "line 4: '(' is never closed"),
        (
            e(" a = f32[2] negate(p) metadata"),
            "line 4: expected ',' and an attribute, or the end of the line, found 'metadata'",
        ),
        (e(" a = f32[] get-tuple-element(p), index=2"), "line 4: 'a': index 2 of a tuple of 2 elements"),
        (e(" a = f32[] get-tuple-element(p)"), "line 4: 'a': get-tuple-element needs index=N"),
        (e(" a = f32[] bitcast(p)"), "line 4: 'a' has a shape of 1 arrays, but its operands give it 2"),
        (e(" a = f32[] parameter(2)"), "line 4: parameter 2 of a computation whose parameter 1 is missing or repeated"),
        (e(" a = f32[] parameter(x)"), "line 4: expected the parameter's number, found 'x'"),
        (e(" a = f32[] call(p)"), "line 4: 'a': a call needs to_apply="),
        (e(" a = f32[] call(p), to_apply=nobody"), "line 4: 'a' calls 'nobody', which is not in the file"),
        (e(" a = f32[] call(p), to_apply=e"), "line 2: computation 'e' calls itself, directly or through others"),
        (e(" a = f32[] call(p)\n}\nENTRY f {"), "line 6: a second ENTRY computation"),
        (format!("{}\ne {{\n a = f32[] constant(1)\n}}", e("")), "line 6: a second computation 'e'"),
        (doubling, "line 3: the calls of this module, once inlined, make far more of it"),
        (e(""), "the graph has no ops"),
    ];
    for (text, expected) in cases {
        let error = hlo::read(&text).map(|m| describe(&m.graph)).unwrap_err().to_string();
        assert!(error.contains(expected), "found: {error}\nexpected: {expected}\n{text:.400}");
    }
}
