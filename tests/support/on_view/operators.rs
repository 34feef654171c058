//! Random operators along an axis. Those that are dense are products with a generated operand.

use super::{On, REALS, Row};
use tilewise::Result;
use tilewise::planning::gemm::SeedSource;
use tilewise::planning::sketch::{HadamardProblem, SparseProblem};
use tilewise::sketch::{Direction, MAX_HADAMARD_LENGTH, Sketch, SketchKind, SparseAxis};

pub(super) const ROWS: [Row; 2] = [
    ("hadamard", REALS, |on| {
        let (sketch, direction, axis) = operator(on, &[SketchKind::Hadamard])?;
        let seed = seed(on);
        on.plan(HadamardProblem::new(&sketch, direction, &on.x, axis, on.dtype).map(|of| of.seeded(seed)))
    }),
    ("sparse", REALS, |on| {
        let kinds = [
            SketchKind::CountSketch,
            SketchKind::Sjlt { nonzeros: 3 },
            SketchKind::Sjlt { nonzeros: 64 },
            SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 2 },
            SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 4 },
        ];
        let (sketch, direction, axis) = operator(on, &kinds)?;
        let seed = seed(on);
        on.plan(SparseProblem::new(&sketch, direction, &on.x, axis, on.dtype).map(|of| of.seeded(seed)))
    }),
];

/// An operator of one of these kinds along an axis of the view, to a shorter axis or from a longer one.
fn operator(on: &mut On<'_>, kinds: &[SketchKind]) -> Result<(Sketch, Direction, usize)> {
    let (kind, direction, axis) =
        (on.choose(kinds), on.choose(&[Direction::Forward, Direction::Adjoint]), on.axis());
    let extent = on.x.shape()[axis];
    let shape = match direction {
        Direction::Forward => [on.choose(&[extent.div_ceil(3), extent]), extent],
        Direction::Adjoint => {
            [extent, on.choose(&[extent, (3 * extent).min(MAX_HADAMARD_LENGTH.max(extent))])]
        }
    };
    Ok((Sketch::new(kind, shape, 1)?, direction, axis))
}

/// Where kernels find the seed: in the dims, or in a tensor.
fn seed(on: &mut On<'_>) -> SeedSource {
    on.choose(&[SeedSource::Scalars, SeedSource::Tensor([5, 8])])
}
