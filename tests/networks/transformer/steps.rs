//! The layers have the bits of their steps, one after another, in every type.

use super::{BlockForm, Form, ODD};
use tilewise::attention::{
    AttentionOptions, BlockNorm, CausalFrom, FeedForward, MultiHeadAttention, NormPosition, TransformerBlock,
    attention,
};
use tilewise::gemm::Linear;
use tilewise::ops::{self, LayerNorm, RmsNorm};
use tilewise::{Activation, Fill, Gpu, Parameters, Real, Tensor};

/// A linear layer of the parameters with these names.
fn linear<T: Real>(layer: &impl Parameters<T>, names: [&str; 2], activation: Activation) -> Linear<T> {
    let of =
        |name: &str| layer.parameters().into_iter().find(|(own, _)| *own == name).map(|(_, of)| of.clone());
    Linear::new(of(names[0]).unwrap(), of(names[1]), activation).unwrap()
}

/// The attention of rows (batch * length, embed) plus a residual, by plain operations.
fn attended<T: Real>(
    layer: &MultiHeadAttention<T>,
    x: &Tensor<T>,
    residual: &Tensor<T>,
    batch: usize,
    options: &AttentionOptions<'_, T>,
) -> Tensor<T> {
    let (heads, kv_heads, dim) = (layer.heads(), layer.kv_heads(), layer.head_dim());
    let (rows, length) = (x.shape()[0], x.shape()[0] / batch);
    let all = linear(layer, ["in_proj_weight", "in_proj_bias"], Activation::None).forward(x).unwrap();
    let part = |first: usize, count: usize| {
        let columns = all.slice(1, first * dim..(first + count) * dim).unwrap().contiguous().unwrap();
        columns.reshape([batch, length, count, dim]).unwrap().permute(&[0, 2, 1, 3]).unwrap()
    };
    let [q, k, v] = [part(0, heads), part(heads, kv_heads), part(heads + kv_heads, kv_heads)];
    let turned = |x: Tensor<T>| layer.rotary().map_or(x.clone(), |rotary| rotary.apply(&x, 0).unwrap());
    let y = attention(&turned(q), &turned(k), &v, options).unwrap();
    let y = y.permute(&[0, 2, 1, 3]).unwrap().contiguous().unwrap().reshape([rows, heads * dim]).unwrap();
    layer.out_proj().forward_with_residual(&y, residual).unwrap()
}

fn norm<T: Real>(block: &TransformerBlock<T>, of: BlockNorm, which: usize, x: &Tensor<T>) -> Tensor<T> {
    let parameters = block.parameters();
    let find = |part: &str| {
        let name = format!("norm{which}.{part}");
        parameters.iter().find(|(own, _)| *own == name).map(|(_, of)| *of)
    };
    let (gamma, beta) = (find("weight"), find("bias"));
    match of {
        BlockNorm::Layer => LayerNorm::new().gamma(gamma).beta(beta).run(x),
        BlockNorm::Rms => RmsNorm::new().gamma(gamma).run(x),
    }
    .unwrap()
}

fn fed<T: Real>(block: &TransformerBlock<T>, x: &Tensor<T>, residual: &Tensor<T>) -> Tensor<T> {
    let first =
        |activation| linear(block, ["linear1.weight", "linear1.bias"], activation).forward(x).unwrap();
    let hidden = match block.feed_forward() {
        FeedForward::Plain(activation) => first(activation),
        FeedForward::SwiGlu => {
            let both = first(Activation::None);
            let [gate, up] = [0..block.inner(), block.inner()..2 * block.inner()]
                .map(|columns| both.slice(1, columns).unwrap().contiguous().unwrap());
            ops::map(&[&gate, &up], |[gate, up]| gate.sigmoid() * gate * up).unwrap()
        }
    };
    let second = linear(block, ["linear2.weight", "linear2.bias"], Activation::None);
    second.forward_with_residual(&hidden, residual).unwrap()
}

#[test]
fn a_block_has_the_bits_of_its_steps() {
    fn check<T: Real>(gpu: &Gpu) {
        let (batch, length) = (2, 7);
        for (norm_kind, position, feed_forward) in [
            (BlockNorm::Layer, NormPosition::Post, FeedForward::default()),
            (BlockNorm::Layer, NormPosition::Post, FeedForward::Plain(Activation::Relu)),
            (BlockNorm::Rms, NormPosition::Pre, FeedForward::SwiGlu),
        ] {
            let form = BlockForm {
                attention: Form { embed: 36, ..ODD },
                inner: 37,
                norm: norm_kind,
                position,
                feed_forward,
            };
            let block = form.block::<T>(gpu, length);
            let x = gpu.random::<T>([batch * length, 36], Fill::Uniform, 9).unwrap();
            let options = AttentionOptions::new().causal(CausalFrom::TopLeft);
            let attend = |x: &Tensor<T>, residual: &Tensor<T>| {
                attended(block.attention(), x, residual, batch, &options)
            };
            let want = match position {
                NormPosition::Pre => {
                    let h = attend(&norm(&block, norm_kind, 1, &x), &x);
                    fed(&block, &norm(&block, norm_kind, 2, &h), &h)
                }
                NormPosition::Post => {
                    let h = norm(&block, norm_kind, 1, &attend(&x, &x));
                    norm(&block, norm_kind, 2, &fed(&block, &h, &h))
                }
            };
            let found = block.forward(&x.reshape([batch, length, 36]).unwrap(), &options).unwrap();
            assert!(found.to_vec().unwrap() == want.to_vec().unwrap(), "{form:?} in {}", T::DTYPE);
        }
    }
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    support::of_reals!(check, &gpu);
}
