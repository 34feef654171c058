//! The gradients of linear layers of multivectors, and a step along them.

use super::descend::step;
use super::linear::{BiasOn, MvLinear, OP, matrix, multiply};
use super::operands::like;
use super::runs::Run;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The gradients of a linear layer's parameters, in f32 whatever the layer's type is.
#[derive(Clone, Debug)]
pub struct MvLinearGradients {
    /// Of the matrices, (grades, in, out).
    pub weight: Tensor<f32>,
    /// Of the bias, (out), where there is one.
    pub bias: Option<Tensor<f32>>,
    /// Of the matrices of the null vector's maps, (n, in, out), where the layer has them.
    pub null_weight: Option<Tensor<f32>>,
}

impl<T: Real> MvLinear<T> {
    /// The gradients of a loss with respect to `x` and the parameters, from `g`, its gradient with respect to the outputs:
    /// $\partial x_{i} = g_{i} W_{\mathrm{grade}(i)}^T$ and $\partial W_{g} = \sum_{i} x_{i}^T g_{i}$ over the grade's blades,
    /// one launch for each grade and kind; likewise for the null vector's maps.
    ///
    /// # Shapes
    /// `x` (blade, ..., in), `g` (blade, ..., out) -> the gradient of x (blade, ..., in), and those of the parameters,
    /// summed over all rows.
    /// # Errors
    /// As [`forward`](Self::forward) of each; [`Error::Shape`] if their rows differ, [`Error::Input`] if their blades do.
    /// # Precision
    /// As products: sums in f32; the gradients of parameters are not rounded to `T`.
    pub fn backward(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<(Multivectors<T>, MvLinearGradients)> {
        call("MvLinear::backward", || {
            let rows = self.rows(x, self.inputs(), "the features must be the layer's inputs")?;
            let of_y = self.rows(g, self.outputs(), "the gradient's features must be the layer's outputs")?;
            if x.blades() != g.blades() {
                let why = format!("the gradient has the blades {}, the operand {}", g.blades(), x.blades());
                return Err(Error::input(OP, why));
            }
            let in_front = |x: &Multivectors<T>| x.positions()[..x.positions().len() - 1].to_vec();
            if in_front(x) != in_front(g) {
                let rule = "the gradient must have the operand's rows";
                return Err(Error::shapes(OP, rule, &g.positions(), &x.positions()));
            }
            let mut dx = self.weight.gpu().empty(rows.shape())?;
            for run in Run::projections(x.blades()) {
                multiply(&of_y, &run, &matrix(&self.weight, run.grade)?.t(), (&mut dx, 0.0), None)?;
            }
            for (run, weight) in self.null_runs(x)? {
                let Run { from, to, grade, sign } = run;
                let back = Run { from: to, to: from, grade, sign };
                multiply(&of_y, &back, &weight.t(), (&mut dx, 1.0), None)?;
            }
            // Contiguous, so that sums over blades and rows run along one axis.
            let [rows, of_y] = [rows.contiguous()?, of_y.contiguous()?];
            let gradients = MvLinearGradients {
                weight: self.of_matrices(&rows, &of_y, &Run::projections(x.blades()), self.weight.shape())?,
                bias: self.bias.as_ref().map(|_| self.of_bias(&of_y, x)).transpose()?,
                null_weight: match &self.null_weight {
                    Some(null) => {
                        Some(self.of_matrices(&rows, &of_y, &Run::null(x.blades()), null.shape())?)
                    }
                    None => None,
                },
            };
            Ok((like(x, &dx)?, gradients))
        })
    }

    /// The gradient of a weight of these runs.
    fn of_matrices(
        &self,
        x: &Tensor<T>,
        g: &Tensor<T>,
        runs: &[Run],
        shape: &[usize],
    ) -> Result<Tensor<f32>> {
        let mut all = self.weight.gpu().empty(shape)?;
        for (i, run) in runs.iter().enumerate() {
            let [x, g] = [(x, &run.from), (g, &run.to)].map(|(of, places)| as_matrix(of, places.clone()));
            let is_first = runs[..i].iter().all(|other| other.grade != run.grade);
            let keep = if is_first { 0.0 } else { 1.0 };
            let (x, g) = (x?.t(), g?);
            let product = Gemm::new(&x, &g).out::<f32>().precision(Precision::Strict);
            let product = product.alpha(f32::from(run.sign)).beta(keep);
            let place = all.layout().slice(0, run.grade..=run.grade)?.reshape(&shape[1..])?;
            all.narrowed(place, |to| product.run_into(to))?;
        }
        Ok(all)
    }

    /// The gradient of the bias: one row of ones, which is one number, times the rows that it was added to.
    fn of_bias(&self, g: &Tensor<T>, x: &Multivectors<T>) -> Result<Tensor<f32>> {
        let scalar = x.blades().position(0).unwrap_or(0);
        let places = match self.bias_on {
            BiasOn::Scalar => scalar..scalar + 1,
            BiasOn::EveryBlade => 0..x.blades().len(),
        };
        let g = as_matrix(g, places)?;
        let one = self.weight.gpu().tensor(&[T::from_f64(1.0)], [1])?;
        let ones = one.as_strided(&[1, g.shape()[0]], &[0, 0], 0)?;
        let sums = Gemm::new(&ones, &g).out::<f32>().precision(Precision::Strict).run()?;
        sums.reshape([self.outputs()])
    }

    /// One step of gradient descent, $W \leftarrow W - \eta\,\partial W$, and the others likewise. Clones of the layer keep
    /// what they had.
    ///
    /// # Errors
    /// [`Error::Shape`] if `gradients` are of another layer; [`Error::Gpu`] if they live on another device;
    /// [`Error::OutOfMemory`] without room.
    /// # Precision
    /// Steps are computed in f32 and rounded to `T`, in which small ones are lost: train a layer of f32, and
    /// [`cast`](Self::cast) it for each step.
    pub fn descend(&mut self, gradients: &MvLinearGradients, rate: f32) -> Result<()> {
        call("MvLinear::descend", || {
            let MvLinearGradients { weight, bias, null_weight } = gradients;
            let mut parameters = vec![(&mut self.weight, weight)];
            for (own, given) in [(&mut self.bias, bias), (&mut self.null_weight, null_weight)] {
                match (own, given) {
                    (Some(own), Some(given)) => parameters.push((own, given)),
                    (None, None) => {}
                    (own, given) => {
                        let [own, given] = [
                            own.as_ref().map_or(vec![], |own| own.shape().to_vec()),
                            given.as_ref().map_or(vec![], |given| given.shape().to_vec()),
                        ];
                        let rule = "the gradients must be those of this layer's parameters";
                        return Err(Error::shapes(OP, rule, &given, &own));
                    }
                }
            }
            step(OP, parameters, rate)
        })
    }
}

/// These blades of contiguous rows as one matrix.
fn as_matrix<T: Real>(x: &Tensor<T>, places: std::ops::Range<usize>) -> Result<Tensor<T>> {
    let x = x.slice(0, places)?;
    x.reshape([x.shape()[0] * x.shape()[1], x.shape()[2]])
}
