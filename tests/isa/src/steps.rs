//! What is compiled: the steps of plans, each kernel of a plan once.

use crate::plans::Named;
use crate::row::Row;
use crate::target::Target;
use std::collections::HashSet;

/// A step of a plan.
pub struct Step {
    /// The row that it has before it is compiled.
    pub row: Row,
    /// The kernel's text, or why there is none.
    pub text: Result<String, String>,
}

/// Which plans are compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Every form and tile in place of the usual plans, each text once.
    pub sweep: bool,
    /// Nothing but steps whose plan, family, kernel or tile contains this word.
    pub only: Option<String>,
    /// Accumulators that an invocation of the target holds in registers, in place of what the library assumes.
    pub accumulators: Option<u32>,
}

impl Selection {
    /// The steps of a target's plans, in order: always the same, as plans need no device.
    #[must_use]
    pub fn steps(&self, target: &Target) -> Vec<Step> {
        let mut caps = target.caps();
        caps.machine.accumulators = self.accumulators.unwrap_or(caps.machine.accumulators);
        let plans = if self.sweep { crate::plans::sweep(&caps) } else { crate::plans::all(&caps) };
        let mut seen = HashSet::new();
        let steps = plans.iter().flat_map(|named| of_plan(named, target));
        let is_new = |step: &Step| !self.sweep || seen.insert(step.text.clone());
        steps.filter(|step| self.takes(&step.row)).filter(is_new).collect()
    }

    /// Whether a step is compiled.
    #[must_use]
    pub fn takes(&self, row: &Row) -> bool {
        let words = [&row.name, &row.family, &row.kernel, &row.tile];
        self.only.as_ref().is_none_or(|only| words.into_iter().any(|word| word.contains(only)))
    }
}

/// A plan's steps, without those that launch a kernel of the plan again. A device that cannot run the plan has none.
fn of_plan(named: &Named, target: &Target) -> Vec<Step> {
    let Ok(plan) = &named.plan else { return Vec::new() };
    let steps = plan.steps();
    let mut found: Vec<Step> = Vec::new();
    let mut seen = HashSet::new();
    for (i, step) in steps.iter().enumerate() {
        let text = step.kernel.specialize().map_err(|error| error.to_string());
        if !seen.insert(text.clone()) {
            continue;
        }
        let name = match steps.len() {
            1 => named.name.clone(),
            count => format!("{}, {} of {count}", named.name, i + 1),
        };
        let row = Row {
            name,
            family: named.family.into(),
            kernel: step.kernel.shader().into(),
            tile: step.tile.clone(),
            target: target.name.into(),
            ..Row::default()
        };
        found.push(Step { row, text });
    }
    found
}
