//! Norms against their definitions in f64.

mod channels;
mod large_means;
mod residual;
mod rows;

use support::values::values;
use tilewise::{DType, Real};

/// Operands of a norm: elements of mean 3, and elements far from 0 compared with their distances to each other, in every second
/// case as far as the type still tells them apart.
fn operands<T: Real>(shape: &[usize], case: usize) -> [Vec<T>; 2] {
    let about = |mean: f64, scale: f64| {
        values::<f32>(shape, scale, 1).into_iter().map(|x| T::from_f64(f64::from(x) + mean)).collect()
    };
    let [near, far] = match T::DTYPE {
        DType::F16 => [(1e3, 4.0), (6e4, 200.0)],
        DType::Bf16 => [(1e3, 40.0), (1e6, 4e4)],
        _ => [(1e3, 0.01), (1e6, 0.2)],
    };
    let (mean, scale) = if case.is_multiple_of(2) { far } else { near };
    [about(3.0, 2.0), about(mean, scale)]
}
