//! The rows of cooperative matrices that a driver lists.

use crate::caps::{CoopRow, FlexibleLimits};

/// The rows of cooperative matrices that a driver lists.
#[derive(Default)]
pub(in crate::gpu) struct ListedMatrices {
    /// Rows of exact sizes, then those of multiples.
    pub(in crate::gpu) rows: Vec<CoopRow>,
    pub(in crate::gpu) flexible_limits: Option<FlexibleLimits>,
}
