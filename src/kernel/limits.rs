//! The limits that a launch needs, and whether a device has them.

use crate::caps::Caps;
use crate::layout::DType;
use crate::{Error, Result};

/// The limits that a kernel needs on any operands: what its shader declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The number of storage bindings.
    pub bindings: u32,
    /// Invocations per workgroup.
    pub invocations: u32,
    /// Bytes of shared memory per workgroup; each array is rounded up to 16 bytes, as WebGPU counts them.
    pub workgroup_bytes: u32,
}

impl Needs {
    /// Checks that the device has these limits.
    ///
    /// # Errors
    /// The first need that exceeds the device's limit, as text.
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

    /// As [`fit`](Self::fit); what is lacking becomes an [`Error::Unsupported`] of the operation.
    pub(crate) fn check(&self, op: &'static str, caps: &Caps) -> Result<()> {
        self.fit(caps).map_err(|needs| Error::Unsupported { op, needs, device: caps.adapter.clone() })
    }
}

/// Checks that a window of `elements` can be bound.
pub(crate) fn check_binding(op: &'static str, caps: &Caps, elements: u64, dtype: DType) -> Result<()> {
    let needed = elements.saturating_mul(dtype.size() as u64);
    let allowed = caps.limits.binding_bytes;
    if needed <= allowed {
        return Ok(());
    }
    Err(Error::Limit { op, what: "one operand's binding in bytes".into(), needed, allowed })
}

/// The largest buffer in bytes that this device can both create and bind as a whole.
pub(crate) fn own_bytes(caps: &Caps) -> u64 {
    caps.limits.binding_bytes.min(caps.limits.buffer_bytes)
}

/// Checks that a buffer that a plan needs between launches can be created and bound.
pub(crate) fn check_scratch(op: &'static str, caps: &Caps, needed: u64) -> Result<()> {
    let allowed = own_bytes(caps);
    if needed <= allowed {
        return Ok(());
    }
    Err(Error::Limit { op, what: "what is kept between two launches, in bytes,".into(), needed, allowed })
}

/// Invocations of a workgroup: `usual`, or the largest power of two that the device allows.
pub(crate) fn lanes(usual: u32, caps: &Caps) -> u32 {
    usual.min(1 << caps.limits.workgroup_invocations.max(1).ilog2())
}
