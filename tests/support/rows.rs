//! Rows of cooperative matrices.

use tilewise::gpu::{CoopRow, CoopScalar, CoopScope, RowSizes, Verdict};

/// A square row of subgroups, which has not been tested.
pub fn row(size: u32, ab: CoopScalar, c: CoopScalar) -> CoopRow {
    let [m, n, k] = [size; 3];
    let (sizes, scope, verdict) = (RowSizes::Exact, CoopScope::Subgroup, Verdict::Untested);
    CoopRow { sizes, m, n, k, a: ab, b: ab, c, scope, saturating: false, verdict, speed: None }
}
