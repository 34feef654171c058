//! A step of a plan: one launch.

use super::operands::Access;
use super::work::Work;
use crate::kernel::{Kernel, Needs};
use std::ops::Range;

/// One launch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The kernel to run.
    pub kernel: Kernel,
    /// The kernel's tile, in words.
    pub tile: String,
    /// The limits that one workgroup needs from the device.
    pub needs: Needs,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// The linear index of the first workgroup. A launch that would occupy the device for too long is cut; only its
    /// second and later pieces have an index above 0.
    pub first_block: u32,
    /// The kernel's uniform, with zeros in place of the call's scalars. A piece of a cut launch has the index of its first
    /// workgroup appended.
    pub dims: Vec<u8>,
    /// For each scalar of the call that the kernel reads: its offset in `dims` in bytes, and its index among the call's scalars.
    pub scalars: Vec<(usize, usize)>,
    /// The bindings, in the order in which the shader declares them.
    pub args: Vec<Arg>,
    /// The operations computed and the bytes moved.
    pub work: Work,
    /// Predicted seconds on the device, by a coarse model.
    pub seconds: f64,
}

/// A binding of a step: a window of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arg {
    /// The buffer.
    pub buffer: Buffer,
    /// The bytes that are bound. For an operand they count from the start of the operand's own aligned window, not from the start
    /// of the tensor's buffer.
    pub window: Range<u64>,
    /// How the kernel uses the buffer.
    pub access: Access,
}

/// A buffer of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Buffer {
    /// The call's operand with this index.
    Operand(usize),
    /// The temporary with this index. It is allocated for the first step that binds it and released after the last.
    Temporary(usize),
    /// The constant with this index.
    Constant(usize),
}
