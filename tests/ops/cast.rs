//! Casts are Rust's `as` and `half`'s conversions, to the bit, on every device and from every view.
#![expect(clippy::cast_possible_truncation, reason = "`as` is what casts are compared with")]

use tilewise::{DType, Element, Fill, Gpu, Tensor, bf16, f16};

/// A value on its way from one type to another.
#[derive(Clone, Copy)]
enum Value {
    Real(f32),
    Integer(i32),
}

use Value::{Integer, Real};

/// The definition: what Rust and `half` make of a value.
trait Scalar: Element {
    const LARGEST: f32;
    /// Exact.
    fn value(self) -> Value;
    fn plain(value: Value) -> Self;
    fn saturated(value: Value) -> Self;
    /// The bits, all NaNs alike.
    fn bits(self) -> u32;
    fn with_bits(bits: u32) -> Self;
}

/// Clamps reals; NaN stays.
fn clamped<T: Scalar>(value: Value) -> Value {
    let real = match value {
        Real(real) => real,
        Integer(integer) => integer as f32,
    };
    Real(real.clamp(-T::LARGEST, T::LARGEST))
}

macro_rules! real {
    ($type:ident, $bits:ident, $largest:expr, $of_f32:expr) => {
        impl Scalar for $type {
            const LARGEST: f32 = $largest;
            fn value(self) -> Value {
                Real(f32::from(self))
            }
            fn plain(value: Value) -> Self {
                match value {
                    Real(real) => $of_f32(real),
                    Integer(integer) => $of_f32(integer as f32),
                }
            }
            fn saturated(value: Value) -> Self {
                Self::plain(clamped::<Self>(value))
            }
            fn bits(self) -> u32 {
                if self.is_nan() { u32::MAX } else { self.to_bits().into() }
            }
            fn with_bits(bits: u32) -> Self {
                Self::from_bits(bits as $bits)
            }
        }
    };
}

macro_rules! integer {
    ($type:ident) => {
        impl Scalar for $type {
            const LARGEST: f32 = $type::MAX as f32;
            fn value(self) -> Value {
                Integer(self.into())
            }
            fn plain(value: Value) -> Self {
                match value {
                    Real(real) => real as $type,
                    Integer(integer) => integer as $type,
                }
            }
            fn saturated(value: Value) -> Self {
                match value {
                    Real(real) => real as $type,
                    Integer(integer) => integer.clamp($type::MIN.into(), $type::MAX.into()) as $type,
                }
            }
            fn bits(self) -> u32 {
                i32::from(self) as u32
            }
            fn with_bits(bits: u32) -> Self {
                bits as $type
            }
        }
    };
}

real!(f32, u32, f32::MAX, |real| real);
real!(f16, u16, f16::MAX.to_f32_const(), f16::from_f32);
real!(bf16, u16, bf16::MAX.to_f32_const(), bf16::from_f32);
integer!(i8);
integer!(i32);

fn compare<T: Scalar, U: Scalar>(values: &[T], got: &[U], want: impl Fn(Value) -> U, how: &str) {
    assert_eq!(values.len(), got.len());
    for (i, (&value, &got)) in values.iter().zip(got).enumerate() {
        let want = want(value.value());
        let types = (T::DTYPE, U::DTYPE);
        assert!(
            got.bits() == want.bits(),
            "{how} {types:?}, element {i}: {value:?} ({:#x}) gives {got:?} ({:#x}), not {want:?}",
            value.bits(),
            got.bits(),
        );
    }
}

/// Casts all of `tensor`, whose elements are `values`, both ways.
fn check<T: Scalar, U: Scalar>(tensor: &Tensor<T>, values: &[T]) {
    compare(values, &tensor.cast::<U>().unwrap().to_vec().unwrap(), U::plain, "cast");
    compare(values, &tensor.cast_saturating::<U>().unwrap().to_vec().unwrap(), U::saturated, "saturating");
}

fn check_all<T: Scalar>(gpu: &Gpu, values: &[T]) {
    let tensor = gpu.tensor(values, [values.len()]).unwrap();
    check::<T, f32>(&tensor, values);
    check::<T, f16>(&tensor, values);
    check::<T, bf16>(&tensor, values);
    check::<T, i8>(&tensor, values);
    check::<T, i32>(&tensor, values);
}

/// Bits that are spread over all of u32.
fn random_bits(count: usize, seed: u64) -> Vec<u32> {
    let bytes = Fill::Uniform.values::<i8>(4 * count, seed);
    bytemuck::pod_collect_to_vec(&bytes)
}

/// Both signs of each, and both neighbours of that.
fn around(bits: impl Iterator<Item = u32>) -> Vec<f32> {
    bits.flat_map(|bits| [bits.saturating_sub(1), bits, bits + 1])
        .flat_map(|bits| [bits, bits | 0x8000_0000])
        .map(f32::from_bits)
        .collect()
}

#[test]
fn every_value_of_16_bits_becomes_what_rust_makes_of_it() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    check_all::<f16>(gpu, &(0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>());
    check_all::<bf16>(gpu, &(0..=u16::MAX).map(bf16::from_bits).collect::<Vec<_>>());
}

#[test]
fn every_middle_between_two_halves_goes_to_the_even_one_and_its_neighbours_to_the_nearer() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // Behind the largest stands infinity, which is where rounding has it; the middle is that of an infinite range.
    let of_f16 = (0..f16::INFINITY.to_bits()).map(|bits| {
        let (low, high) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits + 1).to_f32().min(65_536.0));
        ((low + high) / 2.0).to_bits()
    });
    let of_bf16 = (0..u32::from(bf16::INFINITY.to_bits())).map(|bits| bits << 16 | 0x8000);
    let values = around(of_f16.chain(of_bf16));
    assert_eq!(values.len(), 6 * (0x7c00 + 0x7f80));
    let tensor = gpu.tensor(&values, [values.len()]).unwrap();
    check::<f32, f16>(&tensor, &values);
    check::<f32, bf16>(&tensor, &values);

    let halves =
        gpu.tensor(&[65_519.996f32, 65_520.0, 2.0f32.powi(-25), 3.0 * 2.0f32.powi(-25)], [4]).unwrap();
    let halves: Vec<u16> =
        halves.cast::<f16>().unwrap().to_vec().unwrap().iter().map(|h| h.to_bits()).collect();
    assert_eq!(halves, [0x7bff, 0x7c00, 0, 2], "the definition, in case `half` is wrong");
}

#[test]
fn reals_of_every_size_become_what_rust_makes_of_them() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // Every exponent, subnormals, infinities and NaN among them; then values of which integers keep something.
    let edges = (0..=255).flat_map(|exponent| [0, 1, 0x40_0000, 0x7f_ffff].map(|rest| exponent << 23 | rest));
    let mut values = around(edges.filter(|&bits| bits < 0x7fff_ffff));
    values.extend(random_bits(30_000, 1).into_iter().map(f32::from_bits));
    values.extend((-600..600).map(|quarter| quarter as f32 / 4.0));
    values
        .extend(around([i32::MAX as f32, 128.0, 127.0, 129.0, 65_504.0, 1.0].map(f32::to_bits).into_iter()));
    assert!(
        values.iter().any(|v| v.is_nan()) && values.contains(&f32::INFINITY) && values.contains(&f32::MAX)
    );
    check_all(gpu, &values);
}

#[test]
fn integers_become_what_rust_makes_of_them() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    check_all::<i8>(gpu, &(i8::MIN..=i8::MAX).collect::<Vec<_>>());
    // Around each power of two; around the middles of neighbouring f32, f16 and bf16 of each size; at random.
    let powers = (0..32).map(|bit| 1u32 << bit);
    let middles = (0..31).flat_map(|bit| {
        [8, 11, 24]
            .into_iter()
            .filter(move |&kept| kept <= bit)
            .flat_map(move |kept| (0..4).map(move |last| (1 << bit) + (2 * last + 1) * (1 << (bit - kept))))
    });
    let near = |value: u32| (0..5).map(move |step| value.wrapping_add(step).wrapping_sub(2));
    let mut values: Vec<i32> = powers
        .chain(middles)
        .flat_map(near)
        .flat_map(|value| [value as i32, (value as i32).wrapping_neg()])
        .chain(random_bits(30_000, 2).into_iter().map(|bits| bits as i32))
        .chain(-70_000..70_000)
        .collect();
    values.extend([i32::MIN, i32::MIN + 1, i32::MAX, 0]);
    check_all(gpu, &values);
}

#[test]
fn i32_reaches_the_narrow_reals_through_f32() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    // One above the middle of two bf16: f32 drops the one, and what is left is a tie. One rounding would go up.
    let (value, tie) = ((1 << 30) + (1 << 22) + 1, (1 << 30) + (1 << 22));
    let got = gpu.tensor(&[value, tie], [2]).unwrap().cast::<bf16>().unwrap().to_vec().unwrap();
    assert_eq!(got.iter().map(|v| v.to_f32()).collect::<Vec<_>>(), [2.0f32.powi(30); 2]);
}

#[test]
fn saturating_casts_know_neither_infinity_nor_wrapping() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let reals = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -65_520.0, 1.5, f32::NAN];
    let reals = gpu.tensor(&reals, [6]).unwrap();
    let to_f16 = reals.cast_saturating::<f16>().unwrap().to_vec().unwrap();
    let f16s = [f16::MAX, f16::MIN, f16::MAX, f16::MIN, f16::from_f32(1.5)];
    assert_eq!(to_f16[..5], f16s);
    assert!(to_f16[5].is_nan());
    let to_bf16 = reals.cast_saturating::<bf16>().unwrap().to_vec().unwrap();
    assert_eq!(to_bf16[..3], [bf16::MAX, bf16::MIN, bf16::MAX]);
    // Also where the type is the same, or wider: what is promised does not depend on the type it was.
    let to_f32 = reals.cast_saturating::<f32>().unwrap().to_vec().unwrap();
    assert_eq!(to_f32[..5], [f32::MAX, f32::MIN, f32::MAX, -65_520.0, 1.5]);
    let infinite = gpu.tensor(&[f16::INFINITY, f16::NEG_INFINITY], [2]).unwrap();
    assert_eq!(infinite.cast_saturating::<f32>().unwrap().to_vec().unwrap(), [f32::MAX, f32::MIN]);
    assert_eq!(reals.cast_saturating::<i8>().unwrap().to_vec().unwrap(), [127, -128, 127, -128, 1, 0]);

    let integers = gpu.tensor(&[i32::MIN, i32::MAX, 128, -129, 100], [5]).unwrap();
    assert_eq!(integers.cast_saturating::<i8>().unwrap().to_vec().unwrap(), [-128, 127, 127, -128, 100]);
    assert_eq!(integers.cast::<i8>().unwrap().to_vec().unwrap(), [0, -1, -128, 127, 100]);
    let to_f16 = integers.cast_saturating::<f16>().unwrap().to_vec().unwrap();
    assert_eq!(to_f16[..2], [f16::MIN, f16::MAX]);
}

/// Values of any type that differ from their neighbours, overflow among them.
fn mixed<T: Scalar>(len: usize) -> Vec<T> {
    random_bits(len, 3).into_iter().map(T::with_bits).collect()
}

/// The elements of a view of `data`, row-major, by definition.
fn elements<T: Element>(data: &[T], view: &Tensor<T>) -> Vec<T> {
    let layout = view.layout();
    let mut places = vec![layout.offset()];
    for (&extent, &stride) in layout.shape().iter().zip(layout.strides()) {
        places = places.iter().flat_map(|place| (0..extent).map(move |i| place + i * stride)).collect();
    }
    places.into_iter().map(|place| data[place]).collect()
}

/// Views of up to six axes, at every offset within a word and beyond a window, with every rest of a word.
fn views<T: Scalar>(gpu: &Gpu) -> Vec<(Tensor<T>, Vec<T>)> {
    let data = mixed::<T>(2 * 3 * 4 * 5 * 6 * 7);
    let a = gpu.tensor(&data, [2, 3, 4, 5, 6, 7]).unwrap();
    let flat = a.reshape([data.len()]).unwrap();
    let mut views = vec![
        a.permute(&[5, 3, 1, 0, 2, 4]).unwrap(),
        a.permute(&[4, 5, 0, 1, 3, 2]).unwrap().slice(0, 1..5).unwrap().slice(4, 2..4).unwrap(),
        a.as_strided(&[2, 3, 2, 5, 3, 7], &[0, 1, 840, 42, 0, 2], 13).unwrap(),
        a.as_strided(&[9, 9], &[1, 1], 3).unwrap(),
        a.as_strided(&[5], &[0], 1077).unwrap(),
        a.as_strided(&[], &[], 1023).unwrap(),
        a.slice(5, 3..4).unwrap(),
        flat.slice(0, 1..).unwrap(),
    ];
    views.extend((0..9).map(|step| flat.slice(0, 251 + step..256 + 2 * step).unwrap()));
    views.into_iter().map(|view| (view.clone(), elements(&data, &view))).collect()
}

/// Raw bits, NaN's too.
fn raw<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

#[test]
fn every_view_is_cast_from_every_type_to_every_other() {
    fn from<T: Scalar>(gpu: &Gpu) {
        for (view, values) in views::<T>(gpu) {
            check::<T, f32>(&view, &values);
            check::<T, f16>(&view, &values);
            check::<T, bf16>(&view, &values);
            check::<T, i8>(&view, &values);
            check::<T, i32>(&view, &values);
        }
    }
    // Dims through the ring, and no f16 in shaders: the other tests have what the device has.
    let Some(gpu) = support::bare() else { return };
    support::of_every_type!(from, &gpu);
}

#[test]
fn tensors_of_every_length_are_cast_to_their_last_element() {
    fn from<T: Scalar>(gpu: &Gpu) {
        let data = mixed::<T>(600);
        let tensor = gpu.tensor(&data, [600]).unwrap();
        for range in
            [0..1, 16..18, 32..35, 48..52, 64..69, 80..87, 96..104, 0..9, 0..15, 0..16, 0..17, 16..529]
        {
            let view = tensor.slice(0, range.clone()).unwrap();
            check::<T, f32>(&view, &data[range.clone()]);
            check::<T, bf16>(&view, &data[range.clone()]);
            check::<T, i8>(&view, &data[range]);
        }
    }
    // As above: the same kernels.
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    support::of_every_type!(from, gpu);
}

#[test]
fn copies_keep_every_bit() {
    fn copies<T: Scalar>(gpu: &Gpu) {
        for (view, values) in views::<T>(gpu) {
            assert_eq!(raw(&view.contiguous().unwrap().to_vec().unwrap()), raw(&values), "{view:?}");
            assert_eq!(raw(&view.to_vec().unwrap()), raw(&values), "{view:?}");
        }
        // Every value of 16 bits, or as many of 32, NaN with any payload and subnormals among them; every i8.
        let scale = if T::DTYPE.size() == 4 { 0x0001_0001 } else { 1 };
        let all: Vec<T> = (0..=0xffffu32).map(|bits| T::with_bits(bits * scale)).collect();
        let turned = gpu.tensor(&all, [256, 256]).unwrap().t().contiguous().unwrap();
        assert_eq!(raw(&turned.t().to_vec().unwrap()), raw(&all), "{}", T::DTYPE);
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    support::of_every_type!(copies, gpu);
}

#[test]
fn a_cast_is_one_launch_into_one_buffer_and_none_where_nothing_changes() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let view = gpu.tensor(&mixed::<i8>(100), [10, 10]).unwrap().t();
    let before = gpu.stats();
    let cast = view.cast::<bf16>().unwrap();
    let after = gpu.stats();
    assert_eq!((after.launches - before.launches, after.submits - before.submits), (1, 0));
    assert_eq!(after.buffers_created - before.buffers_created, 1);
    assert_eq!(after.bytes_bound_for_writing - before.bytes_bound_for_writing, 208, "200 in whole vectors");
    assert!(cast.layout().is_contiguous() && cast.shape() == [10, 10]);

    let before = gpu.stats();
    let wide = gpu.stats().launches;
    assert!(view.cast::<i8>().unwrap().shares_buffer(&view));
    assert!(view.cast_saturating::<i8>().unwrap().shares_buffer(&view));
    assert!(cast.t().cast::<bf16>().unwrap().shares_buffer(&cast));
    assert_eq!(gpu.stats(), before, "no launch, no submit, no byte");
    let limited = cast.cast_saturating::<bf16>().unwrap();
    assert!(!limited.shares_buffer(&cast) && gpu.stats().launches == wide + 1, "infinities go");

    let before = gpu.stats().launches;
    let empty = view.slice(1, 0..0).unwrap();
    let (plain, saturated) = (empty.cast::<f32>().unwrap(), empty.cast_saturating::<f16>().unwrap());
    assert_eq!((plain.shape(), saturated.shape()), (&[10, 0][..], &[10, 0][..]));
    assert_eq!((plain.to_vec().unwrap(), gpu.stats().launches), (vec![], before));
}

#[test]
fn one_type_is_written_over_another_in_a_buffer_that_is_used_again() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.tensor(&[1i32, -2, 300], [3]).unwrap();
    for _ in 0..3 {
        // The padding behind three elements may hold anything: no result shows it.
        let small = a.cast_saturating::<i8>().unwrap();
        let halves = small.cast::<f16>().unwrap();
        assert_eq!(small.to_vec().unwrap(), [1, -2, 127]);
        assert_eq!(halves.cast::<i32>().unwrap().to_vec().unwrap(), [1, -2, 127]);
    }
    assert_eq!(
        DType::ALL.len(),
        7,
        "a new type is to be tested here, or, as those of 8 bits, in a room of its own"
    );
}
