//! Operands of operations, and checks of their results.

use tilewise::reference::Comparison;
use tilewise::{Element, Fill};

/// Runs a test of each type on each device.
#[macro_export]
macro_rules! for_all_types {
    ($test:ident) => {
        for gpu in $crate::turn().iter() {
            $test::<f32>(gpu);
            $test::<tilewise::f16>(gpu);
            $test::<tilewise::bf16>(gpu);
        }
    };
    ($turn:expr, $test:ident, $forms:expr) => {
        for gpu in $turn.iter() {
            $test::<f32>(gpu, $forms);
            $test::<tilewise::f16>(gpu, $forms);
            $test::<tilewise::bf16>(gpu, $forms);
        }
    };
}

/// Runs a sweep of each type on each device, and of f32 as planned for a GPU.
#[macro_export]
macro_rules! for_all_types_and_a_gpu {
    ($turn:expr, $test:ident, $forms:expr) => {{
        $crate::for_all_types!($turn, $test, $forms);
        if let Some(gpu) = $turn.planned_as_a_gpu() {
            $test::<f32>(gpu, $forms);
        }
    }};
}

pub fn values<T: Element>(shape: &[usize], scale: f64, seed: u64) -> Vec<T> {
    let len = shape.iter().product();
    Fill::Uniform.values::<T>(len, seed).iter().map(|v| T::from_f64(v.to_f64() * scale)).collect()
}

pub fn assert_ok(found: &Comparison, what: impl std::fmt::Debug) {
    assert!(found.ok(), "{what:?}: {found:?}");
}

pub use crate::{for_all_types, for_all_types_and_a_gpu};
