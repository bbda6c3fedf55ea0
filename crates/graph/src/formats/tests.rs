use super::*;
use crate::generate;
use rand::SeedableRng as _;
use std::io::Write as _;

fn load(text: &str) -> Result<Loaded> {
    read(text.as_bytes().to_vec(), None, Options { format: None, weights: true })
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A path of four nodes and one isolated node, 1-2 2-3 3-4.
const PATHS: [(&str, Format); 8] = [
    ("# Nodes: 5 Edges: 3\n0\t1\n2 1\r\n2,3\n", Format::EdgeList),
    ("c hello \u{e9}\np edge 5 3\ne 1 2\n\ne 2 3\ne 4 3\n", Format::Dimacs),
    ("p col 5 6\r\ne 1 2\r\ne 2 3\r\ne 3 4\r\n", Format::Dimacs),
    ("c x\np td 5 3\n1 2\n2 3\nc y\n3 4", Format::Pace),
    ("% x\n5 3\n2\n1 3\n2 4\n3\n\n", Format::Metis),
    ("5 3\n1 2\n2 3\n3 4\n", Format::Rudy),
    ("%%MatrixMarket matrix coordinate pattern symmetric\n% x\n5 5 3\n2 1\n3 2\n4 3\n", Format::MatrixMarket),
    (
        "%%MatrixMarket matrix coordinate real general\n5 5 5\n2 1 1\n1 2 1.0\n3 2 1\n2 3 1\n3 4 1e0\n",
        Format::MatrixMarket,
    ),
];

#[test]
fn every_format_reads_the_same_path() {
    for (text, format) in PATHS {
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let loaded = read(bytes, None, Options { format: None, weights: true }).unwrap();
            assert_eq!((loaded.format, loaded.graph.nodes()), (format, 5), "{text}");
            assert_eq!(loaded.graph.edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)], "{text}");
            assert!(loaded.dropped.is_nothing(), "{text}");
            let first = u64::from(format != Format::EdgeList);
            assert_eq!((loaded.labels.label(2), loaded.labels.node(2 + first, 5)), (2 + first, Some(2)));
        }
    }
}

#[test]
fn what_is_written_is_read_again() {
    let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
    let plain = Graph::from_edges(40, generate::erdos_renyi(40, 0.1, &mut rng));
    let mut builder = GraphBuilder::new(40);
    plain.edges().zip([3, -1, 7].into_iter().cycle()).for_each(|((a, b), weight)| builder.add_weighted(a, b, weight));
    let (weighted, _) = builder.build();
    for graph in [plain, weighted, Graph::from_edges(3, [])] {
        for format in Format::ALL {
            let options = Options { format: Some(format), weights: true };
            let again = read(write(&graph, format).into_bytes(), None, options).unwrap();
            assert_eq!(again.graph, graph, "{format:?}");
        }
    }
}

#[test]
fn names_are_kept_and_loops_counted() {
    let loaded = load("100 7\n7 100\n7 7\n900000000000 7\n").unwrap();
    assert_eq!(loaded.graph.nodes(), 3);
    assert_eq!(loaded.dropped, crate::undirected::Dropped { self_loops: 1, duplicates: 1 });
    assert_eq!((0..3).map(|v| loaded.labels.label(v)).collect::<Vec<_>>(), [7, 100, 900_000_000_000]);
    assert_eq!((loaded.labels.node(100, 3), loaded.labels.node(101, 3)), (Some(1), None));
}

#[test]
fn weights_are_read_where_they_matter() {
    let text = "3 2 J\n1 2 -5\n2 3 1.5\n";
    assert_eq!(load(text).unwrap_err().to_string(), "line 3: edge weight 1.5 is no integer below 2^53");
    let loaded = read(text.into(), None, Options::default()).unwrap();
    assert!(!loaded.graph.is_weighted());
    let loaded = load("3 2 1\n2 -5\n1 -5 3 2\n2 2\n").unwrap();
    assert_eq!(loaded.format, Format::Metis);
    assert_eq!(load("%x\n3 2 011 2\n9 9 2 -5\n9 9 1 -5 3 2\n9 9 2 2\n").unwrap().graph.weighted_edges().count(), 2);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        ("", "the file is empty"),
        ("hello", "line 1: unknown graph format"),
        ("p edge 3 3\ne 1 2\n", "line 2: the file ends after 1 edges, its header says 3"),
        ("p edge 3 1\ne 0 2\n", "line 2: node 0 is not between 1 and 3"),
        ("p edge 3 1\ne 1 4\n", "line 2: node 4 is not between 1 and 3"),
        ("p edge 3 1\ne 1\n", "line 2: expected a node, found the end of the line"),
        ("p edge 3 1\nf 1 2\n", "line 2: expected 'e NODE NODE', found 'f'"),
        ("p edge x 1\n", "line 1: expected the number of nodes, found 'x'"),
        ("p edge 3 0\np edge 3 0\n", "line 2: a second line that begins with p"),
        ("p edge 4000000000 0\n", "line 1: 4000000000 nodes are out of proportion to a file of 20 bytes"),
        ("p td 99999999999999999 0\n", "line 1: 99999999999999999 nodes are out of proportion to a file of 25 bytes"),
        ("# x\n1 2\n3\n", "line 3: expected a second node, found the end of the line"),
        ("1 2\n3 -4\n", "line 2: expected a second node, found '-4'"),
        ("1 2\n3 18446744073709551616\n", "line 2: expected a second node, found '18446744073709551616'"),
        ("%%MatrixMarket matrix array real general\n2 2\n", "line 1: expected '%%MatrixMarket matrix coordinate'"),
        (
            "%%MatrixMarket matrix coordinate pattern symmetric\n2 3 0\n",
            "line 2: a matrix of 2 rows and 3 columns is no graph",
        ),
        ("%%MatrixMarket matrix coordinate integer symmetric\n2 2 1\n2 1\n", "line 3: an entry without a value"),
        ("3 3 1\n2 5 3 1\n1 5\n", "line 3: the file ends after 2 of 3 nodes with 3 neighbours; 3 edges have 6"),
        ("1 2 9000000000000000\n1 3 288230376151711744\n", "the edge weights add up to more than 2^58"),
    ];
    for (text, expected) in cases {
        assert_eq!(load(text).map(|_| ()).unwrap_err().to_string(), expected, "{text}");
    }
    let metis = Options { format: Some(Format::Metis), weights: true };
    let error = read(b"3 2\n2 3\n1\n3\n".to_vec(), None, metis).unwrap_err().to_string();
    assert_eq!(error, "some edges are listed at one end only");
    assert!(read(gzip(b"1 2\n")[..12].to_vec(), None, metis).unwrap_err().to_string().starts_with("damaged gzip"));
}

#[test]
fn a_first_edge_is_no_header() {
    for text in ["0 1\n1 2\n", "0 1 5\n1 2 25\n", "1 2\n2 3\n3 1\n"] {
        assert_eq!(load(text).unwrap().format, Format::EdgeList, "{text}");
    }
    assert_eq!(load("3 2\n1 2\n2 3\n").unwrap().format, Format::Rudy);
}

/// Every prefix and many mutations of good files: an answer or an error, never a panic.
#[test]
fn damaged_files_do_no_harm() {
    use rand::RngExt as _;
    let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(7);
    for (text, format) in PATHS {
        for _ in 0..400 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bytes.len());
                match rng.random_range(0..3) {
                    0 => bytes.truncate(at + 1),
                    1 => bytes[at] = rng.random_range(0..=255),
                    _ => bytes.insert(at, b"0123456789 \n-e%"[rng.random_range(0..15)]),
                }
            }
            for format in [None, Some(format)] {
                _ = read(bytes.clone(), None, Options { format, weights: true });
            }
        }
    }
}
