//! The plan of a convolution: one step, or one for each window of images.

use super::depthwise::DepthwiseTile;
use super::direct::ConvTile;
use super::problem::{ConvKernels, ConvProblem};
use crate::caps::Caps;
use crate::kernel::Needs;
use crate::layout::Layout;
use crate::ops::windows::JOINS;
use crate::plan::{CutAxes, Dims, Draft, Flops, InWindows, Joins, NewStep, Plan, Time, Trial};
use crate::{Error, Result};
use std::ops::Range;

impl InWindows for ConvProblem {
    const JOINS: Joins = JOINS;

    /// The images.
    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.operands()?.into_iter().map(|operand| operand.along_these(&[0]));
        Ok(CutAxes { whole: Some(1), ..CutAxes::of(&[self.geometry.batch], operands) })
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        self.of_images(ranges[0].len(), layouts)
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        match self.product_of_copies() {
            Ok(Some(product)) => product.reasons(caps),
            Ok(None) => Ok(vec![format!("kernels of products: need {NO_PRODUCT}")]),
            // There are too many windows, or too many elements of one.
            Err(error) => Ok(vec![format!("kernels of products: {error}")]),
        }
    }

    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        self.all_plans(caps)
    }

    fn reference(&self, caps: &Caps) -> Result<Option<Trial>> {
        self.trial_of_products(caps)
    }

    /// One step, or one for each window; two if sums are split.
    ///
    /// Operands: the images, the weight, the bias, the scale, the shift and the residual, as far as they exist; the result.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        if !self.geometry.is_of_images() {
            let product = || self.plan_of_volumes(caps);
            return self.kernels.products_alone((self.op, NO_PRODUCT_OF_VOLUMES), product, caps);
        }
        let product = || self.product()?.map(|product| self.product_plan(&product, caps)).transpose();
        self.kernels.choose((self.op, NO_PRODUCT), || self.direct_plan(caps), product, caps)
    }
}

impl ConvKernels {
    /// The plan that is predicted to be faster, of those that are allowed: `direct`, or `product`, if there is one. The operation is
    /// called `op` in errors, and a product needs `no_product`.
    pub(super) fn choose(
        self,
        (op, no_product): (&'static str, &str),
        direct: impl FnOnce() -> Result<Plan>,
        product: impl FnOnce() -> Result<Option<Plan>>,
        caps: &Caps,
    ) -> Result<Plan> {
        match self {
            Self::Direct => direct(),
            Self::Product(..) => self.products_alone((op, no_product), product, caps),
            Self::Any => match (direct(), product()) {
                (Ok(direct), Ok(Some(product))) if direct.seconds() < product.seconds() => Ok(direct),
                (_, Ok(Some(product))) => Ok(product),
                (direct, _) => direct,
            },
        }
    }

    /// The plan of a product, for which there is no other kernel.
    pub(super) fn products_alone(
        self,
        (op, no_product): (&'static str, &str),
        product: impl FnOnce() -> Result<Option<Plan>>,
        caps: &Caps,
    ) -> Result<Plan> {
        let product = if self == Self::Direct { None } else { product()? };
        product.ok_or_else(|| Error::Unsupported {
            op,
            needs: no_product.into(),
            device: caps.adapter.clone(),
        })
    }
}

/// What a product takes.
const NO_PRODUCT: &str = "groups of eight channels and outputs or more, unless there is one, and a residual whose pixels are at \
                          equal distances";

/// What volumes take.
const NO_PRODUCT_OF_VOLUMES: &str = "a kernel of products: volumes have no other";

impl ConvProblem {
    /// The plan of the kernels that are no products: one step.
    fn direct_plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(self.op, &[], caps);
        let args = draft.operands(&self.operands()?);
        let dims = self.dims()?;
        let (tile, blocks, dims, times, kernel, lanes) = match DepthwiseTile::of(self, caps) {
            Some(tile) => {
                let (dims, blocks) = (tile.dims(dims), tile.blocks(self));
                (tile.to_string(), blocks, dims, 1.0, tile.kernel(self, &dims, caps), tile.lanes)
            }
            None => {
                let tile = ConvTile::of(self, caps);
                let (dims, blocks) = (tile.dims(dims), tile.blocks(&dims));
                (tile.to_string(), blocks, dims, tile.slowness(), tile.kernel(self, &dims, caps), tile.lanes)
            }
        };
        draft.step(NewStep {
            tile: format!("{tile}, {}", self.dtype),
            blocks,
            dims: Dims::of(&dims),
            flops: Flops::of_f32(self.flops()),
            time: Time::SlowArithmetic { times },
            ..NewStep::of(kernel, Needs::of(lanes, 0), &args)
        })?;
        Ok(draft.finish())
    }
}
