//! Comparisons, masks and selections.

use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::values::{for_all_types, values};
use tilewise::ops::Function;
use tilewise::planning::ops::{TensorCall, of_expressions, tensor_calls};
use tilewise::{Element, Gpu, Real, Tensor, ops, reference};

/// The comparisons of the table.
fn comparisons<T: Element>() -> Vec<Function> {
    let calls = tensor_calls::<T>().into_iter();
    let all: Vec<Function> =
        calls.filter(|(_, call)| matches!(call, TensorCall::Compare(_))).map(|it| it.0).collect();
    assert!(all.len() >= 6, "{all:?}");
    all
}

/// All comparisons by one kernel, in turn along a new first axis.
fn compared<T: Element>(gpu: &Gpu, a: &Tensor<T>, b: &Tensor<T>) -> Tensor<i8> {
    let all = comparisons::<T>();
    let which: Vec<i32> = (0..).take(all.len()).collect();
    let which = gpu.tensor(&which, [all.len()]).unwrap();
    let which = which.reshape(&[&[all.len()][..], &vec![1; a.shape().len()]].concat()[..]).unwrap();
    let compared = ops::map(&[&which, a, b], |[which, a, b]| {
        let of = |function| of_expressions(function, [&a, &b, &a]).to_integer();
        (1..).zip(&all[1..]).fold(of(all[0]), |others, (at, function): (i32, _)| {
            which.equal(at).select(of(*function), others)
        })
    });
    compared.unwrap()
}

#[test]
fn comparisons_make_masks_in_every_type_and_layout() {
    fn test<T: Element>(gpu: &Gpu, forms: &mut Forms) {
        for (case, shape) in [&[13][..], &[4, 32], &[3, 5, 7], &[1], &[2, 0]].into_iter().enumerate() {
            // Few values, so that some are equal; NaN if the type has it.
            let of = |seed| -> Vec<T> {
                let small = values::<f32>(shape, 3.0, seed);
                let not = |x: f32| if x > 2.7 { f64::NAN } else { f64::from(x.round()) };
                small.into_iter().map(|x| T::from_f64(not(x))).collect()
            };
            let (x, y) = (of(1), of(2));
            for step in [0, 2] {
                let lay = |at: usize| Lay::ALL[(case + step + at) % 5];
                let run = |gpu: &Gpu| {
                    let [a, b] =
                        [(&x, 0), (&y, 1)].map(|(data, at)| Placed::new(gpu, data, shape, lay(at)).tensor);
                    compared(gpu, &a, &b)
                };
                if !forms.takes(gpu, shape, run) {
                    continue;
                }
                let launches = gpu.stats().launches;
                let masks = run(gpu);
                assert_eq!(gpu.stats().launches - launches, u64::from(!x.is_empty()));
                let wide = [&x, &y].map(|of| of.iter().map(|x| x.to_f64()).collect::<Vec<f64>>());
                let want: Vec<f64> = comparisons::<T>()
                    .into_iter()
                    .flat_map(|function| reference::apply(function, &[&wide[0], &wide[1]]).value)
                    .collect();
                let found: Vec<f64> = masks.to_vec().unwrap().into_iter().map(f64::from).collect();
                assert_eq!(found, want, "{} {shape:?}", T::DTYPE);
            }
        }
    }
    forms::sweep(16, |turn, forms| {
        for gpu in turn.iter() {
            support::of_every_type!(test, gpu, forms);
        }
    });
}

#[test]
fn masks_select_elements_and_numbers_whatever_is_not_selected() {
    fn test<T: Real>(gpu: &Gpu) {
        for shape in [&[6, 32][..], &[5, 7]] {
            let x = values::<T>(shape, 2.0, 1);
            let nan = T::from_f64(f64::NAN);
            let len = x.len();
            // Any integer but 0 sets a mask.
            let mask: Vec<i8> = (0..len).map(|i| [0, 1, -1, 0, 2, 0, i8::MIN][i % 7]).collect();
            let holes: Vec<T> =
                x.iter().zip(&mask).map(|(x, mask)| if *mask == 0 { nan } else { *x }).collect();
            let (m, h) = (gpu.tensor(&mask, shape).unwrap(), gpu.tensor(&holes, shape).unwrap());
            let want: Vec<T> =
                x.iter().zip(&mask).map(|(x, mask)| if *mask == 0 { T::from_f64(0.5) } else { *x }).collect();
            let launches = gpu.stats().launches;
            assert_eq!(ops::select(&m, &h, 0.5).unwrap().to_vec().unwrap(), want, "{} {shape:?}", T::DTYPE);
            let other = gpu.tensor(&vec![T::from_f64(0.5); len], shape).unwrap();
            assert_eq!(ops::select(&m, &h, &other).unwrap().to_vec().unwrap(), want);
            assert_eq!(gpu.stats().launches, launches + 2);
            let numbers: Tensor<T> = ops::select(&m, 1, -2.0).unwrap();
            let want: Vec<T> =
                mask.iter().map(|mask| T::from_f64([1.0, -2.0][usize::from(*mask == 0)])).collect();
            assert_eq!(numbers.to_vec().unwrap(), want);
        }
    }
    for_all_types!(test);
}

#[test]
fn masks_combine_as_truth_does() {
    for gpu in support::turn().iter() {
        for (len, lay) in [(64, Lay::Plain), (13, Lay::Gaps), (16, Lay::Odd)] {
            let of = |step: usize| (0..len).map(|i| [0, 1, 0, -3, 5][i / step % 5]).collect::<Vec<i8>>();
            let (x, y) = (of(1), of(5));
            let (a, b) = (Placed::new(gpu, &x, &[len], lay), Placed::new(gpu, &y, &[len], lay));
            let of = |holds: fn(bool, bool) -> bool| {
                x.iter().zip(&y).map(|(x, y)| i8::from(holds(*x != 0, *y != 0))).collect::<Vec<i8>>()
            };
            assert_eq!(ops::and(&a.tensor, &b.tensor).unwrap().to_vec().unwrap(), of(|x, y| x && y));
            assert_eq!(ops::or(&a.tensor, &b.tensor).unwrap().to_vec().unwrap(), of(|x, y| x || y));
            assert_eq!(ops::not(&a.tensor).unwrap().to_vec().unwrap(), of(|x, _| !x));
        }
    }
}

#[test]
fn integers_are_selected_and_clamped() {
    for gpu in support::turn().iter() {
        let x: Vec<i32> = (-20..20).collect();
        let a = gpu.tensor(&x, [40]).unwrap();
        let want: Vec<i32> = x.iter().map(|x| x.clamp(&-3, &7)).copied().collect();
        assert_eq!(ops::clamp(&a, -3, 7).unwrap().to_vec().unwrap(), want);
        let even = gpu.tensor(&x.iter().map(|x| i8::from(x % 2 == 0)).collect::<Vec<_>>(), [40]).unwrap();
        let want: Vec<i32> = x.iter().map(|x| if x % 2 == 0 { *x } else { -1 }).collect();
        assert_eq!(ops::select(&even, &a, -1).unwrap().to_vec().unwrap(), want);
    }
}
