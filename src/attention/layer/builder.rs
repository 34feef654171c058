//! Building multi-head attention, with random parameters or from given ones.

use super::heads::HeadSizes;
use super::kinds::Biases;
use super::multi_head::{MultiHeadAttention, OP};
use super::tensors::{Expected, LayerTensors};
use crate::error::call;
use crate::gemm::Linear;
use crate::gpu::Gpu;
use crate::layout::Real;
use crate::ops::{Activation, Rotary};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::marker::PhantomData;

/// Builds a [`MultiHeadAttention`].
#[derive(Clone, Debug)]
#[must_use = "a layer is built by `random`, `from_tensors` or `load`"]
pub struct MultiHeadAttentionBuilder<T: Real> {
    pub(super) sizes: HeadSizes,
    pub(super) biases: Biases,
    rotary: Option<Rotary>,
    pub(super) seed: u64,
    element: PhantomData<T>,
}

impl<T: Real> MultiHeadAttention<T> {
    /// A builder of layers with `embed` features and this number of heads.
    pub fn builder(embed: usize, heads: usize) -> MultiHeadAttentionBuilder<T> {
        MultiHeadAttentionBuilder {
            sizes: HeadSizes { embed, heads, kv_heads: heads },
            biases: Biases::default(),
            rotary: None,
            seed: 0,
            element: PhantomData,
        }
    }
}

impl<T: Real> MultiHeadAttentionBuilder<T> {
    /// Sets the number of heads of keys and values; it must divide the number of heads. The default is the number of
    /// heads.
    pub fn kv_heads(self, kv_heads: usize) -> Self {
        Self { sizes: HeadSizes { kv_heads, ..self.sizes }, ..self }
    }

    /// Sets whether the projections have biases. The default is biases.
    pub fn biases(self, biases: Biases) -> Self {
        Self { biases, ..self }
    }

    /// Rotates queries and keys by their positions, by a clone of this table.
    pub fn rotary(self, rotary: &Rotary) -> Self {
        Self { rotary: Some(rotary.clone()), ..self }
    }

    /// Sets the seed of random parameters. The default is 0.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// A layer with random parameters, to train from scratch, distributed as in `PyTorch`: `in_proj_weight` is uniform in $\pm\sqrt{6 / (r +
    /// e)}$ with its $r$ rows (Xavier), `out_proj.weight` in $\pm 1 / \sqrt{e}$, and biases are 0. The same seed gives the same weights on
    /// every device.
    ///
    /// # Errors
    /// [`Error::Input`] if the heads do not divide the features, the key heads do not divide the heads, or there are more rotary dims than
    /// a head has elements; [`Error::Gpu`] if the table is on another device; [`Error::OutOfMemory`] or
    /// [`Error::Limit`] if the parameters do not fit.
    pub fn random(&self, gpu: &Gpu) -> Result<MultiHeadAttention<T>> {
        call("MultiHeadAttention::random", || {
            let expected = self.expected("")?.into_iter();
            let tensors = expected.map(|(name, shape)| {
                let made = match shape[..] {
                    [outputs, inputs] if name == "in_proj_weight" => {
                        gpu.uniform(OP, &shape, xavier_bound([outputs, inputs]), part_seed(self.seed, 1))
                    }
                    [_, inputs] => {
                        gpu.uniform(OP, &shape, 1.0 / (inputs as f64).sqrt(), part_seed(self.seed, 2))
                    }
                    _ => gpu.zeros(&shape),
                };
                Ok((name, made?))
            });
            self.assembled(&mut LayerTensors::of(tensors.collect::<Result<Vec<_>>>()?), "")
        })
    }

    /// A layer with these parameters, by the names of its [`parameters`](crate::Parameters::parameters). It shares them and copies nothing.
    ///
    /// # Shapes
    /// `in_proj_weight` (rows, embed) and `out_proj.weight` (embed, embed); `in_proj_bias` (rows) and `out_proj.bias` (embed) if there are
    /// biases. With $h$ heads, $k$ key heads and $d$ elements of a head, there are $(h + 2 k) d$ rows.
    /// # Errors
    /// [`Error::Input`] names every tensor that is missing or has another shape, and every tensor that the layer does not use, in one error;
    /// [`Error::Gpu`] if tensors are on different devices; otherwise as [`random`](Self::random).
    pub fn from_tensors<S: AsRef<str>>(
        &self,
        tensors: impl IntoIterator<Item = (S, Tensor<T>)>,
    ) -> Result<MultiHeadAttention<T>> {
        call("MultiHeadAttention::from_tensors", || {
            self.assembled(&mut LayerTensors::given(OP, &self.expected("")?, tensors)?, "")
        })
    }

    /// The tensors of a layer, with a prefix before their names.
    pub(super) fn expected(&self, prefix: &str) -> Result<Vec<Expected>> {
        let sizes = self.sizes.check(OP)?;
        let (embed, rows) = (sizes.embed, sizes.rows());
        let weights = [("in_proj_weight", vec![rows, embed]), ("out_proj.weight", vec![embed, embed])];
        let biases = match self.biases {
            Biases::All => vec![("in_proj_bias", vec![rows]), ("out_proj.bias", vec![embed])],
            Biases::None => Vec::new(),
        };
        Ok(weights
            .into_iter()
            .chain(biases)
            .map(|(name, shape)| (format!("{prefix}{name}"), shape))
            .collect())
    }

    /// The layer of checked tensors with this prefix.
    pub(super) fn assembled(
        &self,
        tensors: &mut LayerTensors<T>,
        prefix: &str,
    ) -> Result<MultiHeadAttention<T>> {
        let sizes = self.sizes.check(OP)?;
        let mut linear = |name: [&str; 2]| {
            let [weight, bias] = name.map(|name| format!("{prefix}{name}"));
            Linear::new(tensors.weight(&weight)?, tensors.bias(&bias), Activation::None)
        };
        let projections = linear(["in_proj_weight", "in_proj_bias"])?;
        let output = linear(["out_proj.weight", "out_proj.bias"])?;
        if let Some(rotary) = &self.rotary {
            projections.weight().same_gpu(OP, rotary.cosines())?;
            let (dims, dim) = (rotary.rotary_dims(), sizes.dim());
            if dims > dim {
                let why = format!("there are {dims}, more than the {dim} elements of a head");
                return Err(Error::input(format!("{OP}: the rotary dims"), why));
            }
        }
        Ok(MultiHeadAttention { sizes, projections, output, rotary: self.rotary.clone() })
    }
}

/// The bound of Xavier's uniform distribution for a weight (out, in).
fn xavier_bound([outputs, inputs]: [usize; 2]) -> f64 {
    (6.0 / (inputs as f64 + outputs as f64)).sqrt()
}

/// The seed of a part of a layer.
pub(super) fn part_seed(seed: u64, part: u64) -> u64 {
    seed.wrapping_mul(8).wrapping_add(part)
}
