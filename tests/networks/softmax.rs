//! Softmax along the last axis.

use crate::oracle::Oracle;
use tilewise::{Gpu, Real, bf16, f16, ops};

pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    check_in::<f32>(gpu, oracle);
    check_in::<f16>(gpu, oracle);
    check_in::<bf16>(gpu, oracle);
}

fn check_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let y = ops::softmax(&x).unwrap();
    oracle.assert_output("y", &y);
    // The gradient from its formula, y (g - sum of g y), in f32.
    let (y, g) = (y.cast::<f32>().unwrap(), grad_y.cast::<f32>().unwrap());
    let last = y.shape().len() - 1;
    let rows = [&y.shape()[..last], &[1]].concat();
    let sums = ops::sum(&(&y * &g).unwrap(), last).unwrap().reshape(rows).unwrap();
    let grad_x = ops::map::<f32, 3>(&[&y, &g, &sums], |[y, g, sums]| y * (g - sums)).unwrap();
    if T::DTYPE == tilewise::DType::F32 {
        oracle.assert_output("grad_x", &grad_x);
    }
}
