//! Limits of cooperative matrices of flexible size, as data.

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
