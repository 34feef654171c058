//! The operands of a launch, and the access of its kernel to them.

use super::problem::{RowFunction, RowProblem, RowStep};
use super::tile::RowTile;
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::DType;

/// An operand of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowOperand {
    /// The result; in a backward pass, the gradient of X.
    C,
    /// The gradient of Y.
    D,
    /// Partial sums of the weight gradients (slot, feature, path), in f32.
    Slab,
    /// Sums of rows (sum, row, block), in f32.
    Sums,
    X,
    Y,
    G,
    W,
}

impl RowOperand {
    /// The name in the shader.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::D => "d",
            Self::Slab => "slab",
            Self::Sums => "sums",
            Self::X => "x",
            Self::Y => "y",
            Self::G => "g",
            Self::W => "w",
        }
    }

    pub(super) fn is_written(self, problem: &RowProblem) -> bool {
        match self {
            Self::C | Self::D | Self::Slab => true,
            Self::Sums => problem.step == RowStep::Sums,
            Self::X | Self::Y | Self::G | Self::W => false,
        }
    }
}

/// The operands of a launch, in the order of their bindings.
pub(super) fn operands(problem: &RowProblem) -> Vec<RowOperand> {
    use RowOperand::{C, D, G, Slab, Sums, W, X, Y};
    let written: &[RowOperand] = match (problem.function, problem.step) {
        (RowFunction::Steerable, _) | (_, RowStep::Whole | RowStep::Results)
            if problem.function != RowFunction::SteerableBackward =>
        {
            &[C]
        }
        (_, RowStep::Sums) => &[],
        _ => &[C, D, Slab],
    };
    let read: &[RowOperand] = match problem.function {
        RowFunction::Steerable => &[X, Y, W],
        RowFunction::SteerableBackward => &[X, Y, G, W],
        RowFunction::Normalize => &[X],
        RowFunction::NormalizeBackward => &[X, G],
    };
    let sums: &[RowOperand] = if problem.step == RowStep::Whole { &[] } else { &[Sums] };
    [written, sums, read].concat()
}

/// An operand, and how a kernel accesses it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessed {
    pub(super) operand: RowOperand,
    /// Elements per load or store.
    pub(super) width: AccessWidth,
    access: OperandAccess,
}

impl Accessed {
    pub(super) fn of(problem: &RowProblem, operand: RowOperand, tile: &RowTile, caps: &Caps) -> Self {
        let dtype = match operand {
            RowOperand::C | RowOperand::D => problem.out,
            RowOperand::Slab | RowOperand::Sums => DType::F32,
            RowOperand::X | RowOperand::Y | RowOperand::G | RowOperand::W => problem.dtype,
        };
        let d = problem.dims();
        let begins = |places: [u32; 4]| {
            let begins = [places[0], places[1], places[3], d.features];
            places[2] == 1 && begins.iter().all(|place| place.is_multiple_of(tile.width))
        };
        let together = match operand {
            RowOperand::C | RowOperand::D => d.features.is_multiple_of(tile.width),
            RowOperand::X => begins(d.x),
            RowOperand::Y => begins(d.y),
            RowOperand::G => begins(d.g),
            RowOperand::W | RowOperand::Slab | RowOperand::Sums => false,
        };
        let width = match tile.width {
            4 if together => AccessWidth::Four,
            2 if together => AccessWidth::Two,
            _ => AccessWidth::One,
        };
        let format = StorageFormat::of(dtype, caps);
        let access = if operand.is_written(problem) {
            OperandAccess::write(format, width)
        } else {
            OperandAccess::read(format, width)
        };
        Self { operand, width, access }
    }

    /// The declaration, and the functions that load or store elements.
    pub(super) fn declaration(&self, binding: usize) -> String {
        let name = self.operand.name();
        let declaration = self.access.declaration(name, binding);
        match self.operand {
            // The kernel indexes these arrays of f32 directly.
            RowOperand::Slab | RowOperand::Sums => declaration,
            _ => declaration + &self.access.functions(name),
        }
    }

    /// Adds the operand to the kernel.
    pub(super) fn bind(&self, kernel: Kernel) -> Kernel {
        kernel.operand(self.operand.name(), self.access)
    }
}
