//! Any model file to a graph: unpacks gzip, finds out the format, reads it.

use crate::onnx::{self, OnnxModel};
use crate::{Error, Graph, Result, cost_graph, hlo, json};
use std::io::Read;

/// A compressed file may not unpack to more; a few megabytes of gzip can hold this much.
const MAX_UNPACKED: u64 = 4 << 30;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const UTF8_BOM: &[u8] = &[0xef, 0xbb, 0xbf];

/// A format that [`decode`] reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// ONNX, binary.
    Onnx,
    /// XLA HLO text.
    Hlo,
    /// TensorFlow `CostGraphDef`, binary.
    CostGraph,
    /// TensorFlow `CostGraphDef`, protobuf text.
    CostGraphText,
    /// The format of [`json`].
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Onnx, Self::Hlo, Self::CostGraph, Self::CostGraphText, Self::Json];

    /// Name for messages and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Onnx => "onnx",
            Self::Hlo => "hlo",
            Self::CostGraph => "cost-graph",
            Self::CostGraphText => "cost-graph-text",
            Self::Json => "json",
        }
    }

    /// The format called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What a file is: by what its text starts with, else by its name, else by the first field of a protobuf message.
    pub fn detect(bytes: &[u8], file_name: Option<&str>) -> Option<Self> {
        by_text(bytes).or_else(|| file_name.and_then(by_file_name)).or_else(|| by_first_field(bytes))
    }
}

/// How to read a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format, if it is not to be found out.
    pub format: Option<Format>,
    /// What the ONNX reader needs to know.
    pub onnx: onnx::Options,
}

/// A graph and what writers need of its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The graph. Ops without a measured time have none yet: see [`cost`](crate::cost).
    pub graph: Graph,
    /// Where it came from.
    pub source: Source,
}

/// What is kept of a file beside its graph.
#[derive(Clone, Debug)]
pub enum Source {
    /// An ONNX model, which can be written back with a plan in it.
    Onnx {
        /// The file, unpacked.
        bytes: Vec<u8>,
        /// For each op the position of its node in the file; `None` for graph inputs.
        node_of_op: Vec<Option<u32>>,
    },
    /// An HLO module.
    Hlo {
        /// Whether the order of the ops is XLA's schedule.
        is_scheduled: bool,
    },
    /// A `CostGraphDef`, either encoding.
    CostGraph,
    /// Our own JSON.
    Json,
}

/// Reads the bytes of a file, which may be gzipped.
///
/// # Errors
/// An empty file, damaged or oversized gzip data, a format that cannot be found out, text that is not UTF-8, and whatever the
/// format's reader refuses.
pub fn decode(bytes: Vec<u8>, file_name: Option<&str>, options: &Options) -> Result<Loaded> {
    let bytes = unpack(bytes, MAX_UNPACKED)?;
    if bytes.is_empty() {
        return Err(Error::file("the file is empty").with_hint("was it written completely?"));
    }
    let format = options.format.or_else(|| Format::detect(&bytes, file_name)).ok_or_else(unknown_format)?;
    let (graph, source) = match format {
        Format::Onnx => {
            let OnnxModel { graph, node_of_op } = onnx::read(&bytes, &options.onnx)?;
            (graph, Source::Onnx { bytes, node_of_op })
        }
        Format::Hlo => {
            let module = hlo::read(text(&bytes)?)?;
            (module.graph, Source::Hlo { is_scheduled: module.is_scheduled })
        }
        Format::CostGraph => (cost_graph::read(&bytes)?, Source::CostGraph),
        Format::CostGraphText => (cost_graph::read_text(text(&bytes)?)?, Source::CostGraph),
        Format::Json => (json::read(text(&bytes)?)?, Source::Json),
    };
    Ok(Loaded { graph, source })
}

fn unpack(bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>> {
    if !bytes.starts_with(GZIP_MAGIC) {
        return Ok(bytes);
    }
    let mut unpacked = vec![];
    let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(limit + 1);
    decoder
        .read_to_end(&mut unpacked)
        .map_err(|e| Error::file(format!("damaged gzip data: {e}")).with_hint("the file looks truncated"))?;
    if unpacked.len() as u64 > limit {
        return Err(Error::file(format!("the gzip data unpacks to more than {limit} bytes")));
    }
    Ok(unpacked)
}

fn unknown_format() -> Error {
    let names = Format::ALL.map(Format::name).join(", ");
    Error::file("unknown format: neither the content nor the file name tells")
        .with_hint(format!("known are {names}; files may be gzipped"))
}

/// The content as text, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str> {
    let bytes = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| {
        let offset = e.valid_up_to();
        let line = 1 + bytes[..offset].iter().filter(|&&b| b == b'\n').count();
        Error::syntax(line, format!("byte {:#04x} at offset {offset} is not UTF-8", bytes[offset]))
            .with_hint("a text format is expected here; is the file binary, or compressed other than by gzip?")
    })
}

/// What only one text format starts with.
fn by_text(bytes: &[u8]) -> Option<Format> {
    let start = skip_comments(bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes));
    if start.starts_with(b"HloModule") {
        return Some(Format::Hlo);
    }
    if let Some(rest) = start.strip_prefix(b"node") {
        let next = rest.trim_ascii_start().first();
        return matches!(next, Some(b'{' | b'<' | b':')).then_some(Format::CostGraphText);
    }
    let inside = start.strip_prefix(b"{")?.trim_ascii_start().first();
    matches!(inside, Some(b'"' | b'}')).then_some(Format::Json)
}

/// Comments of HLO (`//`) and of protobuf text (`#`).
fn skip_comments(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.trim_ascii_start();
    while rest.starts_with(b"//") || rest.starts_with(b"#") {
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        rest = rest[end..].trim_ascii_start();
    }
    rest
}

fn by_file_name(file_name: &str) -> Option<Format> {
    let name = file_name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let endings = [
        (".onnx", Format::Onnx),
        (".hlo", Format::Hlo),
        (".hlo.txt", Format::Hlo),
        (".pbtxt", Format::CostGraphText),
        (".textproto", Format::CostGraphText),
        (".json", Format::Json),
    ];
    endings.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
}

/// A `CostGraphDef` has only field 1, messages; a `ModelProto` starts with field 1 as a number, its IR version.
fn by_first_field(bytes: &[u8]) -> Option<Format> {
    match bytes.first() {
        Some(0x0a) => Some(Format::CostGraph),
        Some(0x08) => Some(Format::Onnx),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const HLO: &str = "HloModule m\nENTRY e {\n p = f32[2] parameter(0)\n ROOT n = f32[2] negate(p)\n}\n";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn load(bytes: &[u8]) -> Result<Loaded> {
        decode(bytes.to_vec(), None, &Options::default())
    }

    #[test]
    fn formats_are_found_out() {
        let cases: [(&[u8], Option<&str>, Option<Format>); 12] = [
            (b"\n// by hand\nHloModule m", Some("x.json"), Some(Format::Hlo)),
            (b"\xef\xbb\xbfHloModule m", None, Some(Format::Hlo)),
            (b"# by hand\n node {", None, Some(Format::CostGraphText)),
            (b"{ \"schema\"", Some("model.hlo"), Some(Format::Json)),
            (b"garbage", Some("MODEL.HLO.TXT.gz"), Some(Format::Hlo)),
            (b"garbage", Some("model.onnx"), Some(Format::Onnx)),
            (b"garbage", Some("graph.pbtxt"), Some(Format::CostGraphText)),
            (b"\x08\x07", None, Some(Format::Onnx)),
            (b"\x0a\x00", Some("graph.pb"), Some(Format::CostGraph)),
            (b"\x0a\x00", Some("model.onnx"), Some(Format::Onnx)),
            (b"garbage", Some("model.txt"), None),
            (b"nodes", None, None),
        ];
        for (bytes, name, expected) in cases {
            assert_eq!(Format::detect(bytes, name), expected, "{:?} {name:?}", String::from_utf8_lossy(bytes));
        }
        assert!(Format::ALL.iter().all(|f| Format::from_name(f.name()) == Some(*f)));
    }

    #[test]
    fn every_format_loads_packed_or_not() {
        let graph = load(HLO.as_bytes()).unwrap().graph;
        let files = [
            HLO.as_bytes().to_vec(),
            cost_graph::write(&graph, cost_graph::Encoding::Binary),
            cost_graph::write(&graph, cost_graph::Encoding::Text),
            json::write(&graph).into_bytes(),
        ];
        for bytes in files {
            for bytes in [gzip(&bytes), bytes] {
                let loaded = load(&bytes).unwrap();
                assert_eq!(loaded.graph.op_name(crate::OpId(0)), "n");
            }
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let packed = gzip(HLO.as_bytes());
        let cases: [(&[u8], &str); 6] = [
            (b"", "the file is empty"),
            (&gzip(b""), "the file is empty"),
            (&packed[..packed.len() - 9], "damaged gzip data"),
            (b"HloModule m\n\xff", "line 2: byte 0xff at offset 12 is not UTF-8"),
            (b"\x89PNG", "unknown format"),
            (b"{\"a\": 1}", "missing field `schema`"),
        ];
        for (bytes, expected) in cases {
            let error = load(bytes).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(expected), "found: {error}\nexpected: {expected}");
        }
        assert!(unpack(gzip(&[0; 100]), 99).unwrap_err().to_string().contains("more than 99 bytes"));
        assert_eq!(unpack(gzip(&[0; 100]), 100).unwrap().len(), 100);
    }

    #[test]
    fn a_given_format_is_not_doubted() {
        let options = Options { format: Some(Format::Json), ..Options::default() };
        let error = decode(HLO.as_bytes().to_vec(), None, &options).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("line 1: expected value"), "{error}");
    }
}
