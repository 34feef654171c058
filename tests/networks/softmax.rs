//! Softmax and its logarithm along the last axis.

use crate::oracle::Oracle;
use tilewise::{Gpu, Real, Result, Tensor, ops};

type Forward<T> = fn(&Tensor<T>, usize) -> Result<Tensor<T>>;
type Backward<T> = fn(&Tensor<T>, &Tensor<T>, usize) -> Result<Tensor<T>>;

pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    support::of_reals!(check_in, gpu, oracle, ops::softmax, ops::softmax_backward);
}

pub(crate) fn check_log(gpu: &Gpu, oracle: &mut Oracle) {
    support::of_reals!(check_in, gpu, oracle, ops::log_softmax, ops::log_softmax_backward);
}

fn check_in<T: Real>(gpu: &Gpu, oracle: &mut Oracle, forward: Forward<T>, backward: Backward<T>) {
    if !oracle.holds(T::DTYPE) {
        return;
    }
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let y = forward(&x, x.shape().len() - 1).unwrap();
    oracle.assert_output("y", &y);
    // The gradient is computed from the stored result, which has the file's tolerance in f32 only.
    let grad_x = backward(&y, &grad_y, y.shape().len() - 1).unwrap();
    if T::DTYPE == tilewise::DType::F32 {
        oracle.assert_output("grad_x", &grad_x);
    }
}
