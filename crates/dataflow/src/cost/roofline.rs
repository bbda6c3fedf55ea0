//! The roofline: an op takes its launch latency, then as long as the slower of arithmetic and memory.

use super::DeviceProfile;
use crate::graph::{Graph, TimeSource, Work};

/// Run time of `work` in nanoseconds, at least 1 unless the work is free.
pub fn time_ns(work: &Work, device: &DeviceProfile) -> u64 {
    if work.free {
        return 0;
    }
    let arithmetic = work.flops as f64 / device.flops(work.dtype);
    let memory = work.bytes as f64 / device.bytes_per_second;
    let nanoseconds = device.launch_latency_ns + arithmetic.max(memory) * 1e9;
    (nanoseconds.round() as u64).max(1)
}

/// Estimates the time of every op that has no measured one.
pub fn roofline(graph: &mut Graph, device: &DeviceProfile) {
    for op in graph.ops() {
        if graph.time_source(op) == TimeSource::Estimated {
            let time = time_ns(graph.work(op), device);
            graph.set_time(op, time, TimeSource::Estimated);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;
    use crate::graph::DType;

    fn device() -> DeviceProfile {
        let text = "name='x'\nlaunch_latency_ns=100\nbytes_per_second=1e9\nmemory_bytes=1\n[flops]\nf32=1e9\nf16=2e9";
        DeviceProfile::from_toml(text).unwrap()
    }

    #[test]
    fn the_slower_of_arithmetic_and_memory_counts() {
        let work = |flops, bytes, dtype| Work { flops, bytes, dtype, free: false };
        let cases = [
            (work(1000, 10, DType::F32), 1100),
            (work(1000, 10, DType::F16), 600),
            (work(10, 1000, DType::F32), 1100),
            (work(0, 0, DType::F32), 100),
            (work(u64::MAX, 0, DType::F32), u64::MAX),
            (Work { free: true, ..work(1000, 10, DType::F32) }, 0),
        ];
        for (work, expected) in cases {
            assert_eq!(time_ns(&work, &device()), expected, "{work:?}");
        }
    }

    #[test]
    fn measured_times_stay() {
        let mut builder = GraphBuilder::new("g");
        let (a, b) = (builder.op("a", "k"), builder.op("b", "k"));
        builder.set_time(a, 7, TimeSource::Measured);
        let mut graph = builder.build().unwrap();
        roofline(&mut graph, &device());
        assert_eq!((graph.time(a), graph.time(b)), (7, 100));
    }
}
