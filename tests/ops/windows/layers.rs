//! Attention of many batches and heads, and products of many multivectors.

use super::{Pair, place};
use crate::support::strided::Lay;
use crate::support::values::values;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::{AttentionOptions, CausalFrom, attention};

#[test]
fn attention_of_many_batches() {
    let Some(pair) = Pair::open() else { return };
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

#[test]
fn products_of_many_multivectors() {
    let Some(pair) = Pair::open() else { return };
    let blades = Signature::CL3.vectors();
    let (x, y) = (values::<f32>(&[3, 9001], 1.0, 1), values::<f32>(&[3, 9001], 1.0, 2));
    for (axis, shape) in [(BladeAxis::First, [3, 9001]), (BladeAxis::Last, [9001, 3])] {
        for lay in [Lay::Plain, Lay::Odd] {
            pair.same(&format!("geometric product {axis:?} {lay:?}"), |gpu| {
                let of = |values: &[f32]| Multivectors::new(place(gpu, values, &shape, lay), &blades, axis);
                of(&x)?.geometric(&of(&y)?).map(Multivectors::into_tensor)
            });
        }
    }
}
