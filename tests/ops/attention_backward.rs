//! The gradients of attention against their definition, in the cases of the forward pass.

use crate::attention::{CASES, Case, Data, Extra, Operands, bias_shape};
use support::forms::{self, Forms};
use support::strided::{Lay, Placed};
use support::turn::Turn;
use support::values::{assert_ok, for_all_types_and_a_gpu, values};
use tilewise::attention::{
    AttentionGradients, AttentionKernel, AttentionOptions, attention_backward, attention_bias_backward,
    attention_with_lse,
};
use tilewise::planning::attention::{AttentionBackward, AttentionGradientsOf, AttentionStatistics};
use tilewise::planning::{Problem, Scalar};
use tilewise::reference::AttentionReference;
use tilewise::{Caps, DType, Fill, Gpu, Real, Tensor, View};

/// What the forward pass leaves, and the gradient of its result: on the host.
pub(crate) struct Known<T: Real> {
    pub(crate) y: Vec<T>,
    pub(crate) lse: Vec<f32>,
    pub(crate) grad: Vec<T>,
}

impl<T: Real> Known<T> {
    #[expect(clippy::cast_possible_truncation, reason = "logarithms are stored in f32")]
    pub(crate) fn new(want: &AttentionReference) -> Self {
        let y: Vec<T> = want.attention().value.into_iter().map(T::from_f64).collect();
        let grad = values(&[y.len()], 2.0, 5);
        Self { y, lse: want.log_sums().value.iter().map(|&x| x as f32).collect(), grad }
    }
}

/// What the forward pass leaves on a device, with its operands.
pub(crate) struct Pass<T: Real> {
    of: Operands<T>,
    y: Tensor<T>,
    lse: Tensor<f32>,
    grad: Tensor<T>,
    /// None is that of the head dim.
    scale: Option<f32>,
}

impl<T: Real> Pass<T> {
    pub(crate) fn new(gpu: &Gpu, data: &Data<T>, known: &Known<T>, case: Case, lay: Lay) -> Self {
        let ([batch, heads, _], [queries, _], [_, dim_v], _) = case;
        let result = [batch, heads, queries, dim_v];
        Self {
            of: Operands::new(gpu, data, case, lay),
            y: Placed::new(gpu, &known.y, &result, lay).tensor,
            lse: gpu.tensor(&known.lse, [batch, heads, queries, 2]).unwrap(),
            grad: Placed::new(gpu, &known.grad, &result, lay).tensor,
            scale: None,
        }
    }

    /// The same, computed by this kernel.
    pub(crate) fn by(self, kernel: AttentionKernel) -> Self {
        Self { of: self.of.by(kernel), ..self }
    }

    /// The same with this scale.
    pub(crate) fn scaled(self, scale: f32) -> Self {
        Self { scale: Some(scale), ..self }
    }

    fn options(&self) -> AttentionOptions<'_, T> {
        let options = self.of.options();
        self.scale.map_or(options, |scale| options.scale(scale))
    }

    /// The same by the plan for other capabilities, if there are any: operands without gaps.
    pub(crate) fn planned_for(self, caps: Option<Caps>) -> Self {
        Self { of: self.of.planned_for(caps), ..self }
    }

    pub(crate) fn gradients(&self) -> AttentionGradients<T> {
        let Self { of, y, lse, grad, .. } = self;
        if let Some(caps) = &of.planned_for {
            return self.planned(caps);
        }
        attention_backward(&of.q, &of.k, &of.v, y, lse, grad, &self.options()).unwrap()
    }

    /// The gradients by the plan for these capabilities.
    fn planned(&self, caps: &Caps) -> AttentionGradients<T> {
        let Self { of, y, lse, grad, .. } = self;
        let rows = [y.layout(), lse.layout(), grad.layout()];
        let forward = of.problem(AttentionStatistics::None);
        let problem = AttentionBackward::new(forward, rows, AttentionGradientsOf::Operands).unwrap();
        let plan = problem.plan(caps).unwrap();
        let mut of_q = of.q.gpu().zeros::<T>(of.q.shape()).unwrap();
        let mut of_others = of.q.gpu().zeros::<T>([of.k.len() + of.v.len()]).unwrap();
        let results = [of_q.view_mut().unwrap(), of_others.view_mut().unwrap()];
        let known = [y.view(), lse.view(), grad.view()];
        let operands: Vec<View<'_>> =
            of.views().into_iter().chain(known).chain(of.masks()).chain(results).collect();
        let scale = self.scale.map_or(of.scale(), Scalar::F32);
        of.q.gpu().execute(&plan, &operands, &[scale]).unwrap();
        let part = |of: &Tensor<T>, first| of_others.as_strided(of.shape(), of.strides(), first).unwrap();
        AttentionGradients { q: of_q, k: part(&of.k, 0), v: part(&of.v, of.k.len()) }
    }

    pub(crate) fn of_bias(&self) -> Tensor<T> {
        let Self { of, y, lse, grad, .. } = self;
        attention_bias_backward(&of.q, &of.k, &of.v, y, lse, grad, &self.options()).unwrap()
    }

    fn launches(&self) -> u64 {
        self.of.q.gpu().stats().launches
    }
}

pub(crate) fn scale((_, _, [dim, _], _): Case) -> f64 {
    1.0 / (dim as f64).sqrt()
}

/// The shape of a case's bias with four axes, if it has one.
fn shape_of_bias(case: Case) -> Option<[usize; 4]> {
    match case.3 {
        Extra::Bias(_) | Extra::Masks(_) | Extra::Padded => {
            let shape = bias_shape(case);
            let mut all = [1; 4];
            all[4 - shape.len()..].copy_from_slice(&shape);
            Some(all)
        }
        _ => None,
    }
}

/// The gradients without gaps, as they are read.
fn read<T: Real>(of: AttentionGradients<T>) -> [Tensor<T>; 3] {
    [of.q, of.k, of.v].map(|of| of.contiguous().unwrap())
}

/// One sweep, so that all of it shares kernels.
#[test]
fn gradients_of_attention_agree_with_their_definition() {
    forms::sweep(62, |turn, forms| {
        cases_agree(turn, forms);
        masked_keys_may_hold_nan(turn, forms);
    });
}

fn cases_agree(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        // How elements are loaded and stored does not depend on masks and sizes: one case, which has a bias, will do for other types.
        // Three masks need nine bindings.
        let is_taken = |(at, case): &(usize, Case)| match T::DTYPE {
            DType::F32 => case.3 != Extra::All && ![16, 18].contains(at),
            _ => *at == 8 || matches!(case.3, Extra::Masks(_)),
        };
        let cases = CASES.into_iter().enumerate().filter(is_taken);
        for (at, case) in cases {
            let data = Data::<T>::new(case);
            let want = data.reference(case, scale(case));
            let known = Known::<T>::new(&want);
            let bias = shape_of_bias(case);
            for lay in [Lay::ALL[at % 5], Lay::Vectors] {
                let run = |gpu: &Gpu| {
                    let pass = Pass::new(gpu, &data, &known, case, lay);
                    (read(pass.gradients()), bias.map(|_| pass.of_bias()))
                };
                if !forms.takes(gpu, case, run) {
                    continue;
                }
                let pass = Pass::new(gpu, &data, &known, case, lay);
                let before = pass.launches();
                let got = pass.gradients();
                assert_eq!(pass.launches() - before, 3, "{case:?}");
                let again = pass.gradients();
                let want_all = want.gradients(&known.y, &known.grad);
                for (name, want, got, again, like) in [
                    ("queries", &want_all.q, &got.q, &again.q, &pass.of.q),
                    ("keys", &want_all.k, &got.k, &again.k, &pass.of.k),
                    ("values", &want_all.v, &got.v, &again.v, &pass.of.v),
                ] {
                    assert_eq!(got.shape(), like.shape());
                    let found = got.to_vec().unwrap();
                    assert_ok(&want.compare(&found), (name, T::DTYPE, case, lay));
                    assert!(again.to_vec().unwrap() == found, "same plan, same bits");
                }
                if let Some(shape) = bias {
                    let before = pass.launches();
                    let got = pass.of_bias();
                    let is_matrix = shape[2..] == case.1;
                    // Parts of sums are added up, and stored in another type.
                    let most = if is_matrix { 2 } else { 4 + u64::from(T::DTYPE != DType::F32) };
                    let launches = pass.launches() - before;
                    assert!(launches == 2 || (!is_matrix && (3..=most).contains(&launches)), "{case:?}");
                    assert_eq!(got.shape(), pass.of.bias.shape());
                    let want = want.bias_gradient(&known.y, &known.grad, shape);
                    assert_ok(&want.compare(&got.to_vec().unwrap()), ("bias", T::DTYPE, case, lay));
                }
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

/// Keys and values that are masked by lengths, a mask or their place do not matter, not even NaN, and have no gradient.
fn masked_keys_may_hold_nan(turn: &Turn, forms: &mut Forms) {
    fn test<T: Real>(gpu: &Gpu, forms: &mut Forms) {
        for case in [CASES[10], CASES[11], CASES[6], CASES[14]] {
            let mut data = Data::<T>::new(case);
            let known = Known::<T>::new(&data.reference(case, scale(case)));
            let ([batch, _, kv_heads], [queries, keys], [dim, dim_v], extra) = case;
            if !forms
                .takes(gpu, case, |gpu| read(Pass::new(gpu, &data, &known, case, Lay::Plain).gradients()))
            {
                continue;
            }
            let want = Pass::new(gpu, &data, &known, case, Lay::Plain).gradients();
            let corner = keys as i64 - queries as i64;
            let mut masked = Vec::new();
            for (b, j) in (0..batch).flat_map(|b| (0..keys).map(move |j| (b, j))) {
                if !(0..queries).any(|i| data.is_kept([b, 0, i, j], corner, keys, extra)) {
                    masked.extend((0..kv_heads).map(|head| (b * kv_heads + head) * keys + j));
                }
            }
            assert!(!masked.is_empty(), "{case:?}");
            for &at in &masked {
                data.k[at * dim..][..dim].fill(T::from_f64(f64::NAN));
                data.v[at * dim_v..][..dim_v].fill(T::from_f64(f64::NAN));
            }
            let got = Pass::new(gpu, &data, &known, case, Lay::Plain).gradients();
            assert!(want.q.to_vec().unwrap() == got.q.to_vec().unwrap(), "{case:?}");
            let (k, v) = (got.k.to_vec().unwrap(), got.v.to_vec().unwrap());
            assert!(want.k.to_vec().unwrap() == k && want.v.to_vec().unwrap() == v, "{case:?}");
            for &at in &masked {
                let of_key = k[at * dim..][..dim].iter().chain(&v[at * dim_v..][..dim_v]);
                assert!(of_key.into_iter().all(|x| x.to_f64() == 0.0), "{case:?}");
            }
        }
    }
    for_all_types_and_a_gpu!(turn, test, forms);
}

#[test]
fn gradients_lie_in_the_order_of_their_operands_axes() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.zeros::<f32>([2, 5, 3, 8]).unwrap(); // (batch, length, heads, dim)
    let by_head = x.permute(&[0, 2, 1, 3]).unwrap();
    let options = AttentionOptions::new();
    let lse = gpu.zeros::<f32>([2, 3, 5, 2]).unwrap();
    let got = attention_backward(&by_head, &by_head, &by_head, &by_head, &lse, &by_head, &options).unwrap();
    for of in [got.q, got.k, got.v] {
        assert_eq!((of.shape(), of.layout().strides()), (by_head.shape(), by_head.layout().strides()));
    }
}

#[test]
fn no_queries_and_no_keys_have_gradients_of_zeros() {
    let Some(gpu) = support::gpu() else { return };
    let of = |length: usize| gpu.random::<f32>([2, 3, length, 4], Fill::Uniform, 1).unwrap();
    let (none, some) = (of(0), of(5));
    let lse = |length: usize| gpu.zeros::<f32>([2, 3, length, 2]).unwrap();
    let options = AttentionOptions::new();
    let got = attention_backward(&none, &some, &some, &none, &lse(0), &none, &options).unwrap();
    assert_eq!(got.q.shape(), [2, 3, 0, 4]);
    assert_eq!((got.k.to_vec().unwrap(), got.v.to_vec().unwrap()), (vec![0.0; 120], vec![0.0; 120]));
    let got = attention_backward(&some, &none, &none, &some, &lse(5), &some, &options).unwrap();
    assert_eq!((got.q.to_vec().unwrap(), got.k.shape()), (vec![0.0; 120], [2, 3, 0, 4].as_slice()));
}

/// Besides operands and results, neither pass has more than a mebibyte in memory. The scores of this length would have 16. What is
/// allocated does not depend on what is computed, so a device that computes nothing will do.
#[test]
fn scores_are_never_in_memory() {
    const LENGTH: usize = 2048;
    let gpu = support::noop();
    let of = |seed| gpu.random::<f32>([1, 1, LENGTH, 8], Fill::Uniform, seed).unwrap();
    let (q, k, v, grad) = (of(1), of(2), of(3), of(4));
    let options = AttentionOptions::new();
    let before = gpu.stats().bytes_in_use;
    gpu.reset_peak();
    let (y, lse) = attention_with_lse(&q, &k, &v, &options).unwrap();
    let of_forward = (4 * LENGTH * 8 + 8 * LENGTH) as u64;
    assert!(gpu.stats().bytes_peak - before <= of_forward + (1 << 20), "{:?}", gpu.stats());
    let gradients = attention_backward(&q, &k, &v, &y, &lse, &grad, &options).unwrap();
    let of_backward = 3 * (4 * LENGTH * 8) as u64;
    assert!(gpu.stats().bytes_peak - before <= of_forward + of_backward + (1 << 20), "{:?}", gpu.stats());
    assert!(gpu.stats().bytes_in_use - before >= of_forward + of_backward, "{gradients:?}");
}
