//! The kernels of copies into views: `shaders/ops/copy.wgsl` for whole words, `shaders/ops/copy_parts.wgsl` for others.

use super::problem::{CopyDims, CopyProblem, Unit};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::ops::packing::per_word;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl CopyProblem {
    /// The kernel with the parameters of the unit.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = match self.unit() {
            Unit::Words(words) => Kernel::new("ops/copy").param("unit", memory(words)),
            Unit::Parts => Kernel::new("ops/copy_parts").param("PER_WORD", per_word(self.dtype)),
        };
        let kernel = kernel.dims::<CopyDims>(caps).param("LANES", LANES);
        if self.sliced.is_some() { kernel.slot("shift", "position") } else { kernel }
    }

    /// The unit in words, for plans.
    pub(super) fn tile(&self) -> String {
        let moved = match self.unit() {
            Unit::Words(words) => format!("{} bytes each", words * 4),
            Unit::Parts => "one word each, in parts".to_owned(),
        };
        format!("{LANES} invocations, {moved}, {}", self.dtype)
    }
}

/// The WGSL type of this number of words.
fn memory(words: u32) -> &'static str {
    match words {
        1 => "u32",
        2 => "vec2<u32>",
        _ => "vec4<u32>",
    }
}
