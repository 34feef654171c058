//! The norm of a layer's result by itself: of what a product left as it is.

use super::form::{GradeNorm, LayerProduct};
use super::operands::{as_rows, check_alike, like};
use super::rows::{Given, RowFunction, run};
use crate::Result;
use crate::clifford::batch::multivectors::Multivectors;
use crate::error::call;
use crate::layout::Real;

impl LayerProduct {
    /// Each grade of each row over its norm ([`GradeNorm`]): two passes in one launch, as long as a workgroup has room for a row,
    /// else three in two. Without a norm the operand itself.
    ///
    /// # Shapes
    /// `o` with all blades along either axis, its last axis beside them of features; the result has its blades first.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then stored: $|\delta n_{i}| \le \gamma_{k} |n_{i}| (1 + s / r_{G}^2)$ to first order. $s$ is the mean over
    /// features of $\sum_{i \in G} |q_{i}| o_{i}^2$, and k = blades of the grade + features + 12. For `Rms`, $s \le r_{G}^2$. For
    /// `Invariant`, squares of both signs may cancel, so that $s$ may exceed $r_{G}^2$; $r_{G}$ is at least 0.1.
    pub fn normalized<T: Real>(&self, o: &Multivectors<T>) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized", || {
            let function = RowFunction::Normalize;
            let x = as_rows(function.name(), self.signature, o)?;
            if self.norm == GradeNorm::None {
                return like(o, &x.contiguous()?);
            }
            like(o, &run(function, *self, o.blades(), Given { x: &x, y: None, g: None, w: None })?.c)
        })
    }

    /// The gradient of [`normalized`](Self::normalized) for `o`, given the gradient `g` of its result.
    ///
    /// # Shapes
    /// `g` as the result.
    /// # Errors
    /// As [`steerable`](Self::steerable).
    /// # Precision
    /// Computed in f32, then stored:
    /// [`LayerProductReference::running_normalized_backward`](crate::reference::LayerProductReference::running_normalized_backward)
    /// computes the bound of each value.
    pub fn normalized_backward<T: Real>(
        &self,
        o: &Multivectors<T>,
        g: &Multivectors<T>,
    ) -> Result<Multivectors<T>> {
        call("LayerProduct::normalized_backward", || {
            let function = RowFunction::NormalizeBackward;
            let op = function.name();
            let [x, of] = [as_rows(op, self.signature, o)?, as_rows(op, self.signature, g)?];
            check_alike(op, o, g)?;
            if self.norm == GradeNorm::None {
                return like(o, &of.contiguous()?);
            }
            like(o, &run(function, *self, o.blades(), Given { x: &x, y: None, g: Some(&of), w: None })?.c)
        })
    }
}
