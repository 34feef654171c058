//! Our own exponential, hyperbolic tangent, sigmoid and normal distribution, alone and in the activations: dense sweeps
//! over all of f32 in units of the last place, and the values that are no numbers.

use support::evaluate::{evaluate, functions_of};
use tilewise::{Activation, Element, Gpu, ops, reference};

/// Normal floats of every exponent and both signs, mantissas spread over all their bits; and multiples of 1 / 2000.
fn sweep() -> Vec<f32> {
    let mantissas = (0..512u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 9);
    let exponents = (1..255u32).flat_map(|exponent| mantissas.clone().map(move |m| exponent << 23 | m));
    let wide = exponents.flat_map(|bits| [bits, bits | 1 << 31]).map(f32::from_bits);
    let dense = (-220_000..220_000).map(|i| i as f32 * 0.000_5);
    wide.chain(dense).collect()
}

/// What is no number, what is beyond all, and what is almost zero.
const SPECIAL: [f32; 11] = [
    f32::NAN,
    -f32::NAN,
    f32::from_bits(0x7f80_0001),
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    f32::MAX,
    f32::MIN,
    1e-40,
    -1e-40,
];

/// Errors in units of the last place, of results that are normal f32; the largest, and where.
fn worst_ulp(x: &[f32], got: &[f32], want: impl Fn(f64) -> f64, smallest: f64) -> (f64, f32) {
    let error = |(&x, &got): (&f32, &f32)| {
        let want = want(f64::from(x));
        let near = f32::from_f64(want.abs());
        let ulp = f64::from(near.next_up()) - f64::from(near);
        let counts = want.abs() > smallest && near.is_finite();
        (if counts { (f64::from(got) - want).abs() / ulp } else { 0.0 }, x)
    };
    let nan_is_worst = |e: &(f64, f32)| if e.0.is_nan() { f64::INFINITY } else { e.0 };
    x.iter().zip(got).map(error).max_by(|a, b| nan_is_worst(a).total_cmp(&nan_is_worst(b))).unwrap()
}

#[test]
fn our_functions_are_within_8_ulp_of_their_definition() {
    let Some(gpu) = support::gpu() else { return };
    type Function = (&'static str, fn(f64) -> f64);
    let functions: [Function; 4] = [
        ("exp_of", f64::exp),
        ("tanh_of", f64::tanh),
        ("sigmoid_of", |x| reference::activate(Activation::Sigmoid, x)),
        ("normal_of", |x| 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)),
    ];
    let x = [&SPECIAL[..], &[88.722_83, 88.722_84, -87.336, -87.337, -103.9, -104.0], &sweep()].concat();
    for (name, definition) in functions {
        let got = evaluate(&gpu, &x, &functions_of("common/math"), &format!("{name}(v)"));
        assert!(got[..3].iter().all(|v| v.is_nan()), "{name} keeps NaN");
        let smallest = f64::from(f32::MIN_POSITIVE);
        let (ulp, at) = worst_ulp(&x[3..], &got[3..], definition, smallest);
        println!("{}: {name}: at most {ulp:.2} ulp, at {at}", gpu.caps().adapter);
        assert!(ulp <= 8.0, "{name} of {at} is {ulp} ulp off");
        for (x, got) in x[3..].iter().zip(&got[3..]) {
            let want = definition(f64::from(*x));
            if f32::from_f64(want).is_infinite() {
                assert_eq!(*got, f32::INFINITY, "{name} of {x}");
            } else if want.abs() <= smallest {
                assert!((f64::from(*got) - want).abs() <= smallest, "{name} of {x} is {got}, not {want}");
            }
        }
    }
}

/// Angles from 0 to 2 pi: of every exponent, and all floats beside the multiples of a quarter of pi.
fn angles() -> Vec<f32> {
    let beside = (0..=8u8).flat_map(|k| {
        let bits = f32::from_f64(f64::from(k) * std::f64::consts::FRAC_PI_4).to_bits();
        (bits.saturating_sub(200)..bits + 200).map(f32::from_bits)
    });
    sweep()
        .into_iter()
        .chain(beside)
        .filter(|x| (1e-30..=std::f32::consts::TAU).contains(x))
        .chain([0.0])
        .collect()
}

#[test]
fn functions_of_angles_are_within_8_ulp_of_their_definition() {
    let Some(gpu) = support::gpu() else { return };
    fn fall(x: f64) -> f64 {
        if x < 0.3 {
            let z = x * x;
            return 1.0 / 3.0 - z / 30.0 + z * z / 840.0 - z.powi(3) / 45360.0 + z.powi(4) / 3_991_680.0;
        }
        (x.sin() / x - x.cos()) / (x * x)
    }
    fn beside<const TENTHS: i8>(x: f64) -> f64 {
        x.atan2(f64::from(f32::from(TENTHS) * 0.1))
    }
    type Function = (&'static str, fn(f64) -> f64, f32);
    let functions: [Function; 11] = [
        ("sine_cosine(v).sine", f64::sin, 7.0),
        ("sine_cosine(v).cosine", f64::cos, 7.0),
        ("sinc_of(v, sine_cosine(v).sine)", |x| if x == 0.0 { 1.0 } else { x.sin() / x }, 7.0),
        ("fall_of(v, sinc_of(v, sine_cosine(v).sine), sine_cosine(v).cosine)", fall, std::f32::consts::PI),
        ("angle_of(v, lanes(10.0) * 0.1)", beside::<10>, 7.0),
        ("angle_of(v, lanes(-10.0) * 0.1)", beside::<-10>, 7.0),
        ("angle_of(v, lanes(1.0) * 0.1)", beside::<1>, 7.0),
        ("angle_of(v, lanes(-1.0) * 0.1)", beside::<-1>, 7.0),
        ("angle_of(v, lanes(0.0))", |x| if x == 0.0 { f64::NAN } else { x.atan2(0.0) }, 7.0),
        ("length_of(v)", |x| if x < 7.9e-31 { 0.0 } else { x.sqrt() }, 7.0),
        ("inverse_root(v)", |x| 1.0 / x.sqrt(), 7.0),
    ];
    for (expression, definition, last) in functions {
        let x: Vec<f32> =
            angles().into_iter().filter(|&x| x <= last && definition(f64::from(x)).is_finite()).collect();
        let got = evaluate(&gpu, &x, &functions_of("common/trigonometry"), expression);
        let (ulp, at) = worst_ulp(&x, &got, definition, f64::from(f32::MIN_POSITIVE));
        println!("{}: {expression}: at most {ulp:.2} ulp, at {at}", gpu.caps().adapter);
        assert!(ulp <= 8.0, "{expression} of {at} is {ulp} ulp off");
    }
}

fn activate(gpu: &Gpu, x: &[f32], activation: Activation) -> Vec<f32> {
    ops::activate(&gpu.tensor(x, [x.len()]).unwrap(), activation).unwrap().to_vec().unwrap()
}

#[test]
fn activations_are_within_their_tolerance_over_all_of_f32() {
    let Some(gpu) = support::gpu() else { return };
    let x = sweep();
    for activation in Activation::ALL {
        let got = activate(&gpu, &x, activation);
        let found = reference::activations(activation, &x).compare(&got);
        // A factor of a smaller result may have been flushed to zero.
        let definition = |z| reference::activate(activation, z);
        let (ulp, at) = worst_ulp(&x, &got, definition, 2f64.powi(-118));
        println!("{}: {activation}: {found:?}, at most {ulp:.2} ulp, at {at}", gpu.caps().adapter);
        assert!(found.ok(), "{activation} of {} is {}: {found:?}", x[found.worst], got[found.worst]);
        let exact = matches!(activation, Activation::None | Activation::Relu);
        assert!(ulp == 0.0 || !exact, "{activation} of {at} is not exact");
        assert!(ulp <= 8.0 || activation == Activation::GeluTanh, "{activation} of {at} is {ulp} ulp off");
    }
}

#[test]
fn what_is_no_number_stays_and_the_ends_are_limits() {
    let Some(gpu) = support::gpu() else { return };
    for activation in Activation::ALL {
        let got = activate(&gpu, &SPECIAL, activation);
        assert!(got[..3].iter().all(|v| v.is_nan()), "{activation}: {got:?}");
        let want = SPECIAL.map(|x| f32::from_f64(reference::activate(activation, f64::from(x))));
        for (got, want) in got[3..9].iter().zip(&want[3..9]) {
            let is_right = got == want || (got - want).abs() <= 2.0 * f32::EPSILON * want.abs();
            assert!(is_right, "{activation}: {got} for {want}");
        }
        for (got, want) in got[9..].iter().zip(&want[9..]) {
            assert!((got - want).abs() <= f32::MIN_POSITIVE, "{activation}: {got} for {want}");
        }
    }
}

fn slopes(gpu: &Gpu, x: &[f32], g: f32, activation: Activation) -> Vec<f32> {
    let gradient = gpu.tensor(&[g], [1]).unwrap();
    ops::activate_backward(&gpu.tensor(x, [x.len()]).unwrap(), &gradient, activation)
        .unwrap()
        .to_vec()
        .unwrap()
}

#[test]
fn slopes_are_within_their_tolerance_over_all_of_f32_and_are_those_of_the_definition() {
    let Some(gpu) = support::gpu() else { return };
    let x = sweep();
    for activation in Activation::ALL {
        let got = slopes(&gpu, &x, -1.5, activation);
        let found = reference::activations_backward(activation, &x, &vec![-1.5; x.len()]).compare(&got);
        println!("{}: slope of {activation}: {found:?}", gpu.caps().adapter);
        assert!(found.ok(), "{activation} at {} is {}: {found:?}", x[found.worst], got[found.worst]);
        // Where it does not bend sharply, the definition rises as much.
        for x in (-120..120).map(|i| f64::from(i) * 0.05 + 0.01) {
            let rise = |step: f64| reference::activate(activation, x + step);
            let slope = (rise(1e-5) - rise(-1e-5)) / 2e-5;
            let want = reference::activation_slope(activation, x);
            assert!((slope - want).abs() < 1e-8, "{activation} at {x}: {slope}, not {want}");
        }
        let ends = slopes(&gpu, &SPECIAL, 1.0, activation);
        let of = |x: f32| f32::from_f64(reference::activation_slope(activation, f64::from(x)));
        for (x, got) in SPECIAL.into_iter().zip(ends) {
            let same = (got - of(x)).abs() <= 1e-6 || (got.is_nan() && of(x).is_nan());
            // Of nothing NaN is not a number less.
            assert!(same || activation == Activation::None, "{activation} at {x}: {got}, not {}", of(x));
        }
    }
}
