//! The operands of a launch: which there are, how they lie in memory, and what loads and stores them.

use super::problem::{RowFunction, RowProblem, RowStep};
use super::tile::RowTile;
use crate::clifford::walk::Unit;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory};
use crate::tensor::DType;

/// An operand of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Operand {
    /// The result; of gradients, that of X.
    C,
    /// The gradient of Y.
    D,
    /// Sums of weight gradients (slot, feature, path), of f32.
    Slab,
    /// Sums (sum, row, block), of f32.
    Sums,
    X,
    Y,
    G,
    W,
}

impl Operand {
    /// The name that the shader has for it.
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

/// The operands of a launch, in the order in which they are bound.
pub(in super::super) fn operands(problem: &RowProblem) -> Vec<Operand> {
    use Operand::{C, D, G, Slab, Sums, W, X, Y};
    let written: &[Operand] = match (problem.function, problem.step) {
        (RowFunction::Steerable, _) | (_, RowStep::Whole | RowStep::Results)
            if problem.function != RowFunction::SteerableBackward =>
        {
            &[C]
        }
        (_, RowStep::Sums) => &[],
        _ => &[C, D, Slab],
    };
    let read: &[Operand] = match problem.function {
        RowFunction::Steerable => &[X, Y, W],
        RowFunction::SteerableBackward => &[X, Y, G, W],
        RowFunction::Normalize => &[X],
        RowFunction::NormalizeBackward => &[X, G],
    };
    let sums: &[Operand] = if problem.step == RowStep::Whole { &[] } else { &[Sums] };
    [written, sums, read].concat()
}

/// How one operand is loaded and stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) operand: Operand,
    /// What is loaded or stored at once.
    pub(super) unit: Unit,
    memory: Memory,
    is_written: bool,
}

impl Access {
    pub(super) fn of(problem: &RowProblem, operand: Operand, tile: &RowTile, caps: &Caps) -> Self {
        let dtype = match operand {
            Operand::C | Operand::D => problem.out,
            Operand::Slab | Operand::Sums => DType::F32,
            Operand::X | Operand::Y | Operand::G | Operand::W => problem.dtype,
        };
        let d = &problem.dims;
        let begins = |places: [u32; 4]| {
            let begins = [places[0], places[1], places[3], d.features];
            places[2] == 1 && begins.iter().all(|place| place.is_multiple_of(tile.width))
        };
        let together = match operand {
            Operand::C | Operand::D => d.features.is_multiple_of(tile.width),
            Operand::X => begins(d.x),
            Operand::Y => begins(d.y),
            Operand::G => begins(d.g),
            Operand::W | Operand::Slab | Operand::Sums => false,
        };
        let unit = match tile.width {
            4 if together => Unit::Four,
            2 if together => Unit::Two,
            _ => Unit::One,
        };
        Self { operand, unit, memory: Memory::of(dtype, caps), is_written: operand.is_written(problem) }
    }

    /// The declaration, and the functions that load or store.
    pub(super) fn declaration(&self, binding: usize) -> String {
        let name = self.operand.name();
        let access = if self.is_written { "read_write" } else { "read" };
        let unit = match (self.is_written, self.memory.per_scalar(), self.unit) {
            (true, 2, Unit::One) => "atomic<u32>",
            _ => self.unit.memory(self.memory),
        };
        let functions = match self.operand {
            Operand::Slab | Operand::Sums => String::new(),
            _ if self.is_written => format!("//#slot save x={name} default element\n"),
            _ => format!("//#slot load x={name} default element\n"),
        };
        format!(
            "alias {name}_unit = {unit};\n\
             @group(0) @binding({binding}) var<storage, {access}> {name}: array<{name}_unit>;\n{functions}"
        )
    }

    /// Binds what loads or stores, where it is not the shader's own.
    pub(super) fn bind(&self, kernel: Kernel) -> Kernel {
        let slot = match (self.operand, self.is_written) {
            (Operand::Slab | Operand::Sums, _) => return kernel,
            (Operand::C, _) => "save_c",
            (Operand::D, _) => "save_d",
            (Operand::X, _) => "load_x",
            (Operand::Y, _) => "load_y",
            (Operand::G, _) => "load_g",
            (Operand::W, _) => "load_w",
        };
        let variant = if self.is_written {
            match (self.memory.per_scalar(), self.unit) {
                (1, Unit::One) => None,
                (1, _) => Some("vector"),
                (_, Unit::One) => Some("element_packed"),
                (_, Unit::Two) => Some("two_packed"),
                (_, Unit::Four) => Some("four_packed"),
            }
        } else {
            self.unit.load(self.memory)
        };
        variant.map_or(kernel.clone(), |variant| kernel.slot(slot, variant))
    }
}
