//! What is launched: a kernel, its grid and uniform, and how much of memory it may see.

use tilewise::Result;
use tilewise::planning::kernel::Kernel;
use tilewise::planning::{Buffer, Plan};

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
}

/// What the call's scalars are, and the words of a seed in a tensor: seeds of many bits. Nothing looks at those that are real numbers.
const SCALAR: u32 = 0x9e37_79b9;

impl Launch {
    /// The launches of a plan, or none where there is no plan.
    pub(crate) fn planned(what: &str, plan: Result<Plan>) -> Vec<Self> {
        plan.map_or(Vec::new(), |plan| Self::steps(what, &plan))
    }

    /// The steps of a plan, for a device whose subgroups have eight invocations. Of what is launched in pieces, the first and
    /// the last: those between have indices between.
    pub(crate) fn steps(what: &str, plan: &Plan) -> Vec<Self> {
        let step = |step: &tilewise::planning::Step| {
            let operands = step.args.iter().map(|arg| Operand {
                bytes: arg.window.end - arg.window.start,
                words: match arg.buffer {
                    Buffer::Constant(index) => Some(plan.constants()[index].words().to_vec()),
                    Buffer::Operand(index) if plan.parameters()[index].name == "the seed" => {
                        let words = usize::try_from((arg.window.end - arg.window.start) / 4);
                        Some(vec![SCALAR; words.expect("a small window")])
                    }
                    Buffer::Operand(_) | Buffer::Temporary(_) => None,
                },
            });
            let mut dims = step.dims.clone();
            for &(offset, _) in &step.scalars {
                dims[offset..offset + 4].copy_from_slice(&SCALAR.to_ne_bytes());
            }
            Self {
                what: what.to_owned(),
                kernel: step.kernel.clone(),
                tile: step.tile.clone(),
                grid: step.grid,
                dims,
                operands: operands.collect(),
                subgroup: 8,
            }
        };
        let is_last = |at: usize| plan.steps().get(at + 1).is_none_or(|next| next.first_block == 0);
        let at_an_end =
            |(at, piece): &(usize, &tilewise::planning::Step)| piece.first_block == 0 || is_last(*at);
        plan.steps().iter().enumerate().filter(at_an_end).map(|(_, piece)| step(piece)).collect()
    }

    /// Whether a launch of the same kernel does the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let bytes = |of: &Self| of.operands.iter().map(|operand| operand.bytes).collect::<Vec<_>>();
        self.grid == other.grid && self.dims == other.dims && bytes(self) == bytes(other)
    }

    /// The operand that a variable of the shader is.
    pub(crate) fn operand(&self, binding: u32) -> Option<&Operand> {
        self.operands.get(binding as usize)
    }
}
