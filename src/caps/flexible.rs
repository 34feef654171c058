//! Cooperative matrices of flexible size, as data.

use super::coop::{CoopScalar, CoopScope};
use std::fmt;

/// Cooperative matrices whose sizes are multiples of a granularity, from `VK_NV_cooperative_matrix2`:
/// $C_{m \times n} \mathrel{+}= A_{m \times k} B_{k \times n}$.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlexibleRow {
    /// What the rows of A and C are a multiple of.
    pub m: u32,
    /// What the columns of B and C are a multiple of.
    pub n: u32,
    /// What the columns of A and rows of B are a multiple of.
    pub k: u32,
    /// Scalar type of A.
    pub a: CoopScalar,
    /// Scalar type of B.
    pub b: CoopScalar,
    /// Scalar type of C, operand and result.
    pub c: CoopScalar,
    /// The invocations that hold a matrix jointly.
    pub scope: CoopScope,
    /// Invocations of the workgroup whose matrices have this granularity; 0 for the scope of a subgroup, where any number may
    /// be in a workgroup.
    pub invocations: u32,
    /// Whether a sum of integers that C's type cannot hold becomes the nearest number that it can, instead of wrapping around.
    pub saturating: bool,
}

/// Limits of cooperative matrices of flexible size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlexibleLimits {
    /// Largest size of a matrix along any axis.
    pub dimension: u32,
    /// Maximum invocations of a workgroup that holds matrices jointly.
    pub workgroup_invocations: u32,
    /// Bytes of shared memory that a kernel with matrices of a workgroup leaves to the driver.
    pub reserved_bytes: u32,
}

/// `32x16x16 f16 x f16 -> f32 (workgroup of 128)`: the granularity of m, n and k, the types of A, B and C, and the scope. A row that
/// saturates says so behind the scope.
impl fmt::Display for FlexibleRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { m, n, k, a, b, c, scope, invocations, saturating } = self;
        let of = if *invocations == 0 { String::new() } else { format!(" of {invocations}") };
        let saturating = if *saturating { " saturating" } else { "" };
        write!(f, "{m}x{n}x{k} {a} x {b} -> {c} ({scope}{of}{saturating})")
    }
}
