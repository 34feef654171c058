//! Steerable products of Clifford layers, forward and backward, each held against its floor, in turns and in one run: a copy of
//! the three tensors that the forward must move, or the five of the backward, or their multiply-adds at the roof of a loop
//! of nothing else, whichever takes longer. One JSON object per line; the exit status tells whether all ran. `m`, `n` and `k`
//! are batch, features and blades.
//!
//! - `TILEWISE_SIZES=64` sets the features, `TILEWISE_BATCHES=4096` the batch.

#[path = "roof/mod.rs"]
mod roof;
mod support;

use roof::{Copier, Roofs};
use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side, TOGETHER};
use support::examples::ended;
use support::{is_testing, of_batches};
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Path, Product, Signature};
use tilewise::{DType, Fill, Gpu, Real, Result, Tensor, f16};

/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;
/// Features on software devices, and on GPUs; and the batch.
const FEATURES: [usize; 2] = [64, 512];
const BATCH: [usize; 2] = [4096; 2];

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
    of_batches(&bench.gpu, "layers", [FEATURES, BATCH], |size| bench.layers(size))
}

struct Bench {
    gpu: Gpu,
    roofs: Roofs,
    rounds: usize,
}

/// Operands of a product and its weights.
struct Operands<T: Real> {
    x: Multivectors<T>,
    y: Multivectors<T>,
    g: Multivectors<T>,
    weight: Tensor<T>,
}

/// A product, and which way it goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

impl Way {
    /// Tensors that it must move.
    fn passes(self) -> usize {
        match self {
            Self::Forward => 3,
            Self::Backward => 5,
        }
    }

    /// Products of its operands' size: forward once; backward again, and once for each operand and for the weights.
    fn products(self) -> usize {
        match self {
            Self::Forward => 1,
            Self::Backward => 4,
        }
    }
}

impl Bench {
    fn layers(&self, positions: [usize; 2]) -> Result<()> {
        let rms = LayerProduct::new;
        let invariant = |signature| LayerProduct::new(signature).norm(GradeNorm::Invariant);
        for (form, product) in [
            ("Cl(2,0,0)", rms(Signature::CL2)),
            ("Cl(3,0,0)", rms(Signature::CL3)),
            ("Cl(3,0,1)", invariant(Signature::PGA3D)),
            ("Cl(1,3,0)", invariant(Signature::SPACETIME)),
        ] {
            self.ways::<f32>(form, product, positions)?;
        }
        self.way::<f32>("Cl(4,1,0)", invariant(Signature::CGA3D), positions, Way::Forward)?;
        self.ways::<f32>("Cl(3,0,0), no norm", rms(Signature::CL3).norm(GradeNorm::None), positions)?;
        for gate in [Gate::GeluTanh, Gate::None] {
            let form = format!("Cl(3,0,0), {gate} gate");
            self.ways::<f32>(&form, rms(Signature::CL3).gate(gate), positions)?;
        }
        self.ways::<f16>("Cl(3,0,0)", rms(Signature::CL3), positions)?;
        self.ways::<f32>("Cl(3,0,0), ragged", rms(Signature::CL3), [positions[0] - 1, positions[1] + 1])
    }

    fn ways<T: Real>(&self, form: &str, product: LayerProduct, positions: [usize; 2]) -> Result<()> {
        self.way::<T>(form, product, positions, Way::Forward)?;
        self.way::<T>(&format!("{form}, backward"), product, positions, Way::Backward)
    }

    fn way<T: Real>(
        &self,
        form: &str,
        product: LayerProduct,
        [batch, features]: [usize; 2],
        way: Way,
    ) -> Result<()> {
        let gpu = &self.gpu;
        let blades = product.blades();
        let paths = product.signature.paths();
        let bytes = (way.passes() * blades.len() * batch * features * size_of::<T>()) as u64;
        let batch_of = |seed| {
            let tensor = gpu.random::<T>([blades.len(), batch, features], Fill::Uniform, seed)?;
            Multivectors::new(tensor, &blades, BladeAxis::First)
        };
        let operands = |_| -> Result<Operands<T>> {
            let weight = gpu.random([features, paths.len()], Fill::Uniform, 4)?;
            Ok(Operands { x: batch_of(1)?, y: batch_of(2)?, g: batch_of(3)?, weight })
        };
        let all: Vec<_> = (0..support::pairs(gpu, bytes)).map(operands).collect::<Result<_>>()?;
        let Operands { x, y, g, weight } = &all[0];
        let plan = match way {
            Way::Forward => product.plan_steerable(x, y, weight)?,
            Way::Backward => product.plan_steerable_backward(x, y, weight, g)?,
        };
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            let Operands { x, y, g, weight } = &all[at % all.len()];
            match way {
                Way::Forward => product.steerable(x, y, weight).map(drop),
                Way::Backward => product.steerable_backward(x, y, weight, g).map(drop),
            }
        })?;
        let copier = Copier::new(gpu, (bytes / 2).next_multiple_of(1024));
        // Terms, and for each blade of the result a weight for each of its paths.
        let terms = Product::Geometric.terms(&blades, &blades)?.terms;
        let mask = |i: u8| blades.masks()[usize::from(i)];
        let mut sums: Vec<_> = terms.iter().map(|t| (t.out, Path::of(mask(t.x), mask(t.y)))).collect();
        sums.sort_unstable();
        sums.dedup();
        let multiplied = 2 * (terms.len() + sums.len()) * way.products() * batch * features;
        let computed = multiplied as f64 / self.roofs.flops;
        let floor = Side::other(move || copier.seconds(gpu).max(computed));
        let (size, types) = ([batch, features, blades.len()], [T::DTYPE, DType::F32]);
        let contest = Contest { case: "clifford-layers", form, against: "its floor", size, types };
        contest.run(gpu, self.rounds, own, floor)
    }
}
