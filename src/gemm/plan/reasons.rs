//! Reasons of a plan: why other kernels, precisions and whole operands were passed over.

use super::choice::lacking;
use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile};
use crate::layout::Precision;
use crate::plan::{SLOWER, Seconds};

impl GemmProblem {
    /// The reasons of the plan, one for each alternative.
    pub(crate) fn reasons(&self, caps: &Caps) -> Result<Vec<String>> {
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
        let mut others: Vec<_> = others.map(|kernel| (kernel.fastest(&product, caps), kernel)).collect();
        // Kernels that could run come first, in the order of their predicted times.
        others.sort_by(|(a, _), (b, _)| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
        let passed_over = |(fastest, kernel): (Option<f64>, GemmKernel)| match fastest {
            Some(seconds) => format!("{kernel}: {SLOWER}, predicted {}", Seconds(seconds)),
            None => format!("{kernel}: {}", kernel.hindrance(&product, caps)),
        };
        reasons.extend(others.into_iter().map(passed_over));
        Ok(reasons)
    }
}

impl GemmKernel {
    /// The predicted seconds of the kernel's fastest candidate, with its launch. None if it has no candidate.
    fn fastest(self, problem: &GemmProblem, caps: &Caps) -> Option<f64> {
        let fits = |tile: &&Tile| problem.pin.allows(tile) && tile.fits(problem, caps).is_ok();
        let costs = self.tiles().iter().filter(fits).flat_map(|tile| {
            tile.splits(problem, caps).map(|splits| tile.cost_of_splits(problem, splits, caps))
        });
        costs.min_by(f64::total_cmp).map(|seconds| seconds + caps.machine.launch_seconds)
    }

    /// Why the kernel has no candidate.
    fn hindrance(self, problem: &GemmProblem, caps: &Caps) -> String {
        if self.tiles().iter().any(|tile| problem.pin.allows(tile)) {
            format!("needs {}", lacking(self.tiles(), problem, caps))
        } else {
            "another kernel is pinned".into()
        }
    }
}
