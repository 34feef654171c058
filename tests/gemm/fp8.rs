//! Products of e4m3 and e5m2: every code, scales of rows and columns, and what refuses them.

use crate::quantised::{Axis, FORMS, Form, scales};
use support::operand::{Placed, View, poison};
use tilewise::gemm::{
    Accumulator, Float, GemmKernel, LinearScales, Quantised, SplitK, Tile, linear_quantised,
};
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::planning::{Problem, fixtures};
use tilewise::reference::{self, QuantisedReference};
use tilewise::{
    Activation, DType, Error, F8E4M3, F8E5M2, Fill, Gemm, Gpu, Layout, Real, Tensor, bf16, f16, matmul,
};

const OUTER: [usize; 6] = [1, 4, 16, 17, 63, 65]; // below, on and above tile edges
const INNER: [usize; 5] = [0, 1, 5, 64, 100];

/// A type of 8 bits, and the number that a code stands for.
trait Fp8: Float + Quantised {
    fn of_code(code: u8) -> Self;
}

impl Fp8 for F8E4M3 {
    fn of_code(code: u8) -> Self {
        Self::from_bits(code)
    }
}

impl Fp8 for F8E5M2 {
    fn of_code(code: u8) -> Self {
        Self::from_bits(code)
    }
}

/// The smallest tile of each kernel that multiplies them on this device; `gemv` computes thin products only.
fn tiles(gpu: &Gpu, is_thin: bool) -> Vec<Tile> {
    let kernels =
        [GemmKernel::Naive, GemmKernel::Tiled].into_iter().chain(is_thin.then_some(GemmKernel::Gemv));
    let runs = |tile: &&Tile| {
        let any = support::wgsl::plain([1, 64, 64], support::wgsl::FP8[0]);
        tile.fits(&any, gpu.caps()).is_ok()
    };
    let smallest =
        |kernel: GemmKernel| kernel.tiles().iter().filter(runs).min_by_key(|tile| tile.tm * tile.tn);
    kernels.map(|kernel| *smallest(kernel).unwrap()).collect()
}

/// The same number: NaN is the same as NaN.
fn is_same(got: f32, want: f64) -> bool {
    f64::from(got) == want || (got.is_nan() && want.is_nan())
}

/// Every product of two numbers, subnormal ones, infinity and NaN included, is exact in f32.
#[test]
fn every_code_times_every_code_is_exact() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let codes: Vec<T> = (0..=u8::MAX).map(T::of_code).collect();
        let column = gpu.tensor(&codes, [256, 1]).unwrap();
        // Three rows of zeros behind the codes: words of four along k are loaded too.
        let padded: Vec<T> =
            codes.iter().flat_map(|&x| [x, T::of_code(0), T::of_code(0), T::of_code(0)]).collect();
        let padded = gpu.tensor(&padded, [256, 4]).unwrap();
        let ones = gpu.tensor(&[T::from_f64(1.0); 16], [4, 4]).unwrap();
        let is_right = |got: &[f32], width: usize, of: &dyn Fn(usize) -> f64, what: &str| {
            let wrong = (0..got.len()).find(|&i| !is_same(got[i], codes[i / width].to_f64() * of(i % width)));
            let said = wrong.map(|i| (codes[i / width], i % width, got[i]));
            assert!(wrong.is_none(), "{} {what}: {said:?}", T::DTYPE);
        };
        for tile in tiles(gpu, false) {
            for b in [column.t(), gpu.tensor(&codes, [1, 256]).unwrap()] {
                let got = Gemm::new(&column, &b).tile(tile).run().unwrap().to_vec().unwrap();
                is_right(&got, 256, &|j| codes[j].to_f64(), &format!("{} {tile}", tile.kernel));
            }
        }
        for tile in tiles(gpu, true) {
            for a in [&padded, &padded.t().cast::<f32>().unwrap().cast::<T>().unwrap().t()] {
                let got = Gemm::new(a, &ones).tile(tile).run().unwrap().to_vec().unwrap();
                is_right(&got, 4, &|_| 1.0, &format!("{} {tile}, along k", tile.kernel));
            }
        }
    }
    let Some(gpu) = support::gpu() else { return };
    check::<F8E4M3>(&gpu);
    check::<F8E5M2>(&gpu);
}

/// What a kernel loads is exact in f32, so products are those of f32 with the same tile, bit for bit.
#[test]
fn the_bits_are_those_of_the_product_of_f32() {
    fn check<T: Fp8>(gpu: &Gpu, shape: [usize; 3]) {
        let [m, n, k] = shape;
        let a = gpu.tensor(&Fill::Normal.values::<T>(m * k, 1), [m, k]).unwrap();
        let b = gpu.tensor(&Fill::Normal.values::<T>(k * n, 2), [n, k]).unwrap().t();
        let (wide_a, wide_b) = (a.cast::<f32>().unwrap(), b.t().cast::<f32>().unwrap().t());
        for tile in tiles(gpu, m <= 8) {
            for splits in [1, 3] {
                let product = Gemm::new(&a, &b).tile(tile).split_k(SplitK::Splits(splits));
                let wide = Gemm::new(&wide_a, &wide_b).tile(tile).split_k(SplitK::Splits(splits));
                let [got, want] = [product.run(), wide.run()].map(|c| c.unwrap().to_vec().unwrap());
                let bits = |c: &[f32]| c.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&got), bits(&want), "{} {shape:?} {} {tile}", T::DTYPE, tile.kernel);
            }
        }
    }
    let Some(gpu) = support::gpu() else { return };
    check::<F8E4M3>(&gpu, [33, 36, 200]);
    check::<F8E5M2>(&gpu, [5, 64, 200]);
}

#[derive(Clone, Copy, Debug)]
struct Case {
    tile: Tile,
    shape: [usize; 3],
    views: [View; 3],
    form: Form,
}

/// Runs a product and checks each element against the definition, and what lies around the result.
fn check<T: Fp8, C: Real>(gpu: &Gpu, case: &Case) {
    let Case { shape: shape @ [m, n, k], form, .. } = *case;
    let (a, b) = (Fill::Uniform.values::<T>(m * k, 1), Fill::Uniform.values::<T>(k * n, 2));
    let (row_scales, column_scales) = (scales(m, 2.0, 3), scales(n, 0.5, 4));
    let biases = Fill::Uniform.values::<f16>(if matches!(form.bias, Some(Axis::Rows)) { m } else { n }, 5);
    let residuals = Fill::Uniform.values::<C>(m * n, 6);
    let [a_view, b_view, c_view] = case.views;
    let (a_placed, b_placed) = (Placed::new(gpu, &a, [m, k], a_view), Placed::new(gpu, &b, [k, n], b_view));
    let mut c = Placed::new(gpu, &vec![poison::<C>(); m * n], [m, n], c_view);
    let vector = |values: &[f32]| gpu.tensor(values, [values.len()]).unwrap();
    let (of_rows, of_columns) = (vector(&row_scales), vector(&column_scales));
    let bias = gpu.tensor(&biases, [biases.len()]).unwrap();
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
    product.run_into(&mut c.tensor).unwrap_or_else(|error| panic!("{case:?}: {error}"));

    let buffer = c.read_buffer();
    let got = c.elements(&buffer);
    let bits = |values: &[C]| bytemuck::cast_slice::<C, u8>(values).to_vec();
    assert_eq!(bits(&buffer), bits(&c.expected(&got)), "{case:?}: something outside C was written");
    let sums = reference::gemm(&a, &b, shape);
    for (i, sum) in sums.value.into_iter().enumerate() {
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
        let off = reference::sum_tolerance(k, sums.magnitude[i], Accumulator::F32);
        let (value, off) = definition.apply(sum, off);
        let within = off + reference::store_tolerance(value, C::DTYPE);
        let is_within = (got[i].to_f64() - value).abs() <= within;
        assert!(is_within, "{case:?} {} to {}, element {i}: {:?}, not {value}", T::DTYPE, C::DTYPE, got[i]);
    }
}

#[test]
fn every_form_agrees_with_the_definition() {
    let Some(gpu) = support::gpu() else { return };
    let tiles = tiles(&gpu, true);
    let views = View::ALL.len();
    let types = 6;
    let levels = [
        tiles.len(),
        types,
        FORMS.len(),
        OUTER.len(),
        OUTER.len(),
        INNER.len(),
        views,
        views,
        View::OUTPUTS.len(),
    ];
    let mut seen = vec![0; types];
    for row in support::pairs::sweep(&levels, &[&[0, 1, 2], &[0, 3, 4, 5], &[0, 1, 6, 7, 8]]) {
        let tile = tiles[row[0]];
        let is_thin = tile.kernel == GemmKernel::Gemv;
        let case = Case {
            tile,
            form: FORMS[row[2]],
            shape: [OUTER[row[3]].min(if is_thin { 4 } else { 65 }), OUTER[row[4]], INNER[row[5]]],
            views: [View::ALL[row[6]], View::ALL[row[7]], View::OUTPUTS[row[8]]],
        };
        seen[row[1]] += 1;
        match row[1] {
            0 => check::<F8E4M3, f32>(&gpu, &case),
            1 => check::<F8E4M3, f16>(&gpu, &case),
            2 => check::<F8E4M3, bf16>(&gpu, &case),
            3 => check::<F8E5M2, f32>(&gpu, &case),
            4 => check::<F8E5M2, f16>(&gpu, &case),
            _ => check::<F8E5M2, bf16>(&gpu, &case),
        }
    }
    println!("{}: cases of each type {seen:?}, {} pipelines", gpu.caps().adapter, gpu.stats().pipelines);
    assert!(seen.iter().all(|&cases| cases > 0));
}

#[test]
fn a_device_that_was_asked_for_nothing_multiplies_them_too() {
    let Some(gpu) = support::bare() else { return };
    for (i, tile) in tiles(&gpu, true).into_iter().enumerate() {
        let views = [[View::Plain; 3], [View::Transposed, View::Gaps, View::Gaps]][i % 2];
        let case = Case { tile, shape: [4, 36, 70], views, form: FORMS[4] };
        check::<F8E4M3, f32>(&gpu, &case);
        check::<F8E5M2, f16>(&gpu, &case);
    }
}

/// A second launch applies scales to sums of split-k, and to those of panels of k.
#[test]
fn splits_panels_and_batches_take_scales() {
    let small = support::adopted(|desc| desc.required_limits.max_storage_buffer_binding_size = 16 << 10);
    let Some(gpu) = small else { return };
    for [m, n, k] in [[300, 170, 60], [50, 60, 2000], [4, 70, 500]] {
        let (a, b) = (Fill::Integers.values::<F8E4M3>(m * k, 1), Fill::Integers.values::<F8E4M3>(k * n, 2));
        let power = |i: usize| [0.5f32, 2.0, -0.25, 1.0][i % 4];
        let (rows, columns): (Vec<f32>, Vec<f32>) =
            ((0..m).map(power).collect(), (1..=n).map(power).collect());
        let sums = reference::gemm(&a, &b, [m, n, k]).value;
        let scaled = |(i, sum): (usize, f64)| sum * f64::from(rows[i / n]) * f64::from(columns[i % n]) + 3.0;
        let want: Vec<f64> = sums.into_iter().enumerate().map(scaled).collect();
        let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        let (rows, columns) = (gpu.tensor(&rows, [m]).unwrap(), gpu.tensor(&columns, [n]).unwrap());
        let bias = gpu.tensor(&vec![3.0f32; n], [n]).unwrap();
        for splits in [1, 3] {
            let product = Gemm::new(&a, &b).row_scale(&rows).column_scale(&columns).bias(&bias);
            let product = product.split_k(SplitK::Splits(splits));
            let got = product.run().unwrap().to_vec().unwrap();
            let wrong = (0..m * n).find(|&i| f64::from(got[i]) != want[i]);
            assert_eq!(wrong, None, "{m} {n} {k}: {}", product.plan().unwrap());
        }
    }
    let [m, n, k] = [9, 12, 20];
    let a = gpu.tensor(&Fill::Integers.values::<F8E5M2>(6 * m * k, 1), [2, 3, m, k]).unwrap();
    let b = gpu.tensor(&Fill::Integers.values::<F8E5M2>(3 * k * n, 2), [3, k, n]).unwrap();
    let wide = matmul(&a.cast::<f32>().unwrap(), &b.cast::<f32>().unwrap()).unwrap().to_vec().unwrap();
    let rows = gpu.tensor(&vec![0.5f32; m], [m]).unwrap();
    let got = Gemm::new(&a, &b).row_scale(&rows).run().unwrap();
    assert_eq!(got.shape(), [2, 3, m, n]);
    assert!(got.to_vec().unwrap().iter().zip(wide).all(|(got, sum)| *got == 0.5 * sum));
}

/// Sums and scales are of f32: what passes its range is infinite, and NaN spreads.
#[test]
fn scales_that_overflow_and_numbers_that_are_not_finite_spread() {
    let Some(gpu) = support::gpu() else { return };
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let of = |numbers: &[f32]| numbers.iter().map(|&x| F8E5M2::from_f32(x)).collect::<Vec<_>>();
    let a = gpu.tensor(&of(&[1.0, 57_344.0, inf, nan, -2.0]), [5, 1]).unwrap();
    let b = gpu.tensor(&of(&[2.0, 0.0, -inf]), [1, 3]).unwrap();
    let rows = gpu.tensor(&[1e38f32, 1e37, 1.0, 1.0, nan], [5]).unwrap();
    let columns = gpu.tensor(&[10.0f32, -1.0, 1.0], [3]).unwrap();
    let bias = gpu.tensor(&[0.0f32, 7.0, 1.0], [3]).unwrap();
    let want = [[inf, 7.0, -inf], [inf, 7.0, -inf], [inf, nan, -inf], [nan; 3], [nan; 3]];
    for tile in tiles(&gpu, true) {
        let product = Gemm::new(&a, &b).row_scale(&rows).column_scale(&columns).bias(&bias).tile(tile);
        let got = product.run().unwrap().to_vec().unwrap();
        let is_right = got.iter().zip(want.as_flattened()).all(|(&got, &want)| is_same(got, want.into()));
        assert!(is_right, "{} {tile}: {got:?}", tile.kernel);
    }
    // 448 times 448 times k: e4m3 has no infinity, but f32 sums have room for it.
    let most = gpu.tensor(&vec![F8E4M3::MAX; 4 * 64], [4, 64]).unwrap();
    assert_eq!(matmul(&most, &most.t()).unwrap().to_vec().unwrap(), [448.0 * 448.0 * 64.0; 16]);
    assert_eq!(
        Gemm::new(&most, &most.t()).out::<f16>().run().unwrap().to_vec().unwrap(),
        [f16::INFINITY; 16]
    );
}

#[test]
fn a_linear_layer_is_the_layer_of_its_numbers() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let [batch, rows, inputs, outputs] = [3, 17, 40, 21];
        let filled = |shape: &[usize], seed| {
            gpu.tensor(&Fill::Integers.values::<T>(shape.iter().product(), seed), shape).unwrap()
        };
        let (x, weight) = (filled(&[batch, rows, inputs], 1), filled(&[outputs, inputs], 2));
        let power = |i: usize| [0.5f32, 2.0, 0.25, 1.0][i % 4];
        let vector = |len: usize| gpu.tensor(&(0..len).map(power).collect::<Vec<_>>(), [len]).unwrap();
        let (of_rows, of_weight, bias) = (vector(rows), vector(outputs), vector(outputs));
        let scales = LinearScales { x: 0.5, rows: Some(&of_rows), weight: Some(&of_weight), out: None };
        let before = gpu.stats().launches;
        let got = linear_quantised::<T, f32>(&x, &weight, scales, Some(&bias), Activation::Relu).unwrap();
        assert_eq!(gpu.stats().launches - before, 1);
        let sums = matmul(&x.cast::<f32>().unwrap(), &weight.cast::<f32>().unwrap().t()).unwrap();
        let of = |(i, sum): (usize, f32)| {
            let (row, output) = (i / outputs % rows, i % outputs);
            (0.5 * power(row) * power(output) * sum + power(output)).max(0.0)
        };
        let want: Vec<f32> = sums.to_vec().unwrap().into_iter().enumerate().map(of).collect();
        assert_eq!(got.shape(), [batch, rows, outputs]);
        assert_eq!(got.to_vec().unwrap(), want);
        let halves = linear_quantised::<T, bf16>(&x, &weight, scales, Some(&bias), Activation::Relu).unwrap();
        assert_eq!(halves.to_vec().unwrap(), got.cast::<bf16>().unwrap().to_vec().unwrap());
    }
    let Some(gpu) = support::own(|_| ()) else { return };
    check::<F8E4M3>(&gpu);
    check::<F8E5M2>(&gpu);
}

#[test]
fn mistakes_are_errors_that_say_what_is_supported() {
    let gpu = support::noop();
    let (a, b) = (gpu.zeros::<F8E4M3>([4, 5]).unwrap(), gpu.zeros::<F8E4M3>([5, 6]).unwrap());
    let of = |len: usize| gpu.zeros::<f32>([len]).unwrap();
    let (four, five) = (of(4), of(5));
    let says = |error: Error, words: &[&str]| {
        let said = error.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        assert!(matches!(error, Error::Shape { .. } | Error::Input { .. }), "{said}");
    };
    let product = || Gemm::new(&a, &b);
    says(product().row_scale(&five).run().unwrap_err(), &["row scale", "[5]", "[4]"]);
    says(product().column_scale(&four).run().unwrap_err(), &["column scale", "[4]", "[6]"]);
    says(product().row_scale(&gpu.zeros([4, 1]).unwrap()).plan().unwrap_err(), &["vector", "[4, 1]"]);
    // Integers are results of products of i8 only, and numbers of 8 bits of none.
    let none = LinearScales::default();
    let weight = b.t();
    let linear = linear_quantised::<F8E4M3, i32>(&a, &weight, none, None, Activation::None);
    says(
        linear.unwrap_err(),
        &["linear_quantised", "only products of i8", "i32", "e4m3 are f32, f16 or bf16"],
    );
    for out in [0.0, -1.0, f32::NAN, 1.0] {
        let scales = LinearScales { out: Some(out), ..none };
        let linear = linear_quantised::<F8E4M3, f32>(&a, &weight, scales, None, Activation::None);
        says(linear.unwrap_err(), &["out_scale"]);
    }
    let linear = linear_quantised::<F8E4M3, i8>(&a, &weight, none, None, Activation::None);
    says(linear.unwrap_err(), &["only products of i8", "e4m3"]);
    let linear = linear_quantised::<F8E4M3, F8E4M3>(&a, &weight, none, None, Activation::None);
    says(linear.unwrap_err(), &["e4m3", "cast"]);
    let square = Layout::contiguous("test", &[4, 4]).unwrap();
    for c in [DType::I8, DType::I32] {
        for ab in [DType::F8E5M2, DType::F32] {
            let product = GemmProblem::new(&square, &square, &square, GemmTypes::new(ab, c)).unwrap();
            says(product.plan(gpu.caps()).unwrap_err(), &["only products of i8", &format!("{ab} are f32")]);
        }
    }
    // Everything is still usable.
    assert!(product().row_scale(&four).run().is_ok());
}

/// Kernels of other types refuse them when they are pinned, and so do kernels on matrices without a row of theirs.
#[test]
fn a_pinned_kernel_says_what_it_needs() {
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        for types in support::wgsl::FP8 {
            for (kernel, needs) in [
                (GemmKernel::Dot, "operands of i8"),
                (GemmKernel::Coop, "operands of f16"),
                (GemmKernel::Broadcast, ""),
            ] {
                let plan = support::wgsl::plain([64; 3], types).pinned(Pin::Kernel(kernel)).plan(&caps);
                let Err(error @ Error::Unsupported { .. }) = plan else { panic!("{name}: {plan:?}") };
                assert!(error.to_string().contains(needs), "{name}: {error}");
            }
            let plan = support::wgsl::plain([64; 3], types).plan(&caps).unwrap();
            assert!(!plan.steps().is_empty(), "{name}");
        }
    }
}

/// Tensors of other types have other options: this compiles only because the types have those of products of f32.
#[test]
fn a_product_is_added_to_what_is_there() {
    let Some(gpu) = support::gpu() else { return };
    let a: Tensor<F8E5M2> = gpu.tensor(&[F8E5M2::ONE; 4], [2, 2]).unwrap();
    let mut c = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    Gemm::new(&a, &a).alpha(0.5).beta(2.0).run_into(&mut c).unwrap();
    assert_eq!(c.to_vec().unwrap(), [3.0, 5.0, 7.0, 9.0]);
}
