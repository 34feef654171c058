//! What a launch takes of a device, and whether the device has it.

use crate::gpu::Caps;
use crate::tensor::DType;
use crate::{Error, Result};

/// What a kernel takes of a device, whatever it is launched on: what its text declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Storage bindings.
    pub bindings: u32,
    /// Invocations of one workgroup.
    pub invocations: u32,
    /// Bytes of shared memory of one workgroup, each array in whole units of 16 bytes, as WebGPU counts them.
    pub workgroup_bytes: u32,
}

impl Needs {
    /// What the device lacks of it, in words.
    ///
    /// # Errors
    /// The least that would do.
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

    /// As [`fit`](Self::fit), as an error of an operation.
    pub(super) fn check(&self, op: &'static str, caps: &Caps) -> Result<()> {
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

/// Bytes of one buffer that a kernel may see as a whole: what a plan makes itself must fit both limits.
pub(crate) fn own_bytes(caps: &Caps) -> u64 {
    caps.limits.binding_bytes.min(caps.limits.buffer_bytes)
}

/// Checks that what a plan makes between launches can be made and bound.
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
