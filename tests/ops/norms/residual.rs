//! Norms of sums that are returned too.

use super::rows::bits;
use support::values::values;
use tilewise::ops::{self, LayerNorm, RmsNorm};
use tilewise::{Gpu, Real, bf16, f16};

/// Rows whose mean is far from 0 compared to the deviation, so that much is lost when the sum is stored.
fn shifted<T: Real>(length: usize, mean: f64, deviation: f64, seed: u64) -> Vec<T> {
    let values = values::<f32>(&[2, length], 1.0, seed).into_iter();
    values.map(|x| T::from_f64(mean + deviation * f64::from(x))).collect()
}

/// A short row, and one that does not stay in registers.
const LENGTHS: [usize; 2] = [256, 9001];

/// Mean and deviation of the operand, and deviation of what is added to it: the last is a residual stream of a late block.
const STREAMS: [(f64, f64, f64); 4] =
    [(0.0, 1.0, 1.0), (3.0, 1.0, 1.0), (1000.0, 1.0, 1.0), (300.0, 0.1, 0.05)];

fn is_that_of_the_sum<T: Real>(gpu: &Gpu) {
    for length in LENGTHS {
        for (mean, deviation, added) in STREAMS {
            let shape = [2, length];
            let x = gpu.tensor(&shifted::<T>(length, mean, deviation, 1), shape).unwrap();
            let r = gpu.tensor(&shifted::<T>(length, 0.0, added, 2), shape).unwrap();
            let what = format!("{}, {length} elements around {mean}", T::DTYPE);
            let sum = ops::add(&x, &r).unwrap();
            let norm = LayerNorm::new();
            let (total, found) = norm.residual(&x, &r).unwrap();
            let want = norm.with_statistics(&sum).unwrap();
            assert_eq!(bits(&total), bits(&sum), "{what}: the sum");
            assert_eq!(bits(&found.mean), bits(&want.mean), "{what}: the mean");
            assert_eq!(bits(&found.rstd), bits(&want.rstd), "{what}: 1 / deviation");
            assert_eq!(bits(&found.y), bits(&want.y), "{what}: the norm");
            let norm = RmsNorm::new();
            let (total, found) = norm.residual(&x, &r).unwrap();
            let want = norm.with_statistics(&sum).unwrap();
            assert_eq!(bits(&total), bits(&sum), "{what}: the sum, RMS");
            assert_eq!(bits(&found.rstd), bits(&want.rstd), "{what}: 1 / root");
            assert_eq!(bits(&found.y), bits(&want.y), "{what}: the norm, RMS");
        }
    }
}

#[test]
fn what_is_normalised_is_the_sum_that_is_returned_in_its_bits() {
    let Some(gpu) = support::gpu() else { return };
    is_that_of_the_sum::<f16>(&gpu);
    is_that_of_the_sum::<bf16>(&gpu);
}
