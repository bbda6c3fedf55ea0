//! The model again, its nodes in the order of a schedule and each marked with its device.

use super::OnnxModel;
use super::proto::{
    DeviceConfigurationProto, NodeDeviceConfigurationProto, NodeProto, ShardingSpecProto, StringStringEntryProto,
};
use super::read::{decode, is_constant};
use crate::graph::OpId;
use crate::{Error, Result};
use labrys_graph::Id;
use prost::Message;

/// First IR version with device configurations.
const MULTI_DEVICE_IR: i64 = 11;
/// Name of the configuration that holds the placement.
const CONFIGURATION: &str = "labrys";
/// The node metadata that ONNX Runtime reads when `session.layer_assignment_settings` is set, for example to
/// `cpu(=device0); cuda(=device1)`.
const LAYER_ANNOTATION: &str = "layer_ann";

/// Rewrites the model in `bytes`, from which `model` was [read](super::read): nodes in the given order, each with the name of
/// its device in the metadata `layer_ann` and, as IR version 11 has it, in a device configuration that puts its outputs on that
/// device. `Constant` nodes come first. Fields that the ONNX format does not define are dropped; everything else is kept.
///
/// # Errors
/// `order` is no schedule of the model's ops, a device is unknown, or `bytes` is another file.
pub fn write_annotated(
    bytes: &[u8],
    model: &OnnxModel,
    order: &[OpId],
    device_of: &[usize],
    device_names: &[String],
) -> Result<Vec<u8>> {
    check_schedule(model, order)?;
    let mut proto = decode(bytes)?;
    let graph = proto.graph.as_mut().ok_or_else(other_file)?;
    let mut nodes: Vec<Option<NodeProto>> = std::mem::take(&mut graph.node).into_iter().map(Some).collect();
    graph.node =
        nodes.iter_mut().filter(|slot| slot.as_ref().is_some_and(is_constant)).filter_map(Option::take).collect();
    for &op in order {
        let Some(position) = model.node_of_op[op.index()] else { continue };
        let mut node = nodes.get_mut(position as usize).and_then(Option::take).ok_or_else(other_file)?;
        let device = *device_of.get(op.index()).ok_or_else(|| unplaced(model, op))?;
        let name = device_names.get(device).ok_or_else(|| unplaced(model, op))?;
        annotate(&mut node, device, name);
        graph.node.push(node);
    }
    if nodes.iter().any(Option::is_some) {
        return Err(other_file());
    }
    proto.ir_version = Some(proto.ir_version().max(MULTI_DEVICE_IR));
    proto.configuration.retain(|configuration| configuration.name() != CONFIGURATION);
    proto.configuration.push(configuration(device_names));
    Ok(proto.encode_to_vec())
}

/// Every op once, each after those that it depends on.
fn check_schedule(model: &OnnxModel, order: &[OpId]) -> Result<()> {
    let graph = &model.graph;
    let mut done = vec![false; graph.op_count()];
    for &op in order {
        let known = done.get(op.index()).ok_or_else(|| Error::file(format!("the model has no op {}", op.index())))?;
        let name = graph.op_name(op);
        if *known {
            return Err(Error::file(format!("op '{name}' is scheduled twice")));
        }
        if let Some(&late) = graph.preds(op).iter().find(|p| !done[p.index()]) {
            return Err(Error::file(format!(
                "op '{name}' is scheduled before '{}', on which it depends",
                graph.op_name(late)
            )));
        }
        done[op.index()] = true;
    }
    match done.iter().position(|done| !done) {
        Some(missing) => Err(Error::file(format!("op '{}' is not scheduled", graph.op_name(OpId::new(missing))))),
        None => Ok(()),
    }
}

fn other_file() -> Error {
    Error::file("the file is not the model that was read").with_hint("it may have changed since the plan was made")
}

fn unplaced(model: &OnnxModel, op: OpId) -> Error {
    Error::file(format!("op '{}' is on no known device", model.graph.op_name(op)))
}

fn annotate(node: &mut NodeProto, device: usize, name: &str) {
    node.metadata_props.retain(|entry| entry.key() != LAYER_ANNOTATION);
    node.metadata_props
        .push(StringStringEntryProto { key: Some(LAYER_ANNOTATION.to_owned()), value: Some(name.to_owned()) });
    let outputs = node.output.iter().filter(|output| !output.is_empty());
    let whole_on_device = |output: &String| ShardingSpecProto {
        tensor_name: Some(output.clone()),
        device: vec![device as i64],
        ..ShardingSpecProto::default()
    };
    let sharding_spec = outputs.map(whole_on_device).collect();
    node.device_configurations.retain(|configuration| configuration.configuration_id() != CONFIGURATION);
    node.device_configurations.push(NodeDeviceConfigurationProto {
        configuration_id: Some(CONFIGURATION.to_owned()),
        sharding_spec,
        pipeline_stage: None,
    });
}

fn configuration(device_names: &[String]) -> DeviceConfigurationProto {
    DeviceConfigurationProto {
        name: Some(CONFIGURATION.to_owned()),
        num_devices: Some(i32::try_from(device_names.len()).unwrap_or(i32::MAX)),
        device: device_names.to_vec(),
    }
}
