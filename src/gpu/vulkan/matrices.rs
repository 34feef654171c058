//! What a driver lists of cooperative matrices.

use crate::caps::{CoopRow, FlexibleLimits, FlexibleRow};

/// What a driver lists of cooperative matrices.
#[derive(Default)]
pub(in crate::gpu) struct Matrices {
    pub(in crate::gpu) rows: Vec<CoopRow>,
    pub(in crate::gpu) flexible_rows: Vec<FlexibleRow>,
    pub(in crate::gpu) flexible_limits: Option<FlexibleLimits>,
}
