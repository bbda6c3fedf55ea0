//! Run times: estimated by a roofline over a device profile, or measured.

mod measured;
mod profile;
mod roofline;

pub use measured::{Applied, apply_csv, apply_json, apply_ort_profile, apply_times};
pub use profile::DeviceProfile;
pub use roofline::{roofline, time_ns};
