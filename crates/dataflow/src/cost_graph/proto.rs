//! The messages of TensorFlow's `cost_graph.proto`, as far as Labrys uses them; other fields are skipped on reading.

/// A graph of nodes with costs.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CostGraphDef {
    #[prost(message, repeated, tag = "1")]
    pub(super) node: Vec<Node>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Node {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    /// Ids are unique only among the nodes of one device.
    #[prost(string, tag = "2")]
    pub(super) device: String,
    #[prost(int32, tag = "3")]
    pub(super) id: i32,
    #[prost(message, repeated, tag = "4")]
    pub(super) input_info: Vec<InputInfo>,
    #[prost(message, repeated, tag = "5")]
    pub(super) output_info: Vec<OutputInfo>,
    /// Bytes.
    #[prost(int64, tag = "6")]
    pub(super) temporary_memory_size: i64,
    /// The outputs belong to the final output.
    #[prost(bool, tag = "7")]
    pub(super) is_final: bool,
    #[prost(int32, repeated, tag = "8")]
    pub(super) control_input: Vec<i32>,
    /// Microseconds.
    #[prost(int64, tag = "9")]
    pub(super) compute_cost: i64,
    /// Bytes that stay when the node has run, such as variables.
    #[prost(int64, tag = "12")]
    pub(super) persistent_memory_size: i64,
    /// The cost is a guess. Written for other readers; a time in a file is not guessed again.
    #[prost(bool, tag = "17")]
    pub(super) inaccurate: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InputInfo {
    #[prost(int32, tag = "1")]
    pub(super) preceding_node: i32,
    /// Negative for a control input.
    #[prost(int32, tag = "2")]
    pub(super) preceding_port: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OutputInfo {
    /// Bytes.
    #[prost(int64, tag = "1")]
    pub(super) size: i64,
    /// The input that this output shares its memory with, -1 for none. Writers that mean none often leave it out, which reads as
    /// 0; so it is written for other readers, but not believed.
    #[prost(int64, tag = "2")]
    pub(super) alias_input_port: i64,
}
