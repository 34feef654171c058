//! The plan of an image: one step, or one for each window, with the kernel `shaders/ops/read_image.wgsl` or
//! `shaders/ops/write_image.wgsl`.

use super::problem::{ColourScale, ImageDims, ImageProblem, ImageTransfer};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout};
use crate::ops::packing::{constant, per_word};
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, NewStep, Operand, Plan, ScalarParameter};
use std::mem::offset_of;
use std::ops::Range;

/// Invocations per workgroup.
const LANES: u32 = 64;

impl InWindows for ImageProblem {
    /// The rows of texels. A binding may begin at each of them.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes { whole: Some(1), ..CutAxes::of(&self.tensor.shape()[..1], self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], _: &[Range<usize>]) -> Result<Self> {
        Self::new(self.transfer, self.format, &layouts[1], self.dtype, self.scale)
    }

    /// One step, or one for each window. The kernel depends on the format, the type, and whether colours are scaled.
    ///
    /// Operands: the texels, the tensor. Scalars: the scale and the shift, if colours are scaled.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let scalars: &[ScalarParameter] = match self.scale {
            ColourScale::Unscaled => &[],
            ColourScale::Scaled => &[ScalarParameter::f32("scale"), ScalarParameter::f32("shift")],
        };
        let mut draft = Draft::new(self.transfer.op(), scalars, caps);
        let args = draft.operands(&self.operands()?);
        let d = self.dims()?;
        let dims = Dims::of(&d);
        let (dims, flops) = match self.scale {
            ColourScale::Unscaled => (dims, Flops::default()),
            ColourScale::Scaled => (
                dims.scalar(offset_of!(ImageDims, scale), 0).scalar(offset_of!(ImageDims, shift), 1),
                Flops::of_f32(2.0 * self.tensor.len() as f64),
            ),
        };
        draft.step(NewStep {
            tile: format!("{LANES} invocations, {}, {}", self.format.constant().to_lowercase(), self.dtype),
            blocks: u64::from(d.units.div_ceil(LANES)),
            dims,
            flops,
            ..NewStep::of(self.kernel(caps), Needs::of(LANES, 0), &args)
        })?;
        Ok(draft.finish())
    }
}

impl ImageProblem {
    /// The texels and the tensor.
    fn operands(&self) -> Result<Vec<Operand>> {
        let (of_texels, of_tensor) = match self.transfer {
            ImageTransfer::Read => (Access::Read, Access::Write),
            ImageTransfer::Write => (Access::Write, Access::Read),
        };
        Ok(vec![
            Operand::read("the texels", DType::I32, self.texels()?).accessed(of_texels),
            Operand::read("the tensor", self.dtype, self.tensor).accessed(of_tensor),
        ])
    }

    /// The kernel with the parameters of the format and the type.
    fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new(match self.transfer {
            ImageTransfer::Read => "ops/read_image",
            ImageTransfer::Write => "ops/write_image",
        });
        kernel
            .dims::<ImageDims>(caps)
            .param("FORMAT", self.format.constant())
            .param("TYPE", constant(self.dtype))
            .param("PER_WORD", per_word(self.dtype))
            .param("SCALED", self.scale == ColourScale::Scaled)
            .param("LANES", LANES)
    }
}
