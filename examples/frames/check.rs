//! A frame held against the network's definition in f64.

use crate::network::{Block, INPUTS, Layer, Network, REACH, SIDE, Stages};
use crate::source::COLOURS;
use tilewise::gemm::Accumulator;
use tilewise::reference::{EpilogueReference, GemmReference, compare, gemm, store_tolerance, sum_tolerance};
use tilewise::{Activation, Element, Real, Result, Tensor, f16};

/// Number of pixels of a frame that are checked at most, evenly spaced.
const MAX_PIXELS: usize = 4096;

/// What the comparisons found.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Frames that were checked.
    pub(crate) frames: usize,
    /// Pixels of all these frames that were checked.
    pub(crate) pixels: usize,
    /// The largest error over its bound. Inputs and bytes have no error.
    pub(crate) bound_ratio: f64,
}

impl Found {
    /// Both, together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            frames: self.frames + other.frames,
            pixels: self.pixels + other.pixels,
            bound_ratio: self.bound_ratio.max(other.bound_ratio),
        }
    }
}

/// Compares a frame with its definition, layer by layer. `image` is the frame with its border.
///
/// Each layer is held against the definition of the values that the layer before it left on the device, so no bound
/// grows from layer to layer.
pub(crate) fn check(network: &Network, image: &[i8], stages: &Stages) -> Result<Found> {
    let [_, padded, _] = network.shape();
    let width = padded - 2 * REACH;
    let count = stages.bytes.shape()[0];
    let step = count.div_ceil(MAX_PIXELS);
    let pixels: Vec<usize> = (0..count).step_by(step).collect();
    let image: Vec<f16> = image.iter().map(|&byte| <f16 as Element>::from_f64(byte.into())).collect();
    let is_same =
        compare(stages.image.to_vec()?.iter().zip(&image).map(|(a, b)| (a.to_f64(), b.to_f64(), 0.0)));
    let mut ratio = is_same.bound_ratio;
    let neighbours = pixels.iter().flat_map(|pixel| {
        (0..INPUTS).map(move |input| {
            let (sample, colour) = (input / COLOURS, input % COLOURS);
            let row = pixel / width + REACH * (sample / SIDE);
            let column = pixel % width + REACH * (sample % SIDE);
            (row * padded + column) * COLOURS + colour
        })
    });
    let inputs: Vec<f16> = neighbours.map(|at| image[at]).collect();
    let [features, mixed] = [0, 1].map(|at| some(&stages.hidden[at], pixels.len(), step));
    let (features, mixed, colours) = (features?, mixed?, some(&stages.colours, pixels.len(), step)?);
    let [second, last] = &network.layers;
    ratio = ratio.max(Defined::of_block(&network.block)?.ratio(&inputs, &features));
    ratio = ratio.max(Defined::of_layer(second)?.ratio(&features, &mixed));
    ratio = ratio.max(Defined::of_layer(last)?.ratio(&mixed, &colours));
    let bytes = some(&stages.bytes, pixels.len(), step)?;
    #[expect(clippy::cast_possible_truncation, reason = "saturates, as the cast on the device does")]
    let saturated = |colour: f32| f64::from(colour as i8);
    let exact =
        compare(bytes.iter().zip(&colours).map(|(&got, &colour)| (f64::from(got), saturated(colour), 0.0)));
    Ok(Found { frames: 1, pixels: pixels.len(), bound_ratio: ratio.max(exact.bound_ratio) })
}

/// Every `step`-th row of a matrix.
fn some<T: Element>(matrix: &Tensor<T>, rows: usize, step: usize) -> Result<Vec<T>> {
    let columns = matrix.shape()[1];
    matrix.as_strided(&[rows, columns], &[step * columns, 1], 0)?.to_vec()
}

/// activation((x weight) scale + shift), with a scale and a shift for each output.
struct Defined {
    /// (in, out)
    weight: Vec<f16>,
    scale: Vec<f64>,
    shift: Vec<f64>,
    activation: Activation,
}

impl Defined {
    fn of_block(Block { weight, terms }: &Block) -> Result<Self> {
        let weight = weight.reshape([weight.shape()[0], INPUTS])?.t().to_vec()?;
        let [scale, shift] = terms.each_ref().map(exactly);
        Ok(Self { weight, scale: scale?, shift: shift?, activation: Activation::Silu })
    }

    fn of_layer(Layer { weight, bias, activation }: &Layer) -> Result<Self> {
        let scale = vec![1.0; bias.len()];
        Ok(Self { weight: weight.to_vec()?, scale, shift: exactly(bias)?, activation: *activation })
    }

    /// The largest error of the computed values over its bound: that of the sum, carried through scale, shift and activation, and that
    /// of the stored type.
    fn ratio<T: Real>(&self, x: &[f16], computed: &[T]) -> f64 {
        let outputs = self.shift.len();
        let [inputs, rows] = [self.weight.len() / outputs, computed.len() / outputs];
        let GemmReference { value, magnitude, .. } = gemm(x, &self.weight, [rows, outputs, inputs]);
        let compared = computed.iter().enumerate().map(|(at, got)| {
            let off = sum_tolerance(inputs, magnitude[at], Accumulator::F32);
            let epilogue = EpilogueReference {
                alpha: self.scale[at % outputs],
                bias: self.shift[at % outputs],
                activation: self.activation,
                ..Default::default()
            };
            let (want, bound) = epilogue.apply(value[at], off);
            (got.to_f64(), want, bound + store_tolerance(want.abs() + bound, T::DTYPE))
        });
        compare(compared).bound_ratio
    }
}

fn exactly<T: Element>(tensor: &Tensor<T>) -> Result<Vec<f64>> {
    Ok(tensor.to_vec()?.into_iter().map(Element::to_f64).collect())
}
