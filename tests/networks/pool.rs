//! Pooling of images, other sizes, and pixels from channels. `images.py` writes the files of what is not in the oracles of others.

use crate::oracle::Oracle;
use tilewise::ops::{
    AdaptiveAvgPool2d, AdaptiveMaxPool2d, AvgPool2d, Corners, Interpolation, MaxPool2d, PoolDivisor,
    PoolRounding, interpolate, interpolate_backward, pixel_shuffle, pixel_unshuffle,
};
use tilewise::{Element, Gpu, Real};

/// A list of two numbers.
fn two(oracle: &Oracle, key: &str) -> [usize; 2] {
    let numbers: Vec<usize> = oracle.names(key).iter().map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap_or_else(|_| panic!("{oracle}: {key} has not two numbers"))
}

fn rounding(oracle: &Oracle) -> PoolRounding {
    PoolRounding::ALL[oracle.parameter::<usize>("ceil_mode")]
}

/// Values and indices are exact, and gradients are exact sums.
pub(crate) fn largest<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let pool = MaxPool2d::new(two(oracle, "kernel")).stride(two(oracle, "stride"));
    let pool =
        pool.dilation(two(oracle, "dilation")).padding(two(oracle, "padding")).rounding(rounding(oracle));
    let pooled = pool.with_indices(&x).unwrap();
    let (shape, want) = oracle.values("y");
    let found: Vec<f64> = pooled.y.to_vec().unwrap().into_iter().map(Element::to_f64).collect();
    assert!(pooled.y.shape() == shape && found == want, "{oracle}: y in {}", T::DTYPE);
    assert_eq!(pool.run(&x).unwrap().to_vec().unwrap(), pooled.y.to_vec().unwrap(), "{oracle}");
    let (_, want) = oracle.values("indices");
    let found: Vec<f64> = pooled.indices.to_vec().unwrap().into_iter().map(f64::from).collect();
    assert_eq!(found, want, "{oracle}: indices");
    let grad_x = pool.backward(&pooled.indices, &grad_y, [x.shape()[1], x.shape()[2]]).unwrap();
    oracle.assert_output("grad_x", &grad_x);
}

pub(crate) fn mean<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let divisor = match oracle.parameter::<usize>("count_include_pad") {
        0 => PoolDivisor::WithoutPadding,
        _ => PoolDivisor::WithPadding,
    };
    let pool = AvgPool2d::new(two(oracle, "kernel")).stride(two(oracle, "stride"));
    let pool = pool.padding(two(oracle, "padding")).rounding(rounding(oracle)).divisor(divisor);
    oracle.assert_output("y", &pool.run(&x).unwrap());
    let grad_x = pool.backward(&grad_y, [x.shape()[1], x.shape()[2]]).unwrap();
    oracle.assert_output("grad_x", &grad_x);
}

/// To a size.
pub(crate) fn adaptive_mean<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let pool = AdaptiveAvgPool2d::new(two(oracle, "size"));
    oracle.assert_output("y", &pool.run(&x).unwrap());
    oracle.assert_output("grad_x", &pool.backward(&grad_y, [x.shape()[1], x.shape()[2]]).unwrap());
}

pub(crate) fn adaptive_largest<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let pool = AdaptiveMaxPool2d::new(two(oracle, "size"));
    let pooled = pool.with_indices(&x).unwrap();
    oracle.assert_output("y", &pooled.y);
    let (_, want) = oracle.values("indices");
    let found: Vec<f64> = pooled.indices.to_vec().unwrap().into_iter().map(f64::from).collect();
    assert_eq!(found, want, "{oracle}: indices");
    let grad_x = pool.backward(&pooled.indices, &grad_y, [x.shape()[1], x.shape()[2]]).unwrap();
    oracle.assert_output("grad_x", &grad_x);
}

pub(crate) fn interpolated<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let by = match oracle.parameter::<String>("mode").as_str() {
        "nearest" => Interpolation::Nearest,
        "half_pixel" => Interpolation::Bilinear(Corners::HalfPixel),
        "aligned" => Interpolation::Bilinear(Corners::Aligned),
        other => panic!("{oracle}: mode is `{other}`"),
    };
    oracle.assert_output("y", &interpolate(&x, two(oracle, "size"), by).unwrap());
    let grad_x = interpolate_backward(&grad_y, [x.shape()[1], x.shape()[2]], by).unwrap();
    oracle.assert_output("grad_x", &grad_x);
}

pub(crate) fn shuffled<T: Real>(gpu: &Gpu, oracle: &mut Oracle) {
    let (x, grad_y) = (oracle.tensor::<T>(gpu, "x"), oracle.tensor::<T>(gpu, "grad_y"));
    let factor = oracle.parameter("factor");
    oracle.assert_output("y", &pixel_shuffle(&x, factor).unwrap());
    oracle.assert_output("grad_x", &pixel_unshuffle(&grad_y, factor).unwrap());
}
