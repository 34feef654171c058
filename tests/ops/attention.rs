//! Attention against its definition: types, layouts, head dims, masks and biases, one query and many.

use crate::attention_masks::{self, MaskedKeys};
use std::fmt::Debug;
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::attention::{AttentionKernel, AttentionOptions, CausalFrom, alibi_slopes, attention_with_lse};
use tilewise::reference::{AttentionReference, Definition, compare};
use tilewise::{Caps, DType, Gpu, Real, Tensor, attention};

/// What a case has besides its operands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extra {
    None,
    Causal(CausalFrom),
    Window(usize, usize),
    /// A bias of this shape.
    Bias(&'static [usize]),
    /// A bias for each head, query and key, with large finite numbers.
    Masks(MaskedKeys),
    Lengths,
    Keep,
    Slopes,
    /// A causal mask, a bias and lengths: in the backward pass eight bindings.
    Padded,
    /// A mask of keys besides these: with the logarithms eight bindings.
    All,
}

/// Batch, heads, key heads; queries, keys; the head dims; and what else there is.
pub(crate) type Case = ([usize; 3], [usize; 2], [usize; 2], Extra);

/// What is masked does not depend on head dims and lengths, so most cases share these and have few kernels.
pub(crate) const CASES: [Case; 26] = [
    ([1, 1, 1], [1, 1], [8, 8], Extra::None),
    ([2, 3, 3], [7, 7], [8, 8], Extra::None),
    ([1, 2, 2], [64, 65], [16, 16], Extra::None),
    ([1, 2, 2], [129, 129], [8, 8], Extra::Causal(CausalFrom::TopLeft)),
    ([1, 2, 1], [7, 64], [8, 8], Extra::Causal(CausalFrom::BottomRight)),
    ([1, 1, 1], [64, 7], [8, 8], Extra::Causal(CausalFrom::BottomRight)), // the first rows attend none
    ([1, 2, 2], [7, 64], [8, 8], Extra::Causal(CausalFrom::TopLeft)),
    ([1, 1, 1], [129, 129], [8, 8], Extra::Window(16, 5)),
    ([2, 4, 2], [33, 40], [8, 8], Extra::Bias(&[2, 4, 33, 40])),
    ([2, 4, 2], [33, 40], [8, 8], Extra::Bias(&[1, 40])),
    ([3, 2, 2], [33, 70], [8, 8], Extra::Lengths),
    ([3, 2, 2], [33, 70], [8, 8], Extra::Keep),
    ([1, 6, 3], [20, 40], [8, 8], Extra::Slopes),
    ([2, 4, 2], [17, 33], [8, 8], Extra::All),
    ([2, 4, 2], [17, 33], [8, 8], Extra::Padded),
    ([1, 8, 2], [1, 700], [16, 16], Extra::None),
    ([1, 8, 2], [1, 700], [8, 8], Extra::Keep),
    ([1, 4, 1], [7, 129], [5, 3], Extra::None),
    ([2, 2, 2], [40, 40], [5, 24], Extra::Lengths),
    ([1, 1, 1], [9, 200], [72, 40], Extra::None),
    ([1, 1, 1], [5, 9], [300, 264], Extra::None),
    ([1, 2, 1], [20, 33], [8, 8], Extra::Masks(MaskedKeys::Own)),
    ([2, 4, 2], [9, 40], [8, 8], Extra::Masks(MaskedKeys::Equal)),
    ([2, 4, 2], [9, 40], [8, 8], Extra::Masks(MaskedKeys::Far)),
    ([1, 2, 2], [9, 1], [8, 8], Extra::Masks(MaskedKeys::Own)),
    ([1, 8, 2], [1, 700], [8, 8], Extra::Masks(MaskedKeys::Own)),
];

/// The shape of a case's bias, which it may not need.
pub(crate) fn bias_shape(([_, heads, _], [queries, keys], _, extra): Case) -> Vec<usize> {
    match extra {
        Extra::Bias(shape) => shape.to_vec(),
        Extra::Masks(_) => vec![1, heads, queries, keys],
        _ => vec![heads, 1, keys],
    }
}

/// The operands of a case on the host.
pub(crate) struct Data<T: Real> {
    pub(crate) q: Vec<T>,
    pub(crate) k: Vec<T>,
    pub(crate) v: Vec<T>,
    bias: Vec<T>,
    lengths: Vec<i32>,
    keep: Vec<i8>,
    slopes: Vec<f32>,
}

impl<T: Real> Data<T> {
    pub(crate) fn new(case: Case) -> Self {
        let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
        let bias = match extra {
            Extra::Masks(_) => attention_masks::biases(heads * queries, keys),
            _ => values(&bias_shape(case), 4.0, 4),
        };
        let mut q: Vec<T> = values(&[batch, heads, queries, dim], 4.0, 1);
        let mut k: Vec<T> = values(&[batch, kv_heads, keys, dim], 4.0, 2);
        if let Extra::Masks(of_keys) = extra {
            of_keys.apply(&mut q, &mut k, [keys, dim]);
        }
        Self {
            q,
            k,
            v: values(&[batch, kv_heads, keys, dim_v], 4.0, 3),
            bias,
            // None, some, all, and out of range.
            lengths: (0..batch).map(|at| [0, 5, 1000, -3][(at + 1) % 4]).collect(),
            keep: (0..batch * keys).map(|at| i8::from(at % 7 < 4 && at % keys != 3)).collect(),
            slopes: alibi_slopes(heads).unwrap(),
        }
    }

    /// The definition.
    pub(crate) fn reference(&self, case: Case, scale: f64) -> AttentionReference {
        let (heads, lengths, dims, extra) = case;
        let mut want = AttentionReference::new([&self.q, &self.k, &self.v], heads, lengths, dims, scale);
        let ([_, of_batch, _], [queries, keys]) = (heads, lengths);
        let places = heads[0] * of_batch * queries * keys;
        let index = |at: usize| {
            [at / keys / queries / of_batch, at / keys / queries % of_batch, at / keys % queries, at % keys]
        };
        let corner = keys as i64 - queries as i64;
        want.kept = Some((0..places).map(|at| self.is_kept(index(at), corner, keys, extra)).collect());
        want.bias = Some((0..places).map(|at| self.added(index(at), corner, keys, queries, extra)).collect());
        want
    }

    pub(crate) fn is_kept(
        &self,
        [batch, _, i, j]: [usize; 4],
        corner: i64,
        keys: usize,
        extra: Extra,
    ) -> bool {
        let distance = j as i64 - i as i64;
        let causal = |from| distance <= if from == CausalFrom::TopLeft { 0 } else { corner };
        let is_short = i64::from(self.lengths[batch]) <= j as i64;
        let is_kept = self.keep[batch * keys + j] != 0;
        match extra {
            Extra::Causal(from) => causal(from),
            Extra::Window(left, right) => (corner - left as i64..=corner + right as i64).contains(&distance),
            Extra::Lengths => !is_short,
            Extra::Keep => is_kept,
            Extra::Padded => causal(CausalFrom::BottomRight) && !is_short,
            Extra::All => causal(CausalFrom::BottomRight) && !is_short && is_kept,
            _ => true,
        }
    }

    fn added(
        &self,
        [batch, head, i, j]: [usize; 4],
        corner: i64,
        keys: usize,
        queries: usize,
        extra: Extra,
    ) -> f64 {
        let slope = || -f64::from(self.slopes[head]) * (i as i64 + corner - j as i64).abs() as f64;
        let bias = || self.bias[head * keys + j].to_f64();
        match extra {
            Extra::Bias(&[_, heads, _, _]) => {
                self.bias[((batch * heads + head) * queries + i) * keys + j].to_f64()
            }
            Extra::Bias(_) => self.bias[j].to_f64(),
            Extra::Masks(_) => self.bias[(head * queries + i) * keys + j].to_f64(),
            Extra::Slopes => slope(),
            Extra::Padded | Extra::All => bias(),
            _ => 0.0,
        }
    }
}

/// The operands of a case on a device.
pub(crate) struct Operands<T: Real> {
    pub(crate) q: Tensor<T>,
    pub(crate) k: Tensor<T>,
    pub(crate) v: Tensor<T>,
    pub(crate) bias: Tensor<T>,
    pub(crate) lengths: Tensor<i32>,
    pub(crate) keep: Tensor<i8>,
    pub(crate) slopes: Tensor<f32>,
    pub(crate) extra: Extra,
    pub(crate) kernel: AttentionKernel,
    pub(crate) planned_for: Option<Caps>,
}

impl<T: Real> Operands<T> {
    pub(crate) fn new(gpu: &Gpu, data: &Data<T>, case: Case, lay: Lay) -> Self {
        let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
        let placed = |data: &[T], shape: &[usize]| Placed::new(gpu, data, shape, lay).tensor;
        Self {
            q: placed(&data.q, &[batch, heads, queries, dim]),
            k: placed(&data.k, &[batch, kv_heads, keys, dim]),
            v: placed(&data.v, &[batch, kv_heads, keys, dim_v]),
            bias: placed(&data.bias, &bias_shape(case)),
            lengths: Placed::new(gpu, &data.lengths, &[batch], lay).tensor,
            keep: Placed::new(gpu, &data.keep, &[batch, keys], lay).tensor,
            slopes: Placed::new(gpu, &data.slopes, &[heads], lay).tensor,
            extra,
            kernel: AttentionKernel::Plain,
            planned_for: None,
        }
    }

    /// The same, computed by this kernel.
    pub(crate) fn by(self, kernel: AttentionKernel) -> Self {
        Self { kernel, ..self }
    }

    pub(crate) fn options(&self) -> AttentionOptions<'_, T> {
        let options = AttentionOptions::new().kernel(self.kernel);
        match self.extra {
            Extra::None => options,
            Extra::Causal(from) => options.causal(from),
            Extra::Window(left, right) => options.window(Some(left), Some(right)),
            Extra::Bias(_) | Extra::Masks(_) => options.bias(&self.bias),
            Extra::Lengths => options.key_lengths(&self.lengths),
            Extra::Keep => options.keep(&self.keep),
            Extra::Slopes => options.alibi(&self.slopes),
            Extra::Padded => {
                options.causal(CausalFrom::BottomRight).bias(&self.bias).key_lengths(&self.lengths)
            }
            Extra::All => options
                .causal(CausalFrom::BottomRight)
                .bias(&self.bias)
                .key_lengths(&self.lengths)
                .keep(&self.keep),
        }
    }

    /// The same by the plan for other capabilities, if there are any.
    pub(crate) fn planned_for(self, planned_for: Option<Caps>) -> Self {
        Self { planned_for, ..self }
    }

    pub(crate) fn run(&self) -> (Tensor<T>, Tensor<f32>) {
        match &self.planned_for {
            Some(caps) => self.run_planned(caps),
            None => attention_with_lse(&self.q, &self.k, &self.v, &self.options()).unwrap(),
        }
    }
}

/// The result without gaps, as it is read.
fn read<T: Real>((y, _): (Tensor<T>, Tensor<f32>)) -> Tensor<T> {
    y.contiguous().unwrap()
}

/// One sweep, so that all of it shares kernels.
#[test]
fn attention_agrees_with_its_definition() {
    forms::sweep(34, |turn, forms| {
        cases_agree(turn, forms);
        masked_keys_may_hold_nan(turn, forms);
    });
}

fn cases_agree(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        let is_taken = |(at, case): &(usize, Case)| {
            T::DTYPE == DType::F32 || at % 3 == 2 || matches!(case.3, Extra::Masks(_))
        };
        for (at, case) in CASES.into_iter().enumerate().filter(is_taken) {
            let data = Data::<T>::new(case);
            let dim = case.2[0];
            for lay in [Lay::ALL[at % 5], Lay::Vectors] {
                let run = |gpu: &Gpu| {
                    let operands = Operands::new(gpu, &data, case, lay);
                    let alone =
                        || attention(&operands.q, &operands.k, &operands.v, &operands.options()).unwrap();
                    ((at == 2).then(alone), read(operands.run()))
                };
                if !forms.takes(gpu, case, run) {
                    continue;
                }
                let want = data.reference(case, 1.0 / (dim as f64).sqrt());
                let operands = Operands::new(gpu, &data, case, lay);
                let before = gpu.stats().launches;
                let (y, lse) = operands.run();
                assert!((1..=2).contains(&(gpu.stats().launches - before)), "{case:?}");
                let got = y.to_vec().unwrap();
                assert_ok(&want.attention().compare(&got), (T::DTYPE, case, lay));
                assert_log_sums(&want.log_sums(), &lse.to_vec().unwrap(), (T::DTYPE, case, lay));
                assert!(operands.run().0.to_vec().unwrap() == got, "same plan, same bits");
                if at == 2 {
                    let alone =
                        attention(&operands.q, &operands.k, &operands.v, &operands.options()).unwrap();
                    assert!(alone.to_vec().unwrap() == got, "same bits without the logarithms");
                }
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

/// The largest scores and logarithms of rows without keys are minus infinity.
pub(crate) fn assert_log_sums(want: &Definition, got: &[f32], what: impl Debug) {
    let all = || want.value.iter().zip(&want.tolerance).zip(got);
    assert!(
        all().all(|((want, _), got)| (*want == f64::NEG_INFINITY) == (*got == f32::NEG_INFINITY)),
        "{what:?}"
    );
    let finite = all().filter(|((want, _), _)| want.is_finite());
    assert_ok(
        &compare(finite.map(|((&want, &off), &got)| (f64::from(got), want, off))),
        (what, "logarithms"),
    );
}

/// Keys and values that are masked by lengths, a mask or their place do not matter, not even NaN.
fn masked_keys_may_hold_nan(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for case in [CASES[10], CASES[11], CASES[6], CASES[13]] {
            let mut data = Data::<T>::new(case);
            let ([batch, heads, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
            if !forms.takes(gpu, case, |gpu| read(Operands::new(gpu, &data, case, Lay::Plain).run())) {
                continue;
            }
            let want = Operands::new(gpu, &data, case, Lay::Plain).run();
            let corner = keys as i64 - queries as i64;
            let mut masked = 0;
            for (b, j) in (0..batch).flat_map(|b| (0..keys).map(move |j| (b, j))) {
                if (0..queries).any(|i| data.is_kept([b, 0, i, j], corner, keys, extra)) {
                    continue;
                }
                masked += 1;
                for head in 0..kv_heads {
                    let at = (b * kv_heads + head) * keys + j;
                    data.k[at * dim..][..dim].fill(T::from_f64(f64::NAN));
                    data.v[at * dim_v..][..dim_v].fill(T::from_f64(f64::NAN));
                }
            }
            assert!(masked > 0, "{case:?}");
            let got = Operands::new(gpu, &data, case, Lay::Plain).run();
            assert!(want.0.to_vec().unwrap() == got.0.to_vec().unwrap(), "{heads} heads, {case:?}");
            assert_eq!(want.1.to_vec().unwrap(), got.1.to_vec().unwrap(), "{case:?}");
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}
