//! Attention on cooperative matrices against its definition: head dims, lengths, masks and biases, layouts, values that are not finite.

use super::attention::{Case, Data, Extra, Operands, assert_log_sums};
use crate::attention_masks::MaskedKeys;
use crate::matrices::{able, claiming, exact, is_flexible, kernels, taken};
use support::strided::Lay;
use support::values::assert_ok;
use tilewise::attention::{
    AttentionKernel, AttentionOptions, CausalFrom, attention_backward, attention_with_lse,
};
use tilewise::{Caps, DType, Element, Error, Fill, Gpu, attention, f16};

/// Cases, and how their operands are laid out.
type Placed = (Case, Lay);

/// For matrices of 8 x 8. Cases of the same dims and operands share a pipeline: few, because a software driver compiles each for a second.
const CASES: [Placed; 20] = [
    (([1, 2, 2], [64, 129], [16, 16], Extra::None), Lay::Plain),
    (([1, 1, 1], [1, 1], [16, 16], Extra::None), Lay::Plain),
    (([2, 6, 2], [7, 65], [16, 16], Extra::None), Lay::Vectors),
    (([1, 2, 2], [129, 129], [16, 16], Extra::Causal(CausalFrom::TopLeft)), Lay::Plain),
    (([1, 2, 1], [7, 64], [16, 16], Extra::Causal(CausalFrom::BottomRight)), Lay::Plain),
    (([1, 1, 1], [64, 7], [16, 16], Extra::Causal(CausalFrom::BottomRight)), Lay::Plain), // the first rows attend none
    (([1, 1, 1], [129, 129], [16, 16], Extra::Window(16, 5)), Lay::Plain),
    (([1, 1, 1], [129, 1], [16, 16], Extra::Window(3, 0)), Lay::Plain),
    (([1, 2, 2], [64, 129], [16, 16], Extra::None), Lay::Gaps),
    (([2, 4, 2], [33, 40], [16, 16], Extra::Causal(CausalFrom::TopLeft)), Lay::Gaps),
    (([3, 2, 2], [9, 70], [16, 16], Extra::Lengths), Lay::Plain),
    (([3, 2, 2], [9, 70], [16, 16], Extra::Keep), Lay::Plain),
    (([2, 4, 2], [33, 40], [16, 16], Extra::Bias(&[2, 4, 33, 40])), Lay::Plain),
    (([1, 6, 3], [20, 20], [16, 16], Extra::Slopes), Lay::Plain),
    (([2, 4, 2], [17, 23], [16, 16], Extra::All), Lay::Plain),
    (([1, 1, 1], [33, 65], [64, 80], Extra::Causal(CausalFrom::TopLeft)), Lay::Vectors),
    (([1, 1, 1], [7, 64], [128, 24], Extra::None), Lay::Plain),
    (([1, 2, 1], [33, 40], [16, 16], Extra::Masks(MaskedKeys::Own)), Lay::Plain),
    (([2, 4, 2], [20, 70], [16, 16], Extra::Masks(MaskedKeys::Equal)), Lay::Plain),
    (([2, 4, 2], [20, 70], [16, 16], Extra::Masks(MaskedKeys::Far)), Lay::Plain),
];

/// For matrices of 16 x 16, as NVIDIA and AMD have. They share a pipeline.
const CASES_OF_16: [Placed; 4] = [
    (([1, 2, 2], [65, 70], [16, 32], Extra::All), Lay::Vectors),
    (([1, 2, 1], [7, 64], [16, 32], Extra::All), Lay::Vectors),
    (([2, 4, 2], [17, 23], [16, 32], Extra::All), Lay::Vectors),
    (([1, 1, 1], [129, 64], [16, 32], Extra::All), Lay::Vectors),
];

/// A kernel, and what it is planned for if that is not the device itself.
type Planned = (AttentionKernel, Option<Caps>);

/// Runs a case by this kernel, whose text has `parameter`.
fn agrees(gpu: &Gpu, (kernel, caps): Planned, parameter: &str, (case, lay): Placed) {
    let data = Data::<f16>::new(case);
    let mut want = data.reference(case, 1.0 / (case.2[0] as f64).sqrt());
    want.weights = DType::F16;
    let operands = Operands::new(gpu, &data, case, lay).by(kernel).planned_for(caps);
    let before = gpu.stats().launches;
    let ((y, lse), plans) = gpu.plans_of(|| operands.run());
    let kernel = plans[0].steps()[0].kernel.to_string();
    assert!(kernel.contains(parameter), "{kernel}");
    assert_eq!(gpu.stats().launches - before, 1, "{case:?}: one launch");
    let got = y.to_vec().unwrap();
    assert_ok(&want.attention().compare(&got), (case, lay));
    assert_log_sums(&want.log_sums(), &lse.to_vec().unwrap(), (case, lay));
    assert!(operands.run().0.to_vec().unwrap() == got, "{case:?}: same plan, same bits");
}

#[test]
fn attention_on_8x8_matrices_agrees_with_its_definition() {
    if let Some(gpu) = taken() {
        let kernel = AttentionKernel::Coop;
        support::few(CASES, 3).for_each(|placed| agrees(&gpu, (kernel, None), " FRAGMENT=8 ", placed));
    }
}

#[test]
fn attention_on_flexible_matrices_agrees_with_its_definition() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let planned = (AttentionKernel::CoopNv2, None);
    support::few(CASES, 3)
        .for_each(|placed| agrees(&gpu, planned.clone(), "spirv/attention_nv2.f16 ", placed));
}

/// The module by the functions of `VK_EXT_cooperative_matrix_maintenance1`, which no driver here has, differs in their names alone.
#[test]
fn attention_on_exact_matrices_agrees_with_its_definition() {
    let Some(gpu) = taken().filter(|gpu| is_flexible(gpu)) else { return };
    let planned = (AttentionKernel::CoopNv2, Some(exact(&gpu)));
    support::few(CASES, 3)
        .for_each(|placed| agrees(&gpu, planned.clone(), "spirv/attention_nv2.f16_exact ", placed));
}

#[test]
fn attention_on_16x16_matrices_agrees_with_its_definition() {
    let own = |_| support::own(|_| ());
    if let Some(gpu) = able(16).and_then(own).or_else(claiming) {
        let kernel = AttentionKernel::Coop;
        CASES_OF_16.into_iter().for_each(|placed| agrees(&gpu, (kernel, None), " FRAGMENT=16 ", placed));
    }
}

/// Masked keys and values do not matter, not even NaN: keys of the mask, keys past a length, and keys that other rows attend.
#[test]
fn masked_keys_may_hold_what_is_not_finite() {
    let Some(gpu) = taken() else { return };
    kernels(&gpu).for_each(|planned| strange_values_stay_apart(&gpu, &planned));
}

fn strange_values_stay_apart(gpu: &Gpu, (kernel, caps): &Planned) {
    for (at, strange) in [(0, f64::NAN), (1, f64::INFINITY), (2, f64::NAN), (3, f64::INFINITY), (4, f64::NAN)]
    {
        let (case, _) = [CASES[3], CASES[3], CASES[6], CASES[10], CASES[11]][at];
        let mut data = Data::<f16>::new(case);
        let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
        let run = |data: &Data<f16>| {
            let operands = Operands::new(gpu, data, case, Lay::Plain).by(*kernel);
            let (y, lse) = operands.planned_for(caps.clone()).run();
            (y.to_vec().unwrap(), lse.to_vec().unwrap())
        };
        let want = run(&data);
        let corner = keys as i64 - queries as i64;
        // Keys 60, 69 and 100: in the midst of blocks, and some of them at the edge of a causal mask.
        let is_strange = |b: usize, j: usize| match extra {
            Extra::Lengths | Extra::Keep => {
                (0..queries).all(|i| !data.is_kept([b, 0, i, j], corner, keys, extra))
            }
            _ => [60, 69, 100].contains(&j),
        };
        let places: Vec<[usize; 2]> = (0..batch)
            .flat_map(|b| (0..keys).map(move |j| [b, j]))
            .filter(|&[b, j]| is_strange(b, j))
            .collect();
        assert!(places.len() >= 3);
        for &[b, j] in &places {
            for head in 0..kv_heads {
                let row = (b * kv_heads + head) * keys + j;
                data.v[row * dim_v + 3] = <f16 as Element>::from_f64(strange);
                if at != 1 {
                    data.k[row * dim..][..dim].fill(<f16 as Element>::from_f64(f64::NAN));
                }
            }
        }
        let got = run(&data);
        for (place, (got, want)) in got.0.iter().zip(&want.0).enumerate() {
            let [row, col] = [place / dim_v, place % dim_v];
            let [b, i] = [row / queries / heads, row % queries];
            let mut attended =
                places.iter().filter(|&&[of, j]| of == b && data.is_kept([b, 0, i, j], corner, keys, extra));
            if attended.next().is_none() {
                assert_eq!(got.to_bits(), want.to_bits(), "{case:?}, row {row}, column {col}");
            } else if at == 1 {
                assert_eq!(got.is_finite(), col != 3, "{case:?}, row {row}, column {col}");
            } else {
                assert!(got.is_nan(), "{case:?}, row {row}, column {col}");
            }
        }
    }
}

/// Scores grow from block to block, and fall: sums are rescaled in each block, or never.
#[test]
fn sums_are_rescaled_when_scores_grow() {
    let Some(gpu) = taken() else { return };
    let case = ([1, 1, 1], [33, 200], [16, 16], Extra::None);
    for slope in [0.5, -0.5, 0.02] {
        let mut data = Data::<f16>::new(case);
        data.q.chunks_mut(16).for_each(|row| row[0] = f16::ONE);
        for (j, row) in data.k.chunks_mut(16).enumerate() {
            row[0] = <f16 as Element>::from_f64(slope * 4.0 * (j as f64 - 100.0));
        }
        let mut want = data.reference(case, 0.25);
        want.weights = DType::F16;
        for (kernel, caps) in kernels(&gpu) {
            let operands = Operands::new(&gpu, &data, case, Lay::Plain).by(kernel);
            let (y, lse) = operands.planned_for(caps).run();
            assert_ok(&want.attention().compare(&y.to_vec().unwrap()), (slope, kernel));
            assert_log_sums(&want.log_sums(), &lse.to_vec().unwrap(), (slope, kernel));
        }
    }
}

/// Scores of any size that are all the same: the weights are, too, in both passes.
#[test]
fn equal_scores_of_any_size_share_the_weight() {
    const KEYS: usize = 40;
    let Some(gpu) = taken() else { return };
    let of = |x: f64, length: usize| {
        gpu.tensor(&vec![<f16 as Element>::from_f64(x); length * 16], [1, 1, length, 16]).unwrap()
    };
    let (q, k, g) = (of(-1.0, 20), of(1.0, KEYS), of(1.0, 20));
    let of_v: Vec<f16> = (0..KEYS * 16).map(|at| <f16 as Element>::from_f64((at / 16 % 2) as f64)).collect();
    let v = gpu.tensor(&of_v, [1, 1, KEYS, 16]).unwrap();
    let scales = [1.0, 6.25e4, 6.25e7, 1.5e37, 2e37, -6.25e7];
    let kernels: Vec<_> =
        kernels(&gpu).filter_map(|(kernel, caps)| caps.is_none().then_some(kernel)).collect();
    for (scale, kernel) in
        scales.into_iter().flat_map(|scale| kernels.iter().map(move |&kernel| (scale, kernel)))
    {
        let options = AttentionOptions::new().scale(scale).kernel(kernel);
        let (y, lse) = attention_with_lse(&q, &k, &v, &options).unwrap();
        let gradients = attention_backward(&q, &k, &v, &y, &lse, &g, &options).unwrap();
        let near = |got: Vec<f16>, want: f64| {
            assert!(got.iter().all(|x| (x.to_f64() - want).abs() < 1e-3), "{scale}: {got:?}, not {want}");
        };
        near(y.to_vec().unwrap(), 0.5);
        near(gradients.v.to_vec().unwrap(), 0.5); // 20 / KEYS
        for of_row in lse.to_vec().unwrap().chunks(2) {
            assert!((of_row[0] + 16.0 * scale).abs() <= 1e-6 * of_row[0].abs(), "{scale}: {of_row:?}");
            assert!((of_row[1] - (KEYS as f32).ln()).abs() < 1e-5, "{scale}: {of_row:?}");
        }
    }
}

#[test]
fn a_pinned_kernel_runs_or_fails() {
    let Some(gpu) = support::gpu() else { return };
    let pinned = AttentionOptions::new().kernel(AttentionKernel::Coop);
    let x = gpu.random::<f32>([1, 1, 4, 16], Fill::Uniform, 1).unwrap();
    let error = attention(&x, &x, &x, &AttentionOptions::new().kernel(AttentionKernel::Coop)).unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported { .. }) && error.to_string().contains("f16, not f32"),
        "{error}"
    );
    let x = gpu.random::<f16>([1, 1, 4, 12], Fill::Uniform, 1).unwrap();
    let error = attention(&x, &x, &x, &pinned).unwrap_err();
    assert!(matches!(&error, Error::Unsupported { .. }), "{error}");
    assert!(able(8).is_none() || error.to_string().contains("multiples of 8 up to 256, not 12"), "{error}");
    let plain = AttentionOptions::new().kernel(AttentionKernel::Plain);
    let free = attention(&x, &x, &x, &AttentionOptions::new()).unwrap().to_vec().unwrap();
    assert!(attention(&x, &x, &x, &plain).unwrap().to_vec().unwrap() == free, "the only kernel that can");
}
