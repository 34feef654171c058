//! A checked convolution of i8, as plain data, and its plan: a product of windows, or one for each part of the images.

use super::geometry::{ConvGeometry, volume_layout};
use super::windows;
use crate::caps::Caps;
use crate::gemm::{BiasAxis, GemmProblem, GemmTypes, MAX_I8_K, Numbers, Pin, SplitK, WindowB};
use crate::layout::{DType, Layout};
use crate::ops::Activation;
use crate::ops::windows::JOINS;
use crate::plan::{
    CutAxes, Draft, InWindows, Joins, Operand, Plan, Problem, Region, Scalar, Trial, distinct,
};
use crate::{Error, Result};
use std::fmt;
use std::ops::Range;

/// The name of the function in errors and plans.
pub(super) const OP: &str = "conv2d_quantised";

pub(super) const RULE_OF_SCALES: &str =
    "the scales of the weight must have an element for each output channel";
pub(super) const RULE_OF_BIAS: &str = "the bias must have an element for each output channel";

/// Checks a vector with an element for each output channel.
pub(super) fn check_channels(of: &Layout, outputs: usize, rule: &'static str) -> Result<()> {
    if of.shape() == [outputs] { Ok(()) } else { Err(Error::shapes(OP, rule, of.shape(), &[outputs])) }
}

/// A checked convolution of i8: activation(scale $\cdot (x \ast w)$ + bias). The result is contiguous and not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuantisedConvProblem {
    geometry: ConvGeometry,
    x: Layout,
    weight: Layout,
    c: DType,
    is_scaled: bool,
    of_channel: Option<Layout>,
    bias: Option<Layout>,
    activation: Activation,
    pin: Pin,
    split: SplitK,
}

impl QuantisedConvProblem {
    /// The sums of a convolution of images (batch, height, width, channels) and a weight (outputs, height, width, channels / groups)
    /// of i8, stored as `c`.
    ///
    /// # Errors
    /// [`Error::Limit`] for windows of more than [`MAX_I8_K`] elements; [`Error::Input`] for a type that operations do not compute
    /// with; [`Error::Shape`] if an operand has another shape, the result is empty, or the weight has gaps between its channels.
    pub fn new(geometry: &ConvGeometry, [x, weight]: [&Layout; 2], c: DType) -> Result<Self> {
        Self::check_types(geometry, c)?;
        for (operand, shape) in [(x, geometry.input_shape()), (weight, geometry.weight_shape())] {
            if operand.shape() != shape {
                let rule = "the operands must have the shapes of the convolution";
                return Err(Error::shapes(OP, rule, operand.shape(), &shape));
            }
        }
        if geometry.output_shape().contains(&0) {
            return Err(Error::shape(OP, "the result must have elements", &geometry.output_shape()));
        }
        if geometry.volume().weight_matrix(weight)?.is_none() {
            return Err(Error::shape(
                OP,
                "the weight must have no gaps between its channels",
                weight.shape(),
            ));
        }
        let [x, weight] = [x, weight].map(|of| of.in_window(DType::I8));
        let (of_channel, bias, activation) = (None, None, Activation::None);
        let (geometry, pin, split) = (*geometry, Pin::Free, SplitK::Auto);
        Ok(Self { geometry, x, weight, c, is_scaled: false, of_channel, bias, activation, pin, split })
    }

    /// Checks the numbers of windows and the type of results.
    pub(super) fn check_types(geometry: &ConvGeometry, c: DType) -> Result<()> {
        let what = "the elements of a window of i8, whose sums might pass i32,";
        Error::check_limit(OP, what, geometry.terms() as u64, MAX_I8_K)?;
        c.check_computed(OP)
    }

    /// Multiplies the sums by a number of the call; by nothing, if it is 1.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { is_scaled: scale != 1.0, ..self }
    }

    /// Multiplies the sums of each output channel by an f32 (outputs).
    ///
    /// # Errors
    /// [`Error::Shape`] for another length.
    pub fn channel_scales(self, scales: &Layout) -> Result<Self> {
        check_channels(scales, self.geometry.outputs, RULE_OF_SCALES)?;
        Ok(Self { of_channel: Some(scales.in_window(DType::F32)), ..self })
    }

    /// Adds a bias of f32 (outputs).
    ///
    /// # Errors
    /// [`Error::Shape`] for another length.
    pub fn bias(self, bias: &Layout) -> Result<Self> {
        check_channels(bias, self.geometry.outputs, RULE_OF_BIAS)?;
        Ok(Self { bias: Some(bias.in_window(DType::F32)), ..self })
    }

    /// Applies an activation.
    #[must_use]
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// The product of all images: A, B and C are the images, the weight and the result.
    ///
    /// # Errors
    /// [`Error::Limit`] for sizes of $2^{31}$ or more.
    pub fn product(&self) -> Result<GemmProblem> {
        let geometry = &self.geometry.volume();
        // Checked, so that the number of windows cannot overflow.
        Layout::contiguous(OP, &geometry.output_shape())?;
        let b = geometry.weight_matrix(&self.weight)?;
        let b = b.ok_or_else(|| Error::device("conv2d_quantised: a weight that was checked has gaps"))?;
        let types = GemmTypes::new(DType::I8, self.c);
        let c = geometry.by_groups(&Layout::contiguous(OP, &geometry.result())?);
        let product = match geometry.pixels(&self.x) {
            Some(a) => GemmProblem::new(&a, &b, &c, types)?,
            None => GemmProblem::of_windows(
                [&volume_layout(OP, &self.x)?, &b],
                windows::of_images(geometry, WindowB::Lines)?,
                &c,
                types,
            )?,
        };
        let alpha = if self.is_scaled { 0.5 } else { 1.0 }; // the number is the call's
        let mut product = product.alpha(alpha).activation(self.activation);
        if let Some(bias) = &self.bias {
            product = product.bias(BiasAxis::Columns, bias, DType::F32)?;
        }
        if let Some(scales) = &self.of_channel {
            product = product.line_scale(BiasAxis::Columns, scales)?;
        }
        Ok(product.pinned(self.pin).split_k(self.split))
    }

    /// The values of the plan's scalars, which are those of the product of one image.
    pub(super) fn numbers(&self, numbers: Numbers) -> Result<Vec<Scalar>> {
        let geometry = ConvGeometry { batch: 1, ..self.geometry };
        Ok(Self { geometry, x: self.x.slice(0, ..1)?, ..*self }.product()?.numbers(numbers, [0; 2]))
    }

    /// The operands in the order of the plan's parameters: the images, the weight, the bias and the scales of channels, as far as they
    /// exist; the result.
    fn operands(&self) -> Result<Vec<Operand>> {
        let vector =
            |name, layout: Option<Layout>| layout.map(|of| Operand::read(name, DType::F32, of).whole());
        let y = Layout::contiguous(OP, &self.geometry.output_shape())?;
        let operands = [
            Operand::read("the images", DType::I8, self.x),
            Operand::read("the weight", DType::I8, self.weight).whole(),
        ];
        let vectors = [vector("the bias", self.bias), vector("the scales of the weight", self.of_channel)];
        let y = Operand::written("the result", self.c, y);
        Ok(operands.into_iter().chain(vectors.into_iter().flatten()).chain([y]).collect())
    }
}

impl InWindows for QuantisedConvProblem {
    const JOINS: Joins = JOINS;

    /// The images.
    fn cut_axes(&self) -> Result<CutAxes> {
        let operands = self.operands()?.into_iter().map(|operand| operand.along_these(&[0]));
        Ok(CutAxes { whole: Some(1), ..CutAxes::of(&[self.geometry.batch], operands) })
    }

    fn part(&self, layouts: &[Layout], ranges: &[Range<usize>]) -> Result<Self> {
        let mut vectors = layouts[2..].iter().map(|of| of.in_window(DType::F32));
        let mut next = |of: Option<Layout>| of.and_then(|_| vectors.next());
        let [bias, of_channel] = [next(self.bias), next(self.of_channel)];
        let [x, weight] = [0, 1].map(|at| layouts[at].in_window(DType::I8));
        let geometry = ConvGeometry { batch: ranges[0].len(), ..self.geometry };
        Ok(Self { geometry, x, weight, bias, of_channel, ..*self })
    }

    fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        Ok(self.product()?.explain(caps)?.reasons().to_vec())
    }

    /// One step, or one for each part of the images; two if sums are split.
    ///
    /// Operands: the images, the weight, the bias, the scales of channels, as far as they exist; the result. Scalars: those of the
    /// product.
    fn plan_of_one(&self, caps: &Caps) -> Result<Plan> {
        let product = self.product()?;
        let mut draft = Draft::new(OP, &product.scalars(), caps);
        let own: Vec<_> = draft.operands(&self.operands()?).into_iter().map(|(region, _)| region).collect();
        let [x, weight, vectors @ .., y] = own.as_slice() else { return Ok(draft.finish()) };
        let operands = [x, weight, y].into_iter().chain(vectors).zip(product.operands()?);
        let operands: Vec<Region> =
            operands.map(|(region, operand)| region.with_layout(operand.layout)).collect();
        let scalars: Vec<usize> = (0..product.scalars().len()).collect();
        draft.call(product.plan(caps)?, &operands, &scalars)?;
        Ok(draft.finish())
    }

    fn alternatives(&self, caps: &Caps) -> Result<Vec<Plan>> {
        // Images in parts have no product as a whole.
        let restricted = self.product().and_then(|product| product.restricted(caps)).unwrap_or_default();
        let plans = restricted
            .into_iter()
            .map(|GemmProblem { pin, split, .. }| Self { pin, split, ..*self }.plan(caps));
        distinct(std::iter::once(self.plan(caps)).chain(plans))
    }

    /// Sums are exact, so all kernels have the same.
    fn reference(&self, caps: &Caps) -> Result<Option<Trial>> {
        let Ok(product) = self.product() else { return Ok(None) };
        let Some(GemmProblem { pin, split, .. }) = product.simplest(caps)? else { return Ok(None) };
        let reference = Self { pin, split, ..*self }.plan(caps)?;
        Ok(Some(product.trial_against(self.to_string(), reference)?))
    }
}

/// `conv2d_quantised 4x56x56x64 by 64x3x3x64 i8 -> f16`: the images, the weight, and the types.
impl fmt::Display for QuantisedConvProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{OP} {} -> {}", self.geometry, self.c)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Numbers, QuantisedConvProblem};
    use crate::conv::{ConvGeometry, ConvOptions};
    use crate::layout::DType;

    /// More windows than a product has rows.
    #[test]
    fn scalars_are_those_of_any_number_of_images() {
        let numbers = Numbers { alpha: 0.5, beta: 0.0, out_scale: 4.0 };
        let scalars = [1, 4096].map(|images| {
            let [x, weight] = [[images, 1024, 1024, 1], [1, 3, 3, 1]]
                .map(|shape| Layout::contiguous("test", &shape).unwrap());
            let geometry = ConvGeometry::new("test", &x, &weight, &ConvOptions::<2>::new()).unwrap();
            let problem = QuantisedConvProblem::new(&geometry, [&x, &weight], DType::I8).unwrap().scaled(0.5);
            format!("{:?}", problem.numbers(numbers).unwrap())
        });
        assert_eq!(scalars[0], scalars[1]);
        assert_ne!(scalars[0], "[]");
    }
}
