//! What moves bytes moves numbers of 8 bits as it moves `i8`: every code arrives.

use super::{Fp8, NAN, canonical, every_code, of_both};
use crate::bits::{bits, places};
use tilewise::{F8E4M3, F8E5M2, Fill, Gpu, Tensor, ops, reference};

fn codes<T: Fp8>(tensor: &Tensor<T>) -> Vec<u8> {
    tensor.to_vec().unwrap().into_iter().map(Fp8::code).collect()
}

/// The codes of a view of `data`, by definition.
fn at_places<T: Fp8>(data: &[T], view: &Tensor<T>) -> Vec<u8> {
    places(view.layout()).into_iter().map(|place| data[place].code()).collect()
}

#[test]
fn uploads_views_and_writes_keep_every_code() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let data = every_code::<T>();
        let mut tensor = gpu.tensor(&data, [8, 32]).unwrap();
        assert_eq!(codes(&tensor), (0..=u8::MAX).collect::<Vec<_>>());
        let views = [
            tensor.t(),
            tensor.slice(1, 3..8).unwrap(),
            tensor.slice(0, 1..6).unwrap().slice(1, 30..).unwrap().t(),
            tensor.reshape([256]).unwrap().slice(0, 7..20).unwrap(),
            tensor.reshape([2, 2, 64]).unwrap().permute(&[2, 0, 1]).unwrap(),
            tensor.slice(0, 5..6).unwrap().broadcast_to([3, 32]).unwrap(),
        ];
        for view in &views {
            let want = at_places(&data, view);
            assert_eq!(codes(view), want, "{view:?}");
            let copy = view.contiguous().unwrap();
            assert!(copy.layout().is_contiguous() && copy.shape() == view.shape());
            assert_eq!(codes(&copy), want, "{view:?}");
        }
        drop(views);
        let other: Vec<T> = data.iter().rev().copied().collect();
        tensor.write(&other).unwrap();
        assert_eq!(codes(&tensor), (0..=u8::MAX).rev().collect::<Vec<_>>());
        assert_eq!(codes(&gpu.zeros::<T>([7]).unwrap()), [0; 7]);
    }
    let turn = support::turn();
    for gpu in turn.iter() {
        of_both!(check, gpu);
    }
}

#[test]
fn copies_joins_and_indices_keep_every_code() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let data = every_code::<T>();
        let x = gpu.tensor(&data, [16, 16]).unwrap();
        let all = |codes: Vec<T>| codes.into_iter().map(Fp8::code).collect::<Vec<_>>();

        let joined = ops::concat(&[&x.t(), &x.slice(0, 3..6).unwrap()], 0).unwrap();
        assert_eq!(codes(&joined), [at_places(&data, &x.t()), all(data[48..96].to_vec())].concat());
        let stacked = ops::stack(&[&x, &x.t()], 2).unwrap();
        let want = reference::stack(&[&data, &x.t().to_vec().unwrap()], &[16, 16], 2);
        assert_eq!(codes(&stacked), all(want));
        let repeated = ops::repeat(&x.slice(1, 1..4).unwrap(), 1, 3).unwrap();
        assert_eq!(codes(&repeated)[..9], [1, 2, 3].repeat(3));
        let padded = ops::pad(&x, &[(1, 0), (0, 3)], T::of_code(0x91)).unwrap();
        assert_eq!(
            codes(&padded),
            all(reference::pad(&data, &[16, 16], &[(1, 0), (0, 3)], &T::of_code(0x91)))
        );

        // An index out of range gives NaN.
        let numbers = [3, -1, 15, 16];
        let which = gpu.tensor(&numbers, [4]).unwrap();
        for axis in [0, 1] {
            let found = ops::index_select(&x, axis, &which).unwrap();
            let want = reference::index_select(&data, &[16, 16], axis, &numbers);
            let alike = |codes: Vec<u8>| codes.into_iter().map(canonical::<T>).collect::<Vec<_>>();
            assert_eq!(alike(codes(&found)), alike(all(want)));
        }
        let rows = ops::embedding(&x, &which).unwrap();
        assert_eq!(canonical::<T>(codes(&rows)[16]), NAN);
        assert_eq!(codes(&rows)[..16], (48..64).collect::<Vec<u8>>());

        let mut c = gpu.tensor(&bits::<T>(300, 4), [300]).unwrap();
        let before = codes(&c);
        let place = gpu.tensor(&[13], [1]).unwrap();
        ops::copy_into_at(&x.slice(0, 2..3).unwrap().reshape([16]).unwrap(), &mut c, 0, &place).unwrap();
        let after = codes(&c);
        assert_eq!(after[13..29], (32..48).collect::<Vec<u8>>());
        assert_eq!((&after[..13], &after[29..]), (&before[..13], &before[29..]));
        assert_eq!(codes(&ops::slice_at(&c, 0, &place, 7).unwrap()), after[13..20]);

        let ids = gpu.tensor(&[2, 0, 5], [3]).unwrap();
        let ones = ops::one_hot::<T>(&ids, 3).unwrap().cast::<f32>().unwrap();
        assert_eq!(ones.to_vec().unwrap(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    of_both!(check, gpu);
}

#[test]
fn random_numbers_are_those_of_the_fill_in_few_bits() {
    fn check<T: Fp8>(gpu: &Gpu) {
        for fill in [Fill::Uniform, Fill::Integers, Fill::Normal] {
            let values = fill.values::<T>(1000, 3);
            let random = gpu.random::<T>([1000], fill, 3).unwrap();
            assert_eq!(codes(&random), values.iter().map(|x| x.code()).collect::<Vec<_>>());
            assert!(values.iter().all(|x| x.to_f64().is_finite()));
        }
        // Uniform numbers have all significant bits of the type, and none is rounded.
        let steps = 2f64.powi(i32::try_from(T::FRACTION).unwrap());
        let uniform = Fill::Uniform.values::<T>(1000, 3);
        assert!(
            uniform.iter().all(|x| (-1.0..1.0).contains(&x.to_f64()) && (x.to_f64() * steps).fract() == 0.0)
        );
        assert!(uniform.iter().any(|x| (x.to_f64() * steps) % 2.0 != 0.0));
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    of_both!(check, gpu);
}

#[test]
fn tensors_are_printed_as_reals() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let x = gpu.tensor(&[0.3f32, -448.0], [2]).unwrap().cast::<F8E4M3>().unwrap();
    let printed = x.to_string();
    assert!(printed.contains("0.3125") && printed.contains("-448.0000"), "{printed}");
    let named = format!("{x:?} {:?}", gpu.zeros::<F8E5M2>([2]).unwrap());
    assert!(named.contains("Tensor<e4m3>([2]") && named.contains("Tensor<e5m2>([2]"), "{named}");
}
