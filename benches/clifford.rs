//! Products of multivectors and sandwiches, each held against its floor, in turns and in one run: a copy of the bytes that it reads and
//! writes, or its multiply-adds at the roof of a loop of nothing else, whichever takes longer. One JSON object per line;
//! the exit status tells whether all ran. `m`, `n` and `k` are batch, features and blades.
//!
//! - `TILEWISE_SIZES=64` sets the features, `TILEWISE_BATCHES=4096` the batch. One motor is applied to 1 and, on GPUs, 10
//!   million points whatever these are.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::{Copier, Roofs};
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER};
use support::examples::ended;
use support::{is_software, is_testing, of_batches, told};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, MvProduct, Product, Signature};
use tilewise::{DType, Fill, Gpu, Real, Result, f16};

/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;
/// Features on software devices, and on GPUs; and the batch.
const FEATURES: [usize; 2] = [64, 512];
const BATCH: [usize; 2] = [4096; 2];
/// Points that one motor is applied to on software devices, and on GPUs.
const POINTS: [usize; 2] = [1_000_000, 10_000_000];

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
    let roofs = roof::measured_or_any(&gpu, testing);
    let bench = Bench { gpu, roofs, rounds: if testing { 1 } else { ROUNDS } };
    let mut ok = of_batches(&bench.gpu, "products", [FEATURES, BATCH], |size| bench.products(size))?;
    let points = if testing { 1000 } else { POINTS[usize::from(!is_software(&bench.gpu))] };
    for axis in [BladeAxis::First, BladeAxis::Last] {
        ok &= told("sandwich", points, bench.sandwich(points, axis));
    }
    Ok(ok)
}

struct Bench {
    gpu: Gpu,
    roofs: Roofs,
    rounds: usize,
}

/// A product of two operands.
struct Case<'a> {
    form: &'a str,
    product: Product,
    blades: [Blades; 2],
    axis: BladeAxis,
}

impl Bench {
    fn products(&self, positions: [usize; 2]) -> Result<()> {
        let dense = |signature: Signature| [signature.blades(), signature.blades()];
        let case = |form, signature, axis| Case {
            form,
            product: Product::Geometric,
            blades: dense(signature),
            axis,
        };
        let pga = Signature::PGA3D;
        let cases = [
            case("Cl(2,0,0)", Signature::CL2, BladeAxis::First),
            case("Cl(3,0,0)", Signature::CL3, BladeAxis::First),
            case("Cl(3,0,1)", pga, BladeAxis::First),
            case("Cl(1,3,0)", Signature::SPACETIME, BladeAxis::First),
            case("Cl(4,1,0)", Signature::CGA3D, BladeAxis::First),
            case("Cl(3,0,0), blades last", Signature::CL3, BladeAxis::Last),
            case("Cl(3,0,1), blades last", pga, BladeAxis::Last),
            Case {
                form: "Cl(3,0,1), motors",
                product: Product::Geometric,
                blades: [pga.motors(), pga.motors()],
                axis: BladeAxis::First,
            },
            Case {
                form: "Cl(3,0,1), join of points",
                product: Product::Regressive,
                blades: [pga.points(), pga.points()],
                axis: BladeAxis::First,
            },
        ];
        for case in &cases {
            self.product::<f32>(case, positions)?;
        }
        self.product::<f16>(&cases[1], positions)?;
        // One feature more: no plane of a blade begins at a multiple of four.
        let ragged = [positions[0] - 1, positions[1] + 1];
        self.product::<f32>(
            &Case { form: "Cl(3,0,0), ragged", ..case("", Signature::CL3, BladeAxis::First) },
            ragged,
        )
    }

    fn product<T: Real>(&self, case: &Case<'_>, [batch, features]: [usize; 2]) -> Result<()> {
        let gpu = &self.gpu;
        let terms = case.product.terms(&case.blades[0], &case.blades[1])?;
        let blades = terms.x + terms.y + terms.out.len();
        let bytes = (blades * batch * features * size_of::<T>()) as u64;
        let operand = |blades: &Blades, seed| {
            let shape = match case.axis {
                BladeAxis::First => [blades.len(), batch, features],
                BladeAxis::Last => [batch, features, blades.len()],
            };
            Multivectors::new(gpu.random::<T>(shape, Fill::Uniform, seed)?, blades, case.axis)
        };
        let pairs: Result<Vec<_>> = (0..support::pairs(gpu, bytes))
            .map(|_| Ok((operand(&case.blades[0], 1)?, operand(&case.blades[1], 2)?)))
            .collect();
        let pairs = pairs?;
        let plan = MvProduct::new(case.product, &pairs[0].0, &pairs[0].1).plan()?;
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            let (x, y) = &pairs[at % pairs.len()];
            x.product(case.product, y).map(drop)
        })?;
        let copier = Copier::new(gpu, (bytes / 2).next_multiple_of(1024));
        let multiplied = 2.0 * (terms.terms.len() * batch * features) as f64 / self.roofs.flops;
        let floor = Side::other(move || copier.seconds(gpu).max(multiplied));
        let (size, types) = ([batch, features, blades], [T::DTYPE, DType::F32]);
        let contest = Contest { case: "clifford", form: case.form, against: "its floor", size, types };
        contest.run(gpu, self.rounds, own, floor)
    }

    /// One motor, applied to many points of PGA of space.
    fn sandwich(&self, points: usize, axis: BladeAxis) -> Result<()> {
        let (gpu, pga) = (&self.gpu, Signature::PGA3D);
        let batch = |blades: &Blades, positions: usize| {
            let shape = match axis {
                BladeAxis::First => [blades.len(), positions],
                BladeAxis::Last => [positions, blades.len()],
            };
            Multivectors::new(gpu.random::<f32>(shape, Fill::Uniform, 1)?, blades, axis)
        };
        let motor = batch(&pga.motors(), 1)?;
        let bytes = (2 * pga.points().len() * points * size_of::<f32>()) as u64;
        let clouds: Result<Vec<_>> =
            (0..support::pairs(gpu, bytes)).map(|_| batch(&pga.points(), points)).collect();
        let clouds = clouds?;
        let plan = motor.plan_sandwich(&clouds[0])?;
        let own =
            Side::launches(gpu, &plan, TOGETHER, |at| motor.sandwich(&clouds[at % clouds.len()]).map(drop))?;
        let copier = Copier::new(gpu, (bytes / 2).next_multiple_of(1024));
        let floor = Side::other(move || copier.seconds(gpu));
        let form = format!("one motor, blades {axis:?}").to_lowercase();
        let (size, types) = ([1, points, 2 * pga.points().len()], [DType::F32; 2]);
        let contest = Contest { case: "sandwich", form: &form, against: "a copy", size, types };
        contest.run(gpu, self.rounds, own, floor)
    }
}
