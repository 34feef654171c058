//! The capabilities of a device and the assumptions about its speed: the plain data that plans are made from.

mod assumptions;
mod coop;
mod device;
mod device_type;
mod extensions;
mod fixture_rows;
pub mod fixtures;
mod machine;
mod matrices;
mod matrix_rates;
mod measured_rates;
mod peaks;
mod robust_access;
mod row_speed;
mod subgroups;
mod units;

pub use assumptions::Assumptions;
pub use coop::{CoopRow, CoopScalar, CoopScope, FlexibleLimits, RowSizes, Verdict};
pub use device::{Caps, CapsLimits};
pub use device_type::DeviceType;
pub(crate) use extensions::HAS_MODULES;
pub use extensions::MatrixExtensions;
pub use machine::{Machine, MatrixOrder, RateSource};
pub(crate) use matrices::Matrices;
pub use measured_rates::MeasuredRates;
pub use robust_access::RobustBufferAccess;
pub use row_speed::RowSpeed;
pub use subgroups::SubgroupSizes;
