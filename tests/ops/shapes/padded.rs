//! Padding, repetition, triangles, and tensors made on the device: every type and layout, and what is launched.

use super::gather::{indices, one_launch, placed};
use crate::bits::{bits, bytes};
use support::failure::says;
use support::strided::{Lay, Placed};
use tilewise::gemm::Summand;
use tilewise::{DType, Element, Gpu, Real, Tensor, ops, reference};

#[test]
fn a_padded_tensor_is_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        let value = bits::<T>(1, 9)[0];
        for (case, (shape, padding)) in [
            (&[][..], &[][..]),
            (&[5], &[(2, 4)]),
            (&[8], &[(0, 0)]),
            (&[3, 5], &[(1, 0), (2, 3)]),
            (&[3, 4], &[(0, 2), (4, 0)]),
            (&[2, 6, 8], &[(0, 0), (1, 1), (0, 0)]), // an image with channels
            (&[2, 3, 3, 5], &[(0, 0), (1, 1), (2, 0), (0, 0)]),
            (&[2, 1, 3, 2, 1, 4], &[(1, 0), (0, 2), (1, 1), (0, 0), (1, 1), (3, 1)]),
        ]
        .into_iter()
        .enumerate()
        {
            let data: Vec<T> = bits(shape.iter().product(), case as u64);
            let want = reference::pad(&data, shape, padding, &value);
            for step in [0, 2] {
                let x = Placed::new(gpu, &data, shape, Lay::ALL[(case + step) % 5]).tensor;
                let c = one_launch(gpu, || ops::pad(&x, padding, value));
                assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{} {shape:?} {padding:?}", T::DTYPE);
                // The gradient is a view of the result's.
                let mut back = c;
                for (axis, &(before, _)) in padding.iter().enumerate() {
                    back = back.slice(axis, before..before + shape[axis]).unwrap();
                }
                assert_eq!(bytes(&back.to_vec().unwrap()), bytes(&data));
            }
        }
    }
    for gpu in support::turn().iter() {
        check::<f32>(gpu);
        check::<tilewise::f16>(gpu);
        if support::is_full_sweep() {
            support::of_every_type!(check, gpu);
        }
        let empty = gpu.zeros::<f32>([2, 0]).unwrap();
        assert_eq!(ops::pad(&empty, &[(0, 0), (1, 0)], 3.0).unwrap().to_vec().unwrap(), [3.0; 2]);
    }
}

#[test]
fn a_repeated_tensor_is_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, axis, times)) in
            [(&[5][..], 0, 3), (&[3, 4], 0, 2), (&[3, 5], 1, 4), (&[2, 3, 8], 1, 1), (&[2, 3], 1, 0)]
                .into_iter()
                .enumerate()
        {
            let data: Vec<T> = bits(shape.iter().product(), case as u64);
            let want = reference::repeat(&data, shape, axis, times);
            let x = Placed::new(gpu, &data, shape, Lay::ALL[case % 5]).tensor;
            let c = one_launch(gpu, || ops::repeat(&x, axis, times));
            assert_eq!(c.shape()[axis], shape[axis] * times);
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{} {shape:?} {axis} {times}", T::DTYPE);
        }
        // Six axes, with gaps and without.
        let shape = [2, 3, 1, 2, 3, 2];
        let data: Vec<T> = bits(72, 3);
        for (axis, lay) in [(0, Lay::Plain), (4, Lay::Gaps)] {
            let x = Placed::new(gpu, &data, &shape, lay).tensor;
            let c = ops::repeat(&x, axis, 3).unwrap();
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&reference::repeat(&data, &shape, axis, 3)));
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
    }
}

#[test]
fn rows_of_ones_and_zeros_are_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, (shape, classes)) in
            [(&[][..], 3), (&[7], 5), (&[3, 7], 8), (&[2, 1, 3, 1, 2], 1), (&[0], 4), (&[9], 0)]
                .into_iter()
                .enumerate()
        {
            let numbers = indices(shape.iter().product(), classes, case as u64);
            let ids = placed(gpu, &numbers, shape, Lay::ALL[case % 5]);
            let c = one_launch(gpu, || ops::one_hot::<T>(&ids, classes));
            assert_eq!(c.shape(), [shape, &[classes]].concat());
            let want = reference::one_hot::<T>(&numbers, classes);
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{} {shape:?} {classes}", T::DTYPE);
        }
    }
    for gpu in support::turn().iter() {
        check::<f32>(gpu);
        check::<i8>(gpu);
        if support::is_full_sweep() {
            support::of_every_type!(check, gpu);
        }
    }
}

/// The elements of `arange`.
#[expect(clippy::cast_possible_truncation, reason = "few elements")]
fn elements(start: f64, end: f64, step: f64) -> usize {
    ((end - start) / step).ceil() as usize
}

#[test]
fn elements_by_their_index_are_as_defined() {
    fn constants<T: Element>(gpu: &Gpu) {
        let value = bits::<T>(1, 9)[0];
        for shape in [&[][..], &[5], &[0, 3], &[2, 3, 1, 2, 3, 2], &[3, 100]] {
            let count = shape.iter().product();
            let c = one_launch(gpu, || gpu.full(shape, value));
            assert_eq!(c.shape(), shape);
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&vec![value; count]), "{} {shape:?}", T::DTYPE);
            let ones = one_launch(gpu, || gpu.ones::<T>(shape));
            assert_eq!(bytes(&ones.to_vec().unwrap()), bytes(&vec![T::from_f64(1.0); count]));
        }
        for shape in [[1, 1], [7, 7], [3, 10], [65, 9], [0, 4], [4, 0]] {
            let c = one_launch(gpu, || gpu.eye::<T>(shape));
            assert_eq!(c.shape(), shape);
            assert_eq!(
                bytes(&c.to_vec().unwrap()),
                bytes(&reference::eye::<T>(shape)),
                "{} {shape:?}",
                T::DTYPE
            );
        }
    }
    fn whole<T: Summand>(gpu: &Gpu) {
        let of = T::from_f64;
        for (start, end, step) in
            [(0, 100, 1), (-7, 8, 3), (5, -6, -2), (4, 4, 1), (-126, 127, 126), (3, 4, 100)]
        {
            let count = elements(f64::from(start), f64::from(end), f64::from(step));
            let c =
                one_launch(gpu, || gpu.arange(of(f64::from(start)), of(f64::from(end)), of(f64::from(step))));
            let want: Vec<T> = (0..).map(|i| of(f64::from(start + i * step))).take(count).collect();
            assert_eq!(bytes(&c.to_vec().unwrap()), bytes(&want), "{} {start} {end} {step}", T::DTYPE);
        }
    }
    fn reals<T: Real>(gpu: &Gpu) {
        let rounding = match T::DTYPE {
            DType::F32 => 0.0,
            DType::F16 => f64::powi(2.0, -11),
            _ => f64::powi(2.0, -8),
        };
        let within = |c: &Tensor<T>, want: &[f64], bound: &dyn Fn(usize) -> f64| {
            for (i, (c, want)) in c.to_vec().unwrap().iter().zip(want).enumerate() {
                let smallest = f64::powi(2.0, if T::DTYPE == DType::F16 { -24 } else { -126 });
                let most = bound(i) * (1.0 + rounding) + rounding * want.abs() + smallest;
                assert!((c.to_f64() - want).abs() <= most, "{} {i}: {c:?}, not {want}", T::DTYPE);
            }
        };
        for (start, end, step) in
            [(0.0, 1.0, 0.1), (-3.3, 7.25, 0.013), (2.0, -2.0, -0.3), (1000.0, 1010.0, 1.7)]
        {
            let [start, end, step] = [start, end, step].map(T::from_f64);
            let c = one_launch(gpu, || gpu.arange(start, end, step));
            let [start, end, step] = [start, end, step].map(T::to_f64);
            let want = reference::arange(start, step, elements(start, end, step));
            assert_eq!(c.shape(), [want.len()]);
            let u = reference::gamma(1);
            within(&c, &want, &|i| reference::gamma(2) * (i as f64 * step).abs() + u * want[i].abs());
        }
        for (start, end, count) in [
            (0.0, 1.0, 11),
            (-5.5, 300.0, 777),
            (3.0, -3.0, 4),
            (1.0, 9.0, 1),
            (1.0, 9.0, 2),
            (2.0, 2.0, 5),
            (0.1, 0.7, 0),
        ] {
            let [start, end] = [start, end].map(T::from_f64);
            let c = one_launch(gpu, || gpu.linspace(start, end, count));
            let values = c.to_vec().unwrap();
            assert_eq!(values.len(), count);
            if count > 0 {
                assert_eq!(values[0], start);
            }
            if count > 1 {
                assert_eq!(values[count - 1], end, "{} {count}", T::DTYPE);
            }
            let [start, end] = [start, end].map(T::to_f64);
            let bound = reference::gamma(6) * start.abs().max(end.abs());
            within(&c, &reference::linspace(start, end, count), &|_| bound);
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(constants, gpu);
        whole::<f32>(gpu);
        whole::<i32>(gpu);
        whole::<i8>(gpu);
        reals::<f32>(gpu);
        reals::<tilewise::f16>(gpu);
        reals::<tilewise::bf16>(gpu);
        // The ends of the range, whose difference f32 does not hold.
        let ends = gpu.linspace(f32::MIN, f32::MAX, 2).unwrap().to_vec().unwrap();
        assert_eq!(ends, [f32::MIN, f32::MAX]);
        for count in [3, 63, 255, 1000] {
            let values = gpu.linspace(f32::MIN, f32::MAX, count).unwrap().to_vec().unwrap();
            assert!(values.is_sorted() && values.iter().all(|x| x.is_finite()), "{values:?}");
            assert_eq!([values[0], values[count - 1]], [f32::MIN, f32::MAX]);
        }
        // A step that is subnormal, between normal numbers.
        let small = gpu.linspace(0.0f32, 1e-36, 1001).unwrap().to_vec().unwrap();
        assert!((small[500] / 5e-37 - 1.0).abs() < 1e-5, "{}", small[500]);
        let exact = gpu.linspace(-0.0f32, f32::from_bits(3), 3).unwrap().to_vec().unwrap();
        assert_eq!([exact[0].to_bits(), exact[2].to_bits()], [(-0.0f32).to_bits(), 3]);
        let first = gpu.arange(-0.0f32, 2.0, 1.0).unwrap().to_vec().unwrap()[0];
        assert_eq!(first.to_bits(), (-0.0f32).to_bits());
        says(gpu.arange(-3e38f32, 3e38, 1e38), &["^arange: the step: the last number lies"]);
        assert_eq!(gpu.arange(i32::MIN, i32::MAX, 1 << 30).unwrap().to_vec().unwrap()[3], 1 << 30);
    }
}

#[test]
fn triangles_are_as_defined() {
    fn check<T: Element>(gpu: &Gpu) {
        for (case, shape) in
            [&[1, 1][..], &[5, 5], &[3, 8], &[9, 4], &[2, 3, 7, 6], &[2, 1, 2, 2, 3, 5], &[0, 4], &[3, 4, 0]]
                .into_iter()
                .enumerate()
        {
            let data: Vec<T> = bits(shape.iter().product(), case as u64); // NaN is among them
            for (step, diagonal) in [0, 1, -2, 5, -9, isize::MAX, isize::MIN].into_iter().enumerate() {
                let x = Placed::new(gpu, &data, shape, Lay::ALL[(case + step) % 5]).tensor;
                let what = format!("{} {shape:?} {diagonal}", T::DTYPE);
                let c = one_launch(gpu, || ops::tril(&x, diagonal));
                assert_eq!(c.shape(), shape);
                assert_eq!(
                    bytes(&c.to_vec().unwrap()),
                    bytes(&reference::tril(&data, shape, diagonal)),
                    "{what}"
                );
                let c = one_launch(gpu, || ops::triu(&x, diagonal));
                assert_eq!(
                    bytes(&c.to_vec().unwrap()),
                    bytes(&reference::triu(&data, shape, diagonal)),
                    "{what}"
                );
            }
        }
    }
    for gpu in support::turn().iter() {
        support::of_every_type!(check, gpu);
        let nan = gpu.full([3, 3], f32::NAN).unwrap();
        let lower = ops::tril(&nan, -1).unwrap().to_vec().unwrap();
        assert!(
            lower.iter().enumerate().all(|(i, x)| x.is_nan() == (i % 3 < i / 3) && (x.is_nan() || *x == 0.0))
        );
    }
}
