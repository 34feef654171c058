//! What can go wrong, always with the values that made it go wrong.

/// The result of a fallible operation of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. It leaves the operands and the device usable, except
/// for [`Error::Device`] after the device is lost.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two shapes that do not go together: the caller's mistake.
    #[error("{op}: {rule}; got {lhs:?} and {rhs:?}")]
    Shape {
        /// The operation that was asked for.
        op: &'static str,
        /// The rule that was broken.
        rule: &'static str,
        /// The first shape.
        lhs: Vec<usize>,
        /// The second shape (or range, or length).
        rhs: Vec<usize>,
    },
    /// Something that this device cannot do, in any size.
    #[error("{op} cannot run on {device}: it needs {needs}")]
    Unsupported {
        /// The operation that was asked for.
        op: &'static str,
        /// What it needs.
        needs: String,
        /// The device that lacks it.
        device: String,
    },
    /// Something too large for this device.
    #[error("{op}: {what} is {needed}, but this device allows {allowed}")]
    Limit {
        /// The operation that was asked for.
        op: &'static str,
        /// The quantity, with its unit.
        what: String,
        /// How much the operation needs.
        needed: u64,
        /// How much the device allows.
        allowed: u64,
    },
    /// The memory budget or the device's memory is used up.
    #[error("{op}: no room for {needed} more bytes ({available} of the memory budget are free)")]
    OutOfMemory {
        /// The operation that was asked for.
        op: &'static str,
        /// Bytes that were asked for.
        needed: u64,
        /// Bytes left of the budget.
        available: u64,
    },
    /// Operands that live on different devices.
    #[error("{op}: the operands live on different devices; upload both through the same Gpu")]
    Gpu {
        /// The operation that was asked for.
        op: &'static str,
    },
    /// A value from outside (a file, an environment variable, an argument) that makes no sense.
    #[error("{what}: {why}")]
    Input {
        /// What was read.
        what: String,
        /// Why it cannot be used.
        why: String,
    },
    /// The device or its driver failed: a shader that does not compile, a lost device.
    #[error("the GPU failed: {0}")]
    Device(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    pub(crate) fn shape(op: &'static str, rule: &'static str, lhs: &[usize], rhs: &[usize]) -> Self {
        Self::Shape { op, rule, lhs: lhs.to_vec(), rhs: rhs.to_vec() }
    }

    pub(crate) fn input(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Input { what: what.into(), why: why.into() }
    }

    pub(crate) fn device(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Device(why.into())
    }
}
