//! Convolutions of one image by kernels of 3 x 3, padded so that the result has the size of the image.

use crate::case::{Case, TAPS};
use crate::fits::{self, Patience};
use crate::planned::{check_time, conv_options};
use crate::ready::{Checked, Ready, ran};
use crate::sample::Sample;
use tilewise::conv::{ConvGeometry, Convolution};
use tilewise::reference;
use tilewise::{Fill, Gpu, Real, Result};

/// Makes a convolution ready.
pub(super) fn ready<T: Real>(gpu: &Gpu, case: &Case, patience: Patience) -> Result<Ready> {
    let [edge, channels, outputs] = case.shape;
    let terms = TAPS * TAPS * channels;
    let (x, weight) =
        (Fill::Uniform.values::<T>(edge * edge * channels, 1), Fill::Uniform.values::<T>(outputs * terms, 2));
    let turns = fits::turns(gpu, case)?;
    let shape = [outputs, TAPS, TAPS, channels];
    let pairs =
        turns.sets(|| Ok((gpu.tensor(&x, [1, edge, edge, channels])?, gpu.tensor(&weight, shape)?)))?;
    let options = conv_options();
    let (images, weights) = &pairs[0];
    let geometry = ConvGeometry::new("benchmark", images.layout(), weights.layout(), &options)?;
    let plan = Convolution::new(images, weights).options(options).plan()?;
    check_time(&plan, patience)?;
    let (y, plan) = ran(gpu, plan, || Convolution::new(images, weights).options(options).run())?;
    let checked = check(&geometry, [&x, &weight, &y.to_vec()?]);
    Ready::new(gpu, plan, checked, turns, move |at| {
        let (images, weights) = &pairs[at % pairs.len()];
        Convolution::new(images, weights).options(options).run().map(drop)
    })
}

/// Compares all elements, or those of some pixels and output channels, with products of their windows.
fn check<T: Real>(geometry: &ConvGeometry, [x, weight, y]: [&[T]; 3]) -> Checked {
    let ConvGeometry { channels, outputs, axes: [rows, columns], .. } = *geometry;
    let terms = rows.taps * columns.taps * channels;
    let sample = Sample::new([rows.output * columns.output, outputs], terms);
    let window = |pixel: &usize| -> Vec<T> {
        let taps = (0..rows.taps * columns.taps).flat_map(|tap| {
            let row = rows.read(pixel / columns.output, tap / columns.taps);
            let column = columns.read(pixel % columns.output, tap % columns.taps);
            let first = row.zip(column).map(|(row, column)| (row * columns.input + column) * channels);
            (0..channels).map(move |channel| first.map_or(T::from_f64(0.0), |first| x[first + channel]))
        });
        taps.collect()
    };
    let windows: Vec<T> = sample.rows.iter().flat_map(window).collect();
    let of_outputs = sample.columns.iter().map(|&output| &weight[output * terms..][..terms]);
    let of_outputs: Vec<&[T]> = of_outputs.collect();
    let matrix: Vec<T> = (0..terms).flat_map(|term| of_outputs.iter().map(move |of| of[term])).collect();
    let size = [sample.rows.len(), sample.columns.len(), terms];
    let found = reference::gemm(&windows, &matrix, size).compare(&sample.entries_of(y, outputs));
    Checked { name: sample.name, found }
}
