//! Sketches, each timed in turn with a baseline: dense ones against the product with the stored operator, sparse ones
//! and Hadamard transforms against a copy of their operand. One JSON object per line; the exit status says whether
//! everything ran.
//!
//! - `TILEWISE_SIZES=4096` sets the longer edge of operands. For dense sketches that is the edge of a cube, for others
//!   the axis that is sketched; the other axis is a quarter as long.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session, ran};
use std::process::ExitCode;
use tilewise::planning::Problem;
use tilewise::planning::sketch::{HadamardProblem, SparseProblem};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{DType, Fill, Gemm, Real, Result, f16};

/// A case, and the longer edge of its operand unless `TILEWISE_SIZES` is set.
type Case = (&'static str, fn(&Bench, usize) -> Result<()>, &'static [usize]);

const CASES: [Case; 3] = [
    ("sparse", Bench::sparse, &[4096]),
    ("hadamard", Bench::hadamard, &[4096]),
    ("dense", Bench::dense, &[2048]),
];

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let bench = Bench { session };
        let mut ok = true;
        for (case, measure, edges) in CASES {
            for size in bench.session.sizes(64, &ByDevice { software: edges, gpu: edges })? {
                ok &= ran(case, size, measure(&bench, size));
            }
        }
        Ok(ok)
    })
}

struct Bench {
    session: Session,
}

impl Bench {
    /// Square operators with generated entries, from the left and from the right, against the product with the stored
    /// one.
    fn dense(&self, size: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let x = gpu.random::<f32>([size, size], Fill::Uniform, 2)?;
        for (kind, name) in
            [(SketchKind::Sign, "sign"), (SketchKind::Uniform, "uniform"), (SketchKind::Gaussian, "gaussian")]
        {
            let sketch = Sketch::new(kind, [size, size], 1)?;
            let stored = sketch.to_tensor(gpu)?;
            for (axis, side) in [(0, "left"), (1, "right")] {
                let (a, b) = if axis == 0 { (stored.clone(), x.clone()) } else { (x.clone(), stored.t()) };
                let plan = Gemm::new(&a, &b).plan()?;
                let own = Side::launches(gpu, &sketch.plan(Direction::Forward, &x, axis)?, TOGETHER, |_| {
                    sketch.apply(&x, axis).map(drop)
                })?;
                let other = Side::launches(gpu, &plan, TOGETHER, |_| Gemm::new(&a, &b).run().map(drop))?;
                let variant = &format!("{name}, from the {side}");
                let (size, types) = ([size; 3], [DType::F32; 2]);
                let paired = Paired { case: "dense", variant, baseline: "stored", size, types };
                paired.run(&self.session, own, other)?;
            }
        }
        Ok(())
    }

    /// Sparse operators of few and of more rows, along the outer axis of an operand of `size` rows and a quarter as many
    /// columns, and along the inner axis of one of the transposed shape: against a copy of the operand.
    fn sparse(&self, size: usize) -> Result<()> {
        let columns = size / 4;
        for rows in [size / 16, size / 4].map(|rows| rows.max(4)) {
            let sjlt = |nonzeros| SketchKind::Sjlt { nonzeros };
            for (kind, name) in [(SketchKind::CountSketch, "count"), (sjlt(2), "sjlt 2"), (sjlt(4), "sjlt 4")]
            {
                let sketch = Sketch::new(kind, [rows, size], 1)?;
                for (axis, shape, which) in [(0, [size, columns], "outer"), (1, [columns, size], "inner")] {
                    let variant = format!("{name}, along the {which} axis");
                    self.sparse_of(&sketch, axis, shape, &variant)?;
                }
            }
        }
        Ok(())
    }

    fn sparse_of(&self, sketch: &Sketch, axis: usize, shape: [usize; 2], variant: &str) -> Result<()> {
        let gpu = &self.session.gpu;
        let bytes = shape[0] * shape[1] * size_of::<f32>();
        let operands = Turns::of(gpu, bytes).sets(|| gpu.random::<f32>(shape, Fill::Uniform, 2))?;
        let problem = SparseProblem::new(sketch, Direction::Forward, operands[0].layout(), axis, DType::F32)?;
        let plan = problem.plan(gpu.caps())?;
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            sketch.apply(&operands[at % operands.len()], axis).map(drop)
        })?;
        let [d, n] = sketch.shape();
        let (size, types) = ([d, shape[1 - axis], n], [DType::F32; 2]);
        let paired = Paired { case: "sparse", variant, baseline: "a copy", size, types };
        paired.run(&self.session, own, Side::copy(gpu, bytes))
    }

    /// The transform of every column and of every row of a matrix, forward to a quarter of its length and back, against
    /// a copy of the operand.
    fn hadamard(&self, size: usize) -> Result<()> {
        for axis in [0, 1] {
            for direction in [Direction::Forward, Direction::Adjoint] {
                self.hadamard_of::<f32>(direction, axis, size)?;
            }
        }
        self.hadamard_of::<f16>(Direction::Forward, 0, size)
    }

    fn hadamard_of<T: Real>(&self, direction: Direction, axis: usize, size: usize) -> Result<()> {
        let gpu = &self.session.gpu;
        let (d, others) = (size / 4, size / 4);
        let sketch = Sketch::new(SketchKind::Hadamard, [d, size], 1)?;
        let from = if direction == Direction::Forward { size } else { d };
        let x = gpu.random::<T>(if axis == 0 { [from, others] } else { [others, from] }, Fill::Uniform, 2)?;
        let plan = HadamardProblem::new(&sketch, direction, x.layout(), axis, T::DTYPE)?.plan(gpu.caps())?;
        let own = Side::launches(gpu, &plan, TOGETHER, |_| match direction {
            Direction::Forward => sketch.apply(&x, axis).map(drop),
            Direction::Adjoint => sketch.adjoint(&x, axis).map(drop),
        })?;
        // The longer of operand and result.
        let copy = Side::copy(gpu, size * others * size_of::<T>());
        let variant = &format!("{direction:?}, axis {axis}, {} passes", plan.steps().len());
        let (size, types) = ([d, others, size], [T::DTYPE, DType::F32]);
        Paired { case: "hadamard", variant, baseline: "a copy", size, types }.run(&self.session, own, copy)
    }
}
