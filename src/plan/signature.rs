//! The signature of a plan. It distinguishes the plan from the other candidates of its problem.

use super::executable::Plan;
use super::step::Step;
use crate::Result;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write;

/// Up to this many different launches are named; a longer plan's signature ends with the number of the others.
const NAMED: usize = 3;

impl Plan {
    /// A text that names the plan among the candidates of its problem: shaders and tiles of its steps, and a digest of all
    /// parameters of the kernels and of the sizes of the temporaries. It depends on no prediction.
    ///
    /// `gemm/tiled 32x64x16 (4x4 per invocation), gemm/reduce_splits 64 times 4 elements #5b2c0f9d31a8`
    #[must_use]
    pub fn signature(&self) -> String {
        let launches = self.steps().iter().filter(|step| step.first_block == 0);
        let name = |step: &Step| format!("{} {}", step.kernel.shader(), step.tile);
        let (mut named, mut others, mut digest) = (Vec::new(), 0, Sha256::new());
        for step in launches {
            // NOTE: whether a step is cut into pieces depends on its predicted time.
            digest.update(format!("{}\n{}\n", step.kernel.of_whole_launches(), step.tile));
            let name = name(step);
            if named.contains(&name) {
                continue;
            }
            if named.len() < NAMED { named.push(name) } else { others += 1 }
        }
        digest.update(format!("{:?}", self.temporaries()));
        let mut text = named.join(", ");
        if others > 0 {
            text += &format!(" and {others} more");
        }
        text += " #";
        digest.finalize().iter().take(6).for_each(|byte| _ = write!(text, "{byte:02x}"));
        text
    }
}

/// Plans without duplicates by signature. The first plan must exist; other plans that return an error are left out.
///
/// # Errors
/// The error of the first plan.
pub(crate) fn distinct(plans: impl IntoIterator<Item = Result<Plan>>) -> Result<Vec<Plan>> {
    let mut plans = plans.into_iter();
    let first = plans.next().transpose()?;
    let mut seen = HashSet::new();
    let all = first.into_iter().chain(plans.flatten());
    Ok(all.filter(|plan| seen.insert(plan.signature())).collect())
}
