//! Attention whose rows see nothing.

use crate::{assert_near, random, rounding, wide};
use tilewise::attention::{AttentionOptions, CausalFrom, attention_backward, attention_with_lse};
use tilewise::{Element, Gpu, Real, Tensor};

/// (batch, heads, queries, keys, head dim).
const SHAPE: [usize; 5] = [2, 2, 3, 4, 8];

/// The definition: a row all of whose keys are masked is 0, and has no gradients.
fn defined(
    [q, k, v]: [&[f64]; 3],
    bias: impl Fn([usize; 4]) -> f64,
    is_kept: impl Fn([usize; 4]) -> bool,
) -> Vec<f64> {
    let [batch, heads, queries, keys, dim] = SHAPE;
    let mut y = Vec::new();
    for of in
        (0..batch * heads * queries).map(|at| [at / queries / heads, at / queries % heads, at % queries])
    {
        let [b, h, i] = of;
        let row = |x: &[f64], len: usize, at: usize| x[((b * heads + h) * len + at) * dim..][..dim].to_vec();
        let query = row(q, queries, i);
        let scores: Vec<f64> = (0..keys)
            .map(|j| {
                let dot: f64 = query.iter().zip(row(k, keys, j)).map(|(x, y)| x * y).sum();
                let score = dot / (dim as f64).sqrt() + bias([b, h, i, j]);
                if is_kept([b, h, i, j]) { score } else { f64::NEG_INFINITY }
            })
            .collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |score: f64| if score == f64::NEG_INFINITY { 0.0 } else { (score - largest).exp() };
        let sum: f64 = scores.iter().map(|&score| weight(score)).sum();
        let mut out = vec![0.0; dim];
        for (j, &score) in scores.iter().enumerate().filter(|(_, score)| **score > f64::NEG_INFINITY) {
            for (out, v) in out.iter_mut().zip(row(v, keys, j)) {
                *out += weight(score) / sum * v;
            }
        }
        y.extend(out);
    }
    y
}

struct Operands<T: Real> {
    data: [Vec<T>; 3],
    q: Tensor<T>,
    k: Tensor<T>,
    v: Tensor<T>,
}

impl<T: Real> Operands<T> {
    fn new(gpu: &Gpu) -> Self {
        let [batch, heads, queries, keys, dim] = SHAPE;
        let data = [(queries, 1), (keys, 2), (keys, 3)]
            .map(|(len, seed)| random::<T>(batch * heads * len * dim, seed));
        let place = |data: &[T], len: usize| gpu.tensor(data, [batch, heads, len, dim]).unwrap();
        let [q, k, v] = [place(&data[0], queries), place(&data[1], keys), place(&data[2], keys)];
        Self { data, q, k, v }
    }

    /// Asserts that the result is as defined, and that all gradients are finite: 0 for queries that see nothing.
    fn check(
        &self,
        options: &AttentionOptions<'_, T>,
        bias: impl Fn([usize; 4]) -> f64,
        is_kept: impl Fn([usize; 4]) -> bool,
        what: &str,
    ) {
        let [batch, heads, queries, keys, dim] = SHAPE;
        let [q, k, v] = [0, 1, 2].map(|i| wide(&self.data[i]));
        let want = defined([&q, &k, &v], &bias, &is_kept);
        let (y, lse) = attention_with_lse(&self.q, &self.k, &self.v, options).unwrap();
        let found = wide(&y.to_vec().unwrap());
        let what = format!("{what}, {}", T::DTYPE);
        assert_near(&found, &want, |i| 1e-5 + 2.0 * rounding::<T>(want[i]) + 4.0 * rounding::<T>(0.0), &what);
        let grad = self.q.gpu().tensor(&vec![T::from_f64(1.0); found.len()], y.shape()).unwrap();
        let grads = attention_backward(&self.q, &self.k, &self.v, &y, &lse, &grad, options).unwrap();
        let of_q = wide(&grads.q.to_vec().unwrap());
        for (name, values) in [
            ("k", wide(&grads.k.to_vec().unwrap())),
            ("v", wide(&grads.v.to_vec().unwrap())),
            ("q", of_q.clone()),
        ] {
            assert!(values.iter().all(|x| x.is_finite()), "{what}: the gradient of {name} is {values:?}");
        }
        for row in 0..batch * heads * queries {
            let at = [row / queries / heads, row / queries % heads, row % queries];
            let sees = (0..keys).any(|j| {
                let place = [at[0], at[1], at[2], j];
                is_kept(place) && bias(place) > f64::NEG_INFINITY
            });
            assert!(sees || of_q[row * dim..][..dim].iter().all(|x| *x == 0.0), "{what}: row {row}");
            assert!(sees || found[row * dim..][..dim].iter().all(|x| *x == 0.0), "{what}: row {row}");
        }
    }
}

/// tracel-ai/burn#4697 (2025), ml-explore/mlx#2395 (2025), robertknight/rten#1321 (2026): a row all of whose keys are masked is NaN.
#[test]
fn a_row_without_keys_is_zero() {
    fn check<T: Real>(gpu: &Gpu) {
        let operands = Operands::<T>::new(gpu);
        let [batch, _, queries, keys, _] = SHAPE;
        let none = |_: [usize; 4]| 0.0;
        // Row 1 of every head sees nothing.
        let masked = |[_, _, i, j]: [usize; 4]| if i == 1 || j == 2 { f64::NEG_INFINITY } else { 0.25 };
        let bias: Vec<T> =
            (0..queries * keys).map(|at| T::from_f64(masked([0, 0, at / keys, at % keys]))).collect();
        let bias = gpu.tensor(&bias, [queries, keys]).unwrap();
        let options = AttentionOptions::new().bias(&bias);
        operands.check(&options, masked, |_| true, "a bias of minus infinity");
        let causal = options.causal(CausalFrom::TopLeft);
        operands.check(&causal, masked, |[_, _, i, j]| j <= i, "causal, with a bias");

        let keep: Vec<i8> = (0..batch * keys).map(|at| i8::from(at >= keys && at % 2 == 0)).collect();
        let kept = keep.clone();
        let keep = gpu.tensor(&keep, [batch, keys]).unwrap();
        let options = AttentionOptions::new().keep(&keep);
        operands.check(&options, none, |[b, _, _, j]| kept[b * keys + j] != 0, "no key is kept");
        let both = AttentionOptions::new().keep(&keep).bias(&bias);
        operands.check(&both, masked, |[b, _, _, j]| kept[b * keys + j] != 0, "keep and bias");

        let lengths = gpu.tensor(&[0i32, 3], [batch]).unwrap();
        let options = AttentionOptions::new().key_lengths(&lengths);
        operands.check(&options, none, |[b, _, _, j]| j < [0, 3][b], "no key at all");
    }
    let turn = support::turn();
    for gpu in turn.iter() {
        support::of_reals!(check, gpu);
    }
}

/// The same reports: what a masked key holds reaches the result.
#[test]
fn masked_keys_may_hold_anything() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let [batch, heads, queries, keys, dim] = SHAPE;
        let q = gpu
            .tensor(&random::<f32>(batch * heads * queries * dim, 1), [batch, heads, queries, dim])
            .unwrap();
        let clean = random::<f32>(batch * heads * keys * dim, 2);
        let run = |special: f32| {
            let is_last = |at: usize| at / dim % keys == keys - 1;
            let data: Vec<f32> =
                clean.iter().enumerate().map(|(at, &x)| if is_last(at) { special } else { x }).collect();
            let k = gpu.tensor(&data, [batch, heads, keys, dim]).unwrap();
            let keep: Vec<i8> = (0..batch * keys).map(|at| i8::from(at % keys != keys - 1)).collect();
            let keep = gpu.tensor(&keep, [batch, keys]).unwrap();
            let lengths = gpu.tensor(&[3i32, 3], [batch]).unwrap();
            [AttentionOptions::new().keep(&keep), AttentionOptions::new().key_lengths(&lengths)].map(
                |options| {
                    let (y, _) = attention_with_lse(&q, &k, &k, &options).unwrap();
                    wide(&y.to_vec().unwrap())
                },
            )
        };
        let want = run(0.0);
        for special in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(run(special), want, "{}", special.to_f64());
        }
    }
}
