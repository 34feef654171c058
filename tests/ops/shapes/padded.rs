//! Padding, repetition, and rows of ones and zeros: every type and layout, and what is launched.

use super::gather::{indices, placed};
use crate::bits::{bits, bytes};
use support::strided::{Lay, Placed};
use tilewise::{Element, Error, Gpu, Result, Tensor, ops, reference};

/// Runs what must be one launch that uploads nothing.
fn one_launch<T: Element>(gpu: &Gpu, run: impl FnOnce() -> Result<Tensor<T>>) -> Tensor<T> {
    let before = gpu.stats();
    let c = run().unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, u64::from(!c.is_empty()));
    assert_eq!(after.bytes_staged, before.bytes_staged);
    c
}

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

fn says<R: std::fmt::Debug>(result: Result<R>, words: &[&str]) {
    let error = result.expect_err("a mistake");
    assert!(!matches!(error, Error::Device(_)), "{error}");
    let said = error.to_string();
    words.iter().for_each(|word| assert!(said.contains(word), "no {word:?} in: {said}"));
}

#[test]
fn mistakes_are_errors_that_name_the_call() {
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([2, 3]).unwrap();
    let ids = |shape: &[usize]| gpu.zeros::<i32>(shape).unwrap();
    says(ops::pad(&x, &[(1, 1)], 0.0), &["pad: there must be a pair", "[2, 3]", "[1]"]);
    says(ops::pad(&x, &[(usize::MAX, 1), (0, 0)], 0.0), &["pad: the number of elements"]);
    says(ops::pad(&x, &[(1 << 31, 0), (0, 0)], 0.0), &["pad", "6442450950"]);
    says(ops::repeat(&x, 2, 3), &["repeat: the axis must be one", "[2, 3]", "[2]"]);
    says(ops::repeat(&x, 0, usize::MAX), &["repeat: the number of elements"]);
    says(ops::one_hot::<f32>(&ids(&[1; 6]), 2), &["one_hot: the ids must have at most 5 axes"]);
    says(ops::one_hot::<f32>(&ids(&[2]), usize::MAX), &["one_hot: the number of elements"]);
    says(ops::one_hot::<f32>(&ids(&[2]), 1 << 31), &["one_hot", "4294967296"]);
    assert_eq!(gpu.stats().launches, 0);
}
