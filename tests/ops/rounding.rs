//! Rounding as storing in 16 bits does: the functions of `shaders/common` that do it, on all values where it could go wrong.

use support::evaluate::{evaluate, variant_of};
use tilewise::{Element, bf16, f16};

/// Finite numbers of a type of 16 bits, the middle between each and the next, and what is beside the middle; of both signs. Then
/// numbers of every size, and what is no number.
fn boundaries(largest: u16, widened: impl Fn(u16) -> f32) -> Vec<f32> {
    let around = |bits: u16| {
        let value = widened(bits);
        // Behind the largest is the power of two that does not exist.
        let next = if bits < largest {
            f64::from(widened(bits + 1))
        } else {
            2.0 * f64::from(value) - f64::from(widened(bits - 1))
        };
        let middle = f32::from_f64((f64::from(value) + next) / 2.0); // exact
        [value, middle.next_down(), middle, middle.next_up()]
    };
    let smallest = [f32::from_bits(1), f32::from_bits(0x7f_ffff), f32::MIN_POSITIVE, f32::MAX, f32::INFINITY];
    let nans = [0x7f80_0001, 0x7fc0_0000, 0x7fff_ffff].map(f32::from_bits);
    let random = (1..100_000u32).map(|i| f32::from_bits(i.wrapping_mul(0x9e37_79b9) >> 1));
    let all = (0..=largest).flat_map(around).chain(smallest).chain(nans).chain(random);
    all.flat_map(|x| [x, -x]).collect()
}

/// Compares numbers by their bits; of NaN one is like another.
fn differ(x: &[f32], found: &[f32], want: impl Fn(f32) -> f32) -> Vec<String> {
    let wrong = x.iter().zip(found).filter(|(x, found)| {
        let want = want(**x);
        if want.is_nan() { !found.is_nan() } else { want.to_bits() != found.to_bits() }
    });
    let said =
        |(x, found): (&f32, &f32)| format!("{x:e} ({:08x}) is {found:e}, not {:e}", x.to_bits(), want(*x));
    wrong.map(said).take(5).collect()
}

/// What `rounded` and `pack_pair` make of all boundaries.
#[test]
fn rounding_on_bits_goes_to_the_nearest() {
    let Some(gpu) = support::gpu() else { return };
    let of_f16 = boundaries(0x7bff, |bits| f16::from_bits(bits).to_f32());
    let of_bf16 = boundaries(0x7f7f, |bits| bf16::from_bits(bits).to_f32());
    type Type<'a> = (&'a str, &'a [f32], fn(f32) -> u16, fn(u16) -> f32);
    let types: [Type<'_>; 2] = [
        ("f16", &of_f16, |x| f16::from_f32(x).to_bits(), |bits| f16::from_bits(bits).to_f32()),
        ("bf16", &of_bf16, |x| bf16::from_f32(x).to_bits(), |bits| bf16::from_bits(bits).to_f32()),
    ];
    for (name, x, narrowed, widened) in types {
        let rounded = variant_of("common/rounded", name);
        let found = evaluate(&gpu, x, &rounded, "vec4<f32>(rounded(v.xy), rounded(v.zw))");
        let wrong = differ(x, &found, |x| widened(narrowed(x)));
        assert!(wrong.is_empty(), "rounded, {name}: {wrong:?}");
        let both = rounded + &variant_of("common/pack_pair", name);
        let words = "bitcast<vec4<f32>>(vec4<u32>(pack_pair(v.xy), pack_pair(v.zw), pack_pair(v.yx), pack_pair(v.wz)))";
        let found = evaluate(&gpu, x, &both, words);
        let halves = |words: &[f32]| {
            let [xy, zw, yx, wz] = [0, 1, 2, 3].map(|i| words[i].to_bits());
            assert_eq!([xy.rotate_left(16), zw.rotate_left(16)], [yx, wz], "the first in the lower half");
            [xy & 0xffff, xy >> 16, zw & 0xffff, zw >> 16]
                .map(|half| widened(u16::try_from(half).expect("16 bits")))
        };
        let found: Vec<f32> = found.chunks_exact(4).flat_map(halves).collect();
        let wrong = differ(&x[..found.len()], &found, |x| widened(narrowed(x)));
        assert!(wrong.is_empty(), "pack_pair, {name}: {wrong:?}");
    }
}
