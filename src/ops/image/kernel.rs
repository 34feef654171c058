//! The kernels of images: `shaders/ops/read_image.wgsl` and `shaders/ops/write_image.wgsl`.

use super::problem::{ColourScale, ImageDims, ImageProblem, ImageTransfer};
use crate::caps::Caps;
use crate::kernel::Kernel;
use crate::ops::packing::{constant, per_word};

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

impl ImageProblem {
    /// The kernel with the parameters of the format and the type.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new(match self.transfer {
            ImageTransfer::Read => "ops/read_image",
            ImageTransfer::Write => "ops/write_image",
        });
        kernel
            .dims(caps, size_of::<ImageDims>())
            .param("FORMAT", self.format.constant())
            .param("TYPE", constant(self.dtype))
            .param("PER_WORD", per_word(self.dtype))
            .param("SCALED", self.scale == ColourScale::Scaled)
            .param("LANES", LANES)
    }
}
