//! Sketched layers as tests have them: what they are made of, and how results are judged.

use support::sketches::small;
use tilewise::gemm::GemmKernel;
use tilewise::planning::gemm::Pin;
use tilewise::planning::sketch::pinned_layer;
use tilewise::sketch::SkLinear;
use tilewise::{Activation, Element, Fill, Gpu, Real, Tensor};

/// A layer with signs for U, and with biases.
pub(crate) fn layer<T: Real>(
    gpu: &Gpu,
    [inputs, outputs, terms, rank]: [usize; 4],
    activation: Activation,
) -> SkLinear<T> {
    let builder = SkLinear::<T>::builder(terms, rank).seed(7).activation(activation).allow_larger();
    // By a kernel that compiles quickly: what is tested of these layers is not how products are computed.
    pinned_layer(builder.random(gpu, [inputs, outputs]).unwrap(), Pin::Kernel(GemmKernel::Naive))
}

/// The same layer by a kernel that makes signs, in a tile that compiles quickly.
pub(crate) fn staged<T: Real>(layer: SkLinear<T>) -> SkLinear<T> {
    pinned_layer(layer, Pin::Tile(small()))
}

pub(crate) fn wide<T: Element>(x: &Tensor<T>) -> Vec<f64> {
    x.to_vec().unwrap().into_iter().map(Element::to_f64).collect()
}

/// A layer whose U is data, and without a bias.
pub(crate) fn given<T: Real>(gpu: &Gpu, [inputs, outputs, terms, rank]: [usize; 4]) -> SkLinear<T> {
    let factor = |shape: [usize; 3], seed: u64| gpu.random::<T>(shape, Fill::Uniform, seed).unwrap();
    let [s1, u2] = [1, 2].map(|seed| factor([terms, inputs, rank], seed));
    let [s2, u1] = [3, 4].map(|seed| factor([terms, rank, outputs], seed));
    let layer = SkLinear::from_factors([&s1, &u1, &s2, &u2], None, Activation::None).unwrap();
    pinned_layer(layer, Pin::Kernel(GemmKernel::Naive))
}

/// Each value within its bound.
pub(crate) fn assert_near(found: &[f64], want: &[f64], bound: impl Fn(usize) -> f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!(
            (found - want).abs() <= bound(i),
            "{what} [{i}]: {found}, not {want} ({:e} off)",
            found - want
        );
    }
}
