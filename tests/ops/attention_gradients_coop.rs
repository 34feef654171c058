//! The gradients of attention on cooperative matrices against their definition: masks, lengths, layouts; values of every size, and that are not
//! finite.

use super::attention::{Case, Data, Extra};
use super::attention_backward::{Known, Pass, scale};
use crate::attention_masks::MaskedKeys;
use crate::matrices::{able, claiming, exact, is_flexible, kernels, taken};
use support::strided::Lay;
use support::values::assert_ok;
use tilewise::attention::{
    AttentionGradients, AttentionKernel, AttentionOptions, CausalFrom, attention_backward,
};
use tilewise::reference::AttentionReference;
use tilewise::{Caps, DType, Element, Gpu, Tensor, f16};

/// Cases, and how their operands are laid out.
type Placed = (Case, Lay);

/// For matrices of 8 x 8. Cases of the same dims and operands share pipelines: few, because a software driver compiles each for seconds.
const CASES: [Placed; 17] = [
    (([1, 2, 2], [64, 65], [16, 16], Extra::None), Lay::Plain),
    (([1, 1, 1], [1, 1], [16, 16], Extra::None), Lay::Plain),
    (([2, 6, 2], [7, 65], [16, 16], Extra::None), Lay::Vectors),
    (([1, 2, 2], [65, 65], [16, 16], Extra::Causal(CausalFrom::TopLeft)), Lay::Plain),
    (([1, 4, 2], [33, 7], [16, 16], Extra::Causal(CausalFrom::BottomRight)), Lay::Plain), // the first rows attend none
    (([1, 2, 1], [7, 64], [16, 16], Extra::Causal(CausalFrom::BottomRight)), Lay::Plain),
    (([1, 3, 1], [65, 65], [16, 16], Extra::Window(16, 5)), Lay::Plain),
    (([2, 4, 2], [33, 40], [16, 16], Extra::Causal(CausalFrom::TopLeft)), Lay::Gaps),
    (([3, 2, 2], [9, 70], [16, 16], Extra::Lengths), Lay::Plain),
    (([3, 2, 2], [9, 70], [16, 16], Extra::Keep), Lay::Plain),
    (([2, 4, 2], [33, 40], [16, 16], Extra::Bias(&[2, 4, 33, 40])), Lay::Plain),
    (([1, 2, 1], [33, 40], [16, 16], Extra::Masks(MaskedKeys::Own)), Lay::Plain),
    (([2, 4, 2], [20, 40], [16, 16], Extra::Masks(MaskedKeys::Far)), Lay::Plain),
    (([1, 6, 3], [20, 20], [16, 16], Extra::Slopes), Lay::Plain),
    (([2, 4, 2], [17, 23], [16, 16], Extra::Padded), Lay::Plain),
    (([1, 1, 1], [33, 40], [8, 24], Extra::Causal(CausalFrom::TopLeft)), Lay::Vectors),
    (([1, 1, 1], [20, 33], [128, 128], Extra::None), Lay::Plain),
];

/// For matrices of 16 x 16, as NVIDIA and AMD have. They share pipelines.
const CASES_OF_16: [Placed; 3] = [
    (([1, 2, 2], [65, 70], [16, 32], Extra::Padded), Lay::Vectors),
    (([1, 4, 1], [7, 64], [16, 32], Extra::Padded), Lay::Vectors),
    (([2, 2, 2], [17, 23], [16, 32], Extra::Padded), Lay::Vectors),
];

fn of_f64(x: f64) -> f16 {
    <f16 as Element>::from_f64(x)
}

/// On the host.
fn read(of: AttentionGradients<f16>) -> [Vec<f16>; 3] {
    [of.q, of.k, of.v].map(|of| of.contiguous().unwrap().to_vec().unwrap())
}

/// The definition, of gradients that are computed on matrices.
fn reference(data: &Data<f16>, case: Case, scale: f64) -> AttentionReference {
    AttentionReference { weights: DType::F16, ..data.reference(case, scale) }
}

/// Compares gradients with their definition.
fn compare(want: &AttentionReference, known: &Known<f16>, got: &[Vec<f16>; 3], what: impl std::fmt::Debug) {
    let want = want.gradients(&known.y, &known.grad);
    for (name, want, got) in
        [("queries", want.q, &got[0]), ("keys", want.k, &got[1]), ("values", want.v, &got[2])]
    {
        assert_ok(&want.compare(got), (name, &what));
    }
}

/// A kernel, and what it is planned for if that is not the device itself.
type Planned = (AttentionKernel, Option<Caps>);

/// Runs a case by this kernel, whose text has `parameter`.
fn agrees(gpu: &Gpu, (kernel, caps): Planned, parameter: &str, (case, lay): Placed) {
    let data = Data::<f16>::new(case);
    let want = reference(&data, case, scale(case));
    let known = Known::<f16>::new(&want);
    let pass = Pass::new(gpu, &data, &known, case, lay).by(kernel).planned_for(caps);
    let before = gpu.stats().launches;
    let (got, plans) = gpu.plans_of(|| pass.gradients());
    for step in &plans[0].steps()[1..] {
        let kernel = step.kernel.to_string();
        assert!(kernel.contains("attention_gradients_") && kernel.contains(parameter), "{kernel}");
    }
    assert_eq!(gpu.stats().launches - before, 3, "{case:?}");
    let got = read(got);
    compare(&want, &known, &got, (case, lay));
    assert!(read(pass.gradients()) == got, "{case:?}: same plan, same bits");
}

#[test]
fn gradients_on_8x8_matrices_agree_with_their_definition() {
    if let Some(gpu) = taken() {
        let kernel = AttentionKernel::Coop;
        support::few(CASES, 3).for_each(|placed| agrees(&gpu, (kernel, None), " FRAGMENT=8 ", placed));
    }
}

#[test]
fn gradients_on_flexible_matrices_agree_with_their_definition() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let planned = (AttentionKernel::CoopNv2, None);
    support::few(CASES, 3).for_each(|placed| agrees(&gpu, planned.clone(), "_nv2.f16 ", placed));
}

/// The module by the functions of `VK_EXT_cooperative_matrix_maintenance1`, which no driver here has, differs in their names alone.
#[test]
fn gradients_on_exact_matrices_agree_with_their_definition() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let planned = (AttentionKernel::CoopNv2, Some(exact(&gpu)));
    let agrees = |case| agrees(&gpu, planned.clone(), "_nv2.f16_exact ", (case, Lay::Plain));
    support::few(CASES, 3).for_each(|(case, _)| agrees(case));
}

#[test]
fn gradients_on_16x16_matrices_agree_with_their_definition() {
    let own = |_| support::own(|_| ());
    if let Some(gpu) = able(16).and_then(own).or_else(claiming) {
        let kernel = AttentionKernel::Coop;
        CASES_OF_16.into_iter().for_each(|placed| agrees(&gpu, (kernel, None), " FRAGMENT=16 ", placed));
    }
}

/// Queries, keys, values and gradients times these numbers, and the scale.
const SIZES: [([f64; 4], f32); 7] = [
    ([1e-3, 1e-2, 1e4, 1e4], 0.25), // gradients of scores are beyond the largest number of f16, those of queries and keys are not
    ([1e-3, 1.0, 1e2, 1e4], 0.25),
    ([1e-3, 1e4, 1.0, 1e-6], 0.25), // below the smallest one, multiplied by large keys
    ([1.0, 1.0, 1e-7, 1e-7], 0.25), // subnormal operands
    ([1e4, 1e-4, 1e2, 1e1], 1e-4),  // large queries and values
    ([1.0, 1.0, 1e-4, 1e-4], 6.25e7), // one key has all the weight
    ([2e-2, 2e-2, 1e2, 1e1], 6.25e2),
];

/// Some operands of these sizes; gradients of rows grow by the length of the sequence, or fall: the level follows them.
#[test]
fn gradients_of_any_size_are_within_their_bounds() {
    let Some(gpu) = taken() else { return };
    let case = ([1, 2, 1], [40, 65], [16, 16], Extra::None);
    for (at, ([of_q, of_k, of_v, of_g], scale)) in SIZES.into_iter().enumerate() {
        let mut data = Data::<f16>::new(case);
        let times =
            |of: &mut Vec<f16>, by: f64| of.iter_mut().for_each(|x| *x = of_f64(x.to_f64() / 4.0 * by));
        times(&mut data.q, of_q);
        times(&mut data.k, of_k);
        times(&mut data.v, of_v);
        let want = reference(&data, case, f64::from(scale));
        let mut known = Known::<f16>::new(&want);
        times(&mut known.grad, 2.0 * of_g);
        // Levels grow along the rows of one head, and fall along those of the other.
        for (row, of_row) in known.grad.chunks_mut(16).enumerate() {
            let by = 0.75f64.powf((row as f64 - 40.0).abs());
            of_row.iter_mut().for_each(|x| *x = of_f64(x.to_f64() * by));
        }
        for (kernel, caps) in kernels(&gpu) {
            let is_exact = caps.is_some();
            let pass = Pass::new(&gpu, &data, &known, case, Lay::Plain).by(kernel).planned_for(caps);
            let got = read(pass.scaled(scale).gradients());
            compare(&want, &known, &got, (at, SIZES[at], kernel, is_exact));
        }
    }
}

/// Masked keys and values, and queries that a key does not attend, do not matter, not even NaN; those that are attended do.
#[test]
fn what_is_not_finite_stays_where_it_is_attended() {
    let Some(gpu) = taken() else { return };
    kernels(&gpu).for_each(|planned| strange_values_stay_apart(&gpu, &planned));
}

fn strange_values_stay_apart(gpu: &Gpu, (kernel, caps): &Planned) {
    for (at, strange) in [(3, f64::NAN), (6, f64::INFINITY), (8, f64::NAN), (9, f64::NEG_INFINITY)] {
        let (case, _) = CASES[at];
        let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
        let mut data = Data::<f16>::new(case);
        let mut known = Known::<f16>::new(&data.reference(case, scale(case)));
        let run = |data: &Data<f16>, known: &Known<f16>| {
            let pass = Pass::new(gpu, data, known, case, Lay::Plain).by(*kernel);
            read(pass.planned_for(caps.clone()).gradients())
        };
        let want = run(&data, &known);
        let corner = keys as i64 - queries as i64;
        let attends =
            |data: &Data<f16>, b: usize, i: usize, j: usize| data.is_kept([b, 0, i, j], corner, keys, extra);
        // Key 5 of each batch or, where there is a mask of keys, those that it masks; and, without one, query 50.
        let is_masked = |b: usize, j: usize| (0..queries).all(|i| !attends(&data, b, i, j));
        let has_mask = matches!(extra, Extra::Lengths | Extra::Keep);
        let bad_key = |b: usize, j: usize| if has_mask { is_masked(b, j) } else { j == 5 };
        let bad_query = |i: usize| !has_mask && i == 50;
        let bad_keys: Vec<bool> = (0..batch * keys).map(|of| bad_key(of / keys, of % keys)).collect();
        assert!(bad_keys.contains(&true));
        for (of, _) in bad_keys.iter().enumerate().filter(|(_, bad)| **bad) {
            for head in 0..kv_heads {
                let row = (of / keys * kv_heads + head) * keys + of % keys;
                data.k[row * dim + 3] = of_f64(strange);
                data.v[row * dim_v..][..dim_v].fill(of_f64(strange));
            }
        }
        for row in (0..batch * heads * queries).filter(|row| bad_query(row % queries)) {
            data.q[row * dim + 2] = of_f64(strange);
            known.grad[row * dim_v + 1] = of_f64(strange);
        }
        let got = run(&data, &known);
        // A gradient that something not finite is attended for is not finite, in all or some columns; others are as they were.
        let check = |name: &str, got: &[f16], want: &[f16], dim: usize, is_bad: &dyn Fn(usize) -> bool| {
            for (row, (got, want)) in got.chunks(dim).zip(want.chunks(dim)).enumerate() {
                let near = |(got, want): (&f16, &f16)| {
                    let (got, want) = (got.to_f64(), want.to_f64());
                    (got - want).abs() <= 2e-3 * want.abs() + 1e-4
                };
                let is_right = match is_bad(row) {
                    true => got.iter().any(|x| !x.is_finite()),
                    false => got.iter().zip(want).all(near),
                };
                assert!(is_right, "{case:?}, {strange}, {name} {row}: {got:?}, without it {want:?}");
            }
        };
        let places = |row: usize, heads: usize, length: usize| (row / heads / length, row % length);
        check("query", &got[0], &want[0], dim, &|row| {
            let (b, i) = places(row, heads, queries);
            (0..keys).any(|j| attends(&data, b, i, j) && (bad_query(i) || bad_keys[b * keys + j]))
        });
        let of_key = |row: usize| {
            let (b, j) = places(row, kv_heads, keys);
            (0..queries).any(|i| attends(&data, b, i, j) && (bad_query(i) || bad_keys[b * keys + j]))
        };
        check("key", &got[1], &want[1], dim, &of_key);
        if strange.is_nan() {
            check("value", &got[2], &want[2], dim_v, &of_key); // those of a key of infinite score have a weight
        }
    }
}

#[test]
fn a_pinned_kernel_of_gradients_runs_or_fails() {
    let Some(gpu) = support::gpu() else { return };
    let run = |x: &Tensor<f16>, kernel| {
        let lse = gpu.zeros::<f32>([1, 1, 4, 2]).unwrap();
        attention_backward(x, x, x, x, &lse, x, &AttentionOptions::new().kernel(kernel))
    };
    let x = gpu.zeros::<f16>([1, 1, 4, 12]).unwrap();
    let error = run(&x, AttentionKernel::Coop).unwrap_err();
    assert!(error.to_string().starts_with("attention_backward"), "{error}");
    assert!(able(8).is_none() || error.to_string().contains("multiples of 8 up to 256, not 12"), "{error}");
    run(&x, AttentionKernel::Plain).unwrap();
}
