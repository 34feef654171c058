//! Operations on images with channels last against their definitions: every type and layout, forwards and backwards.

mod pooling;
mod resized;
mod shuffled;

use support::strided::{Lay, Placed};
use tilewise::{Element, Gpu, Tensor};

/// The layouts of a case: without gaps, in whole vectors, and another.
fn lays(case: usize) -> [Lay; 3] {
    [Lay::Plain, Lay::Vectors, Lay::ALL[1 + case % 4]]
}

fn place<T: Element>(gpu: &Gpu, data: &[T], shape: &[usize], lay: Lay) -> Tensor<T> {
    Placed::new(gpu, data, shape, lay).tensor
}

/// Runs what must be one launch.
fn one_launch<R>(gpu: &Gpu, run: impl FnOnce() -> tilewise::Result<R>) -> R {
    let before = gpu.stats().launches;
    let made = run().unwrap();
    assert_eq!(gpu.stats().launches - before, 1);
    made
}

/// Asserts that two lists have the same numbers, or NaN in the same places.
fn assert_same<T: Element>(found: &[T], want: &[T], what: impl std::fmt::Debug) {
    assert_eq!(found.len(), want.len(), "{what:?}");
    for (at, (found, want)) in found.iter().zip(want).enumerate() {
        let (found, want) = (found.to_f64(), want.to_f64());
        assert!(found == want || (found.is_nan() && want.is_nan()), "{what:?}: {at}: {found}, not {want}");
    }
}
