//! Convolutions and their gradients by definition, in f64.

use super::bounds::sum_tolerance;
use super::elements::Definition;
use super::epilogue::EpilogueReference;
use crate::conv::{ConvAxis, ConvGeometry};
use crate::gemm::Accumulator;
use crate::layout::Element;
use crate::ops::Activation;

/// A convolution of `D` axes and its gradients in f64, with error bounds of kernels that sum in f32.
///
/// All are sums over the same products $x\\,w\\,g$ of an element of the input, of the weight and of the gradient of the result, each
/// without one of the three. A sum of $k$ products is within [`sum_tolerance`](super::sum_tolerance) of $k$ and of the sum of their
/// absolute values. Products with the padding are 0 and do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvReference<const D: usize = 2> {
    /// The extents. The operands are contiguous: the input (batch, ..., channels), the weight (outputs, ..., channels / groups), and
    /// the result (batch, ..., outputs).
    pub geometry: ConvGeometry<D>,
}

/// The epilogue of a convolution: activation($(s + b)\\,a + t$) + $r$ of each sum $s$, with a bias $b$, a scale $a$ and a shift $t$ of
/// the output channel, and an element $r$ of the residual.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConvEpilogueReference {
    /// $b$ of each output channel.
    pub bias: Option<Vec<f64>>,
    /// $a$ and $t$ of each output channel.
    pub scale_shift: Option<[Vec<f64>; 2]>,
    /// $r$ of each element.
    pub residual: Option<Vec<f64>>,
    /// The activation.
    pub activation: Activation,
}

/// Sums with the absolute values and the numbers of their terms.
struct ConvSums {
    value: Vec<f64>,
    magnitude: Vec<f64>,
    terms: Vec<usize>,
}

/// The places of a product's factors: in the input, in the weight and in the result.
struct Places {
    x: usize,
    weight: usize,
    y: usize,
}

impl<const D: usize> ConvReference<D> {
    /// The convolution of `x` with `weight`.
    ///
    /// # Panics
    /// If an operand does not have the length of its shape.
    #[must_use]
    pub fn forward<T: Element>(&self, x: &[T], weight: &[T], epilogue: &ConvEpilogueReference) -> Definition {
        self.check(x.len(), weight.len());
        let sums = self.sums(self.outputs(), |at| (at.y, x[at.x].to_f64() * weight[at.weight].to_f64()));
        epilogue.apply(&sums.definition(), self.geometry.outputs)
    }

    /// The gradient of the input for a gradient of the result. It is also the transposed convolution of `grad`, without a bias.
    ///
    /// # Panics
    /// As [`forward`](Self::forward).
    #[must_use]
    pub fn input_gradient<T: Element, G: Element>(&self, grad: &[G], weight: &[T]) -> Definition {
        self.check(self.inputs(), weight.len());
        assert_eq!(grad.len(), self.outputs(), "the length of the gradient");
        let product = |at: Places| (at.x, grad[at.y].to_f64() * weight[at.weight].to_f64());
        self.sums(self.inputs(), product).definition()
    }

    /// The gradient of the weight for a gradient of the result.
    ///
    /// # Panics
    /// As [`forward`](Self::forward).
    #[must_use]
    pub fn weight_gradient<T: Element, G: Element>(&self, x: &[T], grad: &[G]) -> Definition {
        self.check(x.len(), self.weights());
        assert_eq!(grad.len(), self.outputs(), "the length of the gradient");
        let product = |at: Places| (at.weight, x[at.x].to_f64() * grad[at.y].to_f64());
        self.sums(self.weights(), product).definition()
    }

    /// The gradient of the bias: the sums of each output channel's gradients.
    #[must_use]
    pub fn bias_gradient<G: Element>(&self, grad: &[G]) -> Definition {
        let outputs = self.geometry.outputs;
        let mut sums = ConvSums::of(outputs);
        grad.iter().enumerate().for_each(|(at, grad)| sums.add(at % outputs, grad.to_f64()));
        sums.definition()
    }

    fn pixels(&self, extent: impl Fn(&ConvAxis) -> usize) -> usize {
        self.geometry.axes.iter().map(extent).product()
    }

    /// The number of elements of the input.
    fn inputs(&self) -> usize {
        self.geometry.batch * self.pixels(|axis| axis.input) * self.geometry.channels
    }

    /// The number of elements of the weight.
    fn weights(&self) -> usize {
        self.geometry.outputs * self.geometry.terms()
    }

    /// The number of elements of the result.
    fn outputs(&self) -> usize {
        self.geometry.batch * self.pixels(|axis| axis.output) * self.geometry.outputs
    }

    fn check(&self, x: usize, weight: usize) {
        assert_eq!([x, weight], [self.inputs(), self.weights()], "the lengths of the operands");
    }

    /// Sums of products: `product` is the place of its sum, and its value.
    fn sums(&self, count: usize, mut product: impl FnMut(Places) -> (usize, f64)) -> ConvSums {
        let ConvGeometry { batch, channels, outputs, .. } = self.geometry;
        let [inner, of_group] = [self.geometry.group_channels(), self.geometry.group_outputs()];
        let mut sums = ConvSums::of(count);
        let taps = self.pixels(|axis| axis.taps);
        let [from, to] = [self.pixels(|axis| axis.input), self.pixels(|axis| axis.output)];
        for (pixel, tap) in (0..to).flat_map(|pixel| (0..taps).map(move |tap| (pixel, tap))) {
            let Some(read) = self.read(pixel, tap) else { continue };
            for (image, output) in (0..batch).flat_map(|image| (0..outputs).map(move |o| (image, o))) {
                let first = (image * from + read) * channels + output / of_group * inner;
                for c in 0..inner {
                    let (weight, y) =
                        ((output * taps + tap) * inner + c, (image * to + pixel) * outputs + output);
                    let (at, value) = product(Places { x: first + c, weight, y });
                    sums.add(at, value);
                }
            }
        }
        sums
    }

    /// The pixel of the input that a tap reads for a pixel of the result; None in the padding.
    fn read(&self, mut pixel: usize, mut tap: usize) -> Option<usize> {
        let (mut found, mut step) = (0, 1);
        for axis in self.geometry.axes.iter().rev() {
            found += axis.read(pixel % axis.output, tap % axis.taps)? * step;
            (pixel, tap, step) = (pixel / axis.output, tap / axis.taps, step * axis.input);
        }
        Some(found)
    }
}

impl ConvEpilogueReference {
    /// The epilogue of a bias alone.
    #[must_use]
    pub fn of_bias<T: Element>(bias: &[T]) -> Self {
        Self { bias: Some(bias.iter().map(|bias| bias.to_f64()).collect()), ..Self::default() }
    }

    /// Applies the epilogue to sums of `outputs` channels. The bound is that of [`EpilogueReference`]: the bias times the scale
    /// counts as one term, and the shift as another.
    #[must_use]
    pub fn apply(&self, sums: &Definition, outputs: usize) -> Definition {
        let of = |values: Option<&Vec<f64>>, at: usize, other| values.map_or(other, |values| values[at]);
        let [scales, shifts] = [0, 1].map(|which| self.scale_shift.as_ref().map(|both| &both[which]));
        let elements = sums.value.iter().zip(&sums.tolerance).enumerate();
        Definition::of(elements.map(|(at, (&sum, &off))| {
            let channel = at % outputs;
            let alpha = of(scales, channel, 1.0);
            let reference = EpilogueReference {
                alpha,
                previous: alpha * of(self.bias.as_ref(), channel, 0.0),
                bias: of(shifts, channel, 0.0),
                residual: of(self.residual.as_ref(), at, 0.0),
                activation: self.activation,
            };
            let (value, bound) = reference.apply(sum, off);
            [value, bound]
        }))
    }
}

impl ConvSums {
    fn of(count: usize) -> Self {
        Self { value: vec![0.0; count], magnitude: vec![0.0; count], terms: vec![0; count] }
    }

    fn add(&mut self, at: usize, term: f64) {
        self.value[at] += term;
        self.magnitude[at] += term.abs();
        self.terms[at] += 1;
    }

    fn definition(&self) -> Definition {
        let sums = self.value.iter().zip(&self.magnitude).zip(&self.terms);
        Definition::of(
            sums.map(|((&value, &magnitude), &terms)| {
                [value, sum_tolerance(terms, magnitude, Accumulator::F32)]
            }),
        )
    }
}
