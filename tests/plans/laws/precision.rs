//! The bounds of products on f16 operands against the worst that can be thought of: devices that round any way, flush
//! what is subnormal in f16, and operands made for the largest error.

use support::rounding::{Rounding, dot};
use tilewise::reference::{f16_split, gamma, precision_tolerance};
use tilewise::{Element, Fill, Precision, f16};

/// A device: how it rounds sums, how many products it sums at a time, what it makes of subnormal f16.
#[derive(Clone, Copy, Debug)]
struct Device {
    rounding: Rounding,
    block: usize,
    flushes: bool,
}

const WHOLE: usize = 1 << 24;

fn devices() -> impl Iterator<Item = Device> {
    Rounding::ALL.into_iter().flat_map(|rounding| {
        [(WHOLE, true), (8, false)].map(|(block, flushes)| Device { rounding, block, flushes })
    })
}

/// The entry (AB), (|A||B|) and the product of the largest, of a row and a column.
fn defined(a: &[f32], b: &[f32]) -> [f64; 3] {
    let products = || a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
    let largest = |x: &[f32]| x.iter().fold(0.0, |most: f64, x| most.max(f64::from(x.abs())));
    [products().sum(), products().map(f64::abs).sum(), largest(a) * largest(b)]
}

/// The entry as the device computes it.
fn computed(a: &[f32], b: &[f32], precision: Precision, device: Device) -> f64 {
    let k = a.len();
    let [a, b] = [a, b].map(|x| f16_split(x, k, precision));
    let read = |x: &[f16]| -> Vec<f32> {
        let flushed = |x: f16| device.flushes && x.to_f32().abs() < 2f32.powi(-14);
        x.iter().map(|x| if flushed(*x) { 0.0 } else { x.to_f32() }).collect()
    };
    let [a_hi, a_lo, b_hi, b_lo] = [&a.hi, &a.lo, &b.hi, &b.lo].map(|x| read(x));
    let pairs = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| [*a, *b]).collect::<Vec<_>>();
    let high = dot(pairs(&a_hi, &b_hi).into_iter(), device.rounding, device.block);
    let sum = if precision == Precision::Split {
        let terms = pairs(&a_hi, &b_lo).into_iter().chain(pairs(&a_lo, &b_hi));
        device.rounding.add(high, dot(terms, device.rounding, device.block) / 2048.0)
    } else {
        high
    };
    f64::from(sum) * 2f64.powi(-a.exponents[0]) * 2f64.powi(-b.exponents[0])
}

/// The largest error of any device over the bound.
fn ratio(a: &[f32], b: &[f32], precision: Precision) -> f64 {
    let [value, magnitude, largest] = defined(a, b);
    let bound = precision_tolerance(precision, a.len(), magnitude, largest);
    devices().map(|device| (computed(a, b, precision, device) - value).abs() / bound).fold(0.0, f64::max)
}

/// Significands on which rounding to f16, or the rest to f16, errs the most.
fn significands() -> Vec<f64> {
    let ulp = 2f64.powi(-23);
    let ties =
        [1.0, 1.0 + 2f64.powi(-11), 1.0 + 3.0 * 2f64.powi(-11), 2.0 - 2f64.powi(-11), 1.5 + 2f64.powi(-11)];
    let around = ties.iter().flat_map(|tie| [-2.0, -1.0, 0.0, 1.0, 2.0].map(|by| tie + by * ulp));
    around.filter(|x| (1.0..2.0).contains(x)).collect()
}

/// Rows and columns that are made to err: by name.
fn adversaries(k: usize) -> Vec<(String, Vec<f32>, Vec<f32>)> {
    let mut cases: Vec<(String, Vec<f32>, Vec<f32>)> = Vec::new();
    let mut case = |name: String, a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| {
        let of = |x: &dyn Fn(usize) -> f64| (0..k).map(|p| f32::from_f64(x(p))).collect::<Vec<f32>>();
        cases.push((name, of(a), of(b)));
    };
    let most = 2.0 - 2f64.powi(-23);
    // A few of them for long rows: the rounding of sums is what those are for.
    for s in significands().into_iter().step_by(if k > 1000 { 5 } else { 1 }) {
        case(format!("all {s}"), &|_| s, &|_| s);
        for sign in [1.0, -1.0] {
            // Every addition of what is small errs by a whole place of the one large product.
            case(
                format!("one large {s}, {sign}"),
                &|p| s * if p == 0 { 1.0 } else { sign * 2f64.powi(-13) },
                &|p| s * if p == 0 { 1.0 } else { 2f64.powi(-13) },
            );
        }
        // Below what f16 can hold beside the row's largest, which stands against nothing.
        for e in [-29, -30, -33, -40, -60] {
            let tiny = |p: usize| if p == 0 { 1.0 } else { s * 2f64.powi(e) };
            case(format!("tiny {s} {e}"), &tiny, &|p| if p == 0 { 0.0 } else { most });
            case(format!("tiny alternating {s} {e}"), &tiny, &|p| {
                [0.0, most, -most][if p == 0 { 0 } else { 1 + p % 2 }]
            });
            case(format!("both tiny {s} {e}"), &tiny, &|p| if p == k - 1 { most } else { s * 2f64.powi(e) });
            // A large sum of tiny entries first, then many that only make it err.
            let late = |p: usize| if 2 * p < k { tiny(p) } else { -s * 2f64.powi(-28) };
            case(format!("tiny, then small {s} {e}"), &late, &|p| {
                if p == 0 {
                    0.0
                } else if 2 * p < k {
                    most
                } else {
                    s * 2f64.powi(-28)
                }
            });
        }
        for width in 1..4 {
            let wide = move |p: usize| s * 2f64.powi(-i32::try_from(p % 31).unwrap() * width);
            case(format!("wide {s} {width}"), &wide, &wide);
            case(format!("wide against {s} {width}"), &wide, &|p| s / wide(p) * [1.0, -1.0][p % 2]);
        }
    }
    cases
}

#[test]
fn no_adversary_breaks_a_bound() {
    for precision in [Precision::Fast, Precision::Split] {
        let mut worst = (0.0, String::new());
        for k in [1, 2, 3, 17, 256, 4096] {
            for (name, a, b) in adversaries(k) {
                for (a, b) in [(&a, &b), (&b, &a)] {
                    let ratio = ratio(a, b, precision);
                    assert!(ratio <= 1.0, "{precision}, k = {k}, {name}: {ratio}");
                    if ratio > worst.0 {
                        worst = (ratio, format!("k = {k}, {name}"));
                    }
                }
            }
        }
        println!("{precision}: {worst:?}");
        assert!(worst.0 > 0.4, "{precision}: a bound that nothing comes near says little: {worst:?}");
    }
}

#[test]
fn no_search_breaks_a_bound() {
    for precision in [Precision::Fast, Precision::Split] {
        let mut worst: f64 = 0.0;
        for seed in 0..60u64 {
            let k = [2, 3, 5, 12][usize::try_from(seed % 4).unwrap()];
            let mut numbers = Fill::Uniform.values::<i32>(1 << 14, seed).into_iter().cycle();
            let mut next = |below: usize| numbers.next().unwrap().unsigned_abs() as usize % below;
            let table = significands();
            let mut entry = move || {
                let s = match next(3) {
                    0 => 1.0 + next(1 << 20) as f64 * 8.0 * 2f64.powi(-23),
                    _ => table[next(table.len())],
                };
                let e = [0, 0, -1, -13, -14, -27, -28, -29, -30, -39, -40, -60][next(12)];
                (
                    f32::from_f64(s * 2f64.powi(e)) * [1.0, -1.0, 1.0, 0.0][next(if e == 0 { 4 } else { 3 })],
                    next(2 * k),
                )
            };
            let mut rows = [vec![1.0f32; k], vec![1.0f32; k]];
            let mut best = 0.0;
            for _ in 0..400 {
                let mut changed = rows.clone();
                for _ in 0..2 {
                    let (value, place) = entry();
                    changed[place / k][place % k] = value;
                }
                let found = ratio(&changed[0], &changed[1], precision);
                assert!(found <= 1.0, "{precision}: {found} of {changed:?}");
                if found >= best {
                    (best, rows) = (found, changed);
                }
            }
            worst = worst.max(best);
        }
        println!("{precision}: {worst}");
        assert!(worst > 0.4, "{precision}: a search that finds nothing says little: {worst}");
    }
}

#[test]
fn long_sums_need_the_term_that_grows() {
    // Many entries below 2^-28 of their row's largest: what `Split` sums of them is not small beside their products,
    // and a device that rounds upwards errs by a place of that with every addition.
    for (log, breaks) in [(12, false), (17, true)] {
        let k = 1 << log;
        let a: Vec<f32> = (0..k).map(|p| if p == 0 { 1.0 } else { 2f32.powi(-40) }).collect();
        let b: Vec<f32> = (0..k).map(|p| if p == 0 { 0.0 } else { 2.0 - 2f32.powi(-10) }).collect();
        let [value, magnitude, largest] = defined(&a, &b);
        let device = Device { rounding: Rounding::Up, block: WHOLE, flushes: false };
        let error = (computed(&a, &b, Precision::Split, device) - value).abs();
        let without =
            (2f64.powi(-20) + 1.01 * gamma(k + 2)) * magnitude + 2f64.powi(-38) * k as f64 * largest;
        let bound = precision_tolerance(Precision::Split, k, magnitude, largest);
        println!("k = {k}: {} of the bound, {} of one without that term", error / bound, error / without);
        assert!(error <= bound, "k = {k}");
        assert_eq!(error > without, breaks, "k = {k}");
    }
}

#[test]
fn the_scale_puts_the_largest_below_two_to_the_fifteenth() {
    for bits in (0..0x7f80_0000u32).step_by(99_991).chain([1, 2, 0x007f_ffff, 0x0080_0000, 0x7f7f_ffff]) {
        let x = f32::from_bits(bits);
        let made = f16_split(&[x, -x], 2, Precision::Split);
        if bits == 0 {
            assert_eq!(made.exponents, [0]);
            continue;
        }
        let scaled = f64::from(x) * 2f64.powi(made.exponents[0]);
        assert!((2f64.powi(14)..2f64.powi(15)).contains(&scaled), "{x:e}");
        let sum = made.hi[0].to_f64() + made.lo[0].to_f64() / 2048.0;
        assert!((sum - scaled).abs() <= 2f64.powi(-23) * scaled, "{x:e}");
        assert!(made.hi.iter().all(|hi| hi.is_normal()), "{x:e}");
    }
}
