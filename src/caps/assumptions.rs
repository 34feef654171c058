//! Facts that a test assumes about a device.

use super::coop::CoopRow;
use super::device_type::DeviceType;
use super::machine::MatrixOrder;
use super::subgroups::SubgroupSizes;

/// Facts to assume about a device instead of asking its driver. For tests, so that kernels for GPUs run on software
/// devices. The default assumes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Rows of cooperative matrices to add to those that the adapter lists. They have to pass the same self-test; its
    /// verdicts on them are not cached.
    pub rows: Vec<CoopRow>,
    /// Subgroup sizes of the device, if it has subgroups.
    pub subgroups: Option<SubgroupSizes>,
    /// Device type for plans.
    pub device_type: Option<DeviceType>,
    /// Name of the device whose speed plans assume, as its driver reports it.
    pub speed_of: Option<String>,
    /// Order in shared memory of cooperative matrices.
    pub matrix_order: Option<MatrixOrder>,
}
