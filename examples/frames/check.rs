//! A frame held against the network's definition in f64.

use crate::network::{INPUTS, Layer, Network, REACH, SIDE, Stages};
use crate::source::COLOURS;
use tilewise::gemm::Accumulator;
use tilewise::reference::{EpilogueReference, GemmReference, compare, gemm, store_tolerance, sum_tolerance};
use tilewise::{Element, Real, Result, Tensor, f16};

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
    let count = stages.samples.shape()[0];
    let step = count.div_ceil(MAX_PIXELS);
    let pixels: Vec<usize> = (0..count).step_by(step).collect();
    let samples = some(&stages.samples, pixels.len(), step)?;
    let neighbours = pixels.iter().flat_map(|pixel| {
        (0..INPUTS).map(move |input| {
            let (sample, colour) = (input / COLOURS, input % COLOURS);
            let row = pixel / width + REACH * (sample / SIDE);
            let column = pixel % width + REACH * (sample % SIDE);
            f64::from(image[(row * padded + column) * COLOURS + colour])
        })
    });
    let exact = compare(samples.iter().zip(neighbours).map(|(got, want)| (got.to_f64(), want, 0.0)));
    let mut ratio = exact.bound_ratio;
    let [first, second, last] = &network.layers;
    let mut x = samples;
    for (layer, computed) in [first, second].into_iter().zip(&stages.hidden) {
        let computed = some(computed, pixels.len(), step)?;
        ratio = ratio.max(layer_ratio(layer, &x, &computed)?);
        x = computed;
    }
    let colours = some(&stages.colours, pixels.len(), step)?;
    ratio = ratio.max(layer_ratio(last, &x, &colours)?);
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

/// The largest error of a layer's values over its bound: that of the sum, carried through bias and activation, and that
/// of the stored type.
fn layer_ratio<T: Real>(layer: &Layer, x: &[f16], computed: &[T]) -> Result<f64> {
    let [inputs, outputs] = [layer.weight.shape()[0], layer.weight.shape()[1]];
    let (weight, bias) = (layer.weight.to_vec()?, layer.bias.to_vec()?);
    let GemmReference { value, magnitude, .. } = gemm(x, &weight, [x.len() / inputs, outputs, inputs]);
    let compared = computed.iter().enumerate().map(|(at, got)| {
        let off = sum_tolerance(inputs, magnitude[at], Accumulator::F32);
        let epilogue = EpilogueReference {
            bias: bias[at % outputs].to_f64(),
            activation: layer.activation,
            ..Default::default()
        };
        let (want, bound) = epilogue.apply(value[at], off);
        (got.to_f64(), want, bound + store_tolerance(want.abs() + bound, T::DTYPE))
    });
    Ok(compare(compared).bound_ratio)
}
