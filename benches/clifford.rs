//! Products of multivectors and sandwiches, each timed in turn with its lower bound: a copy of the bytes that it reads and
//! writes, or its multiply-adds at the device's measured peak, whichever takes longer. One JSON object per line; the exit
//! status says whether everything ran. `m`, `n` and `k` are batch, features and blades.
//!
//! - `TILEWISE_SIZES=64` sets the features, `TILEWISE_BATCHES=4096` the batch. They do not change the sandwich: one motor
//!   is applied to 1 million points, and on GPUs to 10 million.

use bench::paired::{Paired, Side, TOGETHER};
use bench::peak::Peaks;
use bench::turns::Turns;
use bench::{ByDevice, Session, ran};
use std::process::ExitCode;
use tilewise::clifford::{BladeAxis, Blades, Multivectors, MvProduct, Product, Signature};
use tilewise::{DType, Fill, Real, Result, f16};

const FEATURES: ByDevice<&[usize]> = ByDevice { software: &[64], gpu: &[512] };
const BATCHES: ByDevice<&[usize]> = ByDevice { software: &[4096], gpu: &[4096] };
/// Points that one motor is applied to.
const POINTS: ByDevice<usize> = ByDevice { software: 1_000_000, gpu: 10_000_000 };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let peaks = session.peaks()?;
        let bench = Bench { session, peaks };
        let session = &bench.session;
        let mut ok = session.for_batches("products", &FEATURES, &BATCHES, |size| bench.products(size))?;
        let points = match (session.testing, session.is_software()) {
            (true, _) => 1000,
            (false, true) => POINTS.software,
            (false, false) => POINTS.gpu,
        };
        for axis in [BladeAxis::First, BladeAxis::Last] {
            ok &= ran("sandwich", points, bench.sandwich(points, axis));
        }
        Ok(ok)
    })
}

struct Bench {
    session: Session,
    peaks: Peaks,
}

/// A product of two operands.
struct Case<'a> {
    variant: &'a str,
    product: Product,
    blades: [Blades; 2],
    axis: BladeAxis,
}

impl Bench {
    fn products(&self, positions: [usize; 2]) -> Result<()> {
        let dense = |signature: Signature| [signature.blades(), signature.blades()];
        let case = |variant, signature, axis| Case {
            variant,
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
                variant: "Cl(3,0,1), motors",
                product: Product::Geometric,
                blades: [pga.motors(), pga.motors()],
                axis: BladeAxis::First,
            },
            Case {
                variant: "Cl(3,0,1), join of points",
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
            &Case { variant: "Cl(3,0,0), ragged", ..case("", Signature::CL3, BladeAxis::First) },
            ragged,
        )
    }

    fn product<T: Real>(&self, case: &Case<'_>, [batch, features]: [usize; 2]) -> Result<()> {
        let gpu = &self.session.gpu;
        let terms = case.product.terms(&case.blades[0], &case.blades[1])?;
        let blades = terms.x + terms.y + terms.out.len();
        let bytes = blades * batch * features * size_of::<T>();
        let operand = |blades: &Blades, seed| {
            let shape = match case.axis {
                BladeAxis::First => [blades.len(), batch, features],
                BladeAxis::Last => [batch, features, blades.len()],
            };
            Multivectors::new(gpu.random::<T>(shape, Fill::Uniform, seed)?, blades, case.axis)
        };
        let pairs = Turns::of(gpu, bytes)
            .sets(|| Ok((operand(&case.blades[0], 1)?, operand(&case.blades[1], 2)?)))?;
        let plan = MvProduct::new(case.product, &pairs[0].0, &pairs[0].1).plan()?;
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            let (x, y) = &pairs[at % pairs.len()];
            x.product(case.product, y).map(drop)
        })?;
        let computing = 2.0 * (terms.terms.len() * batch * features) as f64 / self.peaks.f32;
        let bound = Side::lower_bound(gpu, bytes, computing);
        let (size, types) = ([batch, features, blades], [T::DTYPE, DType::F32]);
        let (variant, baseline) = (case.variant, "its lower bound");
        Paired { case: "clifford", variant, baseline, size, types }.run(&self.session, own, bound)
    }

    /// One motor, applied to many points of PGA of space.
    fn sandwich(&self, points: usize, axis: BladeAxis) -> Result<()> {
        let (gpu, pga) = (&self.session.gpu, Signature::PGA3D);
        let batch = |blades: &Blades, positions: usize| {
            let shape = match axis {
                BladeAxis::First => [blades.len(), positions],
                BladeAxis::Last => [positions, blades.len()],
            };
            Multivectors::new(gpu.random::<f32>(shape, Fill::Uniform, 1)?, blades, axis)
        };
        let motor = batch(&pga.motors(), 1)?;
        let bytes = 2 * pga.points().len() * points * size_of::<f32>();
        let clouds = Turns::of(gpu, bytes).sets(|| batch(&pga.points(), points))?;
        let plan = motor.plan_sandwich(&clouds[0])?;
        let own =
            Side::launches(gpu, &plan, TOGETHER, |at| motor.sandwich(&clouds[at % clouds.len()]).map(drop))?;
        let bound = Side::lower_bound(gpu, bytes, 0.0);
        let variant = &format!("one motor, blades {axis:?}").to_lowercase();
        let (size, types) = ([1, points, 2 * pga.points().len()], [DType::F32; 2]);
        Paired { case: "sandwich", variant, baseline: "a copy", size, types }.run(&self.session, own, bound)
    }
}
