//! What is launched: a kernel, its grid and uniform, and how much of memory it may see.

use super::support::limits::window;
use tilewise::kernel::{Kernel, Plan};
use tilewise::{DType, Layout};

#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The problem, in words.
    pub(crate) what: String,
    pub(crate) kernel: Kernel,
    /// The kernel's tile, in words.
    pub(crate) tile: String,
    pub(crate) grid: [u32; 3],
    pub(crate) dims: Vec<u8>,
    /// The operands, in the order in which the shader declares them.
    pub(crate) operands: Vec<Operand>,
    /// And those that are found by their names in the shader instead.
    pub(crate) named: Vec<(&'static str, Operand)>,
    /// Invocations of a subgroup.
    pub(crate) subgroup: u32,
}

/// The window of an operand.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) bytes: u64,
    /// What it holds, if that is known before the launch.
    pub(crate) words: Option<Vec<u32>>,
}

impl Operand {
    /// A window of so many elements: whole units of 16 bytes are bound.
    pub(crate) fn of(elements: u64, size: usize) -> Self {
        Self { bytes: (elements.max(1) * size as u64).next_multiple_of(16), words: None }
    }

    /// The window of a view, as it is bound.
    pub(crate) fn of_view(layout: &Layout, dtype: DType) -> Self {
        Self::of(window(layout, dtype), dtype.size())
    }

    /// A table.
    pub(crate) fn table(words: &[u32]) -> Self {
        Self { words: Some(words.to_vec()), ..Self::of(words.len() as u64, 4) }
    }
}

impl Launch {
    pub(crate) fn new(
        what: impl Into<String>,
        plan: &Plan,
        dims: impl AsRef<[u8]>,
        operands: Vec<Operand>,
    ) -> Self {
        let (kernel, grid) = (plan.kernel.clone(), plan.grid);
        Self {
            what: what.into(),
            kernel,
            tile: plan.tile.clone(),
            grid,
            dims: dims.as_ref().to_vec(),
            operands,
            named: Vec::new(),
            subgroup: 32,
        }
    }

    /// The operand that a variable of the shader is.
    pub(crate) fn operand(&self, name: &str, binding: u32) -> Option<&Operand> {
        let named = self.named.iter().find(|(of, _)| *of == name).map(|(_, operand)| operand);
        named.or_else(|| self.operands.get(binding as usize))
    }
}
