//! Every `labrys ...` command of the README runs, on small files under the names that it uses.

mod common;

use common::{labrys, root, scratch, squeezenet};

const SMALL_HLO: &str = "HloModule small\n\nENTRY main {\n  x = f32[64,64]{1,0} parameter(0)\n  a = f32[64,64]{1,0} tanh(x)\n  \
    b = f32[64,64]{1,0} negate(x)\n  ROOT c = f32[64,64]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

const SMALL_TSP: &str = "NAME: square\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 9 9\n3 9 0\n\
    4 0 9\nEOF\n";

/// What would take too long in a test, and what stands for it.
const SHORTER: [(&str, &str); 2] = [("--graphs 200", "--graphs 1"), ("--graphs 100", "--graphs 2")];

#[test]
fn readme_commands_run() {
    let folder = scratch();
    std::fs::copy(squeezenet(), folder.path().join("model.onnx")).unwrap();
    std::fs::write(folder.path().join("graph.txt"), "# Nodes: 5 Edges: 5\n0 1\n1 2\n2 0\n2 3\n3 4\n").unwrap();
    std::fs::write(folder.path().join("cities.tsp"), SMALL_TSP).unwrap();
    std::fs::write(folder.path().join("m.hlo"), SMALL_HLO).unwrap();
    std::fs::copy(root().join("examples/gmm.ks"), folder.path().join("gmm.ks")).unwrap();
    std::fs::copy(root().join("crates/front/tests/programs/treenn.py"), folder.path().join("treenn.py")).unwrap();
    std::fs::write(folder.path().join("onnxruntime_profile.json"), r#"{"/classifier/classifier.1/Conv": 12.5}"#)
        .unwrap();
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<&str> = readme.split('`').filter(|text| text.starts_with("labrys ")).collect();
    assert!(commands.len() >= 14, "{commands:?}");
    for command in commands {
        let shorter = SHORTER.iter().fold(command.to_owned(), |text, (long, short)| text.replace(long, short));
        let args = shorter.split_whitespace().skip(1);
        let output = labrys().current_dir(folder.path()).args(args).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
