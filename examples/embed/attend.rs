//! Attention: for each query, the mean of the values, weighted by the softmax of its products with the keys.

use tilewise::ops::{self, Softmax};
use tilewise::{Error, Gemm, Real, Result, Tensor};

/// What is added to the scores of padding: its weight becomes 0.
const MASKED: f32 = -1e30;

/// Attention of all heads: softmax(q k^T / sqrt(dim)) v. Of each text, the keys from its length on are padding.
///
/// Queries, keys and values are views (batch, heads, length, dim), and lengths (batch). So is the result, whose elements
/// are stored in the order (batch, length, heads, dim), as the next product takes them.
pub(crate) fn attend<T: Real>(
    q: &Tensor<T>,
    k: &Tensor<T>,
    v: &Tensor<T>,
    lengths: &Tensor<i32>,
) -> Result<Tensor<T>> {
    let (gpu, &[batch, heads, length, dim]) = (q.gpu(), q.shape()) else {
        let what = "attend: the queries".into();
        return Err(Error::Input { what, why: format!("must have four axes; got {:?}", q.shape()) });
    };
    let positions: Vec<i32> = (0..).take(length).collect();
    let positions = gpu.tensor(&positions, [1, 1, 1, length])?;
    let mask: Tensor<f32> =
        ops::map(&[&positions, &lengths.reshape([batch, 1, 1, 1])?], |[position, length]| {
            position.less(length).select(0.0, MASKED)
        })?;
    let scores = Gemm::new(q, &k.t()).run()?; // sums stay f32
    let weights = Softmax::new(&scores, 3).scale((dim as f32).sqrt().recip()).mask(&mask).run()?;
    let mut context = gpu.empty::<T>([batch, length, heads, dim])?.permute(&[0, 2, 1, 3])?;
    Gemm::new(&weights.cast::<T>()?, v).out::<T>().run_into(&mut context)?;
    Ok(context)
}
