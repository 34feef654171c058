//! Linear layers of multivectors: one matrix for each grade, and in algebras with one null vector optional matrices for
//! multiplication by it.

use super::blade_map::{BiasOn, BladeMap};
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::row_tensors::{from_rows, to_rows};
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::ops::training::{ParameterMut, Parameters};
use crate::tensor::Tensor;
use crate::{Error, Result};

pub(super) const OP: &str = "MvLinear";

/// A linear layer of multivectors, $y_{i} = x_{i} W_{\mathrm{grade}(i)} + b$. All blades of a grade share one matrix,
/// so that the layer commutes with versors (it is equivariant).
///
/// If exactly one vector of the algebra is null, as in PGA, multiplication by that vector is equivariant too. A layer
/// may have matrices for it ([`MvLinearBuilder::null_weight`](super::MvLinearBuilder::null_weight)):
/// $y \mathrel{+}= \sum_{g} e_{0} \langle x \rangle_{g} N_{g}$. In 3D PGA these are all 5 + 4 equivariant linear maps.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::layer::{BiasOn, MvLinear};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
///
/// let weight = gpu.tensor(&[1.0f32, 2.0, 3.0], [3, 1, 1])?; // scalar, vectors, bivector
/// let bias = gpu.tensor(&[0.5f32], [1])?;
/// let layer = MvLinear::builder(Signature::CL2, weight).bias(bias, BiasOn::Scalar).build()?;
/// let x = gpu.tensor(&[1.0f32, 1.0, -1.0, 1.0], [4, 1, 1])?;
/// let x = Multivectors::new(x, &Signature::CL2.blades(), BladeAxis::First)?;
/// assert_eq!(layer.forward(&x)?.tensor().to_vec()?, [1.5, 2.0, -2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MvLinear<T: Real> {
    pub(super) signature: Signature,
    pub(super) weight: Tensor<T>,
    pub(super) bias: Option<Tensor<T>>,
    pub(super) bias_on: BiasOn,
    pub(super) null_weight: Option<Tensor<T>>,
}

impl<T: Real> MvLinear<T> {
    /// The outputs. Takes one launch for each grade. With null weights it takes one more for each of their matrices if
    /// the null vector is the first vector, up to two more if it is the last.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), or with blades along the last axis, all blades of the algebra -> (blade, ..., out), blades
    /// along the first axis. Blades in short-lex order need the fewest launches.
    /// # Errors
    /// [`Error::Input`] if `x` is of another algebra or lacks blades; [`Error::Shape`] if its features are not the
    /// layer's inputs, or there is no row; [`Error::Gpu`] if it is on another device; [`Error::OutOfMemory`] or
    /// [`Error::Limit`] if there is no memory for the result.
    /// # Precision
    /// Each matrix product is within $\gamma_{in}$ and rounded to `T`. With null weights, blades that contain the null
    /// vector are sums of two products, each rounded.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvLinear::forward", || {
            let rows = self.rows(x, self.inputs(), "the features must be the layer's inputs")?;
            let mut y = self.weight.gpu().empty([x.blades().len(), rows.shape()[1], self.outputs()])?;
            for map in BladeMap::projections(x.blades()) {
                let bias =
                    self.bias.as_ref().filter(|_| map.grade == 0 || self.bias_on == BiasOn::EveryBlade);
                multiply(&rows, &map, &matrix(&self.weight, map.grade)?, (&mut y, 0.0), bias)?;
            }
            for (map, weight) in self.null_maps(x)? {
                multiply(&rows, &map, &weight, (&mut y, 1.0), None)?;
            }
            from_rows(x, &y)
        })
    }

    /// The maps of the null weights, each with its matrix.
    pub(super) fn null_maps(&self, x: &Multivectors<T>) -> Result<Vec<(BladeMap, Tensor<T>)>> {
        let Some(weight) = &self.null_weight else { return Ok(Vec::new()) };
        BladeMap::null(x.blades())
            .into_iter()
            .map(|map| Ok((map.clone(), matrix(weight, map.grade)?)))
            .collect()
    }

    /// The coefficients as (blade, row, feature). Checks that there are `features` and that `x` is on the layer's
    /// device.
    pub(super) fn rows(&self, x: &Multivectors<T>, features: usize, rule: &'static str) -> Result<Tensor<T>> {
        self.weight.same_gpu(OP, x.tensor())?;
        let rows = to_rows(OP, self.signature, x)?;
        if rows.shape()[2] == features {
            return Ok(rows);
        }
        Err(Error::shapes(OP, rule, &x.positions(), &[features]))
    }

    /// The layer with parameters of another type. To train in f16 or bf16, update a layer of f32 and cast it for each
    /// iteration.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if there is no memory for the parameters.
    pub fn cast<P: Real>(&self) -> Result<MvLinear<P>> {
        call("MvLinear::cast", || {
            Ok(MvLinear {
                signature: self.signature,
                weight: self.weight.cast()?,
                bias: self.bias.as_ref().map(Tensor::cast).transpose()?,
                bias_on: self.bias_on,
                null_weight: self.null_weight.as_ref().map(Tensor::cast).transpose()?,
            })
        })
    }

    /// The algebra.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// Number of input features.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.weight.shape()[1]
    }

    /// Number of output features.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.weight.shape()[2]
    }

    /// The matrices (grades, in, out).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weight
    }

    /// The bias (out), if the layer has one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// The blades with a bias.
    #[must_use]
    pub fn bias_on(&self) -> BiasOn {
        self.bias_on
    }

    /// The matrices (n, in, out) for multiplication by the null vector, if the layer has them.
    #[must_use]
    pub fn null_weight(&self) -> Option<&Tensor<T>> {
        self.null_weight.as_ref()
    }
}

impl<T: Real> Parameters<T> for MvLinear<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let optional = [("linear_bias", self.bias()), ("null_weight", self.null_weight())];
        let optional = optional.into_iter().filter_map(|(name, tensor)| Some((name.into(), tensor?)));
        [("linear_weight".into(), &self.weight)].into_iter().chain(optional).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let optional = [("linear_bias", &mut self.bias), ("null_weight", &mut self.null_weight)];
        let optional = optional.into_iter().filter_map(|(name, tensor)| Some((name, tensor.as_mut()?)));
        let all = [("linear_weight", &mut self.weight)].into_iter().chain(optional);
        all.map(|(name, tensor)| (name.into(), ParameterMut::new(tensor))).collect()
    }
}

/// The matrix of a grade.
pub(super) fn matrix<T: Real>(weight: &Tensor<T>, grade: usize) -> Result<Tensor<T>> {
    let one = weight.slice(0, grade..=grade)?;
    let (shape, strides) = (&one.shape()[1..], &one.strides()[1..]);
    one.as_strided(shape, strides, one.layout().offset())
}

/// Multiplies the map's blades of `x` by its matrix and sign, and stores the product at their positions in `y`, a
/// contiguous tensor. Adds `keep` times the previous values of `y`.
pub(super) fn multiply<T: Real>(
    x: &Tensor<T>,
    map: &BladeMap,
    weight: &Tensor<T>,
    (y, keep): (&mut Tensor<T>, f32),
    bias: Option<&Tensor<T>>,
) -> Result<()> {
    let x = x.slice(0, map.from.clone())?;
    // One matrix if the blades' rows are evenly spaced in memory, otherwise a batch of matrices.
    let rows = [x.shape()[0] * x.shape()[1], x.shape()[2]];
    let x = x.reshape(rows).unwrap_or(x);
    let mut place = y.layout().slice(0, map.to.clone())?;
    if x.shape().len() == 2 {
        place = place.reshape(&[rows[0], weight.shape()[1]])?;
    }
    let product = Gemm::new(&x, weight).out::<T>().alpha(f32::from(map.sign)).beta(keep);
    y.write_part(place, |y| match bias {
        Some(bias) => product.bias(bias).run_into(y),
        None => product.run_into(y),
    })
}
