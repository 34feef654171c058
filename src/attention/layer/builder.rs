//! Building multi-head attention, with random parameters or from given ones.

use super::heads::HeadSizes;
use super::kinds::Biases;
use super::multi_head::{MultiHeadAttention, OP};
use super::parameters::{part_seed, uniform, xavier_bound};
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
    pub(super) rotary: Option<Rotary>,
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
    /// Sets the number of heads of keys and values, which divides that of the heads. The default is the number of heads.
    pub fn kv_heads(mut self, kv_heads: usize) -> Self {
        self.sizes.kv_heads = kv_heads;
        self
    }

    /// Sets whether the projections have biases. By default they have.
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
    /// a head has elements; [`Error::Gpu`] if the table is on another device; [`Error::OutOfMemory`] if the parameters do not fit.
    pub fn random(&self, gpu: &Gpu) -> Result<MultiHeadAttention<T>> {
        call("MultiHeadAttention::random", || {
            let sizes = self.sizes.check(OP)?;
            let (embed, rows) = (sizes.embed, sizes.rows());
            let in_bound = xavier_bound([rows, embed]);
            let in_weight = uniform(gpu, OP, &[rows, embed], in_bound, part_seed(self.seed, 1))?;
            let out_bound = 1.0 / (embed as f64).sqrt();
            let out_weight = uniform(gpu, OP, &[embed, embed], out_bound, part_seed(self.seed, 2))?;
            let bias = |len: usize| match self.biases {
                Biases::All => gpu.zeros([len]).map(Some),
                Biases::None => Ok(None),
            };
            self.from_tensors([in_weight, out_weight], [bias(rows)?, bias(embed)?])
        })
    }

    /// A layer with these parameters. It shares them and copies nothing. Each bias may be missing, whatever [`biases`](Self::biases) says.
    ///
    /// # Shapes
    /// `in_proj_weight` (rows, embed) and `out_proj.weight` (embed, embed); `in_proj_bias` (rows) and `out_proj.bias` (embed). With $h$
    /// heads, $k$ key heads and $d$ elements of a head, there are $(h + 2 k) d$ rows.
    /// # Errors
    /// [`Error::Shape`] if a tensor has another shape; [`Error::Gpu`] if tensors, or the rotary table, are on different devices;
    /// [`Error::Input`] as [`random`](Self::random).
    pub fn from_tensors(
        &self,
        [in_weight, out_weight]: [Tensor<T>; 2],
        [in_bias, out_bias]: [Option<Tensor<T>>; 2],
    ) -> Result<MultiHeadAttention<T>> {
        call("MultiHeadAttention::from_tensors", || {
            let sizes = self.sizes.check(OP)?;
            let (embed, rows) = (sizes.embed, sizes.rows());
            check("in_proj_weight", Some(&in_weight), &[rows, embed])?;
            check("in_proj_bias", in_bias.as_ref(), &[rows])?;
            check("out_proj.weight", Some(&out_weight), &[embed, embed])?;
            check("out_proj.bias", out_bias.as_ref(), &[embed])?;
            in_weight.same_gpu(OP, &out_weight)?;
            if let Some(rotary) = &self.rotary {
                in_weight.same_gpu(OP, rotary.cos())?;
                if rotary.rotary_dims() > sizes.dim() {
                    let (dims, dim) = (rotary.rotary_dims(), sizes.dim());
                    let why = format!("there are {dims}, more than the {dim} elements of a head");
                    return Err(Error::input(format!("{OP}: the rotary dims"), why));
                }
            }
            Ok(MultiHeadAttention {
                sizes,
                projections: Linear::new(in_weight, in_bias, Activation::None)?,
                output: Linear::new(out_weight, out_bias, Activation::None)?,
                rotary: self.rotary.clone(),
            })
        })
    }
}

/// Checks the shape of a parameter, if it is there.
fn check<T: Real>(name: &str, of: Option<&Tensor<T>>, shape: &[usize]) -> Result<()> {
    match of {
        Some(of) if of.shape() != shape => Err(Error::Shape {
            op: OP,
            rule: format!("{name} must have the shape {shape:?}").into(),
            remedy: "",
            lhs: of.shape().to_vec(),
            rhs: None,
        }),
        _ => Ok(()),
    }
}
