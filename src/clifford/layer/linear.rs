//! Linear layers of multivectors: a matrix for each grade, and in algebras with one null vector those of the maps that
//! multiply by it.

use super::operands::{as_rows, check_signature, like};
use super::runs::Run;
use crate::clifford::algebra::signature::Signature;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Result};

pub(super) const OP: &str = "MvLinear";

/// Which blades a bias is added to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BiasOn {
    /// The scalar, which versors leave as it is.
    #[default]
    Scalar,
    /// Every blade, as flash-clifford has it. NOTE: this is not equivariant: what is added points somewhere.
    EveryBlade,
}

/// A linear layer of multivectors, $y_{i} = x_{i} W_{\mathrm{grade}(i)} + b$: one matrix for all blades of a grade, so that
/// versors may be applied before or behind it.
///
/// Where exactly one vector is null, as in PGA, multiplication by it is equivariant too, and a layer may have matrices for
/// that ([`with_null_weight`](Self::with_null_weight)): $y \mathrel{+}= \sum_{g} e_{0} \langle x \rangle_{g} N_{g}$. In PGA of
/// space these are the 5 + 4 maps that there are.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::clifford::layer::{BiasOn, MvLinear};
/// use tilewise::clifford::{BladeAxis, Multivectors, Signature};
///
/// let weight = gpu.tensor(&[1.0f32, 2.0, 3.0], [3, 1, 1])?; // of scalar, vectors, bivector
/// let bias = gpu.tensor(&[0.5f32], [1])?;
/// let layer = MvLinear::new(Signature::CL2, weight)?.with_bias(bias, BiasOn::Scalar)?;
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
    /// A layer of these matrices, which it shares and does not copy; without a bias.
    ///
    /// # Shapes
    /// `weight` (grades, in, out), a matrix for each grade from 0 to n.
    /// # Errors
    /// [`Error::Shape`] if the weight is of other axes or has no element; [`Error::Input`] of an algebra of more vectors than
    /// [`LAYER_DIMENSION_AT_MOST`](super::LAYER_DIMENSION_AT_MOST).
    pub fn new(signature: Signature, weight: Tensor<T>) -> Result<Self> {
        call("MvLinear::new", || {
            check_signature(OP, signature)?;
            let grades = signature.dimension() + 1;
            match weight.shape() {
                &[of, inputs, outputs] if of == grades && inputs * outputs > 0 => {}
                shape => {
                    let rule = "the weight must be (grades, in, out), with a matrix for each grade";
                    return Err(Error::shapes(OP, rule, shape, &[grades]));
                }
            }
            Ok(Self { signature, weight, bias: None, bias_on: BiasOn::default(), null_weight: None })
        })
    }

    /// The same layer with a bias (out), which it shares and does not copy.
    ///
    /// # Errors
    /// [`Error::Shape`] if the bias has another length; [`Error::Gpu`] if it lives on another device.
    pub fn with_bias(self, bias: Tensor<T>, bias_on: BiasOn) -> Result<Self> {
        call("MvLinear::with_bias", || {
            self.weight.same_gpu(OP, &bias)?;
            if bias.shape() != [self.outputs()] {
                let rule = "the bias must be a vector with an element for each output";
                return Err(Error::shapes(OP, rule, bias.shape(), &[self.outputs()]));
            }
            Ok(Self { bias: Some(bias), bias_on, ..self })
        })
    }

    /// The same layer with matrices for the null vector times each grade, which it shares and does not copy.
    ///
    /// # Shapes
    /// `null_weight` (n, in, out), a matrix for each grade from 0 to n - 1 of what is multiplied.
    /// # Errors
    /// [`Error::Input`] if the algebra has no null vector or several; [`Error::Shape`] if the weight is of other axes;
    /// [`Error::Gpu`] if it lives on another device.
    pub fn with_null_weight(self, null_weight: Tensor<T>) -> Result<Self> {
        call("MvLinear::with_null_weight", || {
            let [.., null] = self.signature.pqr();
            if null != 1 {
                let why = format!("{} has {null} null vectors: these maps need exactly one", self.signature);
                return Err(Error::input(OP, why));
            }
            self.weight.same_gpu(OP, &null_weight)?;
            let needed = [self.signature.dimension(), self.inputs(), self.outputs()];
            if null_weight.shape() != needed {
                let rule = "the weight of the null vector's maps must be (n, in, out)";
                return Err(Error::shapes(OP, rule, null_weight.shape(), &needed));
            }
            Ok(Self { null_weight: Some(null_weight), ..self })
        })
    }

    /// The outputs: one launch for each grade, and for each of the null vector's maps one where that vector is the first, up
    /// to two where it is the last.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), or with blades along the last axis, all blades of the algebra; products are fewest where they
    /// are in short-lex order -> (blade, ..., out), blades along the first axis.
    /// # Errors
    /// [`Error::Input`] if `x` is of another algebra or lacks blades; [`Error::Shape`] if its features are not the layer's
    /// inputs, or there is no row; [`Error::Gpu`] if it lives on another device; [`Error::OutOfMemory`], [`Error::Limit`]
    /// without room.
    /// # Precision
    /// As products: $\gamma_{in}$ of each, rounded to `T`; blades that have the null vector are sums of two such, each
    /// rounded.
    pub fn forward(&self, x: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("MvLinear::forward", || {
            let rows = self.rows(x, self.inputs(), "the features must be the layer's inputs")?;
            let mut y = self.weight.gpu().empty([x.blades().len(), rows.shape()[1], self.outputs()])?;
            for run in Run::projections(x.blades()) {
                let bias =
                    self.bias.as_ref().filter(|_| run.grade == 0 || self.bias_on == BiasOn::EveryBlade);
                multiply(&rows, &run, &matrix(&self.weight, run.grade)?, (&mut y, 0.0), bias)?;
            }
            for (run, weight) in self.null_runs(x)? {
                multiply(&rows, &run, &weight, (&mut y, 1.0), None)?;
            }
            like(x, &y)
        })
    }

    /// What the layer adds of the null vector's maps.
    pub(super) fn null_runs(&self, x: &Multivectors<T>) -> Result<Vec<(Run, Tensor<T>)>> {
        let Some(weight) = &self.null_weight else { return Ok(Vec::new()) };
        Run::null(x.blades()).into_iter().map(|run| Ok((run.clone(), matrix(weight, run.grade)?))).collect()
    }

    /// The coefficients as (blade, row, feature), of so many features, on the layer's device.
    pub(super) fn rows(&self, x: &Multivectors<T>, features: usize, rule: &'static str) -> Result<Tensor<T>> {
        self.weight.same_gpu(OP, x.tensor())?;
        let rows = as_rows(OP, self.signature, x)?;
        if rows.shape()[2] == features {
            return Ok(rows);
        }
        Err(Error::shapes(OP, rule, &x.positions(), &[features]))
    }

    /// The layer in another type: keep one of f32 to be updated, and cast it for each step.
    ///
    /// # Precision
    /// As [`Tensor::cast`].
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::Limit`] without room.
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

    /// Features of x.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.weight.shape()[1]
    }

    /// Features of y.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.weight.shape()[2]
    }

    /// The matrices (grades, in, out).
    #[must_use]
    pub fn weight(&self) -> &Tensor<T> {
        &self.weight
    }

    /// The bias (out), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// Which blades the bias is added to.
    #[must_use]
    pub fn bias_on(&self) -> BiasOn {
        self.bias_on
    }

    /// The matrices (n, in, out) of the null vector's maps, if the layer has them.
    #[must_use]
    pub fn null_weight(&self) -> Option<&Tensor<T>> {
        self.null_weight.as_ref()
    }
}

/// One of the matrices of a weight.
pub(super) fn matrix<T: Real>(weight: &Tensor<T>, grade: usize) -> Result<Tensor<T>> {
    let one = weight.slice(0, grade..=grade)?;
    let (shape, strides) = (&one.shape()[1..], &one.strides()[1..]);
    one.as_strided(shape, strides, one.layout().offset())
}

/// A run's blades of `x`, times a matrix and the run's sign, in their places of `y`, which is without gaps; of what is there
/// already, `keep` times that is kept.
pub(super) fn multiply<T: Real>(
    x: &Tensor<T>,
    run: &Run,
    weight: &Tensor<T>,
    (y, keep): (&mut Tensor<T>, f32),
    bias: Option<&Tensor<T>>,
) -> Result<()> {
    let x = x.slice(0, run.from.clone())?;
    // One matrix where memory allows it, else a batch of them.
    let rows = [x.shape()[0] * x.shape()[1], x.shape()[2]];
    let x = x.reshape(rows).unwrap_or(x);
    let mut place = y.layout().slice(0, run.to.clone())?;
    if x.shape().len() == 2 {
        place = place.reshape(&[rows[0], weight.shape()[1]])?;
    }
    let product = Gemm::new(&x, weight).out::<T>().alpha(f32::from(run.sign)).beta(keep);
    y.narrowed(place, |y| match bias {
        Some(bias) => product.bias(bias).run_into(y),
        None => product.run_into(y),
    })
}
