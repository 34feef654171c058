//! A picture held against the network's definition in f64.

use crate::network::{COLOURS, INPUTS};
use crate::scene::{Scene, Time, ZOOM};
use tilewise::gemm::{Accumulator, Linear, Operand};
use tilewise::reference::{
    Comparison, EpilogueReference, GemmReference, compare, gemm, store_tolerance, sum_tolerance,
};
use tilewise::{Element, Real, Result, Tensor};

/// Number of pixels of a picture that are checked at most, evenly spaced.
const MAX_PIXELS: usize = 4096;

/// What a comparison found.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    /// Pixels of a picture that were checked.
    pub(crate) pixels: usize,
    /// The largest error over its bound in the inputs and in the outputs of the layers.
    pub(crate) layers: f64,
    /// The same in the bytes of the picture. Their rounding alone takes nearly all of the bound.
    pub(crate) picture: f64,
}

impl Found {
    /// The larger errors of both.
    pub(crate) fn and(self, other: Self) -> Self {
        let Self { pixels, layers, picture } = other;
        Self { pixels, layers: self.layers.max(layers), picture: self.picture.max(picture) }
    }
}

/// Compares a frame with its definition, layer by layer.
///
/// Each layer is held against the definition of the values that the layer before it left on the device, so no bound
/// grows from layer to layer. `hidden` are the outputs of the hidden layers, `picture` the bytes of the application's
/// picture, four for each pixel.
pub(crate) fn check<T: Operand + Real>(
    scene: &Scene<T>,
    time: &Time,
    hidden: &[Tensor<T>],
    picture: &[u8],
) -> Result<Found> {
    let [width, height] = scene.size.map(|pixels| pixels as usize);
    let step = (width * height).div_ceil(MAX_PIXELS);
    let pixels: Vec<usize> = (0..width * height).step_by(step).collect();
    let inputs = some(&scene.inputs, &pixels, step)?;
    let mut layers = inputs_of(&inputs, &pixels, scene.size, time).bound_ratio;
    let mut x = inputs;
    for (layer, computed) in scene.network.layers().zip(hidden) {
        let computed = some(computed, &pixels, step)?;
        let defined = define(layer, &x)?;
        let found = compare(computed.iter().zip(defined).map(|(got, (want, bound))| {
            (got.to_f64(), want, bound + store_tolerance(want.abs() + bound, T::DTYPE))
        }));
        layers = layers.max(found.bound_ratio);
        x = computed;
    }
    let Some(last) = scene.network.layers().last() else { return Ok(Found::default()) };
    let (defined, colours) = (define(last, &x)?, some(&scene.colours, &pixels, step)?);
    let found =
        compare(colours.iter().zip(&defined).map(|(got, &(want, bound))| (got.to_f64(), want, bound)));
    layers = layers.max(found.bound_ratio);
    // A byte is the nearest to 255 times the colour, which the shader may compute with two roundings.
    let stored = (0.5 + 255.0 * 2f64.powi(-22)) / 255.0;
    let bytes = pixels.iter().flat_map(|pixel| &picture[4 * pixel..][..COLOURS]);
    let bytes =
        bytes.zip(&defined).map(|(&got, &(want, bound))| (f64::from(got) / 255.0, want, bound + stored));
    Ok(Found { pixels: pixels.len(), layers, picture: compare(bytes).bound_ratio })
}

/// Every `step`-th row of a matrix.
fn some<T: Element>(matrix: &Tensor<T>, rows: &[usize], step: usize) -> Result<Vec<T>> {
    let columns = matrix.shape()[1];
    matrix.as_strided(&[rows.len(), columns], &[step * columns, 1], 0)?.to_vec()
}

/// A layer of these rows in f64: each value, and the bound of the device's error before it is stored.
fn define<T: Operand + Real>(layer: &Linear<T>, x: &[T]) -> Result<Vec<(f64, f64)>> {
    let [outputs, inputs] = [layer.weight().shape()[0], layer.weight().shape()[1]];
    let weight = layer.weight().t().contiguous()?.to_vec()?;
    let bias = match layer.bias() {
        Some(bias) => bias.to_vec()?,
        None => vec![T::from_f64(0.0); outputs],
    };
    let GemmReference { value, magnitude, .. } = gemm(x, &weight, [x.len() / inputs, outputs, inputs]);
    let element = |(i, sum): (usize, f64)| {
        let off = sum_tolerance(inputs, magnitude[i], Accumulator::F32);
        let (bias, activation) = (bias[i % outputs].to_f64(), layer.activation());
        EpilogueReference { bias, activation, ..Default::default() }.apply(sum, off)
    };
    Ok(value.into_iter().enumerate().map(element).collect())
}

/// The application's inputs against their definition. With $u = 2^{-23}$, a coordinate of the plane is rounded at most
/// four times (its quotient to 2.5 ulp), a turned one twice more, and a square or a root to 4 ulp: 16 u of the largest
/// sum of magnitudes that occurs on the way.
fn inputs_of<T: Real>(inputs: &[T], pixels: &[usize], [width, height]: [u32; 2], time: &Time) -> Comparison {
    let [cos, sin] = time.turn.map(f64::from);
    let [across, down, zoom] = [f64::from(width), f64::from(height), f64::from(ZOOM)];
    compare(pixels.iter().zip(inputs.chunks(INPUTS)).flat_map(|(&pixel, got)| {
        let place = [pixel % width as usize, pixel / width as usize].map(|place| 2.0 * place as f64 + 1.0);
        let [u, v] = [(place[0] - across) * zoom / down, (place[1] - down) * zoom / down];
        let [x, y] = [cos * u - sin * v, sin * u + cos * v];
        let squares = x * x + y * y;
        let want = [x, y, squares.sqrt(), 0.4 * (x * x - y * y)];
        let want = want.into_iter().chain(time.phase.map(f64::from));
        let bound = 16.0 * 2f64.powi(-23) * (1.0 + u.abs() + v.abs() + squares);
        let row = want.zip(got).map(move |(want, got)| {
            (got.to_f64(), want, bound + store_tolerance(want.abs() + bound, T::DTYPE))
        });
        row.collect::<Vec<_>>()
    }))
}
