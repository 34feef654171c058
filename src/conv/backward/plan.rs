//! The plans of gradients: by products, or by direct kernels with one step for the images, and for the weight another one, which adds
//! up the sums of parts.

use super::problem::{ConvBackward, ConvGradientOf};
use super::product::{NO_PRODUCT, NO_PRODUCT_OF_VOLUMES};
use crate::Result;
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::{DType, Layout};
use crate::ops::windows::JOINS;
use crate::plan::{Access, CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Plan, Region, Time};
use std::ops::Range;

impl InWindows for ConvBackward {
    const JOINS: Joins = JOINS;

    /// The images.
    fn cut_axes(&self) -> Result<CutAxes> {
        Ok(CutAxes { whole: Some(1), ..CutAxes::of(&[self.geometry.batch], self.operands()?) })
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        Ok(self.of_images(ranges[0].len(), layouts))
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        match self.products() {
            Ok(Some(products)) => {
                products.first().map_or(Ok(Vec::new()), |first| first.product.reasons(caps))
            }
            Ok(None) => Ok(vec![format!("kernels of products: need {NO_PRODUCT}")]),
            // There are too many windows, or too many elements of one.
            Err(error) => Ok(vec![format!("kernels of products: {error}")]),
        }
    }

    /// One step for the gradient of the images, or one for each window; by products, for each phase of the strides one, or two with
    /// splits, after one that fills the pixels that no tap reads. The gradient of the weight takes two steps if it has parts or splits, and more with windows.
    ///
    /// Operands: the gradient of the result; the weight, or the images for the gradient of the weight; the bias, if there is one; the
    /// gradient.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let products = || self.product_plan(caps);
        if !self.geometry.is_of_images() {
            return self.kernels.products_alone((self.op, NO_PRODUCT_OF_VOLUMES), products, caps);
        }
        self.kernels.choose((self.op, NO_PRODUCT), || self.direct_plan(caps), products, caps)
    }
}

impl ConvBackward {
    /// The plan of the direct kernels.
    fn direct_plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op, &[], caps);
        let mut args = draft.operands(&self.operands()?);
        let parts = match self.of {
            ConvGradientOf::Input => 1,
            ConvGradientOf::Weight => self.parts(caps),
        };
        if parts == 1 {
            self.step(&mut draft, parts, &args)?;
            return Ok(draft.finish());
        }
        let weights = self.geometry.outputs * self.geometry.terms();
        let sums = draft.temporary(&[parts, weights], DType::F32)?;
        let made = args.pop().map(|(made, _)| made.with_layout(Layout::line(weights)));
        args.push((sums, Access::Write));
        self.step(&mut draft, parts, &args)?;
        if let Some(made) = made {
            JOINS.sum(&mut draft, sums, made)?;
        }
        Ok(draft.finish())
    }

    fn step(&self, draft: &mut Draft<'_>, parts: usize, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let (dims, lanes) = (self.dims(parts)?, Self::lanes(caps));
        let tile = match self.of {
            ConvGradientOf::Input => {
                format!(
                    "{lanes} invocations, {} pixels of four channels each, {}",
                    self.columns(),
                    self.dtype
                )
            }
            ConvGradientOf::Weight => format!("{lanes} invocations, {parts} parts, {}", self.dtype),
        };
        draft.step(NewStep {
            tile,
            blocks: self.blocks(&dims, caps),
            dims: Dims::of(&dims),
            flops: Flops::of_f32(self.flops()),
            time: Time::SlowArithmetic { times: self.slowness() },
            ..NewStep::of(self.kernel(&dims, caps), Needs::of(lanes, 0), args)
        })
    }
}
