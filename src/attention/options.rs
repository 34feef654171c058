//! The options of an attention: scale, masks, biases, and the kernel.

use super::range::{AttentionCorner, AttentionKernel, AttentionRange, CausalFrom};
use crate::gpu::Part;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The scale, masks and biases of an [`attention`](super::attention). `AttentionOptions::new()` has the scale $1 / \sqrt{d}$ and no
/// mask.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::attention::{AttentionOptions, CausalFrom, attention};
///
/// let [q, k, v] = [1, 2, 3].map(|seed| gpu.random::<f32>([2, 8, 10, 64], Fill::Uniform, seed));
/// let (q, k, v) = (q?, k?, v?); // (batch, heads, length, dim)
/// let lengths = gpu.tensor(&[10i32, 7], [2])?; // the second sequence is padded
/// let options = AttentionOptions::new().causal(CausalFrom::TopLeft).key_lengths(&lengths);
/// assert_eq!(attention(&q, &k, &v, &options)?.shape(), [2, 8, 10, 64]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "options are passed to `attention`"]
pub struct AttentionOptions<'a, T: Real> {
    pub(super) scale: Option<f32>,
    pub(super) causal: Option<CausalFrom>,
    pub(super) left: Option<usize>,
    pub(super) right: Option<usize>,
    pub(super) bias: Option<&'a Tensor<T>>,
    pub(super) lengths: Option<&'a Tensor<i32>>,
    pub(super) corner: AttentionCorner,
    pub(super) keep: Option<&'a Tensor<i8>>,
    pub(super) slopes: Option<&'a Tensor<f32>>,
    pub(super) kernel: Option<AttentionKernel>,
    /// The part of the keys and of the values that is read, if `lengths` determines it.
    pub(super) filled: Option<[&'a Part; 2]>,
}

impl<T: Real> Default for AttentionOptions<'_, T> {
    fn default() -> Self {
        Self {
            scale: None,
            causal: None,
            left: None,
            right: None,
            bias: None,
            lengths: None,
            corner: AttentionCorner::Keys,
            keep: None,
            slopes: None,
            kernel: None,
            filled: None,
        }
    }
}

impl<'a, T: Real> AttentionOptions<'a, T> {
    /// The scale $1 / \sqrt{d}$, and no mask.
    pub fn new() -> Self {
        Self::default()
    }

    /// Multiplies the products of queries and keys by a finite number, instead of $1 / \sqrt{d}$.
    pub fn scale(self, scale: f32) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Masks the keys after each query.
    pub fn causal(self, from: CausalFrom) -> Self {
        Self { causal: Some(from), ..self }
    }

    /// Masks the keys that are far from a query: query $i$ attends keys from $i + S - L - l$ to $i + S - L + r$, for $L$ queries and $S$
    /// keys. `None` leaves a side open.
    pub fn window(self, left: Option<usize>, right: Option<usize>) -> Self {
        Self { left, right, ..self }
    }

    /// Adds a bias to the scaled products. It broadcasts to (batch, heads, queries, keys), and may have any strides. Minus infinity
    /// masks a key; the key's elements must be finite.
    pub fn bias(self, bias: &'a Tensor<T>) -> Self {
        Self { bias: Some(bias), ..self }
    }

    /// Masks the keys of each batch after its first `lengths` keys. A tensor of one length per batch; lengths outside $0..S$ are
    /// clamped. Blocks of masked keys are not read, so this is faster than [`keep`](Self::keep).
    pub fn key_lengths(self, lengths: &'a Tensor<i32>) -> Self {
        Self { lengths: Some(lengths), corner: AttentionCorner::Keys, ..self }
    }

    /// As [`key_lengths`](Self::key_lengths), for a cache that is filled up to these lengths. The last query of a batch is at the
    /// last of its keys: [`CausalFrom::BottomRight`], windows and slopes count from there instead of from the end of the cache. The
    /// device reads the lengths, so each run of a [`Replay`](crate::Replay) may have other lengths. There is no backward pass.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::attention::{AttentionOptions, CausalFrom, attention};
    ///
    /// let [keys, values, q] = [(1, 100), (2, 100), (3, 2)].map(|(seed, n)| gpu.random::<f32>([1, 4, n, 16], Fill::Uniform, seed));
    /// let (keys, values, q) = (keys?, values?, q?); // 2 queries; a cache for 100 keys, of which 7 are there
    /// let lengths = gpu.tensor(&[7], [1])?;
    /// let causal = AttentionOptions::new().causal(CausalFrom::BottomRight);
    /// let y = attention(&q, &keys, &values, &causal.cached_lengths(&lengths))?.to_vec()?;
    /// let want = attention(&q, &keys.slice(2, ..7)?, &values.slice(2, ..7)?, &causal)?.to_vec()?;
    /// assert!(y.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-5));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cached_lengths(self, lengths: &'a Tensor<i32>) -> Self {
        Self { lengths: Some(lengths), corner: AttentionCorner::Lengths, ..self }
    }

    /// As [`cached_lengths`](Self::cached_lengths), for a cache that knows the filled part of the keys and of the
    /// values.
    pub(super) fn filled(self, lengths: &'a Tensor<i32>, filled: [&'a Part; 2]) -> Self {
        Self { filled: Some(filled), ..self.cached_lengths(lengths) }
    }

    /// Masks the keys with a 0 in this tensor (batch, keys). It is the opposite of `key_padding_mask` of `PyTorch`, which is true
    /// for keys to be masked.
    pub fn keep(self, keep: &'a Tensor<i8>) -> Self {
        Self { keep: Some(keep), ..self }
    }

    /// Adds $-m |i + S - L - j|$ with the slope $m$ of each query head (`ALiBi`; Press, Smith and Lewis, 2022). [`alibi_slopes`] are
    /// the usual ones.
    pub fn alibi(self, slopes: &'a Tensor<f32>) -> Self {
        Self { slopes: Some(slopes), ..self }
    }

    /// The range of keys that a query attends, by distance.
    pub(super) fn range(&self) -> AttentionRange {
        AttentionRange { causal: self.causal, left: self.left, right: self.right, corner: self.corner }
    }

    /// Pins the kernel. Otherwise the kernel with the shortest predicted time runs. The call fails if the pinned kernel cannot run.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, f16};
    /// use tilewise::attention::{AttentionKernel, AttentionOptions, attention};
    ///
    /// let x = gpu.random::<f16>([1, 2, 40, 16], Fill::Uniform, 1)?;
    /// let exact = AttentionOptions::new().kernel(AttentionKernel::Plain); // weights stay f32
    /// assert_eq!(attention(&x, &x, &x, &exact)?.shape(), [1, 2, 40, 16]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn kernel(self, kernel: AttentionKernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }
}

/// The largest number of heads with slopes.
const MOST_HEADS: usize = 1 << 20;

/// The slopes of `ALiBi` for this number of heads: $2^{-8h/H}$ for $h = 1..H$ if $H$ is a power of two. Otherwise the slopes of the
/// next smaller power of two, then every second slope of the next larger one.
///
/// # Errors
/// [`Error::Limit`] for more than $2^{20}$ heads.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// use tilewise::attention::alibi_slopes;
///
/// assert_eq!(alibi_slopes(4)?, [0.25, 0.0625, 0.015625, 0.00390625]);
/// assert_eq!(alibi_slopes(3)?, [0.0625, 0.00390625, 0.25]);
/// # Ok(())
/// # }
/// ```
#[expect(clippy::cast_possible_truncation, reason = "slopes are rounded to f32")]
pub fn alibi_slopes(heads: usize) -> Result<Vec<f32>> {
    Error::check_limit("alibi_slopes", "the number of heads", heads as u64, MOST_HEADS as u64)?;
    let of = |count: usize| (1..=count).map(move |h| (-8.0 * h as f64 / count as f64).exp2() as f32);
    let whole = match heads.checked_ilog2() {
        None => return Ok(Vec::new()),
        Some(log) => 1 << log,
    };
    Ok(of(whole).chain(of(2 * whole).step_by(2)).take(heads).collect())
}
