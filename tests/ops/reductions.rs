//! Reductions against their definitions: every type and layout, any set of axes, on devices with f16 and without.

use crate::special;
use crate::vectors;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed, indices};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::ops::Axes;
use tilewise::planning::ops::{ReduceFunction, ReductionCall, reduction_calls};
use tilewise::reference::{self, Definition};
use tilewise::{DType, Element, Error, Gpu, Real, Tensor, ops};

pub(crate) type Reduced<T> = fn(&Tensor<T>, Axes) -> tilewise::Result<Tensor<T>>;
pub(crate) type Defined<T> = Box<dyn Fn(&[T], [usize; 3]) -> Definition>;

/// The reductions of reals that the library's table lists, and the variance without a correction.
pub(crate) fn of_reals<T: Real>() -> Vec<(&'static str, Reduced<T>, Defined<T>)> {
    let listed = reduction_calls::<T>().into_iter().filter_map(|(function, call)| {
        let ReductionCall::Along(op) = call else { return None };
        let defined: Defined<T> = Box::new(move |a, shape| reference::reduce(function, a, shape));
        let name = if function.op() == "var" { "var, unbiased" } else { function.op() };
        Some((name, op, defined))
    });
    let variance: (_, Reduced<T>, Defined<T>) =
        ("var", |a, axes| ops::var(a, axes, 0), Box::new(|a, shape| reference::var(a, shape, 0)));
    listed.chain([variance]).collect()
}

/// Whether a function is computed of elements of this type. What depends on the type is how elements are loaded and stored, not
/// what is computed: two functions will do for those that are not f32.
fn is_tested<T: Element>(name: &str) -> bool {
    T::DTYPE == DType::F32 || ["sum", "max"].contains(&name)
}

/// Shapes, and axes of each that are reduced.
const CASES: [(&[usize], &[usize]); 27] = [
    (&[1], &[0]),
    (&[5], &[0]),
    (&[3000], &[0]),
    (&[70_001], &[0]),
    (&[3, 5], &[0]),
    (&[3, 5], &[1]),
    (&[3, 5], &[0, 1]),
    (&[3, 5], &[]),
    (&[65, 33], &[0]),
    (&[65, 33], &[1]),
    (&[7, 1], &[1]),
    (&[2, 1500], &[1]),
    (&[1500, 2], &[0]),
    (&[4100, 9], &[0]),
    (&[9, 4100], &[1]),
    (&[40, 64], &[0]),
    (&[3, 33, 16], &[1]),
    (&[6, 8, 32], &[0, 1]),
    (&[6, 8, 32], &[1, 2]),
    (&[6, 8, 32], &[0, 2]),
    (&[6, 5, 7], &[2, 0]),
    (&[300, 3, 40], &[0, 2]),
    (&[40, 3, 300, 2], &[0, 2]),
    (&[2, 3, 4, 5, 2, 3], &[1, 3, 5]),
    (&[2, 3, 4, 5, 2, 3], &[0, 2, 4]),
    (&[2, 3, 4, 5, 2, 3], &[2]),
    (&[2, 3, 4, 5, 2, 3], &[0, 1, 2, 3, 4, 5]),
];

/// The elements with the axes that are reduced last, and the shape of the result and the number of elements for each of its own.
fn gathered<T: Element>(x: &[T], shape: &[usize], axes: &[usize]) -> (Vec<T>, Vec<usize>, usize) {
    let (gone, kept): (Vec<usize>, Vec<usize>) = (0..shape.len()).partition(|axis| axes.contains(axis));
    let order: Vec<usize> = kept.iter().chain(&gone).copied().collect();
    let extents: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let elements = indices(&extents).into_iter().map(|index| {
        let at = |axis: usize| index[order.iter().position(|&other| other == axis).unwrap()];
        x[(0..shape.len()).fold(0, |place, axis| place * shape[axis] + at(axis))]
    });
    let count = gone.iter().map(|&axis| shape[axis]).product();
    (elements.collect(), extents[..kept.len()].to_vec(), count)
}

/// One sweep, so that all of it shares kernels.
#[test]
fn reductions_agree_with_their_definitions() {
    forms::sweep(5 * ReduceFunction::ALL.len() + 5, |turn, forms| {
        reductions_along_any_axes_agree_with_their_definitions(turn, forms);
        rows_that_begin_at_whole_vectors_are_reduced_in_vectors(turn, forms);
        integers_are_summed_as_i32_and_compared(turn, forms);
        the_first_of_the_largest_and_of_the_smallest_is_found(turn, forms);
        special::nan_wins(turn, forms);
        a_large_mean_costs_a_variance_no_accuracy(turn, forms);
        vectors::aligned_rows_are_reduced(turn, forms);
    });
}

fn reductions_along_any_axes_agree_with_their_definitions(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, axes)) in CASES.into_iter().enumerate() {
            let x = values::<T>(shape, 1.5, 6);
            let (rows, kept, count) = gathered(&x, shape, axes);
            let results = kept.iter().product();
            for (i, (name, function, defined)) in of_reals::<T>().into_iter().enumerate() {
                let lay = Lay::ALL[(case + i) % 5];
                let is_undefined = name == "var, unbiased" && count == 1;
                if name == "prod" && count > 100 || is_undefined || !is_tested::<T>(name) {
                    continue;
                }
                for lay in [Lay::Plain, lay] {
                    let run = |gpu: &Gpu| {
                        let a = Placed::new(gpu, &x, shape, lay);
                        function(&a.tensor, axes.into()).unwrap()
                    };
                    if !forms.takes(gpu, (shape, axes), run) {
                        continue;
                    }
                    let want = defined(&rows, [results, count, 1]);
                    let a = Placed::new(gpu, &x, shape, lay);
                    let before = gpu.stats().launches;
                    let reduced = function(&a.tensor, axes.into()).unwrap();
                    let launches = gpu.stats().launches - before;
                    assert!(launches == 1 || (launches == 2 && count >= 128), "{name} {shape:?}: {launches}");
                    assert_eq!(reduced.shape(), kept, "{name} {shape:?} {axes:?}");
                    let got = reduced.to_vec().unwrap();
                    assert_ok(&want.compare(&got), (name, T::DTYPE, shape, axes, lay));
                    let again = function(&a.tensor, axes.into()).unwrap().to_vec().unwrap();
                    assert_eq!(got, again, "same plan, same bits");
                    let exact = got.iter().zip(&want.value).all(|(got, want)| got.to_f64() == *want);
                    assert!(
                        exact || !name.starts_with("max") && name != "min",
                        "exact: {name} {shape:?} {lay:?}"
                    );
                }
            }
        }
        for (axes, want) in [(&[0][..], 200.0), (&[0, 1], 600.0)] {
            let run = |gpu: &Gpu| {
                let one = gpu.tensor(&[T::from_f64(1.0)], [1]).unwrap();
                ops::sum(&one.as_strided(&[200, 3], &[0, 0], 0).unwrap(), axes).unwrap().to_vec().unwrap()
            };
            if forms.takes(gpu, ("repeated", axes), run) {
                assert!(run(gpu).iter().all(|sum| sum.to_f64() == want), "{axes:?}");
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

fn rows_that_begin_at_whole_vectors_are_reduced_in_vectors(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let cases: [(&[usize], &[usize]); 7] = [
            (&[7, 13], &[1]),
            (&[7, 13], &[0]),
            (&[3, 4103], &[1]),
            (&[4103, 9], &[0]),
            (&[3, 5, 21], &[0, 2]),
            (&[20_001, 2], &[0]),
            (&[2, 40_005], &[1]),
        ];
        for (shape, axes) in cases {
            let x = values::<T>(shape, 1.5, 6);
            let (rows, kept, count) = gathered(&x, shape, axes);
            for (name, function, defined) in of_reals::<T>() {
                if name == "prod" && count > 100 || !is_tested::<T>(name) {
                    continue;
                }
                let run = |gpu: &Gpu| {
                    let a = Placed::new(gpu, &x, shape, Lay::Vectors);
                    function(&a.tensor, axes.into()).unwrap().to_vec().unwrap()
                };
                if forms.takes(gpu, (shape, axes), run) {
                    let want = defined(&rows, [kept.iter().product(), count, 1]);
                    assert_ok(&want.compare(&run(gpu)), (name, T::DTYPE, shape, axes));
                }
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

/// A test of each integer type on each device.
macro_rules! for_integers {
    ($turn:expr, $test:ident, $forms:expr) => {
        for gpu in $turn.iter() {
            $test::<i8>(gpu, $forms);
            $test::<i32>(gpu, $forms);
        }
    };
}

fn integers_are_summed_as_i32_and_compared(turn: &Turn, forms: &mut Forms) {
    fn test<T: tilewise::gemm::Summand<Total = i32>>(gpu: &Gpu, forms: &mut Forms) {
        for (case, (shape, axes)) in CASES.into_iter().enumerate() {
            let x = values::<T>(shape, 0.05, 6);
            let (rows, kept, count) = gathered(&x, shape, axes);
            let dims = [kept.iter().product(), count, 1];
            for lay in [Lay::Plain, Lay::ALL[case % 5]] {
                let run = |gpu: &Gpu| {
                    let a = Placed::new(gpu, &x, shape, lay).tensor;
                    (ops::sum(&a, axes).unwrap(), ops::max(&a, axes).unwrap())
                };
                if !forms.takes(gpu, (shape, axes), run) {
                    continue;
                }
                let a = Placed::new(gpu, &x, shape, lay);
                let what = (T::DTYPE, shape, axes, lay);
                let sums = ops::sum(&a.tensor, axes).unwrap();
                assert_eq!(sums.shape(), kept);
                let got: Vec<f64> = sums.to_vec().unwrap().into_iter().map(f64::from).collect();
                assert_eq!(got, reference::sum(&rows, dims).value, "{what:?}");
                let of = |found: tilewise::Result<Tensor<T>>| -> Vec<f64> {
                    found.unwrap().to_vec().unwrap().iter().map(|x| x.to_f64()).collect()
                };
                assert_eq!(of(ops::max(&a.tensor, axes)), reference::max(&rows, dims).value, "{what:?}");
                assert_eq!(of(ops::min(&a.tensor, axes)), reference::min(&rows, dims).value, "{what:?}");
            }
        }
    }
    for_integers!(turn, test, forms);
}

#[test]
fn sums_of_integers_wrap() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let ends = gpu.tensor(&[i32::MAX, 1, i32::MIN, -1], [2, 2]).unwrap();
    assert_eq!(ops::sum(&ends, 1).unwrap().to_vec().unwrap(), [i32::MIN, i32::MAX], "wrapped");
    assert_eq!(ops::max(&ends, 0).unwrap().to_vec().unwrap(), [i32::MAX, 1]);
    assert_eq!(ops::min(&ends, ..).unwrap().to_vec().unwrap(), [i32::MIN]);
}

fn the_first_of_the_largest_and_of_the_smallest_is_found(turn: &Turn, forms: &mut Forms) {
    fn test<T: Element>(gpu: &Gpu, forms: &mut Forms) {
        let shapes: [(&[usize], usize); 12] = [
            (&[1], 0),
            (&[77], 0),
            (&[70_001], 0),
            (&[5, 9], 0),
            (&[5, 9], 1),
            (&[3, 1030], 1),
            (&[1030, 16], 0),
            (&[4, 33, 8], 1),
            (&[40_000, 3], 0),
            (&[2, 3, 4, 5, 2, 3], 3),
            (&[2, 3, 4, 5, 2, 3], 5),
            (&[6, 1, 3], 1),
        ];
        for (case, (shape, axis)) in shapes.into_iter().enumerate() {
            if T::DTYPE != DType::F32 && case % 3 != 2 {
                continue;
            }
            // Few different values, so that many are equal.
            let x: Vec<T> =
                values::<f32>(shape, 3.0, 6).iter().map(|x| T::from_f64(x.to_f64().round())).collect();
            let dims = [&shape[..axis], &shape[axis..=axis], &shape[axis + 1..]].map(|s| s.iter().product());
            for lay in [Lay::Plain, Lay::ALL[case % 5], Lay::Vectors] {
                let run = |gpu: &Gpu| {
                    let a = Placed::new(gpu, &x, shape, lay).tensor;
                    (ops::argmax(&a, axis).unwrap(), ops::argmin(&a, axis).unwrap())
                };
                if !forms.takes(gpu, (shape, axis), run) {
                    continue;
                }
                let a = Placed::new(gpu, &x, shape, lay);
                let index = |found: Tensor<i32>| -> Vec<usize> {
                    assert_eq!(found.shape(), [&shape[..axis], &shape[axis + 1..]].concat());
                    found.to_vec().unwrap().into_iter().map(|i| usize::try_from(i).unwrap()).collect()
                };
                let what = (T::DTYPE, shape, axis, lay);
                let found = index(ops::argmax(&a.tensor, axis).unwrap());
                assert_eq!(found, reference::argmax(&x, dims), "{what:?}");
                let found = index(ops::argmin(&a.tensor, axis).unwrap());
                assert_eq!(found, reference::argmin(&x, dims), "{what:?}");
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
    for_integers!(turn, test, forms);
}

/// Along rows, and down columns of which an invocation has several.
#[test]
fn zeros_keep_their_order_in_extremes_and_are_equal_in_places() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let (minus, plus) = (-0.0f32, 0.0f32);
    for (column, want_max, want_min) in [
        ([minus, plus, minus, minus, plus], plus, minus),
        ([minus; 5], minus, minus),
        ([plus; 5], plus, plus),
        ([-1.0, minus, -2.0, plus, -1.0], plus, -2.0),
        ([f32::NEG_INFINITY; 5], f32::NEG_INFINITY, f32::NEG_INFINITY),
    ] {
        let rows: Vec<f32> = column.iter().flat_map(|&x| [x; 16]).collect();
        let down = gpu.tensor(&rows, [5, 16]).unwrap();
        let along = gpu.tensor(&column.repeat(16), [16, 5]).unwrap();
        let first = |want: f32| i32::try_from(column.iter().position(|&x| x == want).unwrap()).unwrap();
        let bits = |of: Tensor<f32>| of.to_vec().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        for (a, axis) in [(&down, 0), (&along, 1)] {
            let what = format!("{column:?} along axis {axis}");
            assert_eq!(bits(ops::max(a, axis).unwrap()), [want_max.to_bits(); 16], "{what}");
            assert_eq!(bits(ops::min(a, axis).unwrap()), [want_min.to_bits(); 16], "{what}");
            assert_eq!(ops::argmax(a, axis).unwrap().to_vec().unwrap(), [first(want_max); 16], "{what}");
            assert_eq!(ops::argmin(a, axis).unwrap().to_vec().unwrap(), [first(want_min); 16], "{what}");
        }
    }
}

#[test]
fn every_bit_of_an_f32_counts() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let tiny = f32::from_bits(1);
    let data = [0.0, -tiny, tiny, f32::MIN, f32::MAX.next_down(), -f32::MIN_POSITIVE];
    let a = gpu.tensor(&data, [3, 2]).unwrap();
    assert_eq!(ops::max_abs(&a, 1).unwrap().to_vec().unwrap(), [tiny, f32::MAX, f32::MAX.next_down()]);
    assert_eq!(ops::max(&a, 1).unwrap().to_vec().unwrap(), [0.0, tiny, f32::MAX.next_down()]);
    assert_eq!(ops::min(&a, 1).unwrap().to_vec().unwrap(), [-tiny, f32::MIN, -f32::MIN_POSITIVE]);
    assert_eq!(ops::argmax(&a, 0).unwrap().to_vec().unwrap(), [2, 0]);
    let zeros = gpu.tensor(&[-0.0f32, 0.0], [2]).unwrap();
    assert_eq!(ops::argmax(&zeros, 0).unwrap().to_vec().unwrap(), [0], "equal zeros");
}

fn a_large_mean_costs_a_variance_no_accuracy(turn: &Turn, forms: &mut Forms) {
    for gpu in turn.iter() {
        for (shape, axis) in [([1, 100], 1), ([3, 5000], 1), ([5000, 4], 0), ([1, 70_000], 1)] {
            let x: Vec<f32> = values::<f32>(&shape, 1.0, 3).iter().map(|x| 1000.0 + 1.7e-3 * x).collect();
            let run = |gpu: &Gpu| ops::var(&gpu.tensor(&x, shape).unwrap(), axis, 0).unwrap();
            if !forms.takes(gpu, ("a large mean", shape), run) {
                continue;
            }
            let got = run(gpu).to_vec().unwrap();
            let dims = if axis == 1 { [shape[0], shape[1], 1] } else { [1, shape[0], shape[1]] };
            let want = reference::var(&x, dims, 0);
            assert_ok(&want.compare(&got), shape);
            for (got, want) in got.iter().zip(&want.value) {
                assert!((0.9e-6..1.1e-6).contains(want), "{want:e}");
                let relative = (f64::from(*got) - want).abs() / want;
                assert!(relative < 2e-5, "{got:e} {want:e}: {relative:e}");
            }
        }
    }
}

#[test]
fn nothing_has_a_sum_a_product_and_no_maximum() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let a = gpu.empty::<f32>([3, 0, 2]).unwrap();
    assert_eq!(ops::sum(&a, 1).unwrap().to_vec().unwrap(), [0.0; 6]);
    assert_eq!(ops::prod(&a, [1, 2]).unwrap().to_vec().unwrap(), [1.0; 3]);
    assert_eq!(ops::norm(&a, ..).unwrap().to_vec().unwrap(), [0.0]);
    assert_eq!(ops::max_abs(&a, 1).unwrap().to_vec().unwrap(), [0.0; 6]);
    assert!(ops::mean(&a, 1).unwrap().to_vec().unwrap().iter().all(|x| x.is_nan()));
    assert!(ops::var(&a, 1, 0).unwrap().to_vec().unwrap().iter().all(|x| x.is_nan()));
    let one = gpu.tensor(&[5.0f32], [1]).unwrap();
    assert!(
        ops::var(&one, 0, 1).unwrap().to_vec().unwrap()[0].is_nan(),
        "one element has no unbiased variance"
    );
    assert_eq!(ops::sum(&a, 0).unwrap().shape(), [0, 2]);
    assert_eq!(ops::max(&a, 0).unwrap().shape(), [0, 2]);
    assert_eq!(ops::argmax(&a, 2).unwrap().shape(), [3, 0]);
    for found in [ops::max(&a, 1), ops::min(&a, ..)] {
        assert!(matches!(found, Err(Error::Shape { .. })), "{found:?}");
    }
    assert!(ops::argmax(&a, 1).unwrap_err().to_string().contains("[3, 0, 2]"));
    let bytes = gpu.empty::<i8>([0]).unwrap();
    assert_eq!(ops::sum(&bytes, 0).unwrap().to_vec().unwrap(), [0i32]);
}

#[test]
fn grids_beyond_one_axis_reach_every_row() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let rows = 65_535 + 7;
    let row = gpu.tensor(&[1.0f32; 515], [515]).unwrap().as_strided(&[rows, 515], &[0, 1], 0).unwrap();
    assert_eq!(ops::sum(&row, 1).unwrap().to_vec().unwrap(), vec![515.0; rows]);
}
