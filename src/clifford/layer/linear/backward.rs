//! The backward pass of linear layers of multivectors, and gradient descent.

use super::blade_map::BladeMap;
use super::mv_linear::{MvLinear, OP, matrix, multiply};
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::row_tensors::from_rows;
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::ops::Rate;
use crate::ops::descent::{Trained, gradient_step};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The gradients of a linear layer's parameters. They are f32 for every type of layer.
#[derive(Clone, Debug)]
pub struct MvLinearGradients {
    /// The gradient of the weight, (grades, in, out).
    pub weight: Tensor<f32>,
    /// The gradient of the bias, (out), if the layer has one.
    pub bias: Option<Tensor<f32>>,
    /// The gradient of the null weight, (n, in, out), if the layer has one.
    pub null_weight: Option<Tensor<f32>>,
}

impl<T: Real> MvLinear<T> {
    /// The backward pass (vector-Jacobian product): the gradients of a loss with respect to `x` and the parameters,
    /// from its gradient `g` with respect to the outputs. $\partial x_{i} = g_{i} W_{\mathrm{grade}(i)}^T$ and
    /// $\partial W_{g} = \sum_{i} x_{i}^T g_{i}$ over the blades of a grade: one launch for each grade and each of the
    /// two. The null weight is treated in the same way.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), `g` (blade, ..., out) -> the gradient of x (blade, ..., in), and the gradients of the
    /// parameters, summed over all rows.
    /// # Errors
    /// As [`forward`](Self::forward); [`Error::Shape`] if the rows of `x` and `g` differ, [`Error::Input`] if their
    /// blades differ.
    /// # Precision
    /// As matrix products, summed in f32. The gradients of the parameters are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, MvLinearGradients)> {
        call("MvLinear::backward", || {
            let rows = self.rows(x, self.inputs(), "the features must be the layer's inputs")?;
            let rows_g =
                self.rows(g, self.outputs(), "the gradient's features must be the layer's outputs")?;
            if x.blades() != g.blades() {
                let why = format!("the gradient has the blades {}, x has {}", g.blades(), x.blades());
                return Err(Error::input(OP, why));
            }
            let rows_of = |x: &Multivectors<T>| x.positions()[..x.positions().len() - 1].to_vec();
            if rows_of(x) != rows_of(g) {
                let rule = "the gradient must have the rows of x";
                return Err(Error::shapes(OP, rule, &g.positions(), &x.positions()));
            }
            let mut dx = self.weight.gpu().empty(rows.shape())?;
            for map in BladeMap::projections(x.blades()) {
                multiply(&rows_g, &map, &matrix(&self.weight, map.grade)?.t(), (&mut dx, 0.0), None)?;
            }
            for (map, weight) in self.null_maps(x)? {
                multiply(&rows_g, &map.transposed(), &weight.t(), (&mut dx, 1.0), None)?;
            }
            // Contiguous, so that blades and rows are one axis, over which the products sum.
            let [rows, rows_g] = [rows.contiguous()?, rows_g.contiguous()?];
            let gradients = MvLinearGradients {
                weight: self.weight_gradient(
                    [&rows, &rows_g],
                    &BladeMap::projections(x.blades()),
                    self.weight.shape(),
                )?,
                bias: self.bias.as_ref().map(|_| self.bias_gradient(&rows_g, x)).transpose()?,
                null_weight: match &self.null_weight {
                    Some(null) => Some(self.weight_gradient(
                        [&rows, &rows_g],
                        &BladeMap::null(x.blades()),
                        null.shape(),
                    )?),
                    None => None,
                },
            };
            Ok((from_rows(x, &dx)?, gradients))
        })
    }

    /// The gradient of a weight of this shape; these maps use its matrices.
    fn weight_gradient(
        &self,
        [x, g]: [&Tensor<T>; 2],
        maps: &[BladeMap],
        shape: &[usize],
    ) -> Result<Tensor<f32>> {
        let mut all = self.weight.gpu().empty(shape)?;
        for (i, map) in maps.iter().enumerate() {
            let [x, g] = [(x, &map.from), (g, &map.to)].map(|(rows, places)| as_matrix(rows, places.clone()));
            let is_first = maps[..i].iter().all(|other| other.grade != map.grade);
            let keep = if is_first { 0.0 } else { 1.0 };
            let (x, g) = (x?.t(), g?);
            let product = Gemm::new(&x, &g).out::<f32>().precision(Precision::Strict);
            let product = product.alpha(f32::from(map.sign)).beta(keep);
            let place = all.layout().slice(0, map.grade..=map.grade)?.reshape(&shape[1..])?;
            all.write_part(place, |to| product.run_into(to))?;
        }
        Ok(all)
    }

    /// The gradient of the bias: a row of ones times the rows of g to which the bias was added. The row of ones is a
    /// view of one number.
    fn bias_gradient(&self, g: &Tensor<T>, x: &Multivectors<T>) -> Result<Tensor<f32>> {
        let g = as_matrix(g, self.bias_on.places(x.blades()))?;
        let one = self.weight.gpu().constant_tensor(T::from_f64(1.0))?;
        let ones = one.as_strided(&[1, g.shape()[0]], &[0, 0], 0)?;
        let sums = Gemm::new(&ones, &g).out::<f32>().precision(Precision::Strict).run()?;
        sums.reshape([self.outputs()])
    }

    /// One step of gradient descent, $W \leftarrow W - \eta\\,\partial W$, for all parameters. The rate is a number, or a
    /// tensor of one element.
    ///
    /// The parameters are updated in place. If other tensors share them, such as those of a clone of the layer, they
    /// are copied first, and the others keep the old values. If a check fails, no parameter changes.
    ///
    /// In the closure of [`Gpu::capture`](crate::Gpu::capture), every run of the replay performs a step. If the rate is a
    /// tensor, each run reads it; a number is the same in all runs.
    ///
    /// # Errors
    /// [`Error::Shape`] if `gradients` belong to another layer, or the rate is a tensor of several elements; [`Error::Gpu`]
    /// if they are on another device; [`Error::Input`] in the closure of `capture` if parameters are shared: the copies
    /// would belong to the replay; [`Error::OutOfMemory`] if a buffer does not fit.
    /// # Precision
    /// Computed in f32 and rounded to `T`. Rounding to a 16-bit type loses small steps: train a layer of f32, and
    /// [`cast`](Self::cast) it for each iteration.
    pub fn descend<'a>(&mut self, gradients: &MvLinearGradients, rate: impl Into<Rate<'a>>) -> Result<()> {
        call("MvLinear::descend", || gradient_step(OP, self.trained(gradients)?, rate.into()))
    }

    /// The parameters, each with its gradient.
    pub(in crate::clifford::layer) fn trained<'a>(
        &'a mut self,
        gradients: &'a MvLinearGradients,
    ) -> Result<Vec<Trained<'a, T>>> {
        let MvLinearGradients { weight, bias, null_weight } = gradients;
        let mut trained = vec![Trained::whole(&mut self.weight, weight)];
        for (parameter, gradient) in [(&mut self.bias, bias), (&mut self.null_weight, null_weight)] {
            match (parameter, gradient) {
                (Some(parameter), Some(gradient)) => trained.push(Trained::whole(parameter, gradient)),
                (None, None) => {}
                (parameter, gradient) => {
                    let parameter = parameter.as_ref().map_or(vec![], |tensor| tensor.shape().to_vec());
                    let gradient = gradient.as_ref().map_or(vec![], |tensor| tensor.shape().to_vec());
                    let rule = "the gradients must be those of this layer's parameters";
                    return Err(Error::shapes(OP, rule, &gradient, &parameter));
                }
            }
        }
        Ok(trained)
    }
}

/// The rows of some blades of a contiguous tensor as one matrix.
fn as_matrix<T: Real>(x: &Tensor<T>, places: std::ops::Range<usize>) -> Result<Tensor<T>> {
    let x = x.slice(0, places)?;
    x.reshape([x.shape()[0] * x.shape()[1], x.shape()[2]])
}
