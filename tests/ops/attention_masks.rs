//! Attention under large finite masks: what the sweeps add to scores, and rows whose weights are known.

use crate::attention::{CASES, Case, Data, Extra};
use crate::attention_backward::{Known, Pass, scale};
use support::strided::Lay;
use support::values::{assert_ok, for_all_types};
use tilewise::attention::{
    AttentionOptions, attention_backward, attention_bias_backward, attention_with_lse,
};
use tilewise::reference::{AttentionReference, compare};
use tilewise::{DType, Fill, Gpu, Real};

/// The keys that large masks are added to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MaskedKeys {
    Own,
    /// All keys of a head are the same.
    Equal,
    /// Keys and queries have a large part in common, so scores have a large mean.
    Far,
}

impl MaskedKeys {
    /// Changes queries and keys with this number of keys and elements.
    pub(crate) fn apply<T: Real>(self, q: &mut [T], k: &mut [T], [keys, dim]: [usize; 2]) {
        match self {
            Self::Own => {}
            Self::Equal => {
                for of_head in k.chunks_mut(keys * dim) {
                    (dim..keys * dim).for_each(|at| of_head[at] = of_head[at - dim]);
                }
            }
            Self::Far => {
                q.chunks_mut(dim).chain(k.chunks_mut(dim)).for_each(|row| row[0] = T::from_f64(100.0))
            }
        }
    }
}

/// The lowest finite number of a type.
fn lowest<T: Real>() -> f64 {
    match T::DTYPE {
        DType::F16 => -65504.0,
        DType::Bf16 => -3.389_531_389_251_535_5e38,
        _ => f64::from(f32::MIN),
    }
}

/// Biases of rows of keys, whose pattern changes from row to row: masks of one size, of several, of some keys, and large scores. What a type
/// does not have is its lowest number.
pub(crate) fn biases<T: Real>(rows: usize, keys: usize) -> Vec<T> {
    let of = |row: usize, j: usize| match row % 10 {
        0 => -1e4,
        1 => -1e9,
        2 => lowest::<T>(),
        3 => [0.0, lowest::<T>(), lowest::<T>()][j % 3],
        4 => [-1e9, -1e4][j % 2],
        5 => 1e4,
        6 => [lowest::<T>(), 0.0][usize::from(j + 1 == keys)],
        7 => [-1e9, f64::NEG_INFINITY][j % 2],
        8 => -1e6,
        _ => [-1e9, lowest::<T>()][usize::from(2 * j > keys)],
    };
    let finite = |x: f64| if x.is_finite() { x.max(lowest::<T>()) } else { x };
    (0..rows * keys).map(|at| T::from_f64(finite(of(at / keys, at % keys)))).collect()
}

/// A query all of whose keys have the same large mask: each has the weight 1/4, in both passes.
#[test]
fn keys_of_one_mask_share_the_weight() {
    fn test<T: Real>(gpu: &Gpu) {
        let q = gpu.zeros::<T>([1, 1, 1, 8]).unwrap();
        let k = gpu.random::<T>([1, 1, 4, 8], Fill::Normal, 2).unwrap();
        let of_v: Vec<T> = (0..32).map(|at| T::from_f64(f64::from(at / 8))).collect();
        let v = gpu.tensor(&of_v, [1, 1, 4, 8]).unwrap();
        let g = gpu.tensor(&[T::from_f64(1.0); 8], [1, 1, 1, 8]).unwrap();
        for mask in [-1e4, -1e6, -1e7, -1e9, lowest::<T>(), 1e4] {
            let mask = T::from_f64(mask.max(lowest::<T>()));
            let bias = gpu.tensor(&[mask; 4], [1, 1, 1, 4]).unwrap();
            let options = AttentionOptions::new().bias(&bias);
            let (y, lse) = attention_with_lse(&q, &k, &v, &options).unwrap();
            let gradients = attention_backward(&q, &k, &v, &y, &lse, &g, &options).unwrap();
            let of_bias = attention_bias_backward(&q, &k, &v, &y, &lse, &g, &options).unwrap();
            let near = |got: Vec<T>, want: &[f64]| {
                let off = got.iter().zip(want).map(|(got, want)| (got.to_f64() - want).abs());
                assert!(off.fold(0.0, f64::max) < 1e-5, "{}, {mask:?}: {got:?}, not {want:?}", T::DTYPE);
            };
            near(y.to_vec().unwrap(), &[1.5; 8]);
            near(gradients.v.to_vec().unwrap(), &[0.25; 32]);
            near(of_bias.to_vec().unwrap(), &[-3.0, -1.0, 1.0, 3.0]); // (8 v - 12) / 4
            let lse = lse.to_vec().unwrap();
            assert_eq!(f64::from(lse[0]), mask.to_f64(), "{}", T::DTYPE);
            assert!((lse[1] - 4f32.ln()).abs() < 1e-6, "{lse:?}");
        }
    }
    for_all_types!(test);
}

/// The logarithm of a sum in one number, as it was once: the bounds of the sweep do not let its gradients pass.
#[test]
fn bounds_of_masked_rows_find_a_lost_logarithm() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let masked = |case: &Case| matches!(case.3, Extra::Masks(_)) && case.1[1] > 1;
    for case in CASES.into_iter().filter(masked) {
        let data = Data::<f32>::new(case);
        let reference = data.reference(case, scale(case));
        let mut known = Known::<f32>::new(&reference);
        let right = Pass::new(gpu, &data, &known, case, Lay::Plain);
        for of_row in known.lse.chunks_mut(2).filter(|of_row| of_row[0].is_finite()) {
            of_row.copy_from_slice(&[of_row[0] + of_row[1], 0.0]);
        }
        let wrong = Pass::new(gpu, &data, &known, case, Lay::Plain);
        let want = reference.gradients(&known.y, &known.grad);
        assert_ok(&want.v.compare(&right.gradients().v.to_vec().unwrap()), case);
        let of_wrong = want.v.compare(&wrong.gradients().v.to_vec().unwrap());
        assert!(of_wrong.bound_ratio > 2.0, "{case:?}: {of_wrong:?}");
        let ([_, heads, _], [queries, keys], ..) = case;
        let want = reference.bias_gradient(&known.y, &known.grad, [1, heads, queries, keys]);
        assert_ok(&want.compare(&right.of_bias().to_vec().unwrap()), case);
        let of_wrong = want.compare(&wrong.of_bias().to_vec().unwrap());
        assert!(of_wrong.bound_ratio > 2.0, "{case:?}: {of_wrong:?}");
    }
}

/// Of scores whose errors are larger than their exponentials, a result is bounded by the values; NaN is no result either.
#[test]
fn a_definition_of_large_scores_is_bounded_and_lets_no_nan_pass() {
    let (large, v) = (vec![1000.0f32; 2 * 64], vec![1.0f32; 2 * 64]);
    let of = AttentionReference::new([&large, &large, &v], [1; 3], [2; 2], [64; 2], 1.0);
    let want = of.attention();
    assert!(want.tolerance.iter().all(|&tolerance| (1.0..2.1).contains(&tolerance)), "{:?}", want.tolerance);
    assert!(!want.compare(&[f32::NAN; 2 * 64]).ok());
    assert!(!compare([(1.0, 0.0, -1.0)]).ok() && !compare([(f64::NAN, 0.0, -1.0)]).ok());
}

/// Scores of whole numbers are exact before they are scaled, in any order. The backward passes then compute what the forward pass did:
/// a key that has the whole weight of a row has all of it, however large its score is.
#[test]
fn large_scores_are_those_of_the_forward_pass() {
    const LENGTH: usize = 64;
    const DIM: usize = 32;
    let Some(gpu) = support::gpu() else { return };
    // Each query is one of the keys, in another order: its score is far above all others.
    let signs = Fill::Uniform.values::<f32>(LENGTH * DIM, 1);
    let k: Vec<f32> = signs.iter().map(|x| if *x < 0.0 { -6.0 } else { 6.0 }).collect();
    let of_query = |i: usize| (i * 37 + 5) % LENGTH;
    let q: Vec<f32> = (0..LENGTH).flat_map(|i| k[of_query(i) * DIM..][..DIM].to_vec()).collect();
    let [v, g] = [2, 3].map(|seed| Fill::Uniform.values::<f32>(LENGTH * DIM, seed));
    let [q, k, v, grad] = [&q, &k, &v, &g].map(|x| gpu.tensor(x, [1, 1, LENGTH, DIM]).unwrap());
    let options = AttentionOptions::new();
    let (y, lse) = attention_with_lse(&q, &k, &v, &options).unwrap();
    let of_v = attention_backward(&q, &k, &v, &y, &lse, &grad, &options).unwrap().v.to_vec().unwrap();
    for i in 0..LENGTH {
        for c in 0..DIM {
            let (found, want) = (of_v[of_query(i) * DIM + c], g[i * DIM + c]);
            assert!((found - want).abs() <= 1e-6 * want.abs(), "query {i}: {found:e}, not {want:e}");
        }
    }
}
