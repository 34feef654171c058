//! The steps to compile: each kernel of a plan once.

use crate::plans::Named;
use crate::row::Row;
use crate::target::Target;
use std::collections::HashSet;
use tilewise::planning::kernel::Language;

/// A step of a plan.
pub struct Step {
    /// The step's row, without the results of compilation.
    pub row: Row,
    /// The kernel's code, or the error of specialisation.
    pub code: Result<Code, String>,
}

/// The code of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A text in WGSL.
    Wgsl(String),
    /// The words of a module of SPIR-V.
    Spirv(Vec<u32>),
}

/// The selection of steps to compile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The plans whose steps are compiled.
    pub plans: Plans,
    /// A word that the plan, family, kernel or tile of a step must contain.
    pub only: Option<String>,
    /// The accumulators that an invocation can hold in registers, instead of the library's assumption.
    pub accumulators: Option<u32>,
    /// Whether the driver checks accesses to buffers.
    pub access: Access,
    /// Whether shaders have f16.
    pub halves: Halves,
}

/// Plans to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plans {
    /// The usual ones: [`plans::all`](crate::plans::all).
    #[default]
    Usual,
    /// All variants and tiles, each text once: [`plans::sweep`](crate::plans::sweep).
    Sweep,
    /// Every tile of matrix products: [`loops::plans`](crate::loops::plans).
    Tiles,
}

/// Whether the driver checks accesses to buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// It does: the device has the features that wgpu asks for.
    #[default]
    Robust,
    /// It does not: `BufferAccess::unchecked` of the library.
    Unchecked,
}

/// How shaders have f16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halves {
    /// As a type, as the target does.
    #[default]
    Native,
    /// Not at all: pairs of elements are packed in words, as in a browser without `shader-f16`.
    Packed,
}

impl Selection {
    /// The selected steps of a target's plans. The order is always the same, because plans need no device.
    #[must_use]
    pub fn steps(&self, target: &Target) -> Vec<Step> {
        let mut caps = target.caps();
        caps.machine.accumulators = self.accumulators.unwrap_or(caps.machine.accumulators);
        if self.halves == Halves::Packed {
            caps.f16 = false;
            caps.rows.clear(); // cooperative matrices are of f16
        }
        let plans = match self.plans {
            Plans::Usual => crate::plans::all(&caps),
            Plans::Sweep => crate::plans::sweep(&caps),
            Plans::Tiles => crate::loops::plans(&caps),
        };
        let mut seen = HashSet::new();
        let steps = plans.iter().flat_map(|named| of_plan(named, target)).map(|step| {
            let unchecked_access = self.access == Access::Unchecked;
            let row = Row { unchecked_access, without_f16: self.halves == Halves::Packed, ..step.row };
            Step { row, ..step }
        });
        let is_new = |step: &Step| self.plans != Plans::Sweep || seen.insert(step.code.clone());
        steps.filter(|step| self.takes(&step.row)).filter(is_new).collect()
    }

    /// Whether the selection includes a step.
    #[must_use]
    pub fn takes(&self, row: &Row) -> bool {
        let words = [&row.name, &row.family, &row.kernel, &row.tile];
        self.only.as_ref().is_none_or(|only| words.into_iter().any(|word| word.contains(only)))
    }
}

/// The steps of a plan, without those whose kernel an earlier step has. Empty if the device cannot run the plan.
fn of_plan(named: &Named, target: &Target) -> Vec<Step> {
    let Ok(plan) = &named.plan else { return Vec::new() };
    let steps = plan.steps();
    let mut found: Vec<Step> = Vec::new();
    let mut seen = HashSet::new();
    for (i, step) in steps.iter().enumerate() {
        let code = match step.kernel.language() {
            Language::Wgsl => step.kernel.specialize().map(Code::Wgsl),
            Language::Spirv => step.kernel.words().map(Code::Spirv),
        };
        let code = code.map_err(|error| error.to_string());
        if !seen.insert(code.clone()) {
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
        found.push(Step { row, code });
    }
    found
}
