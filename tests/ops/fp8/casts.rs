//! Casts to and from 8 bits have the bits of their definition on every device and from every view.

use super::{Fp8, NAN, canonical, every_code, magnitudes, nearest, of_both, saturated, value};
use crate::bits::{bits, places};
use tilewise::{Element, F8E4M3, F8E5M2, Gpu, Tensor, bf16, f16};

/// Asserts that a cast gave the nearest codes.
fn assert_nearest<T: Element, U: Fp8>(values: &[T], found: &[U], round: fn(&[f64], f64) -> u8) {
    let all = magnitudes::<U>();
    assert_eq!(values.len(), found.len());
    for (i, (x, found)) in values.iter().zip(found).enumerate() {
        let (found, want) = (canonical::<U>(found.code()), round(&all, x.to_f64()));
        assert!(
            found == want,
            "{} to {}, element {i}: {x:?} gives {found:#x}, not {want:#x}",
            T::DTYPE,
            U::DTYPE
        );
    }
}

/// Casts all of `tensor`, whose elements are `values`, to both types.
fn check_into<T: Element>(tensor: &Tensor<T>, values: &[T]) {
    fn check<U: Fp8, T: Element>(tensor: &Tensor<T>, values: &[T]) {
        assert_nearest(values, &tensor.cast::<U>().unwrap().to_vec().unwrap(), nearest::<U>);
    }
    check::<F8E4M3, T>(tensor, values);
    check::<F8E5M2, T>(tensor, values);
}

/// The same, saturating.
fn check_saturating<T: Element>(tensor: &Tensor<T>, values: &[T]) {
    fn check<U: Fp8, T: Element>(tensor: &Tensor<T>, values: &[T]) {
        assert_nearest(values, &tensor.cast_saturating::<U>().unwrap().to_vec().unwrap(), saturated::<U>);
    }
    check::<F8E4M3, T>(tensor, values);
    check::<F8E5M2, T>(tensor, values);
}

/// Both signs of each, and both neighbours of that.
fn around(values: impl Iterator<Item = u32>) -> Vec<f32> {
    values
        .flat_map(|bits| [bits.saturating_sub(1), bits, bits + 1])
        .flat_map(|bits| [bits, bits | 0x8000_0000])
        .map(f32::from_bits)
        .collect()
}

#[expect(clippy::cast_possible_truncation, reason = "numbers and middles have few bits")]
fn single(value: f64) -> u32 {
    (value as f32).to_bits()
}

/// Every number, every middle between two, and their neighbours; what is beyond, subnormal or NaN; and others at random.
fn hard_reals() -> Vec<f32> {
    fn of<T: Fp8>() -> impl Iterator<Item = u32> {
        let all = magnitudes::<T>();
        let middles: Vec<f64> = all.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect();
        all.into_iter().chain(middles).map(single)
    }
    let edges =
        [0u32, 1, 0x40_0000, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7f80_ffff, 0x7fc0_0000];
    let largest = [0x7fff_ffff, 0xffff_ffff, 0xffc0_0000].map(f32::from_bits);
    let mut values = around(of::<F8E4M3>().chain(of::<F8E5M2>()).chain(edges));
    values.extend(largest);
    // At random, of either sign: of any size, and within the range of both types.
    let random = |seed| {
        bits::<i32>(20_001, seed).into_iter().map(|bits| bits.cast_unsigned() ^ bits.cast_unsigned() << 31)
    };
    values.extend(random(5).map(f32::from_bits));
    values.extend(random(6).map(|bits| f32::from_bits(bits & 0x807f_ffff | (100 + bits % 48) << 23)));
    values
}

#[test]
fn every_code_has_its_value_in_wider_types() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let codes = every_code::<T>();
        let tensor = gpu.tensor(&codes, [256]).unwrap();
        let of = |code: &T| value::<T>(code.code());
        let same = |found: f64, code: &T, to: &str| {
            let want = of(code);
            let is_same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
            assert!(is_same, "{} {:#x} to {to}: {found:e}", T::DTYPE, code.code());
        };
        for (found, code) in tensor.cast::<f32>().unwrap().to_vec().unwrap().iter().zip(&codes) {
            same(f64::from(*found), code, "f32");
        }
        // Among the f16 are subnormal numbers.
        let halves = tensor.cast::<f16>().unwrap().to_vec().unwrap();
        for (found, code) in halves.iter().zip(&codes) {
            same(f64::from(*found), code, "f16");
            let is_upper =
                T::FRACTION != 2 || found.is_nan() || found.to_bits() == u16::from(code.code()) << 8;
            assert!(is_upper, "{:#x}", code.code());
        }
        assert_eq!(halves.iter().filter(|x| x.classify() == std::num::FpCategory::Subnormal).count(), {
            if T::FRACTION == 2 { 6 } else { 0 }
        });
        for (found, code) in tensor.cast::<bf16>().unwrap().to_vec().unwrap().iter().zip(&codes) {
            same(f64::from(*found), code, "bf16");
        }
        #[expect(clippy::cast_possible_truncation, reason = "Rust's saturating conversion is the definition")]
        let (small, large) = (|x: f64| x as i8, |x: f64| x as i32);
        let found = tensor.cast::<i8>().unwrap().to_vec().unwrap();
        assert_eq!(found, codes.iter().map(|code| small(of(code))).collect::<Vec<_>>());
        let found = tensor.cast::<i32>().unwrap().to_vec().unwrap();
        assert_eq!(found, codes.iter().map(|code| large(of(code))).collect::<Vec<_>>());
        // And back: every number is the nearest to itself.
        let back = tensor.cast::<f32>().unwrap().cast::<T>().unwrap().to_vec().unwrap();
        let all_alike =
            |codes: &[T]| codes.iter().map(|code| canonical::<T>(code.code())).collect::<Vec<_>>();
        assert_eq!(all_alike(&back), all_alike(&codes));
        check_into(&tensor, &codes);
        check_saturating(&tensor, &codes);
        assert!(tensor.cast::<T>().unwrap().shares_buffer(&tensor), "nothing changes");
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    of_both!(check, gpu);
}

#[test]
fn every_number_of_16_bits_goes_to_the_nearest_code() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let tensor = gpu.tensor(&halves, [halves.len()]).unwrap();
    check_into(&tensor, &halves);
    check_saturating(&tensor, &halves);
    let halves: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    let tensor = gpu.tensor(&halves, [halves.len()]).unwrap();
    check_into(&tensor, &halves);
    check_saturating(&tensor, &halves);
}

#[test]
fn f32_goes_to_the_nearest_code() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let values = hard_reals();
    let count = |is: fn(f32) -> bool| values.iter().filter(|x| is(**x)).count();
    assert!(count(f32::is_nan) > 10 && count(f32::is_subnormal) > 6 && count(f32::is_infinite) > 1);
    assert!(values.len() > 40_000 + 6 * 2 * (128 + 125));
    let tensor = gpu.tensor(&values, [values.len()]).unwrap();
    check_into(&tensor, &values);
    check_saturating(&tensor, &values);

    // In numbers, in case the definition is wrong.
    let few = [464.0f32, 464.000_03, -1e9, 0.000_976_562_5, 0.000_976_562_6, -0.0, f32::INFINITY, 57_344.0];
    let few = gpu.tensor(&few, [8]).unwrap();
    let codes =
        |found: Vec<F8E4M3>| found.into_iter().map(|x| canonical::<F8E4M3>(x.code())).collect::<Vec<_>>();
    let found = codes(few.cast().unwrap().to_vec().unwrap());
    assert_eq!(found, [0x7e, NAN, NAN, 0, 1, 0x80, NAN, NAN]);
    let found = codes(few.cast_saturating().unwrap().to_vec().unwrap());
    assert_eq!(found, [0x7e, 0x7e, 0xfe, 0, 1, 0x80, 0x7e, 0x7e]);
    let found: Vec<F8E5M2> = few.cast().unwrap().to_vec().unwrap();
    let found: Vec<u8> = found.into_iter().map(F8E5M2::to_bits).collect();
    assert_eq!(found, [0x5f, 0x5f, 0xfc, 0x14, 0x14, 0x80, 0x7c, 0x7b]);
}

#[test]
fn integers_go_to_the_nearest_code() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let small: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    check_into(&gpu.tensor(&small, [256]).unwrap(), &small);
    let mut large: Vec<i32> = (-70_000..70_000).collect();
    large.extend([i32::MIN, i32::MIN + 1, i32::MAX, 1 << 24, (1 << 24) + 1]);
    large.extend(bits::<i32>(5000, 8));
    let tensor = gpu.tensor(&large, [large.len()]).unwrap();
    check_into(&tensor, &large);
    check_saturating(&tensor, &large);
}

#[test]
fn saturating_casts_from_8_bits_are_finite() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let codes = [0x7cu8, 0xfc, 0x7b, 0xfb, 0x01].map(F8E5M2::from_bits);
    let tensor = gpu.tensor(&codes, [5]).unwrap();
    let found = tensor.cast_saturating::<f32>().unwrap().to_vec().unwrap();
    assert_eq!(found, [f32::MAX, f32::MIN, 57_344.0, -57_344.0, 2f32.powi(-16)]);
    let found = tensor.cast_saturating::<F8E5M2>().unwrap().to_vec().unwrap();
    assert_eq!(found.map_codes(), [0x7b, 0xfb, 0x7b, 0xfb, 0x01]);
    let found = tensor.cast_saturating::<F8E4M3>().unwrap().to_vec().unwrap();
    assert_eq!(found.map_codes(), [0x7e, 0xfe, 0x7e, 0xfe, 0x00]);
}

trait MapCodes {
    fn map_codes(&self) -> Vec<u8>;
}

impl<T: Fp8> MapCodes for Vec<T> {
    fn map_codes(&self) -> Vec<u8> {
        self.iter().map(|x| x.code()).collect()
    }
}

/// Views at odd offsets and with strides, of lengths that are no multiple of four.
fn views<T: Element>(gpu: &Gpu, data: &[T]) -> Vec<(Tensor<T>, Vec<T>)> {
    let flat = gpu.tensor(data, [data.len()]).unwrap();
    let cube = flat.slice(0, ..2 * 3 * 5 * 7).unwrap().reshape([2, 3, 5, 7]).unwrap();
    let mut views = vec![
        cube.permute(&[3, 1, 0, 2]).unwrap(),
        cube.slice(3, 1..6).unwrap(),
        cube.t().slice(2, 3..4).unwrap(),
        flat.as_strided(&[3, 2, 3], &[2, 0, 71], 13).unwrap(),
        flat.as_strided(&[], &[], 101).unwrap(),
    ];
    let ranges = [1..256, 3..4, 5..11, 2..9, 0..1, 0..2, 0..3, 0..5, 0..17, 16..51, 32..255, 7..24];
    views.extend(ranges.map(|range| flat.slice(0, range).unwrap()));
    let elements = |view: &Tensor<T>| places(view.layout()).into_iter().map(|place| data[place]).collect();
    views.into_iter().map(|view| (view.clone(), elements(&view))).collect()
}

#[test]
fn views_are_cast_element_by_element() {
    fn from<T: Fp8>(gpu: &Gpu) {
        fn check<T: Fp8, U: Element>(view: &Tensor<T>, elements: &[T]) {
            let found = view.cast::<U>().unwrap();
            assert!(found.layout().is_contiguous() && found.shape() == view.shape());
            for (found, code) in found.to_vec().unwrap().into_iter().zip(elements) {
                let (found, want) = (found.to_f64(), value::<T>(code.code()));
                let is_same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
                assert!(is_same, "{} to {}, {view:?}: {found:e}, not {want:e}", T::DTYPE, U::DTYPE);
            }
        }
        for (view, elements) in views(gpu, &every_code::<T>()) {
            check::<T, f32>(&view, &elements);
            check::<T, f16>(&view, &elements);
            check::<T, bf16>(&view, &elements);
            check_into(&view, &elements);
        }
    }
    fn to<T: Element>(gpu: &Gpu, data: &[T]) {
        for (view, elements) in views(gpu, data) {
            check_into(&view, &elements);
        }
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    of_both!(from, gpu);
    let hard = hard_reals();
    let data: Vec<f32> = (0..256).map(|i| hard[(i * 61) % hard.len()]).collect();
    to(gpu, &data);
    to(gpu, &data.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>());
    to(gpu, &data.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
    to(gpu, &(i8::MIN..=i8::MAX).collect::<Vec<_>>());
}

#[test]
fn what_lies_behind_the_last_code_of_a_word_stays() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    for len in [1, 2, 3, 5, 6, 7, 9, 17, 31] {
        let whole = gpu.tensor(&[F8E4M3::from_bits(0xa5); 64], [64]).unwrap();
        let reals = gpu.tensor(&vec![1.0f32; len], [len]).unwrap();
        let ones = reals.cast::<F8E4M3>().unwrap();
        assert_eq!(ones.to_vec().unwrap().map_codes(), vec![0x38; len]);
        let mut place = whole.slice(0, 3..3 + len).unwrap().writable_view();
        tilewise::ops::copy_into(&ones, &mut place).unwrap();
        let mut want = vec![0xa5; 64];
        want[3..3 + len].fill(0x38);
        assert_eq!(whole.to_vec().unwrap().map_codes(), want);
    }
}
