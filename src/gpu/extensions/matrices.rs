//! What a driver lists of cooperative matrices.

use crate::caps::{CoopRow, FlexibleLimits};

/// What a driver lists of cooperative matrices.
#[derive(Default)]
pub(in crate::gpu) struct Matrices {
    /// Rows of exact sizes, then those of multiples.
    pub(in crate::gpu) rows: Vec<CoopRow>,
    pub(in crate::gpu) flexible_limits: Option<FlexibleLimits>,
}
