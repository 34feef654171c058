//! Reasons of a plan: why other kernels, precisions and whole operands were passed over.

use super::choice::lacking;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem};
use crate::layout::Precision;
use crate::plan::Seconds;

impl GemmProblem {
    /// The reasons of the plan, one for each alternative.
    pub(in crate::gemm) fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
        let mut reasons = Vec::new();
        if self.elements() == 0 {
            return Ok(reasons);
        }
        let (mut product, panels) = self.on_device(caps)?;
        if product.precision != self.precision {
            let why = "this device lacks the bindings or the memory for scaled f16 operands; they stay f32";
            reasons.push(format!("{}: {why}", self.precision));
        }
        if let Some(panels) = panels {
            reasons.push(format!(
                "{} panels: an operand is larger than the device's largest binding",
                panels.count()
            ));
            product = product.first_panel(&panels)?;
        }
        if product.is_f16_split() {
            let split = match product.precision {
                Precision::Split => "high and low half, and one more product for the cross terms",
                Precision::Fast | Precision::Strict => "high half only",
            };
            reasons.push(format!("operands of f32 are scaled and rounded to f16 first: {split}"));
            product = product.f16_products()?.last;
        }
        let (chosen, _) = product.choose(caps)?;
        let others = GemmKernel::ALL.into_iter().filter(|kernel| *kernel != chosen.kernel);
        reasons.extend(others.map(|kernel| format!("{kernel}: {}", kernel.passed_over(&product, caps))));
        Ok(reasons)
    }
}

impl GemmKernel {
    fn passed_over(self, problem: &GemmProblem, caps: &Caps) -> String {
        if !self.tiles().iter().any(|tile| problem.pin.allows(tile)) {
            return "another kernel is pinned".into();
        }
        let fitting = self.tiles().iter().filter(|tile| tile.fits(problem, caps).is_ok());
        let costs = fitting.flat_map(|tile| {
            tile.splits(problem, caps).map(|splits| tile.cost_of_splits(problem, splits, caps))
        });
        let fastest = costs.min_by(f64::total_cmp);
        match fastest {
            Some(seconds) => format!("slower here, predicted {}", Seconds(seconds)),
            None => format!("needs {}", lacking(self.tiles(), problem, caps)),
        }
    }
}
