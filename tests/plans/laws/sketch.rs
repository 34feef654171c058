//! What is random in random operators: moments, distributions, independence, and how norms are kept. Entries are the
//! same on a GPU (`tests/sketch`).

use tilewise::sketch::{Scaling, Sketch, SketchKind, SparseAxis};

fn sketch(kind: SketchKind, shape: [usize; 2], seed: u64) -> Sketch {
    Sketch::new(kind, shape, seed).unwrap()
}

fn kinds() -> Vec<SketchKind> {
    use SketchKind::{CountSketch, Gaussian, Hadamard, Sign, Sjlt, SparseSign, Uniform};
    let [short, long] = [SparseAxis::Short, SparseAxis::Long].map(|axis| SparseSign { axis, nonzeros: 4 });
    vec![Gaussian, Uniform, Sign, CountSketch, Sjlt { nonzeros: 4 }, short, long, Hadamard]
}

/// Standard errors that a mean may be off by: one in 10^9 is further.
const SIGMAS: f64 = 6.2;

/// Mean, and standard error of the mean.
fn mean(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let values: Vec<f64> = values.into_iter().collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}

/// Checks that the mean is what is expected, within its standard error and what arithmetic leaves.
fn assert_mean(values: impl IntoIterator<Item = f64>, want: f64, slack: f64, what: &str) {
    let [mean, error] = mean(values);
    assert!((mean - want).abs() <= SIGMAS * error + slack, "{what}: {mean} +- {error}, not {want}");
}

const SEEDS: u64 = 1000;

#[test]
fn entries_have_mean_0_and_their_variance_over_1000_seeds() {
    for kind in kinds() {
        for shape in [[8, 24], [24, 8]] {
            if kind == SketchKind::Hadamard && shape[0] > shape[1] {
                continue;
            }
            let entries: Vec<Vec<f32>> = (0..SEEDS).map(|seed| sketch(kind, shape, seed).to_vec()).collect();
            let all = |f: fn(f64) -> f64| entries.iter().flatten().map(move |&x| f(f64::from(x)));
            assert_mean(all(|x| x), 0.0, 0.0, &format!("{kind:?} {shape:?}, entries"));
            // E[S^T S] = I: the squares of a column sum to 1, so those of all entries to n.
            let want = 1.0 / shape[0] as f64;
            assert_mean(all(|x| x * x), want, 6e-5 * want, &format!("{kind:?} {shape:?}, squares"));
        }
    }
}

#[test]
fn norms_are_kept_on_average_and_columns_are_independent() {
    const N: usize = 32;
    let x: Vec<f64> = (0..N).map(|j| ((j * j) % 7) as f64 - 2.5).collect();
    let norm: f64 = x.iter().map(|x| x * x).sum();
    for kind in kinds() {
        let products = |seed: u64| -> [f64; 2] {
            let s = sketch(kind, [8, N], seed).to_vec();
            let row = |i: usize| s[i * N..][..N].iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            let rows: Vec<Vec<f64>> = (0..8).map(row).collect();
            let y = rows.iter().map(|row| row.iter().zip(&x).map(|(s, x)| s * x).sum::<f64>());
            // Of two columns, the product: 0 on average, which is all that is off the diagonal of E[S^T S].
            [y.map(|y| y * y).sum(), rows.iter().map(|row| row[3] * row[17]).sum()]
        };
        let both: Vec<[f64; 2]> = (0..4 * SEEDS).map(products).collect();
        assert_mean(both.iter().map(|p| p[0]), norm, 6e-5 * norm, &format!("{kind:?}, squared norm"));
        assert_mean(both.iter().map(|p| p[1]), 0.0, 0.0, &format!("{kind:?}, two columns"));
    }
}

/// By how much a sample's distribution function differs from `distribution` at most: Kolmogorov and Smirnov.
fn distance(mut sample: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let steps = sample.iter().enumerate().map(|(i, &x)| {
        let f = distribution(x);
        (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
    });
    steps.fold(0.0, f64::max)
}

#[test]
fn the_first_million_entries_follow_their_distributions() {
    const COUNT: usize = 1_000_000;
    let entries = |kind| {
        let s = sketch(kind, [1000, 1000], 2026).scaled(Scaling::Unscaled).to_vec();
        s.into_iter().map(f64::from).collect::<Vec<_>>()
    };
    // One in a million samples is further from its distribution.
    let critical = (-(0.5e-6f64).ln() / 2.0).sqrt() / (COUNT as f64).sqrt();
    let normal = entries(SketchKind::Gaussian);
    let beyond = |z: f64| normal.iter().filter(|x| x.abs() > z).count() as f64;
    for (z, chance) in [(2.0, 0.045_500_264), (3.0, 0.002_699_796), (4.0, 6.334_248e-5)] {
        let want = chance * COUNT as f64;
        assert!((beyond(z) - want).abs() < SIGMAS * want.sqrt() + 1e-3 * want, "{} beyond {z}", beyond(z));
    }
    let d = distance(normal, |z| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2));
    assert!(d < critical, "normal: {d}, at most {critical}");
    let d = distance(entries(SketchKind::Uniform), |x| f64::midpoint(x, 1.0));
    assert!(d < critical, "uniform: {d}, at most {critical}");
}

#[test]
fn a_line_of_a_sparse_operator_has_its_nonzeros_and_places_are_drawn_evenly() {
    let cases = [
        (SketchKind::CountSketch, [16, 3000], 1),
        (SketchKind::Sjlt { nonzeros: 5 }, [16, 3000], 5),
        (SketchKind::Sjlt { nonzeros: 16 }, [16, 3000], 16),
        (SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 3 }, [16, 3000], 3),
    ];
    for (kind, [d, n], nonzeros) in cases {
        let s = sketch(kind, [d, n], 5).scaled(Scaling::Unscaled).to_vec();
        for j in 0..n {
            let column = (0..d).map(|i| s[i * n + j].abs());
            assert_eq!(column.sum::<f32>(), nonzeros as f32, "{kind:?}, column {j}");
        }
        let chance = f64::from(nonzeros) / d as f64;
        for i in 0..d {
            let filled = s[i * n..][..n].iter().filter(|x| **x != 0.0).count() as f64;
            let error = (n as f64 * chance * (1.0 - chance)).sqrt();
            assert!((filled - n as f64 * chance).abs() <= SIGMAS * error, "{kind:?}, row {i}: {filled}");
        }
    }
    // Drawn from all places, one may be drawn twice: what is left is even or odd as the number of draws.
    let long = SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 4 };
    let s = sketch(long, [50, 60], 5).scaled(Scaling::Unscaled).to_vec();
    for row in s.chunks(60) {
        let sum: f32 = row.iter().map(|x| x.abs()).sum();
        assert!(sum <= 4.0 && sum % 2.0 == 0.0, "{row:?}");
    }
    assert!(s.chunks(60).any(|row| row.iter().filter(|x| **x != 0.0).count() < 4), "none is drawn twice");
}

#[test]
fn a_hadamard_operator_has_orthogonal_rows() {
    for (d, n) in [(1, 1), (5, 8), (64, 64), (100, 128)] {
        let s = sketch(SketchKind::Hadamard, [d, n], 9).scaled(Scaling::Unscaled).to_vec();
        for i in 0..d {
            for other in 0..d {
                let product: f32 = (0..n).map(|j| s[i * n + j] * s[other * n + j]).sum();
                assert_eq!(product, if i == other { n as f32 } else { 0.0 }, "rows {i} and {other} of {n}");
            }
        }
    }
    // Of a length that is no power of two, the columns of the next one that there are.
    let s = sketch(SketchKind::Hadamard, [3, 5], 9).scaled(Scaling::Unscaled).to_vec();
    assert!(s.iter().all(|x| x.abs() == 1.0), "{s:?}");
}

/// What operators are made of must never change: results that somebody has published depend on it.
#[test]
fn known_operators_are_what_they_were() {
    let hash = |kind: SketchKind, shape| {
        let entries = sketch(kind, shape, 0x0123_4567_89ab_cdef).scaled(Scaling::Unscaled).to_vec();
        // FNV-1a over the bits.
        entries.iter().flat_map(|x| x.to_bits().to_le_bytes()).fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    };
    let found: Vec<u64> = kinds().into_iter().map(|kind| hash(kind, [13, 70])).collect();
    assert_eq!(found, KNOWN, "{found:#x?}");
}

const KNOWN: [u64; 8] = [
    0x566f_0666_9676_8681,
    0xae53_94cb_d271_adfb,
    0x35d8_1f9f_bb30_7455,
    0x8dbb_fa55_effc_bb75,
    0xb045_175a_7b7b_80c5,
    0xfe2b_5b2b_0754_5285,
    0x9b42_2303_2cf5_1465,
    0x1d01_0172_9790_0455,
];
