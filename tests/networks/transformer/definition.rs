//! The layers against their definitions in f64, on sizes that no tile divides, in every type.

use super::{BlockForm, Form, ODD, block_definition, causal, definition};
use std::fmt::Debug;
use tilewise::attention::{
    AttentionOptions, Biases, BlockNorm, CausalFrom, FeedForward, NormPosition, TransformerBlock,
};
use tilewise::ops::RotaryPairs;
use tilewise::reference::Definition;
use tilewise::{Activation, DType, Fill, Gpu, Real, Tensor, bf16, f16};

const FORMS: [Form; 4] = [
    ODD,
    Form { biases: Biases::None, rotary: None, ..ODD },
    Form { kv_heads: 6, rotary: Some((RotaryPairs::Interleaved, 2)), ..ODD },
    Form { embed: 7, heads: 1, kv_heads: 1, rotary: None, ..ODD },
];

/// Compares a result with its definition, whose bounds must say something: no bound is as large as the largest result.
fn assert_within<T: Real>(found: &Tensor<T>, want: &Definition, case: impl Debug) {
    let largest = |of: &[f64]| of.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let (most, bound) = (largest(&want.value), largest(&want.tolerance));
    assert!(bound < most, "{case:?} in {}: the bound {bound} is as large as the results", T::DTYPE);
    let compared = want.compare(&found.to_vec().unwrap());
    println!("{} {case:?}: {:.3} of the bound {:.1e}", T::DTYPE, compared.bound_ratio, bound / most);
    assert!(compared.ok(), "{case:?} in {}: {compared:?}", T::DTYPE);
    if T::DTYPE == DType::F32 {
        // The bounds are of the worst case; this is what is usual, as for the vectors of PyTorch.
        assert!(compared.max_abs_err <= 2e-6 * most, "{case:?}: {compared:?}");
    }
}

#[test]
fn self_attention_is_as_defined() {
    fn check<T: Real>(gpu: &Gpu) {
        let (batch, length) = (2, 7);
        for form in FORMS {
            let layer = form.layer::<T>(gpu, length);
            let x = gpu.random::<T>([batch, length, form.embed], Fill::Uniform, 9).unwrap();
            for from in [None, Some(CausalFrom::TopLeft)] {
                let mut want = definition(&layer, length);
                let mut options = AttentionOptions::new();
                if let Some(from) = from {
                    options = options.causal(from);
                    want.kept = Some(causal(from, [batch, form.heads, length, length]));
                }
                let found = layer.forward(&x, &options).unwrap();
                assert_eq!(found.shape(), x.shape());
                let want = want.forward(&x.to_vec().unwrap(), [batch, length]);
                assert_within(&found, &want, (form, from));
            }
        }
    }
    for_all_types(check::<f32>, check::<f16>, check::<bf16>);
}

#[test]
fn cross_attention_is_as_defined() {
    fn check<T: Real>(gpu: &Gpu) {
        let [batch, length, keys] = [3, 5, 11];
        for form in FORMS.map(|form| Form { rotary: None, ..form }) {
            let layer = form.layer::<T>(gpu, 1);
            let [query, key_value] = [(length, 8), (keys, 9)]
                .map(|(rows, seed)| gpu.random::<T>([batch, rows, form.embed], Fill::Uniform, seed).unwrap());
            let found = layer.forward_cross(&query, &key_value, &AttentionOptions::new()).unwrap();
            let (query, key_value) = (query.to_vec().unwrap(), key_value.to_vec().unwrap());
            let want = definition(&layer, 1).forward_cross(&query, &key_value, [batch, length, keys]);
            assert_within(&found, &want, form);
        }
    }
    for_all_types(check::<f32>, check::<f16>, check::<bf16>);
}

#[test]
fn blocks_are_as_defined() {
    fn check<T: Real>(gpu: &Gpu) {
        let (batch, length) = (2, 5);
        // The bounds of types with large roundings say nothing after five products of long rows.
        let (forms, inner) = match T::DTYPE {
            DType::F32 => (FORMS, 37),
            DType::F16 => (FORMS.map(|form| small(form, 9, 3)), 7),
            _ => (FORMS.map(|form| small(form, 5, 1)), 3),
        };
        let plain = [Activation::Gelu, Activation::Relu, Activation::GeluTanh, Activation::Silu];
        let parts = plain.map(FeedForward::Plain).into_iter().chain([FeedForward::SwiGlu]);
        for (at, norm) in BlockNorm::ALL.into_iter().enumerate() {
            for (of, feed_forward) in parts.clone().enumerate() {
                let position = NormPosition::ALL[(at + of) % 2];
                let positions =
                    if (1..4).contains(&of) { vec![position] } else { NormPosition::ALL.to_vec() };
                for position in positions {
                    let attention = forms[(at + 2 * usize::from(feed_forward == FeedForward::SwiGlu)) % 3];
                    let form = BlockForm { attention, inner, norm, position, feed_forward };
                    let block = form.block::<T>(gpu, length);
                    let x = gpu.random::<T>([batch, length, attention.embed], Fill::Uniform, 9).unwrap();
                    let options = AttentionOptions::new().causal(CausalFrom::BottomRight);
                    let found = block.forward(&x, &options).unwrap();
                    assert_eq!(found.shape(), x.shape());
                    let mut want = block_definition(&block, form, length);
                    let sizes = [batch, attention.heads, length, length];
                    want.attention.kept = Some(causal(CausalFrom::BottomRight, sizes));
                    let want = want.forward(&x.to_vec().unwrap(), [batch, length]);
                    assert_within(&found, &want, form);
                }
            }
        }
    }
    for_all_types(check::<f32>, check::<f16>, check::<bf16>);
}

/// A block of which only the activation is left: $y = x + \sigma(x)$. Files do not say which one they need.
#[test]
fn a_block_has_the_activation_it_is_told() {
    let Some(gpu) = support::gpu() else { return };
    let of = |values: &[f32], shape: &[usize]| gpu.tensor(values, shape).unwrap();
    let eye = of(&[1.0, 0.0, 0.0, 1.0], &[2, 2]);
    let tensors = [
        ("self_attn.in_proj_weight", of(&[0.0; 12], &[6, 2])),
        ("self_attn.in_proj_bias", of(&[0.0; 6], &[6])),
        ("self_attn.out_proj.weight", of(&[0.0; 4], &[2, 2])),
        ("self_attn.out_proj.bias", of(&[0.0; 2], &[2])),
        ("linear1.weight", eye.clone()),
        ("linear1.bias", of(&[0.0; 2], &[2])),
        ("linear2.weight", eye),
        ("linear2.bias", of(&[0.0; 2], &[2])),
        ("norm1.weight", of(&[1.0; 2], &[2])),
        ("norm1.bias", of(&[0.0; 2], &[2])),
        ("norm2.weight", of(&[1.0; 2], &[2])),
        ("norm2.bias", of(&[0.0; 2], &[2])),
    ];
    let x = of(&[1.0, -1.0], &[1, 1, 2]); // of mean 0 and variance 1
    for (activation, want) in [
        (Activation::Relu, [2.0, -1.0]), // the default of PyTorch
        (Activation::Gelu, [1.841_344_7, -1.158_655_3]),
        (Activation::GeluTanh, [1.841_192, -1.158_808]), // GPT-2
        (Activation::Silu, [1.731_058_6, -1.268_941_4]),
    ] {
        let builder = TransformerBlock::<f32>::builder(2, 1, 2).norm_position(NormPosition::Pre).eps(0.0);
        let block =
            builder.feed_forward(FeedForward::Plain(activation)).from_tensors(tensors.clone()).unwrap();
        let y = block.forward(&x, &AttentionOptions::new()).unwrap().to_vec().unwrap();
        assert!(
            y.iter().zip(want).all(|(y, want)| (y - want).abs() < 1e-6),
            "{activation}: {y:?}, not {want:?}"
        );
        assert_eq!(block.feed_forward(), FeedForward::Plain(activation));
    }
    assert_eq!(FeedForward::default(), FeedForward::Plain(Activation::Gelu));
}

/// Views with gaps and other orders give the results of their copies, up to the order of sums.
#[test]
fn operands_may_have_any_strides() {
    let Some(gpu) = support::gpu() else { return };
    let layer = ODD.layer::<f32>(&gpu, 7);
    let causal = AttentionOptions::new().causal(CausalFrom::TopLeft);
    let whole = gpu.random::<f32>([7, 3, 33], Fill::Uniform, 4).unwrap();
    let view = whole.slice(2, 2..32).unwrap().permute(&[1, 0, 2]).unwrap(); // as a model that has the length first
    let want = layer.forward(&view.contiguous().unwrap(), &causal).unwrap().to_vec().unwrap();
    let found = layer.forward(&view, &causal).unwrap().to_vec().unwrap();
    assert!(want.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-6));
    let form = BlockForm {
        attention: ODD,
        inner: 40,
        norm: BlockNorm::Layer,
        position: NormPosition::Post,
        feed_forward: FeedForward::default(),
    };
    let block = form.block::<f32>(&gpu, 7);
    let want = block.forward(&view.contiguous().unwrap(), &causal).unwrap().to_vec().unwrap();
    let found = block.forward(&view, &causal).unwrap().to_vec().unwrap();
    assert!(want.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5));
}

/// The form with other sizes, one key head, and two rotary dims if it rotates.
fn small(form: Form, embed: usize, heads: usize) -> Form {
    Form { embed, heads, kv_heads: 1, rotary: form.rotary.map(|(pairs, _)| (pairs, 2)), ..form }
}

/// Nothing in, nothing out; and without keys, the output's bias.
#[test]
fn empty_sequences() {
    let Some(gpu) = support::gpu() else { return };
    let layer = Form { rotary: None, ..ODD }.layer::<f32>(&gpu, 1);
    let options = AttentionOptions::new();
    for shape in [[0, 5, 30], [2, 0, 30], [0, 0, 30]] {
        let x = gpu.zeros::<f32>(shape).unwrap();
        assert_eq!(layer.forward(&x, &options).unwrap().shape(), shape);
        assert_eq!(layer.forward_cross(&x, &x, &options).unwrap().shape(), shape);
        assert_eq!(ODD.layer::<f32>(&gpu, 5).forward(&x, &options).unwrap().shape(), shape);
        for position in NormPosition::ALL {
            let (norm, feed_forward) = (BlockNorm::Layer, FeedForward::SwiGlu);
            let block =
                BlockForm { attention: ODD, inner: 8, norm, position, feed_forward }.block::<f32>(&gpu, 5);
            assert_eq!(block.forward(&x, &options).unwrap().shape(), shape);
            let mut cache = block.attention().cache(shape[0], 5).unwrap();
            assert_eq!(block.forward_cached(&x, &mut cache, &options).unwrap().shape(), shape);
            assert_eq!(cache.len(), shape[1]);
        }
    }
    let (x, none) = (gpu.zeros::<f32>([2, 3, 30]).unwrap(), gpu.zeros::<f32>([2, 0, 30]).unwrap());
    let found = layer.forward_cross(&x, &none, &options).unwrap().to_vec().unwrap();
    let bias = layer.out_proj().bias().unwrap().to_vec().unwrap();
    assert!(found.chunks(30).all(|row| row == bias), "{found:?}");
}

/// Runs a check in all types on both kinds of devices; on a second driver in f32.
fn for_all_types(of_f32: fn(&Gpu), of_f16: fn(&Gpu), of_bf16: fn(&Gpu)) {
    for gpu in support::devices() {
        of_f32(&gpu);
        if !support::is_short_sweep() {
            of_f16(&gpu);
            of_bf16(&gpu);
        }
    }
}
