//! Comparisons, masks and selections.

use crate::support;
use crate::support::strided::{Lay, Placed};
use crate::support::values::{for_all_types, values};
use tilewise::{Element, Gpu, Real, Tensor, ops};

type Compare<T> = fn(&Tensor<T>, &Tensor<T>) -> tilewise::Result<Tensor<i8>>;
type Holds = fn(f64, f64) -> bool;

fn comparisons<T: Element>() -> [(Compare<T>, Holds); 6] {
    [
        (|a, b| ops::equal(a, b), |a, b| a == b),
        (|a, b| ops::not_equal(a, b), |a, b| a != b),
        (|a, b| ops::less(a, b), |a, b| a < b),
        (|a, b| ops::less_or_equal(a, b), |a, b| a <= b),
        (|a, b| ops::greater(a, b), |a, b| a > b),
        (|a, b| ops::greater_or_equal(a, b), |a, b| a >= b),
    ]
}

#[test]
fn comparisons_make_masks_in_every_type_and_layout() {
    fn test<T: Element>(gpu: &Gpu, lays: &[Lay]) {
        for (case, shape) in [&[13][..], &[4, 32], &[3, 5, 7], &[1], &[2, 0]].into_iter().enumerate() {
            // Few values, so that some are equal; NaN if the type has it.
            let of = |seed| -> Vec<T> {
                let small = values::<f32>(shape, 3.0, seed);
                let not = |x: f32| if x > 2.7 { f64::NAN } else { f64::from(x.round()) };
                small.into_iter().map(|x| T::from_f64(not(x))).collect()
            };
            let (x, y) = (of(1), of(2));
            let lay = |step: usize| lays[(case + step) % lays.len()];
            let (a, b) = (Placed::new(gpu, &x, shape, lay(0)), Placed::new(gpu, &y, shape, lay(1)));
            for (at, (op, holds)) in comparisons::<T>().into_iter().enumerate() {
                let launches = gpu.stats().launches;
                let mask = op(&a.tensor, &b.tensor).unwrap();
                assert_eq!(gpu.stats().launches - launches, u64::from(!x.is_empty()));
                let want: Vec<i8> =
                    x.iter().zip(&y).map(|(x, y)| i8::from(holds(x.to_f64(), y.to_f64()))).collect();
                assert_eq!(mask.to_vec().unwrap(), want, "{at}: {} {shape:?}", T::DTYPE);
            }
        }
    }
    for gpu in support::devices() {
        test::<f32>(&gpu, &Lay::ALL);
        test::<i32>(&gpu, &Lay::ALL);
        test::<i8>(&gpu, &[Lay::Plain, Lay::Gaps]);
    }
    if let Some(gpu) = support::gpu() {
        test::<tilewise::f16>(&gpu, &[Lay::Plain, Lay::Odd]);
        test::<tilewise::bf16>(&gpu, &[Lay::Plain]);
    }
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
    for gpu in support::devices() {
        for (len, lay) in [(64, Lay::Plain), (13, Lay::Gaps), (16, Lay::Odd)] {
            let of = |step: usize| (0..len).map(|i| [0, 1, 0, -3, 5][i / step % 5]).collect::<Vec<i8>>();
            let (x, y) = (of(1), of(5));
            let (a, b) = (Placed::new(&gpu, &x, &[len], lay), Placed::new(&gpu, &y, &[len], lay));
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
    for gpu in support::devices() {
        let x: Vec<i32> = (-20..20).collect();
        let a = gpu.tensor(&x, [40]).unwrap();
        let want: Vec<i32> = x.iter().map(|x| x.clamp(&-3, &7)).copied().collect();
        assert_eq!(ops::clamp(&a, -3, 7).unwrap().to_vec().unwrap(), want);
        let even = gpu.tensor(&x.iter().map(|x| i8::from(x % 2 == 0)).collect::<Vec<_>>(), [40]).unwrap();
        let want: Vec<i32> = x.iter().map(|x| if x % 2 == 0 { *x } else { -1 }).collect();
        assert_eq!(ops::select(&even, &a, -1).unwrap().to_vec().unwrap(), want);
    }
}
