//! f32 products on f16 operands: the operands bit by bit, the products within their bounds.

use std::collections::BTreeSet;
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::planning::gemm::{F16SplitProblem, Side, f16_split};
use tilewise::reference::{self, EpilogueReference};
use tilewise::{Activation, Element, Error, Fill, Gemm, Gpu, Layout, Precision, Tensor, f16};

const LESS: [Precision; 2] = [Precision::Fast, Precision::Split];

/// Values that a row may be made of, each to be taken many times: rows of one kind, by name.
fn rows_of(k: usize, seed: u64) -> Vec<(String, Vec<f32>)> {
    let uniform = Fill::Uniform.values::<f32>(k, seed);
    let bits = Fill::Uniform.values::<i32>(4 * k, seed + 1);
    let any = |i: usize| f32::from_bits(bits[i].cast_unsigned() << 8 ^ bits[i + k].cast_unsigned());
    let finite = |x: f32| if x.is_finite() { x } else { 1.0 };
    let mut rows: Vec<(String, Vec<f32>)> = (-45..=38)
        .map(|e| {
            (format!("1e{e}"), uniform.iter().map(|x| f32::from_f64(f64::from(*x) * 10f64.powi(e))).collect())
        })
        .collect();
    let mut row = |name: &str, of: &dyn Fn(usize) -> f32| rows.push((name.into(), (0..k).map(of).collect()));
    row("any bits", &any);
    row("any finite", &|i| finite(any(i)));
    row("wide", &|i| uniform[i] * 2f32.powi(i32::try_from(i % 60).unwrap() - 45));
    row("integers of 12 bits", &|i| (4096 + i) as f32);
    row("ties", &|i| {
        if i == 0 { 1.5 } else { (4096 + i) as f32 * 2f32.powi(-12 - i32::try_from(i % 32).unwrap()) }
    });
    row("around the least", &|i| if i == 0 { 1.0 } else { 2f32.powi(-28) * (1.0 + uniform[i] / 4.0) });
    row("below the least", &|i| {
        if i == 0 { 1.0 } else { uniform[i] * 2f32.powi(-28 - i32::try_from(i % 40).unwrap()) }
    });
    row("subnormal", &|i| f32::from_bits(bits[i].cast_unsigned() >> (9 + i % 23)));
    row("zeros", &|i| [0.0, -0.0][i % 2]);
    row("one", &|i| if i == k / 2 { -3.75e-20 } else { 0.0 });
    row("an infinity", &|i| if i == k / 3 { f32::NEG_INFINITY } else { uniform[i] });
    row("infinities", &|i| [f32::INFINITY, f32::NEG_INFINITY, 0.0][i % 3]);
    row("NaN", &|i| if i == k - 1 { f32::NAN } else { uniform[i] });
    row("the largest", &|i| [f32::MAX, -f32::MAX, f32::MIN_POSITIVE][i % 3]);
    rows
}

/// What the device should make of these rows, laid out as it does.
fn expected(rows: &[f32], k: usize, side: Side, precision: Precision) -> (Vec<u16>, Vec<i32>) {
    let want = reference::f16_split(rows, k, precision);
    let padded = |part: &[f16]| {
        let mut row: Vec<u16> = part.iter().map(|x| x.to_bits()).collect();
        row.resize(k.next_multiple_of(8), 0);
        row
    };
    let row = |(hi, lo): (&[f16], &[f16])| match (precision, side) {
        (Precision::Fast, _) => padded(hi),
        (_, Side::A) => [padded(hi), padded(lo)].concat(),
        (_, Side::B) => [padded(lo), padded(hi)].concat(),
    };
    (want.hi.chunks(k).zip(want.lo.chunks(k)).flat_map(row).collect(), want.exponents)
}

fn assert_halves(x: &Tensor<f32>, rows: &[f32], k: usize, side: Side, what: &str) {
    for precision in LESS {
        let before = x.gpu().stats();
        let got = f16_split(x, side, precision).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(x.gpu().stats().launches - before.launches, 1, "{what}: one launch");
        let (values, exponents) = expected(rows, k, side, precision);
        assert_eq!(got.exponents.to_vec().unwrap(), exponents, "{what}, {precision}");
        let bits: Vec<u16> = got.values.to_vec().unwrap().iter().map(|x| x.to_bits()).collect();
        let wrong = bits.iter().zip(&values).position(|(got, want)| got != want);
        let place = wrong.map(|i| (i, bits[i], values[i]));
        assert!(bits.len() == values.len() && wrong.is_none(), "{what}, {precision}, {side:?}: {place:x?}");
    }
}

fn transposed(rows: &[f32], k: usize) -> Vec<f32> {
    (0..k).flat_map(|p| rows.chunks(k).map(move |row| row[p])).collect()
}

#[test]
fn operands_are_the_definitions_bit_by_bit() {
    for gpu in [support::own(|_| ()), support::bare()] {
        let Some(gpu) = gpu else { return };
        for k in [1, 2, 7, 8, 9, 64, 65, 517] {
            let rows: Vec<f32> = rows_of(k, k as u64).into_iter().flat_map(|(_, row)| row).collect();
            let outer = rows.len() / k;
            let plain = gpu.tensor(&rows, [outer, k]).unwrap();
            assert_halves(&plain, &rows, k, Side::A, &format!("rows of {k}"));
            assert_halves(&plain.t(), &rows, k, Side::B, &format!("rows of {k} as columns"));
            let across = gpu.tensor(&transposed(&rows, k), [k, outer]).unwrap();
            assert_halves(&across, &rows, k, Side::B, &format!("columns of {k}"));
            assert_halves(&across.t(), &rows, k, Side::A, &format!("columns of {k} as rows"));
        }
    }
}

#[test]
fn views_and_batches_are_read_where_they_lie() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let all = gpu.random::<f32>([5, 4, 37, 41], Fill::Uniform, 3).unwrap();
    let data = all.to_vec().unwrap();
    let at = |[b, c, i, p]: [usize; 4]| data[((b * 4 + c) * 37 + i) * 41 + p];
    let piece = all.slice(0, 1..4).unwrap().slice(2, 3..36).unwrap().slice(3, 5..).unwrap();
    let rows: Vec<f32> = (0..3 * 4 * 33)
        .flat_map(|row| (0..36).map(move |p| [1 + row / 132, row / 33 % 4, 3 + row % 33, 5 + p]))
        .map(at)
        .collect();
    assert_halves(&piece, &rows, 36, Side::A, "a piece");
    assert_halves(&piece.permute(&[0, 1, 3, 2]).unwrap(), &rows, 36, Side::B, "a piece, transposed");
    let swapped: Vec<f32> = (0..4 * 3 * 36)
        .flat_map(|col| (0..33).map(move |p| [1 + col / 36 % 3, col / 108, 3 + p, 5 + col % 36]))
        .map(at)
        .collect();
    assert_halves(&piece.permute(&[1, 0, 2, 3]).unwrap(), &swapped, 33, Side::B, "batches exchanged");
    let repeated = all.as_strided(&[3, 1, 41], &[0, 41, 1], 41 * 2).unwrap();
    let rows = data[82..123].repeat(3);
    assert_halves(&repeated, &rows, 41, Side::A, "one batch, repeated");
    let many = gpu.random::<f32>([70_001, 3], Fill::Uniform, 5).unwrap();
    assert_halves(&many, &many.to_vec().unwrap(), 3, Side::A, "more rows than a grid is wide");
}

#[test]
fn a_row_by_a_column_is_scaled_back_by_exponents_of_its_own() {
    let Some(gpu) = support::gpu() else { return };
    let (count, k) = (5, 12);
    let fill = |seed| -> Vec<f32> {
        let values = Fill::Uniform.values::<f32>(count * k, seed);
        values.iter().zip(0..).map(|(x, i)| x * 8f32.powi(i / 12)).collect()
    };
    let (a, b) = (fill(1), fill(2));
    let a_tensor = gpu.tensor(&a, [count, 1, k]).unwrap();
    let b_tensor = gpu.tensor(&b, [count, k, 1]).unwrap();
    for precision in Precision::ALL {
        let got = Gemm::new(&a_tensor, &b_tensor).precision(precision).run().unwrap().to_vec().unwrap();
        for (i, got) in got.chunks(1).enumerate() {
            let rows = i * k..(i + 1) * k;
            let want = reference::gemm(&a[rows.clone()], &b[rows], [1, 1, k]).precision(precision);
            let found = want.compare(got);
            assert!(found.ok(), "{precision}, matrix {i}: {found:?}");
        }
    }
}

#[test]
fn what_cannot_be_scaled_is_an_error_and_what_is_empty_is_empty() {
    let Some(gpu) = support::gpu() else { return };
    let vector = gpu.zeros::<f32>([4]).unwrap();
    assert!(matches!(f16_split(&vector, Side::A, Precision::Fast), Err(Error::Shape { .. })));
    let five = gpu.zeros::<f32>([1, 1, 1, 2, 2]).unwrap();
    assert!(matches!(f16_split(&five, Side::B, Precision::Split), Err(Error::Shape { .. })));
    let matrix = gpu.zeros::<f32>([2, 3]).unwrap();
    assert!(matches!(f16_split(&matrix, Side::A, Precision::Strict), Err(Error::Input { .. })));
    let huge = Layout::new("test", &[1 << 20, 1 << 20], &[0, 0], 0, 1).unwrap();
    assert!(matches!(F16SplitProblem::new(&huge, Side::A, Precision::Fast), Err(Error::Limit { .. })));
    for (shape, rows) in [([0, 3], 0), ([3, 0], 3)] {
        let made = f16_split(&gpu.zeros::<f32>(shape).unwrap(), Side::A, Precision::Split).unwrap();
        assert_eq!((made.values.len(), made.exponents.to_vec().unwrap()), (0, vec![0; rows]));
    }
}

#[test]
fn the_default_is_strict_unless_the_options_say_otherwise() {
    assert_eq!(support::noop().precision(), Precision::Strict);
    let options = tilewise::GpuOptions { precision: Precision::Split, ..Default::default() };
    assert_eq!(support::noop_with(options, |_| ()).precision(), Precision::Split);
    let names: BTreeSet<String> = Precision::ALL.iter().map(|precision| precision.to_string()).collect();
    assert!(names.iter().all(|name| name.parse::<Precision>().unwrap().to_string() == *name));
    assert!("tf32".parse::<Precision>().unwrap_err().to_string().contains("tf32"));
}

/// The product by one kernel; None where the device cannot run it.
fn product(a: &Tensor<f32>, b: &Tensor<f32>, precision: Precision, kernel: GemmKernel) -> Option<Vec<f32>> {
    let any = support::wgsl::plain([33, 17, 131], support::wgsl::TYPES[1]);
    // The smallest: a software driver compiles large patches of cooperative matrices for many seconds.
    let smallest = kernel.tiles().iter().rev().find(|tile| tile.fits(&any, a.gpu().caps()).is_ok())?;
    match Gemm::new(a, b).precision(precision).tile(*smallest).run() {
        Err(Error::Unsupported { .. }) => None,
        product => Some(product.unwrap().to_vec().unwrap()),
    }
}

fn check(gpu: &Gpu, a: &[f32], b: &[f32], shape: [usize; 3], what: &str) {
    let [m, n, k] = shape;
    let want = reference::gemm(a, b, shape);
    let (a, b) = (gpu.tensor(a, [m, k]).unwrap(), gpu.tensor(b, [k, n]).unwrap());
    for precision in LESS {
        let want = want.clone().precision(precision);
        for kernel in GemmKernel::ALL {
            let Some(c) = product(&a, &b, precision, kernel) else { continue };
            let found = want.compare(&c);
            assert!(found.ok(), "{what}, {precision}, {kernel}: {found:?}");
        }
    }
}

#[test]
fn products_are_within_their_bounds_at_any_magnitude() {
    let Some(gpu) = support::gpu() else { return };
    let shape @ [m, n, k] = [33, 17, 131];
    let (ones_a, ones_b) = (Fill::Uniform.values::<f32>(m * k, 1), Fill::Uniform.values::<f32>(k * n, 2));
    for e in (-30..=30).step_by(5) {
        let scaled = |x: &[f32], e: i32| {
            x.iter().map(|x| f32::from_f64(f64::from(*x) * 10f64.powi(e))).collect::<Vec<_>>()
        };
        check(&gpu, &scaled(&ones_a, e), &scaled(&ones_b, -e), shape, &format!("1e{e}"));
    }
    let mixed = |x: &[f32], width: i32, seed: u64| -> Vec<f32> {
        let binades = Fill::Uniform.values::<f32>(x.len(), seed);
        x.iter().zip(binades).map(|(x, by)| x * 2f32.powf((by * width as f32).round())).collect()
    };
    for width in [5, 14, 28, 40] {
        check(&gpu, &mixed(&ones_a, width, 3), &mixed(&ones_b, width, 4), shape, &format!("2^+-{width}"));
    }
    let mut zeros = ones_a.clone();
    zeros[k..2 * k].fill(0.0);
    zeros[..k].fill(-0.0);
    check(&gpu, &zeros, &ones_b, shape, "zero rows");
    check(&gpu, &ones_a, &vec![0.0; k * n], shape, "a zero matrix");
    let one = Fill::Integers.values::<f32>(m * k, 5);
    check(&gpu, &one, &Fill::Integers.values::<f32>(k * n, 6), shape, "integers");
}

/// Whether f32 arithmetic makes a sum of products infinite, NaN or neither, whatever its order.
fn class(a: impl Iterator<Item = f32>, b: impl Iterator<Item = f32>) -> f32 {
    let terms: Vec<f64> =
        a.zip(b).map(|(a, b)| f64::from(a) * f64::from(b)).filter(|x| !x.is_finite()).collect();
    f32::from_f64(terms.iter().sum())
}

#[test]
fn infinities_and_nan_stay_what_they_are() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [41, 25, 45]; // of the kernels that products of any magnitude have
    let mut a = Fill::Uniform.values::<f32>(m * k, 7);
    let mut b = Fill::Uniform.values::<f32>(k * n, 8);
    // Against what an infinity may stand: exact f16, far below its column's largest, zero, an infinity.
    for (p, x) in [1.0, -1e-30, 1e-12, 0.0, -3e-9, f32::MIN_POSITIVE / 64.0].into_iter().enumerate() {
        for j in 0..n {
            b[(5 + p) * n + j] = if j % 2 == 0 { x } else { -x };
        }
        a[p * k + 5 + p] = f32::INFINITY;
        a[(10 + p) * k + 5 + p] = f32::NEG_INFINITY;
        // And two that agree or do not.
        a[(20 + p) * k + 5] = f32::INFINITY;
        a[(20 + p) * k + 5 + p] = f32::NEG_INFINITY;
    }
    a[38 * k + 44] = f32::NAN;
    a[37 * k..38 * k].fill(0.0);
    a[37 * k + 3] = f32::INFINITY;
    b[44 * n + 3] = f32::INFINITY;
    b[7 * n + 4] = f32::NEG_INFINITY;
    b[20 * n + 5] = f32::NAN;
    a[36 * k + 44] = 1e-38;
    a[35 * k + 44] = 0.0;
    let want: Vec<f32> = (0..m * n)
        .map(|i| class(a[i / n * k..][..k].iter().copied(), b.iter().skip(i % n).step_by(n).copied()))
        .collect();
    let finite = reference::gemm(&a, &b, [m, n, k]);
    let kinds: BTreeSet<&str> = want
        .iter()
        .map(|x| {
            if x.is_nan() {
                "nan"
            } else if *x > 0.0 {
                "+"
            } else if *x < 0.0 {
                "-"
            } else {
                "finite"
            }
        })
        .collect();
    assert_eq!(kinds.len(), 4, "every kind");
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    for precision in LESS {
        for kernel in GemmKernel::ALL {
            let Some(c) = product(&a, &b, precision, kernel) else { continue };
            for (i, (c, want)) in c.iter().zip(&want).enumerate() {
                let same = match want {
                    want if want.is_nan() => c.is_nan(),
                    want if want.is_infinite() => c == want,
                    _ => (f64::from(*c) - finite.value[i]).abs() < 0.1 && c.is_finite(),
                };
                assert!(same, "{precision}, {kernel}, ({}, {}): {c} for {want}", i / n, i % n);
            }
        }
    }
}

#[test]
fn every_form_of_a_product_may_be_in_halves() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [9, 21, 77];
    let fill = |len, seed| Fill::Uniform.values::<f32>(len, seed);
    let (a, b) = (fill(6 * m * k, 1), fill(3 * k * n, 2));
    let (bias, residual, before) = (fill(n, 3), fill(6 * m * n, 4), fill(6 * m * n, 5));
    let at = |values: &[f32], shape: &[usize]| gpu.tensor(values, shape).unwrap();
    let (a_tensor, b_tensor) = (at(&a, &[2, 3, m, k]), at(&b, &[3, k, n]));
    let (bias_tensor, residual_tensor) = (at(&bias, &[n]), at(&residual, &[2, 3, m, n]));
    for precision in [Precision::Fast, Precision::Split] {
        for parts in [1, 2] {
            let mut c = at(&before, &[2, 3, m, n]);
            Gemm::new(&a_tensor, &b_tensor)
                .alpha(0.5)
                .beta(-2.0)
                .bias(&bias_tensor)
                .residual(&residual_tensor)
                .activation(Activation::Silu)
                .precision(precision)
                .kernel(GemmKernel::Tiled)
                .split_k(SplitK::Splits(parts))
                .run_into(&mut c)
                .unwrap();
            let mut rows = Vec::new();
            for (matrix, got) in c.to_vec().unwrap().chunks(m * n).enumerate() {
                let (a, b) = (&a[matrix * m * k..][..m * k], &b[matrix % 3 * k * n..][..k * n]);
                let want = reference::gemm(a, b, [m, n, k]);
                for (i, &got) in got.iter().enumerate() {
                    let largest = |values: &mut dyn Iterator<Item = f32>| {
                        values.fold(0.0, |most: f64, x| most.max(f64::from(x.abs())))
                    };
                    let of_a = largest(&mut a[i / n * k..][..k].iter().copied());
                    let of_b = largest(&mut (0..k).map(|p| b[p * n + i % n]));
                    let off = reference::precision_tolerance(precision, k, want.magnitude[i], of_a * of_b);
                    let at = matrix * m * n + i;
                    let form = EpilogueReference {
                        alpha: 0.5,
                        previous: -2.0 * f64::from(before[at]),
                        bias: bias[i % n].into(),
                        residual: residual[at].into(),
                        activation: Activation::Silu,
                    };
                    let (value, tolerance) = form.apply(want.value[i], off);
                    rows.push((f64::from(got), value, tolerance));
                }
            }
            let found = reference::compare(rows);
            assert!(found.ok(), "{precision}, {parts} parts: {found:?}");
        }
    }
}

#[test]
fn halves_are_made_once_each_and_k_of_nothing_is_zero() {
    let Some(_) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let gpu = Gpu::open().unwrap();
    let a = gpu.random::<f32>([50, 60], Fill::Uniform, 1).unwrap();
    let b = gpu.random::<f32>([60, 70], Fill::Uniform, 2).unwrap();
    for (precision, launches) in [(Precision::Strict, 1), (Precision::Fast, 3), (Precision::Split, 4)] {
        let product = Gemm::new(&a, &b).precision(precision).split_k(SplitK::Splits(1));
        let before = gpu.stats().launches;
        let first = product.run().unwrap().to_vec().unwrap();
        assert_eq!(gpu.stats().launches - before, launches, "{precision}");
        assert_eq!(first, product.run().unwrap().to_vec().unwrap(), "{precision}: the same bits");
        let said = product.plan().unwrap().to_string();
        assert_eq!(said.contains("rounded to f16"), precision != Precision::Strict, "{said}");
    }
    let (a, b) = (gpu.zeros::<f32>([3, 0]).unwrap(), gpu.zeros::<f32>([0, 4]).unwrap());
    for precision in Precision::ALL {
        let c = Gemm::new(&a, &b).precision(precision).run().unwrap();
        assert_eq!(c.to_vec().unwrap(), [0.0; 12], "{precision}");
    }
    let half = gpu.random::<f16>([5, 5], Fill::Uniform, 1).unwrap();
    let [strict, fast] = [Precision::Strict, Precision::Fast]
        .map(|precision| Gemm::new(&half, &half).precision(precision).run().unwrap().to_vec().unwrap());
    assert_eq!(strict, fast, "operands of f16 are multiplied as they are");
}
