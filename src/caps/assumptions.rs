//! Facts about a device that a test assumes.

use super::coop::CoopRow;
use super::device_type::DeviceType;

/// Facts to assume about a device instead of asking its driver: for tests, so that kernels meant for GPUs run on software
/// devices. The default assumes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Rows of cooperative matrices to add to those that the adapter lists. They pass the same self-test; its verdicts on them
    /// are not cached.
    pub rows: Vec<CoopRow>,
    /// The type of device to make plans for.
    pub device_type: Option<DeviceType>,
}
