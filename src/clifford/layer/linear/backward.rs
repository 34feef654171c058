//! The backward pass of linear layers of multivectors.

use super::blade_map::BladeMap;
use super::mv_linear::{MvLinear, OP, matrix, multiply};
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::row_tensors::from_rows;
use crate::error::call;

use crate::gemm::{Gemm, Pin, add_sum_of_rows};
use crate::layout::{Layout, Real};
use crate::ops::training::{Gradients, Parameters, check_gradients};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

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
    pub fn backward(&self, x: &Multivectors<T>, g: &Multivectors<T>) -> Result<(Multivectors<T>, Gradients)> {
        call("MvLinear::backward", || Gradients::of(|to| self.add_gradients(x, g, to)))
    }

    /// As [`backward`](Self::backward), but adds the gradients of the parameters to `gradients`.
    ///
    /// # Shapes
    /// As [`backward`](Self::backward).
    /// # Errors
    /// As [`backward`](Self::backward), and as [`Parameters::pairs`] and [`Gradients::add`] for `gradients`.
    /// # Precision
    /// As [`backward`](Self::backward).
    pub fn backward_into(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
        gradients: &mut Gradients,
    ) -> Result<Multivectors<T>> {
        call("MvLinear::backward_into", || {
            check_gradients(OP, gradients, &self.parameters())?;
            self.add_gradients(x, g, gradients)
        })
    }

    /// Adds the gradients of the parameters, and returns that of `x`.
    pub(in crate::clifford::layer) fn add_gradients(
        &self,
        x: &Multivectors<T>,
        g: &Multivectors<T>,
        gradients: &mut Gradients,
    ) -> Result<Multivectors<T>> {
        let rows = self.rows(x, self.inputs(), "the features must be the layer's inputs")?;
        let rows_g = self.rows(g, self.outputs(), "the gradient's features must be the layer's outputs")?;
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
        let pair = [&rows, &rows_g];
        let of_grades = BladeMap::projections(x.blades());
        self.add_weight_gradient(pair, &of_grades, ("linear_weight", &self.weight), gradients)?;
        if self.bias.is_some() {
            let rows_g = as_matrix(&rows_g, self.bias_on.places(x.blades()))?;
            add_sum_of_rows(&rows_g, Pin::Free, gradients, "linear_bias")?;
        }
        if let Some(null) = &self.null_weight {
            self.add_weight_gradient(pair, &BladeMap::null(x.blades()), ("null_weight", null), gradients)?;
        }
        from_rows(x, &dx)
    }

    /// Adds the gradient of a weight; these maps use its matrices.
    fn add_weight_gradient(
        &self,
        [x, g]: [&Tensor<T>; 2],
        maps: &[BladeMap],
        (name, weight): (&str, &Tensor<T>),
        gradients: &mut Gradients,
    ) -> Result<()> {
        let layout = Layout::contiguous(OP, weight.shape())?;
        gradients.add_with(weight.gpu(), name, layout, |all, beta| {
            for (i, map) in maps.iter().enumerate() {
                let [x, g] =
                    [(x, &map.from), (g, &map.to)].map(|(rows, places)| as_matrix(rows, places.clone()));
                let is_first = maps[..i].iter().all(|other| other.grade != map.grade);
                let keep = if is_first { beta } else { 1.0 };
                let (x, g) = (x?.t(), g?);
                let product = Gemm::new(&x, &g).out::<f32>().precision(Precision::Strict);
                let product = product.alpha(f32::from(map.sign)).beta(keep);
                let place = all.layout().slice(0, map.grade..=map.grade)?.reshape(&weight.shape()[1..])?;
                all.write_part(place, |to| product.run_into(to))?;
            }
            Ok(())
        })
    }
}

/// The rows of some blades of a contiguous tensor as one matrix.
fn as_matrix<T: Real>(x: &Tensor<T>, places: std::ops::Range<usize>) -> Result<Tensor<T>> {
    let x = x.slice(0, places)?;
    x.reshape([x.shape()[0] * x.shape()[1], x.shape()[2]])
}
