//! The device limits that a launch needs.

use crate::caps::Caps;
use crate::layout::DType;
use crate::{Error, Result};

/// The limits that a kernel needs with any operands: those that its shader declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Storage bindings.
    pub bindings: u32,
    /// Invocations per workgroup.
    pub invocations: u32,
    /// Bytes of shared memory per workgroup. As in WebGPU, the size of each array is rounded up to a multiple of 16 bytes.
    pub workgroup_bytes: u32,
}

impl Needs {
    /// The needs of a kernel with this number of invocations per workgroup and of bytes of arrays that they share. A step adds its
    /// bindings.
    pub(crate) fn of(invocations: u32, workgroup_bytes: u32) -> Self {
        Self { bindings: 0, invocations, workgroup_bytes }
    }

    /// Checks that the device has these limits.
    ///
    /// # Errors
    /// A message with the first need that exceeds the device's limit.
    pub(crate) fn fit(&self, caps: &Caps) -> Result<(), String> {
        let Self { bindings, invocations, workgroup_bytes } = *self;
        let limits = &caps.limits;
        if invocations > limits.workgroup_invocations {
            Err(format!("{invocations} invocations per workgroup"))
        } else if workgroup_bytes > limits.workgroup_bytes {
            Err(format!("{workgroup_bytes} bytes of shared memory"))
        } else if bindings > limits.storage_bindings {
            Err(format!("{bindings} storage bindings"))
        } else {
            Ok(())
        }
    }

    /// Checks that the device has these limits.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the first need that exceeds the device's limit.
    pub(crate) fn check(&self, op: &'static str, caps: &Caps) -> Result<()> {
        self.fit(caps).map_err(|needs| caps.unsupported(op, needs))
    }
}

/// The name of the limit that an operand exceeds if it is too large to bind.
pub(crate) const BINDING: &str = "one operand's binding in bytes";
/// The name of the limit that a temporary exceeds if it is too large to create and bind.
const TEMPORARY: &str = "a temporary buffer in bytes";
/// The name of the limit that the smallest window of an operand exceeds.
pub(crate) const WINDOW: &str = "the bytes of a window of one operand";
/// The words before the axis in an error that names one.
const SLICE: &str = " (slice along axis ";

/// The same error with the axis of the caller's operand to slice along, if a buffer is too large to bind. It replaces the axis
/// that the error names.
pub(crate) fn slice_along(error: Error, axis: usize) -> Error {
    let Error::Limit { op, what, needed, allowed } = error else { return error };
    let subject = what.split(SLICE).next().unwrap_or_default();
    let what = if [BINDING, TEMPORARY, WINDOW].contains(&subject) {
        format!("{subject}{SLICE}{axis})")
    } else {
        what
    };
    Error::Limit { op, what, needed, allowed }
}

/// Checks that the device can bind a window of `elements` elements.
///
/// # Errors
/// [`Error::Limit`] if the window is too large.
pub(crate) fn check_binding(op: &'static str, caps: &Caps, elements: u64, dtype: DType) -> Result<()> {
    let needed = elements.saturating_mul(dtype.size() as u64);
    Error::check_limit(op, BINDING, needed, caps.limits.binding_bytes)
}

/// The size in bytes of the largest buffer that the device can both create and bind as a whole.
pub(crate) fn max_buffer_bytes(caps: &Caps) -> u64 {
    caps.limits.binding_bytes.min(caps.limits.buffer_bytes)
}

/// Checks that the device can create and bind a temporary buffer of `needed` bytes.
///
/// # Errors
/// [`Error::Limit`] if the buffer is too large.
pub(crate) fn check_scratch(op: &'static str, caps: &Caps, needed: u64) -> Result<()> {
    Error::check_limit(op, TEMPORARY, needed, max_buffer_bytes(caps))
}

/// The invocations of a workgroup: `preferred`, or the largest power of two that the device allows if that is smaller.
pub(crate) fn workgroup_size(preferred: u32, caps: &Caps) -> u32 {
    preferred.min(1 << caps.limits.workgroup_invocations.max(1).ilog2())
}
