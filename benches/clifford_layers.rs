//! Steerable products of Clifford layers, forward and backward, each timed in turn with its lower bound: a copy of the
//! three tensors that the forward pass must move, or the five of the backward pass, or the multiply-adds at the device's
//! measured peak, whichever takes longer. One JSON object per line; the exit status says whether everything ran. `m`, `n`
//! and `k` are batch, features and blades.
//!
//! - `TILEWISE_SIZES=64` sets the features, `TILEWISE_BATCHES=4096` the batch.

use bench::paired::{Paired, Side, TOGETHER};
use bench::peak::Peaks;
use bench::turns::Turns;
use bench::{ByDevice, Session};
use std::process::ExitCode;
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Path, Product, Signature};
use tilewise::{DType, Fill, Real, Result, Tensor, f16};

const FEATURES: ByDevice<&[usize]> = ByDevice { software: &[64], gpu: &[512] };
const BATCHES: ByDevice<&[usize]> = ByDevice { software: &[4096], gpu: &[4096] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let peaks = session.peaks()?;
        let bench = Bench { session, peaks };
        bench.session.for_batches("layers", &FEATURES, &BATCHES, |size| bench.layers(size))
    })
}

struct Bench {
    session: Session,
    peaks: Peaks,
}

/// Operands of a product and its weights.
struct Operands<T: Real> {
    x: Multivectors<T>,
    y: Multivectors<T>,
    g: Multivectors<T>,
    weight: Tensor<T>,
}

/// The pass of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Tensors that it must move.
    fn tensors(self) -> usize {
        match self {
            Self::Forward => 3,
            Self::Backward => 5,
        }
    }

    /// Products of the operands' size: one forward; backward the same again, one for each operand and one for the weights.
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
        for (variant, product) in [
            ("Cl(2,0,0)", rms(Signature::CL2)),
            ("Cl(3,0,0)", rms(Signature::CL3)),
            ("Cl(3,0,1)", invariant(Signature::PGA3D)),
            ("Cl(1,3,0)", invariant(Signature::SPACETIME)),
        ] {
            self.both::<f32>(variant, product, positions)?;
        }
        self.one::<f32>("Cl(4,1,0)", invariant(Signature::CGA3D), positions, Direction::Forward)?;
        self.both::<f32>("Cl(3,0,0), no norm", rms(Signature::CL3).norm(GradeNorm::None), positions)?;
        for gate in [Gate::GeluTanh, Gate::None] {
            let variant = format!("Cl(3,0,0), {gate} gate");
            self.both::<f32>(&variant, rms(Signature::CL3).gate(gate), positions)?;
        }
        self.both::<f16>("Cl(3,0,0)", rms(Signature::CL3), positions)?;
        self.both::<f32>("Cl(3,0,0), ragged", rms(Signature::CL3), [positions[0] - 1, positions[1] + 1])
    }

    fn both<T: Real>(&self, variant: &str, product: LayerProduct, positions: [usize; 2]) -> Result<()> {
        self.one::<T>(variant, product, positions, Direction::Forward)?;
        self.one::<T>(&format!("{variant}, backward"), product, positions, Direction::Backward)
    }

    fn one<T: Real>(
        &self,
        variant: &str,
        product: LayerProduct,
        [batch, features]: [usize; 2],
        direction: Direction,
    ) -> Result<()> {
        let gpu = &self.session.gpu;
        let blades = product.blades();
        let paths = product.signature.paths();
        let bytes = direction.tensors() * blades.len() * batch * features * size_of::<T>();
        let batch_of = |seed| {
            let tensor = gpu.random::<T>([blades.len(), batch, features], Fill::Uniform, seed)?;
            Multivectors::new(tensor, &blades, BladeAxis::First)
        };
        let all = Turns::of(gpu, bytes).sets(|| {
            let weight: Tensor<T> = gpu.random([features, paths.len()], Fill::Uniform, 4)?;
            Ok(Operands { x: batch_of(1)?, y: batch_of(2)?, g: batch_of(3)?, weight })
        })?;
        let Operands { x, y, g, weight } = &all[0];
        let plan = match direction {
            Direction::Forward => product.plan_steerable(x, y, weight)?,
            Direction::Backward => product.plan_steerable_backward(x, y, weight, g)?,
        };
        let own = Side::launches(gpu, &plan, TOGETHER, |at| {
            let Operands { x, y, g, weight } = &all[at % all.len()];
            match direction {
                Direction::Forward => product.steerable(x, y, weight).map(drop),
                Direction::Backward => product.steerable_backward(x, y, weight, g).map(drop),
            }
        })?;
        // Terms, and for each blade of the result one weight per path.
        let terms = Product::Geometric.terms(&blades, &blades)?.terms;
        let mask = |i: u8| blades.masks()[usize::from(i)];
        let mut sums: Vec<_> = terms.iter().map(|t| (t.out, Path::of(mask(t.x), mask(t.y)))).collect();
        sums.sort_unstable();
        sums.dedup();
        let multiplied = 2 * (terms.len() + sums.len()) * direction.products() * batch * features;
        let bound = Side::lower_bound(gpu, bytes, multiplied as f64 / self.peaks.f32);
        let (size, types) = ([batch, features, blades.len()], [T::DTYPE, DType::F32]);
        let paired = Paired { case: "clifford-layers", variant, baseline: "its lower bound", size, types };
        paired.run(&self.session, own, bound)
    }
}
