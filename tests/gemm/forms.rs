//! Products in every form: batches, epilogues, parts, linear layers.

use std::collections::BTreeMap;
use support::batch::{Stack, Stacked};
use tilewise::gemm::{GemmKernel, Linear, SplitK, Tile};
use tilewise::reference::{self, EpilogueReference};
use tilewise::{Activation, Error, Fill, Gemm, Gpu, Real, Tensor, bf16, f16, linear, matmul};

/// What a case of the sweep adds to a product.
#[derive(Clone, Copy, Debug)]
struct Epilogue {
    alpha: f32,
    beta: f32,
    bias: Option<Axis>,
    residual: bool,
    activation: Activation,
}

#[derive(Clone, Copy, Debug)]
enum Axis {
    Rows,
    Columns,
}

const PLAIN: Epilogue =
    Epilogue { alpha: 1.0, beta: 0.0, bias: None, residual: false, activation: Activation::None };
const EPILOGUES: [Epilogue; 8] = [
    PLAIN,
    Epilogue { alpha: -1.5, ..PLAIN },
    Epilogue { beta: 0.75, ..PLAIN },
    Epilogue { bias: Some(Axis::Columns), activation: Activation::Gelu, ..PLAIN },
    Epilogue { bias: Some(Axis::Rows), activation: Activation::Relu, ..PLAIN },
    Epilogue { residual: true, activation: Activation::Silu, ..PLAIN },
    Epilogue { alpha: 0.5, activation: Activation::Tanh, ..PLAIN },
    Epilogue {
        alpha: 0.25,
        beta: 1.0,
        bias: Some(Axis::Columns),
        residual: true,
        activation: Activation::GeluTanh,
    },
];

/// Axes in front of A, B and C.
const BATCHES: [[&[usize]; 3]; 6] = [
    [&[], &[], &[]],
    [&[3], &[3], &[3]],
    [&[3], &[], &[3]],
    [&[1], &[4], &[4]],
    [&[2, 3], &[3], &[2, 3]],
    [&[2, 1], &[1, 3], &[2, 3]],
];

const SHAPES: [[usize; 3]; 5] = [[33, 20, 37], [5, 64, 130], [64, 36, 100], [1, 7, 5], [70, 3, 64]];

#[derive(Clone, Copy)]
struct Case {
    tile: Tile,
    batch: [&'static [usize]; 3],
    shape: [usize; 3],
    stacks: [Stack; 3],
    epilogue: Epilogue,
    split: SplitK,
}

/// Runs one product in one form, and compares it with the definition. Returns its launches: none where the device cannot
/// run the tile.
fn check<T: Real, C: Real>(gpu: &Gpu, case: &Case) -> u64 {
    let [m, n, k] = case.shape;
    let Epilogue { alpha, beta, bias, residual, activation } = case.epilogue;
    let shape = |i: usize, rows: usize, cols: usize| [case.batch[i], &[rows, cols]].concat();
    let [shape_a, shape_b, shape_c] = [shape(0, m, k), shape(1, k, n), shape(2, m, n)];
    let values = |shape: &[usize], seed| Fill::Uniform.values::<T>(shape.iter().product(), seed);
    let (a, b) = (values(&shape_a, 1), values(&shape_b, 2));
    let count: usize = shape_c.iter().product();
    let before =
        if beta == 0.0 { vec![C::from_f64(f64::NAN); count] } else { Fill::Uniform.values(count, 3) };
    let residuals = Fill::Uniform.values::<C>(count, 4);
    let biases = Fill::Uniform.values::<T>(if matches!(bias, Some(Axis::Rows)) { m } else { n }, 5);

    let want = definitions::<T, C>(case, [&a, &b], &before, &biases, &residuals);
    let (a, b) =
        (Stacked::new(gpu, &a, &shape_a, case.stacks[0]), Stacked::new(gpu, &b, &shape_b, case.stacks[1]));
    let mut c = Stacked::new(gpu, &before, &shape_c, case.stacks[2]);
    let added = Stacked::new(gpu, &residuals, &shape_c, case.stacks[0]);
    let steps = gpu.tensor(&[&biases[..], &biases[..]].concat(), [2 * biases.len()]).unwrap();
    let steps = steps.as_strided(&[biases.len()], &[1], biases.len()).unwrap();
    let mut product = Gemm::new(&a.tensor, &b.tensor)
        .out::<C>()
        .alpha(alpha)
        .beta(beta)
        .activation(activation)
        .split_k(case.split)
        .tile(case.tile);
    product = match bias {
        None => product,
        Some(Axis::Rows) => product.row_bias(&steps),
        Some(Axis::Columns) => product.bias(&steps),
    };
    product = if residual { product.residual(&added.tensor) } else { product };
    let launches = gpu.stats().launches;
    match product.run_into(&mut c.tensor) {
        Err(Error::Unsupported { .. }) => return 0,
        computed => computed.unwrap(),
    }
    let launches = gpu.stats().launches - launches;
    let got = c.read();
    let found = reference::compare(got.iter().zip(want).map(|(got, (value, tolerance))| {
        (got.to_f64(), value, tolerance + reference::store_tolerance(value, C::DTYPE))
    }));
    let says = || {
        format!(
            "{} {} -> {}, {:?} {:?} {:?} {:?} {:?}: {found:?}",
            case.tile,
            T::DTYPE,
            C::DTYPE,
            case.batch,
            case.shape,
            case.stacks,
            case.epilogue,
            case.split
        )
    };
    assert!(found.ok(), "{}", says());
    launches
}

/// Every element in f64, and how far it may be before it is stored.
fn definitions<T: Real, C: Real>(
    case: &Case,
    [a, b]: [&[T]; 2],
    before: &[C],
    biases: &[T],
    residuals: &[C],
) -> Vec<(f64, f64)> {
    let [m, n, k] = case.shape;
    let Epilogue { alpha, beta, bias, residual, activation } = case.epilogue;
    let matrices: usize = case.batch[2].iter().product();
    let mut want = Vec::new();
    for matrix in 0..matrices {
        let [of_a, of_b] = [0, 1].map(|i| matrix_of(case.batch[2], case.batch[i], matrix));
        let (a, b) = (&a[of_a * m * k..(of_a + 1) * m * k], &b[of_b * k * n..(of_b + 1) * k * n]);
        let product = reference::gemm(a, b, [m, n, k]);
        for (i, (&sum, &magnitude)) in product.value.iter().zip(&product.magnitude).enumerate() {
            let at = matrix * m * n + i;
            let form = EpilogueReference {
                alpha: alpha.into(),
                previous: if beta == 0.0 { 0.0 } else { f64::from(beta) * before[at].to_f64() },
                bias: match bias {
                    None => 0.0,
                    Some(Axis::Rows) => biases[i / n].to_f64(),
                    Some(Axis::Columns) => biases[i % n].to_f64(),
                },
                residual: if residual { residuals[at].to_f64() } else { 0.0 },
                activation,
            };
            // Parts add at most as many sums as there are terms.
            want.push(
                form.apply(sum, reference::sum_tolerance(k, magnitude, tilewise::gemm::Accumulator::F32)),
            );
        }
    }
    want
}

/// Which matrix of an operand with the batch `own` takes part in the `matrix`-th of all.
fn matrix_of(all: &[usize], own: &[usize], mut matrix: usize) -> usize {
    let mut index = 0;
    let mut step = 1;
    for (i, &extent) in all.iter().rev().enumerate() {
        if let Some(&mine) = own.len().checked_sub(i + 1).and_then(|axis| own.get(axis)) {
            index += matrix % extent % mine * step;
            step *= mine;
        }
        matrix /= extent;
    }
    index
}

#[test]
fn every_form_of_a_product_agrees_with_the_reference() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap(); // its own: launches are counted
    let tiles = crate::first_and_last_tiles(gpu.caps());
    let levels = [
        tiles.len(),
        5,
        BATCHES.len(),
        SHAPES.len(),
        EPILOGUES.len(),
        3,
        Stack::ALL.len(),
        Stack::ALL.len(),
        3,
    ];
    let mut launches: BTreeMap<String, u64> = BTreeMap::new();
    for row in support::pairs::sweep(&levels, &[&[0, 1, 4], &[0, 2, 3, 5], &[0, 1, 6, 7, 8]]) {
        let case = Case {
            tile: tiles[row[0]],
            batch: BATCHES[row[2]],
            shape: SHAPES[row[3]],
            epilogue: EPILOGUES[row[4]],
            split: [SplitK::Splits(1), SplitK::Splits(2), SplitK::Splits(9)][row[5]],
            stacks: [Stack::ALL[row[6]], Stack::ALL[row[7]], Stack::OUTPUTS[row[8]]],
        };
        let done = match row[1] {
            0 => check::<f32, f32>(&gpu, &case),
            1 => check::<f16, f32>(&gpu, &case),
            2 => check::<f16, f16>(&gpu, &case),
            3 => check::<bf16, bf16>(&gpu, &case),
            _ => check::<bf16, f32>(&gpu, &case),
        };
        *launches.entry(format!("{} {}", case.tile.kernel, case.tile)).or_default() += done;
    }
    println!("{}: {} pipelines, launches {launches:#?}", gpu.caps().adapter, gpu.stats().pipelines);
    assert!(launches["naive 64 elements"] > 0);
    assert!(launches.len() >= 3 && launches.values().filter(|&&launches| launches > 0).count() >= 3);
}

/// A pipeline of cooperative matrices takes a software driver many seconds: each variant of the forms is in one of these.
#[test]
fn cooperative_matrices_take_every_form() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let smallest = GemmKernel::Coop.tiles().iter().filter(|tile| tile.bm * tile.bn <= 32 * 64);
    let mut launches = 0;
    for &tile in smallest {
        let case = Case {
            tile,
            batch: BATCHES[4],
            shape: [70, 36, 100],
            stacks: [Stack::Aligned, Stack::Aligned, Stack::Aligned],
            epilogue: EPILOGUES[7],
            split: SplitK::Splits(1),
        };
        // Vectors of C in f16, elements in f32, and no form but parts: matrices as a whole, into sums.
        launches += check::<f16, f16>(&gpu, &case);
        let ragged = Case { batch: BATCHES[2], shape: [33, 35, 49], stacks: [Stack::Gaps; 3], ..case };
        launches += check::<f16, f32>(&gpu, &ragged);
        let parts = Case { epilogue: PLAIN, split: SplitK::Splits(3), stacks: case.stacks, ..ragged };
        launches += check::<f16, f32>(&gpu, &Case { shape: [64, 64, 100], ..parts });
    }
    println!("{}: {launches} launches, {} pipelines", gpu.caps().adapter, gpu.stats().pipelines);
    assert_eq!(launches > 0, gpu.caps().has_tensor_cores(), "wherever there are tensor cores");
}

#[test]
fn a_batch_is_one_launch_and_expands_nothing() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let a = gpu.random::<f32>([2, 3, 20, 30], Fill::Uniform, 1).unwrap();
    let b = gpu.random::<f32>([30, 10], Fill::Uniform, 2).unwrap();
    let before = gpu.stats();
    let c = matmul(&a, &b).unwrap();
    let after = gpu.stats();
    assert_eq!(c.shape(), [2, 3, 20, 10]);
    assert_eq!(after.launches - before.launches, 1);
    assert_eq!(after.buffers_created - before.buffers_created, 1, "C alone");
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, 4 * (6 * 600 + 300));
    // The batch of products is the products of the batch, to the bit: a matrix is computed as it would be alone.
    for tile in crate::scalar(gpu.caps()).map(|kernel| *crate::tiles_for(gpu.caps(), kernel).last().unwrap())
    {
        let whole = Gemm::new(&a, &b).tile(tile).run().unwrap().to_vec().unwrap();
        for (i, of_batch) in whole.chunks(200).enumerate() {
            let a = a.slice(0, i / 3..i / 3 + 1).unwrap().slice(1, i % 3..i % 3 + 1).unwrap();
            let alone = Gemm::new(&a, &b).tile(tile).run().unwrap().to_vec().unwrap();
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(of_batch), bits(&alone), "{tile}, matrix {i}");
        }
    }
}

#[test]
fn an_epilogue_costs_no_launch_and_no_buffer() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let x = gpu.random::<f32>([50, 40], Fill::Uniform, 1).unwrap();
    let weight = gpu.random::<f32>([30, 40], Fill::Uniform, 2).unwrap();
    let bias = gpu.random::<f32>([30], Fill::Uniform, 3).unwrap();
    let before = gpu.stats();
    let y = linear(&x, &weight, Some(&bias), Activation::Gelu).unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 1);
    assert_eq!(after.buffers_created - before.buffers_created, 1, "the result; the weight is not transposed");
    let layer = Linear::new(weight.clone(), Some(bias.clone()), Activation::Gelu).unwrap();
    assert!(layer.weight().shares_buffer(&weight) && layer.bias().unwrap().shares_buffer(&bias));
    assert_eq!(layer.forward(&x).unwrap().to_vec().unwrap(), y.to_vec().unwrap());
    assert_eq!(gpu.stats().launches - after.launches, 1);
}

#[test]
fn beta_of_zero_reads_nothing_and_beta_needs_an_output() {
    let Some(gpu) = support::gpu() else { return };
    let a = gpu.random::<f32>([20, 30], Fill::Integers, 1).unwrap();
    let b = gpu.random::<f32>([30, 10], Fill::Integers, 2).unwrap();
    let want = matmul(&a, &b).unwrap().to_vec().unwrap();
    for kernel in crate::scalar(gpu.caps()) {
        let mut c = gpu.tensor(&[f32::NAN; 200], [20, 10]).unwrap();
        Gemm::new(&a, &b).beta(0.0).kernel(kernel).run_into(&mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), want, "{kernel}");
        Gemm::new(&a, &b).beta(1.0).kernel(kernel).run_into(&mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), want.iter().map(|x| 2.0 * x).collect::<Vec<_>>(), "{kernel}");
        let mut c = gpu.tensor(&[f32::NAN; 200], [20, 10]).unwrap();
        Gemm::new(&a, &b).beta(1.0).kernel(kernel).run_into(&mut c).unwrap();
        assert!(c.to_vec().unwrap().iter().all(|x| x.is_nan()), "what is added spreads");
    }
    let error = Gemm::new(&a, &b).beta(1.0).run().unwrap_err();
    assert!(error.to_string().contains("run_into"), "{error}");
}

#[test]
fn forms_that_do_not_go_together() {
    let Some(gpu) = support::gpu() else { return };
    let zeros = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let says = |error: Error, words: &[&str]| {
        let said = error.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    says(
        matmul(&zeros(&[2, 4, 5]), &zeros(&[3, 5, 6])).unwrap_err(),
        &["broadcast", "[2, 4, 5]", "[3, 5, 6]"],
    );
    says(matmul(&zeros(&[5]), &zeros(&[5, 6])).unwrap_err(), &["two to four axes", "[5]"]);
    says(matmul(&zeros(&[1, 1, 1, 4, 5]), &zeros(&[5, 6])).unwrap_err(), &["two to four axes"]);
    let (a, b) = (zeros(&[4, 5]), zeros(&[5, 6]));
    says(Gemm::new(&a, &b).bias(&zeros(&[5])).run().unwrap_err(), &["bias", "column", "[5]", "[6]"]);
    says(Gemm::new(&a, &b).row_bias(&zeros(&[6])).run().unwrap_err(), &["bias", "row", "[6]", "[4]"]);
    says(Gemm::new(&a, &b).bias(&zeros(&[1, 6])).run().unwrap_err(), &["vector"]);
    says(Gemm::new(&a, &b).residual(&zeros(&[6, 4])).run().unwrap_err(), &["residual", "[6, 4]", "[4, 6]"]);
    let half = gpu.zeros::<f16>([4, 6]).unwrap();
    says(Gemm::new(&a, &b).residual(&half).run().unwrap_err(), &["residual", "f16", "f32", "cast"]);
    says(linear(&a, &zeros(&[6]), None, Activation::None).unwrap_err(), &["weight", "(out, in)"]);
    says(Linear::new(zeros(&[6, 5]), Some(zeros(&[5])), Activation::None).unwrap_err(), &["bias", "[5]"]);
    let mut overlapping = zeros(&[100]).as_strided(&[2, 4, 6], &[20, 6, 1], 0).unwrap();
    says(Gemm::new(&zeros(&[2, 4, 5]), &b).run_into(&mut overlapping).unwrap_err(), &["overlap"]);
    works(&gpu);
}

fn works(gpu: &Gpu) {
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

#[test]
fn parts_of_k_give_the_same_bits_each_time_and_take_two_launches() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let a = gpu.random::<f32>([16, 5000], Fill::Uniform, 1).unwrap();
    let b = gpu.random::<f32>([5000, 24], Fill::Uniform, 2).unwrap();
    let bias = gpu.random::<f32>([24], Fill::Uniform, 3).unwrap();
    let product = Gemm::new(&a, &b)
        .bias(&bias)
        .activation(Activation::Relu)
        .kernel(GemmKernel::Tiled)
        .split_k(SplitK::Splits(7));
    let plan = product.plan().unwrap();
    assert_eq!((support::wgsl::parts_of(&plan), plan.temporaries()), (7, &[7 * 16 * 24 * 4][..]), "{plan}");
    assert!(
        plan.to_string().contains("2 steps") && plan.to_string().contains("gemm/reduce_splits"),
        "{plan}"
    );
    let before = gpu.stats();
    let first = product.run().unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 2);
    assert_eq!(after.buffers_created - before.buffers_created, 2, "the result, and the sums of the parts");
    let bits = |t: &Tensor<f32>| t.to_vec().unwrap().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&first), bits(&product.run().unwrap()));
    assert_eq!(gpu.stats().buffers_created - after.buffers_created, 1, "the pool has the sums' buffer");
}

/// As many matrices and parts as 32 bits cannot count the squares of: batches^2 m n splits is 2^32 or just above.
#[test]
fn a_batch_in_parts_of_k_is_right_however_many_matrices_it_has() {
    let Some(gpu) = support::gpu() else { return };
    for (batches, [m, n, k], splits) in
        [(2049, [8, 64, 33], 2), (5793, [1, 64, 33], 2), (4096, [1, 64, 97], 4)]
    {
        let integer = |i: usize, period: usize| i16::try_from(i % period).map_or(0.0, |i| f32::from(i - 3));
        let a: Vec<f32> = (0..batches * m * k).map(|i| integer(i, 7)).collect();
        let b: Vec<f32> = (0..k * n).map(|i| integer(i, 5)).collect();
        let [a_tensor, b_tensor] =
            [gpu.tensor(&a, [batches, m, k]).unwrap(), gpu.tensor(&b, [1, k, n]).unwrap()];
        let product =
            Gemm::new(&a_tensor, &b_tensor).kernel(GemmKernel::Tiled).split_k(SplitK::Splits(splits));
        assert_eq!(support::wgsl::parts_of(&product.plan().unwrap()), splits);
        let want = a.chunks(k).flat_map(|row| {
            let dot = |j: usize| row.iter().zip(b.iter().skip(j).step_by(n)).map(|(x, y)| x * y).sum::<f32>();
            (0..n).map(dot).collect::<Vec<_>>()
        });
        let found = product.run().unwrap().to_vec().unwrap();
        let wrong = found.iter().zip(want).filter(|(found, want)| **found != *want).count();
        assert_eq!(wrong, 0, "of {} results of {batches} {m} x {n} in {splits} parts", found.len());
    }
}
