//! Operands of operations, and checks of their results.

use tilewise::reference::Comparison;
use tilewise::{Element, Fill};

/// Runs a test of each type on each device.
#[macro_export]
macro_rules! for_all_types {
    ($test:ident $(, $given:expr)?; $turn:expr) => {
        for (device, gpu) in $turn.iter().enumerate() {
            let name = concat!(module_path!(), stringify!($test));
            let takes = |dtype| $crate::values::takes(device, dtype, name);
            if takes(0) {
                $test::<f32>(gpu $(, $given)?);
            }
            if takes(1) {
                $test::<tilewise::f16>(gpu $(, $given)?);
            }
            if takes(2) {
                $test::<tilewise::bf16>(gpu $(, $given)?);
            }
        }
    };
    ($test:ident) => {
        $crate::for_all_types!($test; $crate::turn())
    };
    ($turn:expr, $test:ident, $forms:expr) => {
        $crate::for_all_types!($test, $forms; $turn)
    };
}

/// Whether a test has this type on this device. Where tests [take few](crate::is_brief), each type has one device, and each
/// device a type; which, the test's name says.
pub fn takes(device: usize, dtype: usize, name: &str) -> bool {
    let of_name: usize = name.bytes().map(usize::from).sum();
    !crate::is_brief() || (device + dtype + of_name).is_multiple_of(2)
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
