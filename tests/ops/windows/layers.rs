//! Attention of many batches and heads.

use super::{Pair, joined, place, sweep};
use crate::matrices::is_flexible;
use support::failure::says;
use support::strided::Lay;
use support::values::values;
use tilewise::attention::{
    AttentionKernel, AttentionOptions, CausalFrom, attention, attention_backward, attention_bias_backward,
    attention_with_lse,
};
use tilewise::{DType, Real, f16};

#[test]
fn attention_of_many_batches() {
    let Some(pair) = Pair::on_the_first_driver() else { return };
    let shape = [5, 6, 33, 40];
    let [q, k, v] = [1, 2, 3].map(|seed| values::<f32>(&shape, 1.0, seed));
    let bias = values::<f32>(&[6, 33, 33], 1.0, 4);
    pair.close("attention", 1e-5, |gpu| {
        let [q, k, v] = [&q, &k, &v].map(|of| place(gpu, of, &shape, Lay::Odd));
        let bias = place(gpu, &bias, &[6, 33, 33], Lay::Odd);
        attention(&q, &k, &v, &AttentionOptions::new().causal(CausalFrom::TopLeft).bias(&bias))
    });
    // Heads within positions, and keys that heads share.
    pair.close("attention of views", 1e-5, |gpu| {
        let q = place(gpu, &q, &[5, 33, 6, 40], Lay::Odd).permute(&[0, 2, 1, 3])?;
        let [k, v] = [&k, &v].map(|of| place(gpu, &of[..5 * 33 * 2 * 40], &[5, 33, 2, 40], Lay::Odd));
        let [k, v] = [k.permute(&[0, 2, 1, 3])?, v.permute(&[0, 2, 1, 3])?];
        attention(&q, &k, &v, &AttentionOptions::new())
    });
}

/// Every mask, and the statistics that a backward pass needs.
#[test]
fn attention_with_masks() {
    fn of_type<T: Real>(pair: &Pair, masks: usize, kernel: Option<AttentionKernel>) {
        let shape = [5, 6, 33, 40];
        let off = if T::DTYPE == DType::F32 { 1e-5 } else { 2e-2 };
        let [q, k, v] = [1, 2, 3].map(|seed| values::<T>(&shape, 1.0, seed));
        let keep: Vec<i8> = (0..5 * 33).map(|i| i8::from(i % 7 != 3)).collect();
        let slopes = values::<f32>(&[6], 1.0, 5);
        pair.close(&format!("{masks} {} {kernel:?}", T::DTYPE), off, |gpu| {
            let [q, k, v] = [&q, &k, &v].map(|of| place(gpu, of, &shape, Lay::Odd));
            let lengths = place(gpu, &[33, 7, 0, 20, 1], &[5], Lay::Gaps);
            let keep = place(gpu, &keep, &[5, 33], Lay::Odd);
            let slopes = place(gpu, &slopes, &[6], Lay::Gaps);
            let options = AttentionOptions::new();
            let options = match masks {
                0 => options.key_lengths(&lengths).alibi(&slopes),
                1 => options.causal(CausalFrom::BottomRight).cached_lengths(&lengths).alibi(&slopes),
                _ => options.keep(&keep).window(Some(3), Some(5)),
            };
            let options = match kernel.filter(|_| is_flexible(gpu)) {
                Some(kernel) => options.kernel(kernel),
                None => options,
            };
            let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
            joined(&[y.cast()?, lse])
        });
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [masks, form] in sweep([3, 3]) {
        match form {
            0 => of_type::<f32>(&pair, masks, None),
            1 => of_type::<f16>(&pair, masks, None),
            _ => of_type::<f16>(&pair, masks, Some(AttentionKernel::CoopNv2)),
        }
    }
}

#[test]
fn gradients_of_attention() {
    /// The key heads; views whose heads lie within the positions are in another order.
    const FORMS: [(usize, [usize; 4]); 3] = [(6, [0, 1, 2, 3]), (6, [0, 2, 1, 3]), (2, [0, 1, 2, 3])];

    fn of_type<T: Real>(pair: &Pair, lay: Lay, (kv_heads, order): (usize, [usize; 4])) {
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 3e-2 };
        let of_heads = |heads: usize| order.map(|axis| [5, heads, 33, 40][axis]);
        let (of_q, of_k) = (of_heads(6), of_heads(kv_heads));
        let len = |shape: [usize; 4]| shape.iter().product::<usize>();
        let [q, g] = [1, 2].map(|seed| values::<T>(&[len(of_q)], 1.0, seed));
        let [k, v] = [3, 4].map(|seed| values::<T>(&[len(of_k)], 1.0, seed));
        pair.close(&format!("{kv_heads} {order:?} {lay:?} {}", T::DTYPE), off, |gpu| {
            let view = |values: &[T], shape: [usize; 4]| place(gpu, values, &shape, lay).permute(&order);
            let (q, g, k, v) = (view(&q, of_q)?, view(&g, of_q)?, view(&k, of_k)?, view(&v, of_k)?);
            let lengths = gpu.tensor(&[33, 7, 1, 20, 30], [5])?;
            let options = AttentionOptions::new().causal(CausalFrom::TopLeft).key_lengths(&lengths);
            let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
            let found = attention_backward(&q, &k, &v, &y, &lse, &g, &options)?;
            joined(&[found.q.cast()?, found.k.cast()?, found.v.cast()?])
        });
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    for [form, operand] in sweep([FORMS.len(), 3]) {
        match operand {
            0 => of_type::<f32>(&pair, Lay::Plain, FORMS[form]),
            1 => of_type::<f32>(&pair, Lay::Odd, FORMS[form]),
            _ => of_type::<f16>(&pair, Lay::Odd, FORMS[form]),
        }
    }
}

/// A bias with and without axes of batches and heads, along which its gradient is cut or added up.
#[test]
fn gradients_of_a_bias() {
    fn of_type<T: Real>(pair: &Pair) {
        let off = if T::DTYPE == DType::F32 { 1e-4 } else { 3e-2 };
        let shape = [5, 6, 33, 40];
        let [q, k, v, g] = [1, 2, 3, 4].map(|seed| values::<T>(&shape, 1.0, seed));
        let biases: [&[usize]; 6] =
            [&[5, 6, 33, 33], &[5, 1, 33, 33], &[6, 33, 33], &[1, 33], &[5, 6, 1, 33], &[33, 33]];
        // A gradient of f16 is not added up from those of windows.
        let several = if T::DTYPE == DType::F32 { biases.len() } else { biases.len() - 1 };
        for of_bias in &biases[..several] {
            let bias = values::<T>(of_bias, 1.0, 5);
            pair.close(&format!("{of_bias:?} {}", T::DTYPE), off, |gpu| {
                let [q, k, v, g] = [&q, &k, &v, &g].map(|of| place(gpu, of, &shape, Lay::Odd));
                let bias = place(gpu, &bias, of_bias, Lay::Odd);
                let options = AttentionOptions::new().bias(&bias);
                let (y, lse) = attention_with_lse(&q, &k, &v, &options)?;
                attention_bias_backward(&q, &k, &v, &y, &lse, &g, &options)?.cast::<f32>()
            });
        }
    }
    let Some(pair) = Pair::on_the_first_driver() else { return };
    of_type::<f32>(&pair);
    of_type::<f16>(&pair);
    let x = pair.small.zeros::<f16>([5, 6, 33, 40]).unwrap();
    let (lse, bias) = (pair.small.zeros::<f32>([5, 6, 33, 2]).unwrap(), pair.small.zeros([33, 33]).unwrap());
    let options = AttentionOptions::new().bias(&bias);
    let error = attention_bias_backward(&x, &x, &x, &x, &lse, &x, &options).map(drop);
    says(error, &["slice along axis 0"]);
}
