//! The grade norm on its own, for a product that was computed without one.

use crate::Result;
use crate::clifford::batch::multivectors::Multivectors;
use crate::clifford::layer::grade_norm::GradeNorm;
use crate::clifford::layer::layer_product::LayerProduct;
use crate::clifford::layer::row_tensors::{check_same_rows, from_rows, to_rows};
use crate::clifford::layer::rows::RowFunction;
use crate::clifford::layer::rows::call::{RowInputs, run};
use crate::error::call;
use crate::layout::Real;

impl LayerProduct {
    /// Divides each grade of each row by its norm ([`GradeNorm`]). If a row fits a workgroup, one launch makes two
    /// passes over memory, otherwise two launches make three. With [`GradeNorm::None`] the result is the operand.
    ///
    /// # Shapes
    /// `o` has all blades along its first or last axis; the last of its other axes is the features. The result has its
    /// blades along the first axis.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then rounded to `T`: $|\delta n_{i}| \le \gamma_{k} |n_{i}| (1 + s / r_{G}^2)$ to first order.
    /// $s$ is the mean over features of $\sum_{i \in G} |q_{i}| o_{i}^2$, and k = blades of the grade + features + 12.
    /// For `Rms`, $s \le r_{G}^2$. For `Invariant`, squares of both signs may cancel, so that $s$ may exceed $r_{G}^2$;
    /// $r_{G}$ is at least 0.1.
    pub fn normalized<T: Real>(&self, o: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized", || {
            let function = RowFunction::Normalize;
            let x = to_rows(function.name(), self.signature, o)?;
            if self.norm == GradeNorm::None {
                return from_rows(o, &x.contiguous()?);
            }
            from_rows(o, &run(function, *self, o.blades(), RowInputs { x: &x, y: None, g: None, w: None })?.c)
        })
    }

    /// The backward pass of [`normalized`](Self::normalized): the gradient with respect to `o`, from the gradient `g`
    /// of the result.
    ///
    /// # Shapes
    /// `g` has the shape of the result.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then rounded to `T`:
    /// [`LayerProductReference::bounded_normalized_backward`](crate::reference::LayerProductReference::bounded_normalized_backward)
    /// computes the bound of each value.
    pub fn normalized_backward<T: Real>(
        &self,
        o: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized_backward", || {
            let function = RowFunction::NormalizeBackward;
            let op = function.name();
            let [x, g_rows] = [to_rows(op, self.signature, o)?, to_rows(op, self.signature, g)?];
            check_same_rows(op, o, g)?;
            if self.norm == GradeNorm::None {
                return from_rows(o, &g_rows.contiguous()?);
            }
            from_rows(
                o,
                &run(function, *self, o.blades(), RowInputs { x: &x, y: None, g: Some(&g_rows), w: None })?.c,
            )
        })
    }
}
