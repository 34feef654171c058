//! Operands of operations, and checks of their results.

use tilewise::reference::Comparison;
use tilewise::{Element, Fill};

/// Runs a test of each type on each device.
macro_rules! for_all_types {
    ($test:ident) => {
        for gpu in $crate::support::devices() {
            $test::<f32>(&gpu);
            $test::<tilewise::f16>(&gpu);
            $test::<tilewise::bf16>(&gpu);
        }
    };
}

pub fn values<T: Element>(shape: &[usize], scale: f64, seed: u64) -> Vec<T> {
    let len = shape.iter().product();
    Fill::Uniform.values::<T>(len, seed).iter().map(|v| T::from_f64(v.to_f64() * scale)).collect()
}

pub fn assert_ok(found: &Comparison, what: impl std::fmt::Debug) {
    assert!(found.ok(), "{what:?}: {found:?}");
}

pub(crate) use for_all_types;
