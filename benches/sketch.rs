//! Sketches, each held against what it should be as fast as, in turns and in one run: dense ones against the product
//! with a stored operator, sparse ones and Hadamard transforms against a copy of their operand. One JSON object per
//! line; the exit status tells whether all ran.
//!
//! - `TILEWISE_SIZES=4096` sets the longer edge of operands: of dense ones the edge of cubes, of others the axis that
//!   is sketched; what lies beside it is a quarter as long.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::Copier;
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER};
use support::examples::ended;
use support::{is_testing, told};
use tilewise::planning::Problem;
use tilewise::planning::sketch::{HadamardProblem, SparseProblem};
use tilewise::sketch::{Direction, Sketch, SketchKind};
use tilewise::{DType, Fill, Gemm, Gpu, Real, Result, f16};

/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;

/// A case, and the longer edge of its operand unless `TILEWISE_SIZES` says otherwise.
type Case = (&'static str, fn(&Bench, usize) -> Result<()>, usize);

const CASES: [Case; 3] =
    [("sparse", Bench::sparse, 4096), ("hadamard", Bench::hadamard, 4096), ("dense", Bench::dense, 2048)];

fn main() -> ExitCode {
    ended(run())
}

/// Whether every case ran.
fn run() -> Result<bool> {
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(true);
    };
    let testing = is_testing();
    let bench = Bench { gpu, testing };
    let mut ok = true;
    for (case, measure, edge) in CASES {
        for size in if testing { vec![64] } else { support::sizes(&[edge])? } {
            ok &= told(case, size, measure(&bench, size));
        }
    }
    Ok(ok)
}

struct Bench {
    gpu: Gpu,
    testing: bool,
}

impl Bench {
    fn rounds(&self) -> usize {
        if self.testing { 1 } else { ROUNDS }
    }

    /// Square operators with generated entries, from the left and from the right, against the product with the stored
    /// one.
    fn dense(&self, size: usize) -> Result<()> {
        let gpu = &self.gpu;
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
                let form = format!("{name}, from the {side}");
                let (size, types) = ([size; 3], [DType::F32; 2]);
                let contest = Contest { case: "dense", form: &form, against: "stored", size, types };
                contest.run(gpu, self.rounds(), own, other)?;
            }
        }
        Ok(())
    }

    /// Sparse operators of few and of more rows, along the outer axis of an operand of so many rows and a quarter as
    /// many columns, and along the inner axis of its twin: against a copy of the operand.
    fn sparse(&self, size: usize) -> Result<()> {
        let columns = size / 4;
        for rows in [size / 16, size / 4].map(|rows| rows.max(4)) {
            let sjlt = |nonzeros| SketchKind::Sjlt { nonzeros };
            for (kind, name) in [(SketchKind::CountSketch, "count"), (sjlt(2), "sjlt 2"), (sjlt(4), "sjlt 4")]
            {
                let sketch = Sketch::new(kind, [rows, size], 1)?;
                for (axis, shape, along) in [(0, [size, columns], "outer"), (1, [columns, size], "inner")] {
                    let form = format!("{name}, along the {along} axis");
                    self.sparse_of(&sketch, axis, shape, &form)?;
                }
            }
        }
        Ok(())
    }

    fn sparse_of(&self, sketch: &Sketch, axis: usize, shape: [usize; 2], form: &str) -> Result<()> {
        let gpu = &self.gpu;
        let bytes = (shape[0] * shape[1] * 4) as u64;
        let operands: Result<Vec<_>> =
            (0..support::pairs(gpu, bytes)).map(|_| gpu.random::<f32>(shape, Fill::Uniform, 2)).collect();
        let operands = operands?;
        let problem = SparseProblem::new(sketch, Direction::Forward, operands[0].layout(), axis, DType::F32)?;
        let plan = problem.plan(gpu.caps())?;
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            sketch.apply(&operands[at % operands.len()], axis).map(drop)
        })?;
        // A copy is of whole workgroups, which only the smallest operands do not fill.
        let copier = Copier::new(gpu, bytes.next_multiple_of(1024));
        let other = Side::other(move || copier.seconds(gpu));
        let [d, n] = sketch.shape();
        let size = [d, shape[1 - axis], n];
        let contest = Contest { case: "sparse", form, against: "a copy", size, types: [DType::F32; 2] };
        contest.run(gpu, self.rounds(), own, other)
    }

    /// The transform of every column and of every row of a matrix, forward to a quarter of as many and back, against a
    /// copy of the operand.
    fn hadamard(&self, size: usize) -> Result<()> {
        for axis in [0, 1] {
            for direction in [Direction::Forward, Direction::Adjoint] {
                self.hadamard_of::<f32>(direction, axis, size)?;
            }
        }
        self.hadamard_of::<f16>(Direction::Forward, 0, size)
    }

    fn hadamard_of<T: Real>(&self, direction: Direction, axis: usize, size: usize) -> Result<()> {
        let gpu = &self.gpu;
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
        let bytes = ((size * others * size_of::<T>()) as u64).next_multiple_of(1024);
        let copier = Copier::new(gpu, bytes);
        let form = format!("{direction:?}, axis {axis}, {} passes", plan.steps().len());
        let (size, types) = ([d, others, size], [T::DTYPE, DType::F32]);
        let contest = Contest { case: "hadamard", form: &form, against: "a copy", size, types };
        contest.run(gpu, self.rounds(), own, Side::other(move || copier.seconds(gpu)))
    }
}
