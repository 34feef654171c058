//! Products of i8 with scales, bias, activation and residual, stored as any real type or requantised.

use support::operand::{Placed, View, poison};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::reference::{self, QuantisedReference};
use tilewise::{Activation, DType, Element, Error, Fill, Gemm, Gpu, Real, bf16, f16};

const SIZES: [usize; 7] = [1, 15, 16, 17, 63, 64, 65]; // below, on and above tile edges
const INNER: [usize; 5] = [0, 1, 5, 64, 100];
const TYPES: [DType; 4] = [DType::F32, DType::F16, DType::Bf16, DType::I8];

/// What is added to a product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) alpha: f32,
    pub(crate) rows: bool,
    pub(crate) columns: bool,
    pub(crate) bias: Option<Axis>,
    pub(crate) residual: bool,
    pub(crate) activation: Activation,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    Rows,
    Columns,
}

const PLAIN: Form = Form {
    alpha: 1.0,
    rows: false,
    columns: false,
    bias: None,
    residual: false,
    activation: Activation::None,
};
pub(crate) const FORMS: [Form; 7] = [
    PLAIN,
    Form { alpha: -0.3, bias: Some(Axis::Rows), ..PLAIN },
    Form { rows: true, bias: Some(Axis::Columns), activation: Activation::Relu, ..PLAIN },
    Form { columns: true, residual: true, ..PLAIN },
    Form { rows: true, columns: true, bias: Some(Axis::Columns), activation: Activation::Gelu, ..PLAIN },
    Form { alpha: 0.07, columns: true, residual: true, activation: Activation::Silu, ..PLAIN },
    Form {
        alpha: 2.5,
        rows: true,
        columns: true,
        bias: Some(Axis::Columns),
        residual: true,
        activation: Activation::None,
    },
];

#[derive(Clone, Copy, Debug)]
struct Case {
    tile: Tile,
    shape: [usize; 3],
    views: [View; 3],
    form: Form,
}

/// The scale of results of i8: not a power of two, so that the quotient rounds.
const OUT_SCALE: f32 = 0.37;

fn tiles() -> Vec<Tile> {
    [GemmKernel::Naive, GemmKernel::Dot].iter().flat_map(|kernel| kernel.tiles()).copied().collect()
}

/// Scales of both signs, about so large, and smaller by up to a thousand.
pub(crate) fn scales(len: usize, largest: f32, seed: u64) -> Vec<f32> {
    let of = |x: f32| largest * x * if x > 0.5 { 1.0 } else { 1e-3 };
    Fill::Uniform.values::<f32>(len, seed).into_iter().map(of).collect()
}

/// The exact sums.
fn sums(a: &[i8], b: &[i8], [m, n, k]: [usize; 3]) -> Vec<f64> {
    (0..m * n)
        .map(|i| {
            (0..k).map(|p| i64::from(a[i / n * k + p]) * i64::from(b[p * n + i % n])).sum::<i64>() as f64
        })
        .collect()
}

/// Runs a product and checks each element against the definition, and what lies around the result. `R` is the type of the
/// residual.
fn check<C: Element, R: Real>(gpu: &Gpu, case: &Case) {
    let Case { shape: shape @ [m, n, k], form, .. } = *case;
    let (a, b) = (Fill::Uniform.values::<i8>(m * k, 1), Fill::Uniform.values::<i8>(k * n, 2));
    let (row_scales, column_scales) = (scales(m, 0.02, 3), scales(n, 0.05, 4));
    let biases = Fill::Uniform.values::<f16>(if matches!(form.bias, Some(Axis::Rows)) { m } else { n }, 5);
    let residuals = Fill::Uniform.values::<R>(m * n, 6);
    let [a_view, b_view, c_view] = case.views;
    let (a_placed, b_placed) = (Placed::new(gpu, &a, [m, k], a_view), Placed::new(gpu, &b, [k, n], b_view));
    let mut c = Placed::new(gpu, &vec![poison::<C>(); m * n], [m, n], c_view);
    // Scales with gaps, and a bias that begins in the middle of a buffer.
    let spread = |values: &[f32], offset: usize| {
        let step = 3;
        let mut all = vec![f32::NAN; offset + step * values.len()];
        values.iter().enumerate().for_each(|(i, &value)| all[offset + step * i] = value);
        let flat = gpu.tensor(&all, [all.len()]).unwrap();
        flat.as_strided(&[values.len()], &[step], offset).unwrap()
    };
    let (of_rows, of_columns) = (spread(&row_scales, 5), spread(&column_scales, 1));
    let bias = gpu.tensor(&[&biases[..], &biases[..]].concat(), [2 * biases.len()]).unwrap();
    let bias = bias.as_strided(&[biases.len()], &[1], biases.len()).unwrap();
    let residual = Placed::new(gpu, &residuals, [m, n], View::Gaps);

    let mut product = Gemm::new(&a_placed.tensor, &b_placed.tensor)
        .out::<C>()
        .alpha(form.alpha)
        .activation(form.activation)
        .tile(case.tile);
    product = if form.rows { product.row_scale(&of_rows) } else { product };
    product = if form.columns { product.column_scale(&of_columns) } else { product };
    product = match form.bias {
        None => product,
        Some(Axis::Rows) => product.row_bias(&bias),
        Some(Axis::Columns) => product.bias(&bias),
    };
    product = if form.residual { product.residual(&residual.tensor) } else { product };
    product = if C::DTYPE == DType::I8 { product.out_scale(OUT_SCALE) } else { product };
    product.run_into(&mut c.tensor).unwrap_or_else(|error| panic!("{case:?}: {error}"));

    let buffer = c.read_buffer();
    let got = c.elements(&buffer);
    let bits = |values: &[C]| bytemuck::cast_slice::<C, u8>(values).to_vec();
    assert_eq!(bits(&buffer), bits(&c.expected(&got)), "{case:?}: something outside C was written");
    for (i, sum) in sums(&a, &b, shape).into_iter().enumerate() {
        let (row, column) = (i / n, i % n);
        let definition = QuantisedReference {
            alpha: form.alpha.into(),
            row_scale: if form.rows { row_scales[row].into() } else { 1.0 },
            column_scale: if form.columns { column_scales[column].into() } else { 1.0 },
            bias: match form.bias {
                None => 0.0,
                Some(Axis::Rows) => biases[row].into(),
                Some(Axis::Columns) => biases[column].into(),
            },
            activation: form.activation,
            residual: if form.residual { residuals[i].to_f64() } else { 0.0 },
        };
        let said = || format!("{case:?} -> {}, element {i}: {:?} of {sum}", C::DTYPE, got[i]);
        if C::DTYPE == DType::I8 {
            let [least, most] = definition.requantised(sum, OUT_SCALE);
            assert!((f64::from(least)..=f64::from(most)).contains(&got[i].to_f64()), "{}", said());
            assert!(i16::from(most) - i16::from(least) <= 1, "{}: {least} to {most} says little", said());
        } else {
            let (value, off) = definition.apply(sum, 0.0);
            let within = off + reference::store_tolerance(value, C::DTYPE);
            assert!((got[i].to_f64() - value).abs() <= within, "{}, not {value}", said());
        }
    }
}

#[test]
fn every_form_agrees_with_the_definition() {
    let Some(gpu) = support::gpu() else { return };
    let tiles = tiles();
    let views = View::ALL.len();
    let levels = [
        tiles.len(),
        TYPES.len(),
        FORMS.len(),
        SIZES.len(),
        SIZES.len(),
        INNER.len(),
        views,
        views,
        View::OUTPUTS.len(),
    ];
    let mut seen = [0; 4];
    for row in support::pairs::sweep(&levels, &[&[0, 1, 2], &[0, 3, 4, 5], &[0, 1, 6, 7, 8]]) {
        let case = Case {
            tile: tiles[row[0]],
            form: FORMS[row[2]],
            shape: [SIZES[row[3]], SIZES[row[4]], INNER[row[5]]],
            views: [View::ALL[row[6]], View::ALL[row[7]], View::OUTPUTS[row[8]]],
        };
        seen[row[1]] += 1;
        match TYPES[row[1]] {
            DType::F32 => check::<f32, f32>(&gpu, &case),
            DType::F16 => check::<f16, f16>(&gpu, &case),
            DType::Bf16 => check::<bf16, bf16>(&gpu, &case),
            _ => check::<i8, f32>(&gpu, &case),
        }
    }
    println!("{}: cases of each type {seen:?}, {} pipelines", gpu.caps().adapter, gpu.stats().pipelines);
    assert!(seen.iter().all(|&cases| cases > 0));
}

#[test]
fn a_device_that_was_asked_for_nothing_takes_every_type() {
    let Some(gpu) = support::bare() else { return };
    for (i, tile) in tiles().into_iter().enumerate() {
        let views = [[View::Plain; 3], [View::Transposed, View::Gaps, View::Gaps]][i % 2];
        let case = Case { tile, shape: [65, 36, 70], views, form: FORMS[6] };
        check::<f32, f32>(&gpu, &case);
        check::<f16, f16>(&gpu, &case);
        check::<i8, bf16>(&gpu, &Case { form: FORMS[4], ..case });
    }
}

/// With scales that are powers of two, everything is exact.
#[test]
fn powers_of_two_are_exact_in_every_batch() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [m, n, k] = [17, 20, 40];
    let (a, b) = (Fill::Integers.values::<i8>(6 * m * k, 1), Fill::Integers.values::<i8>(3 * k * n, 2));
    let power = |i: usize| [0.5f32, 2.0, -0.25, 1.0][i % 4];
    let (rows, columns): (Vec<f32>, Vec<f32>) = ((0..m).map(power).collect(), (1..=n).map(power).collect());
    let bias: Vec<f32> = (0..n).map(|j| 0.5 * j as f32 - 3.0).collect();
    let mut want = Vec::new();
    for matrix in 0..6 {
        let (a, b) = (&a[matrix * m * k..][..m * k], &b[matrix % 3 * k * n..][..k * n]);
        let scaled = |(i, sum): (usize, f64)| {
            let z = sum * f64::from(rows[i / n]) * f64::from(columns[i % n]) * 0.5 + f64::from(bias[i % n]);
            z.max(0.0)
        };
        want.extend(sums(a, b, [m, n, k]).into_iter().enumerate().map(scaled));
    }
    let (a, b) = (gpu.tensor(&a, [2, 3, m, k]).unwrap(), gpu.tensor(&b, [3, k, n]).unwrap());
    let (rows, columns) = (gpu.tensor(&rows, [m]).unwrap(), gpu.tensor(&columns, [n]).unwrap());
    let bias = gpu.tensor(&bias, [n]).unwrap();
    for tile in tiles() {
        let product = Gemm::new(&a, &b).row_scale(&rows).column_scale(&columns).bias(&bias).alpha(0.5);
        let product = product.activation(Activation::Relu).tile(tile);
        let before = gpu.stats().launches;
        let got = product.clone().out::<f32>().run().unwrap();
        assert_eq!((got.shape(), gpu.stats().launches - before), (&[2, 3, m, n][..], 1), "{tile}");
        let got: Vec<f64> = got.to_vec().unwrap().into_iter().map(f64::from).collect();
        assert_eq!(got, want, "{tile}");
        // Quarters, with many in the middle of two integers.
        let got = product.out::<i8>().out_scale(0.5).run().unwrap().to_vec().unwrap();
        let want: Vec<i8> = want.iter().map(|&y| i8::from_f64(y / 0.5)).collect();
        assert_eq!(got, want, "{tile}");
    }
}

#[test]
fn sums_above_what_f32_holds_are_rounded_once() {
    let Some(gpu) = support::gpu() else { return };
    let k = 131_071;
    for (x, y) in [(-128i8, -128i8), (127, 127), (-128, 127), (127, 37)] {
        // The last of each row differs, so that sums are odd too.
        let mut of_a = vec![x; 3 * k];
        (0..3).for_each(|row| of_a[row * k] = [0, 1, -77][row]);
        let a = gpu.tensor(&of_a, [3, k]).unwrap();
        let b = gpu.tensor(&vec![y; 2 * k], [2, k]).unwrap();
        for kernel in [GemmKernel::Naive, GemmKernel::Dot] {
            let exact = Gemm::new(&a, &b.t()).kernel(kernel).run().unwrap().to_vec().unwrap();
            let got = Gemm::new(&a, &b.t()).kernel(kernel).out::<f32>().run().unwrap().to_vec().unwrap();
            for (sum, got) in exact.into_iter().zip(got) {
                let (value, off) = QuantisedReference::default().apply(sum.into(), 0.0);
                assert!((f64::from(got) - value).abs() <= off, "{kernel}: {got} of {sum}");
                assert!(off <= 9.0 * 256.0, "a bound of {off} says little"); // an ulp of 2^31 is 256
            }
        }
    }
}

#[test]
fn a_scale_that_is_not_finite_and_a_bias_spread() {
    let Some(gpu) = support::gpu() else { return };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    // Sums of 0, 2 and -3 in the columns.
    let a = gpu.tensor(&[1i8; 7], [7, 1]).unwrap();
    let b = gpu.tensor(&[0i8, 2, -3], [1, 3]).unwrap();
    let rows = gpu.tensor(&[1.0, inf, -inf, nan, 1e30, 0.0, -1.0], [7]).unwrap();
    let spread = gpu.tensor(&[0.0, nan, inf], [3]).unwrap();
    let same = |got: &[f32], want: &[f32], what: &str| {
        let is_same = |(x, y): (&f32, &f32)| x == y || (x.is_nan() && y.is_nan());
        assert!(
            got.len() == want.len() && got.iter().zip(want).all(is_same),
            "{what}: {got:?}, not {want:?}"
        );
    };
    for kernel in [GemmKernel::Naive, GemmKernel::Dot] {
        let scaled = Gemm::new(&a, &b).row_scale(&rows).kernel(kernel);
        let got = scaled.clone().out::<f32>().run().unwrap().to_vec().unwrap();
        let want = [
            [0.0, 2.0, -3.0],
            [nan, inf, -inf],
            [nan, -inf, inf],
            [nan; 3],
            [0.0, 2.0 * 1e30, -3.0 * 1e30],
            [0.0; 3],
            [0.0, -2.0, 3.0],
        ];
        same(&got, want.as_flattened(), &format!("{kernel}"));
        let got = scaled.clone().out::<i8>().out_scale(0.5).run().unwrap().to_vec().unwrap();
        let requantised = |y: &f32| reference::requantise(f64::from(*y), 0.5);
        assert_eq!(got, want.as_flattened().iter().map(requantised).collect::<Vec<_>>(), "{kernel}");
        assert_eq!(got[..6], [0, 4, -6, 0, 127, -128], "NaN is 0, infinities saturate");
        let got = scaled.bias(&spread).out::<f32>().run().unwrap().to_vec().unwrap();
        let want = want.map(|[x, _, y]| [x, nan, y + inf]);
        same(&got, want.as_flattened(), &format!("{kernel}, a bias"));
        let columns = Gemm::new(&a, &b).column_scale(&spread).kernel(kernel).out::<bf16>();
        let got: Vec<f32> = columns.run().unwrap().cast::<f32>().unwrap().to_vec().unwrap();
        same(&got, [[0.0, nan, -inf]; 7].as_flattened(), &format!("{kernel}, columns"));
    }
}

/// Scales from the smallest to large ones: within the bound, which allows what is subnormal to be 0.
#[test]
fn scales_of_all_sizes() {
    let Some(gpu) = support::gpu() else { return };
    let sizes = [1e-45f32, 3e-39, 1.2e-38, 1e-30, 1e-7, 1.0, 1e7, 1e30];
    let (a, b) = (gpu.tensor(&[3i8; 8], [8, 1]).unwrap(), gpu.tensor(&[5i8; 8], [1, 8]).unwrap());
    let scale = gpu.tensor(&sizes, [8]).unwrap();
    for kernel in [GemmKernel::Naive, GemmKernel::Dot] {
        let product = Gemm::new(&a, &b).row_scale(&scale).column_scale(&scale).out::<f32>().kernel(kernel);
        for (i, got) in product.run().unwrap().to_vec().unwrap().into_iter().enumerate() {
            let [row_scale, column_scale] = [sizes[i / 8], sizes[i % 8]].map(f64::from);
            if 15.0 * row_scale * column_scale > f64::from(f32::MAX) {
                assert!(got == f32::INFINITY, "{kernel}: {got} for {row_scale:e} and {column_scale:e}");
                continue;
            }
            let (value, off) =
                QuantisedReference { row_scale, column_scale, ..Default::default() }.apply(15.0, 0.0);
            assert!((f64::from(got) - value).abs() <= off, "{kernel}: {got}, not {value}");
            let is_normal = [row_scale, column_scale, row_scale * column_scale].iter().all(|x| *x > 1.2e-38);
            let is_close = (f64::from(got) - value).abs() <= 1e-6 * value;
            assert!(!is_normal || is_close, "{kernel}: {got}, not {value}");
        }
    }
}

#[test]
fn empty_products_are_the_epilogue_of_zero() {
    let Some(gpu) = support::gpu() else { return };
    let (a, b) = (gpu.zeros::<i8>([3, 0]).unwrap(), gpu.zeros::<i8>([0, 2]).unwrap());
    let (rows, bias) = (gpu.tensor(&[2.0f32; 3], [3]).unwrap(), gpu.tensor(&[1.5f32, -2.5], [2]).unwrap());
    for kernel in [GemmKernel::Naive, GemmKernel::Dot] {
        let product = Gemm::new(&a, &b).row_scale(&rows).bias(&bias).kernel(kernel);
        assert_eq!(
            product.clone().out::<f32>().run().unwrap().to_vec().unwrap(),
            [1.5, -2.5, 1.5, -2.5, 1.5, -2.5]
        );
        assert_eq!(product.out::<i8>().run().unwrap().to_vec().unwrap(), [2, -2, 2, -2, 2, -2]);
    }
    let none = gpu.zeros::<f32>([0]).unwrap();
    let b = gpu.zeros::<i8>([3, 2]).unwrap();
    let empty = gpu.zeros::<i8>([0, 3]).unwrap();
    let got = Gemm::new(&empty, &b).row_scale(&none).bias(&bias).out::<i8>().out_scale(2.0).run().unwrap();
    assert_eq!(got.shape(), [0, 2]);
    assert!(got.to_vec().unwrap().is_empty());
    let error = Gemm::new(&empty, &b).row_scale(&rows).out::<f32>().run().unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}
