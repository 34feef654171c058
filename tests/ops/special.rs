//! Reductions of elements that are no numbers or infinite: a part of the sweep of reductions.

use crate::reductions::of_reals;
use support::forms::Forms;
use support::turn::Turn;
use support::values::for_all_types;
use tilewise::ops::Axes;
use tilewise::{Gpu, Real, Tensor, ops};

pub(crate) fn nan_wins(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let [inf, nan] = [f64::INFINITY, f64::NAN];
        let placed = |gpu: &Gpu, special: f64, beside: f64, is_along_columns: bool| {
            let mut data = vec![T::from_f64(-1.5); 300];
            (data[37], data[38]) = (T::from_f64(special), T::from_f64(beside));
            let rows = gpu.tensor(&data, [3, 100]).unwrap();
            if is_along_columns { rows.t().contiguous().unwrap().t() } else { rows }
        };
        for is_along_columns in [false, true] {
            for (name, function, _) in of_reals::<T>() {
                let run = |gpu: &Gpu, special, beside| -> Vec<f64> {
                    let found = function(&placed(gpu, special, beside, is_along_columns), Axes::from(1));
                    found.unwrap().to_vec().unwrap().iter().map(|x| x.to_f64()).collect()
                };
                if !forms.takes(gpu, ("NaN", name), |gpu| run(gpu, nan, inf)) {
                    continue;
                }
                for (special, beside) in [(inf, 1.0), (-inf, 1.0), (nan, inf), (-nan, 1.0)] {
                    let found = run(gpu, special, beside);
                    assert!(!special.is_nan() || found[0].is_nan(), "{name} of {}: {found:?}", T::DTYPE);
                    let rest = if name == "max_abs" { 1.5 } else { -1.5 };
                    match name {
                        "max_abs" | "max" | "min" => {
                            assert_eq!(found[1..], [rest; 2], "{name}, {}", T::DTYPE)
                        }
                        "prod" => {}
                        _ => assert!(found[1].is_finite(), "{name} of {}: {found:?}", T::DTYPE),
                    }
                }
            }
            for (name, function) in [("argmax", ops::argmax as fn(&_, _) -> _), ("argmin", ops::argmin)] {
                let run = |gpu: &Gpu, special, beside| -> tilewise::Result<Tensor<i32>> {
                    function(&placed(gpu, special, beside, is_along_columns), 1)
                };
                if forms.takes(gpu, ("NaN", name), |gpu| run(gpu, nan, inf)) {
                    for (special, beside) in [(nan, inf), (-nan, 1.0)] {
                        let found = run(gpu, special, beside).unwrap().to_vec().unwrap();
                        assert_eq!(found, [37, 0, 0], "the first NaN");
                    }
                }
            }
        }
    }
    for_all_types!(turn, test, forms);
}
