//! The fully connected product of a layer and its gradients, against nothing but matrix products of the same sizes, in turns
//! and in one run: what forming an operand where it is staged costs. And with its norm against without, in f16 against f32.
//! One JSON object per line; the exit status tells whether all ran. `m` and `n` are rows and outputs, `k` is what each of a
//! row's blades and paths is summed over, all together.
//!
//! - `TILEWISE_SIZES=128` sets inputs and outputs, `TILEWISE_BATCHES=1024` the rows.

mod support;

use serde_json::json;
use std::process::ExitCode;
use support::contest::{Contest, Side};
use support::examples::ended;
use support::{is_testing, of_batches};
use tilewise::Operand;
use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Signature, grade};
use tilewise::{Fill, Gemm, Gpu, Precision, Real, Result, Tensor, f16};

/// Products in a turn at most: gradients are several launches each, and a turn is one submission.
const TOGETHER_AT_MOST: u64 = 2;
/// Rounds, in each of which both sides take their turn.
const ROUNDS: usize = 15;
/// Inputs and outputs on software devices, and on GPUs.
const FEATURES: [usize; 2] = [128, 512];
/// Rows likewise.
const ROWS: [usize; 2] = [1024, 8192];

fn main() -> ExitCode {
    ended(run())
}

/// Whether every case ran.
fn run() -> Result<bool> {
    let Some(gpu) = support::open()? else {
        println!("{}", json!({ "skipped": "no adapter" }));
        return Ok(true);
    };
    let bench = Bench { gpu, rounds: if is_testing() { 1 } else { ROUNDS } };
    of_batches(&bench.gpu, "connected", [FEATURES, ROWS], |size| bench.all(size))
}

struct Bench {
    gpu: Gpu,
    rounds: usize,
}

/// A batch of matrix products, (batch, m, k) times (batch, k, n), or one of them for all.
struct Products<T: Real> {
    a: Tensor<T>,
    b: Tensor<T>,
}

impl Bench {
    fn all(&self, size: [usize; 2]) -> Result<()> {
        for gate in [Gate::None, Gate::Gelu] {
            self.forward::<f32>(Signature::CL3, gate, size)?;
        }
        self.forward::<f16>(Signature::CL3, Gate::Gelu, size)?;
        self.forward::<f32>(Signature::CL2, Gate::Gelu, size)?;
        self.backward::<f32>(Signature::CL3, Gate::Gelu, size)?;
        self.backward::<f16>(Signature::CL3, Gate::Gelu, size)?;
        self.norm::<f32>(Signature::CL3, size)?;
        self.norm::<f16>(Signature::CL3, size)?;
        self.fast(Signature::CL3, size)
    }

    /// What the norm behind a product costs.
    fn norm<T: Real>(&self, signature: Signature, size: [usize; 2]) -> Result<()> {
        let (product, [x, y, _], weight) = self.operands::<T>(signature, Gate::Gelu, size)?;
        let bare = Connected::new(product, &x, &y, &weight)?;
        let own = Connected::new(product.norm(GradeNorm::Rms), &x, &y, &weight)?;
        self.variant(&format!("{signature}, rms norm"), "no norm", signature, size, [&own, &bare])
    }

    /// What a product gains that may round operands of f32 to f16.
    fn fast(&self, signature: Signature, size: [usize; 2]) -> Result<()> {
        let (product, [x, y, _], weight) = self.operands::<f32>(signature, Gate::Gelu, size)?;
        let of = |precision| Ok(Connected::new(product, &x, &y, &weight)?.precision(precision));
        let [own, bare] = [of(Precision::Fast)?, of(Precision::Strict)?];
        self.variant(&format!("{signature}, fast"), "strict", signature, size, [&own, &bare])
    }

    /// One form of a product against another.
    fn variant<T: Real>(
        &self,
        form: &str,
        against: &str,
        signature: Signature,
        [rows, features]: [usize; 2],
        forms: [&Connected<'_, T>; 2],
    ) -> Result<()> {
        let [own, bare] = forms.map(|connected| {
            Side::launches(&self.gpu, &connected.plan()?, TOGETHER_AT_MOST, |_| connected.run().map(drop))
        });
        let size = [rows, features, pairs(signature) * features];
        let contest = Contest { case: "connected", form, against, size, types: [T::DTYPE; 2] };
        contest.run(&self.gpu, self.rounds, own?, bare?)
    }

    fn forward<T: Real + Operand<Sum = f32>>(
        &self,
        signature: Signature,
        gate: Gate,
        [rows, features]: [usize; 2],
    ) -> Result<()> {
        let (product, [x, y, _], weight) = self.operands::<T>(signature, gate, [rows, features])?;
        let connected = Connected::new(product, &x, &y, &weight)?;
        let own =
            Side::launches(&self.gpu, &connected.plan()?, TOGETHER_AT_MOST, |_| connected.run().map(drop))?;
        // A product for each grade: as many matrices as blades, summed over as many paths.
        let products: Result<Vec<Products<T>>> = grades(signature)
            .into_iter()
            .map(|[blades, paths]| self.products([blades, 1], [rows, features, paths * features]))
            .collect();
        let form = format!("{signature}, {gate} gate");
        self.contest(&form, signature, [rows, features], own, &products?)
    }

    fn backward<T: Real + Operand<Sum = f32>>(
        &self,
        signature: Signature,
        gate: Gate,
        [rows, features]: [usize; 2],
    ) -> Result<()> {
        let (product, [x, y, g], weight) = self.operands::<T>(signature, gate, [rows, features])?;
        let connected = Connected::new(product, &x, &y, &weight)?;
        let own = Side::launches(&self.gpu, &connected.plan_backward(&g)?, TOGETHER_AT_MOST, |_| {
            connected.backward(&g).map(drop)
        })?;
        // The weight's gradient, a matrix for each path, and what comes back, one for each blade and path.
        let mut products = Vec::new();
        for [blades, paths] in grades(signature) {
            products.push(self.products::<T>([paths, paths], [features, features, blades * rows])?);
            products.push(self.products::<T>([blades * paths, 1], [rows, features, features])?);
        }
        let form = format!("{signature}, {gate} gate, backward");
        self.contest(&form, signature, [rows, features], own, &products)
    }

    fn contest<T: Real + Operand<Sum = f32>>(
        &self,
        form: &str,
        signature: Signature,
        [rows, features]: [usize; 2],
        own: Side<'_>,
        products: &[Products<T>],
    ) -> Result<()> {
        let gpu = &self.gpu;
        let plan = Gemm::new(&products[0].a, &products[0].b).plan()?;
        let bare = Side::launches(gpu, &plan, TOGETHER_AT_MOST, |_| {
            products.iter().try_for_each(|Products { a, b }| Gemm::new(a, b).run().map(drop))
        })?;
        let size = [rows, features, pairs(signature) * features];
        let types = [T::DTYPE; 2];
        let contest = Contest { case: "connected", form, against: "matrix products", size, types };
        contest.run(gpu, self.rounds, own, bare)
    }

    fn products<T: Real>(&self, batches: [usize; 2], [m, n, k]: [usize; 3]) -> Result<Products<T>> {
        Ok(Products {
            a: self.gpu.random([batches[0], m, k], Fill::Uniform, 1)?,
            b: self.gpu.random([batches[1], k, n], Fill::Uniform, 2)?,
        })
    }

    fn operands<T: Real>(
        &self,
        signature: Signature,
        gate: Gate,
        [rows, features]: [usize; 2],
    ) -> Result<(LayerProduct, [Multivectors<T>; 3], Tensor<T>)> {
        let blades = signature.blades();
        let operand = |seed| {
            let tensor = self.gpu.random([blades.len(), rows, features], Fill::Uniform, seed)?;
            Multivectors::new(tensor, &blades, BladeAxis::First)
        };
        let weight = self.gpu.random([signature.paths().len(), features, features], Fill::Uniform, 4)?;
        let product = LayerProduct::new(signature).gate(gate).norm(GradeNorm::None);
        Ok((product, [operand(1)?, operand(2)?, operand(3)?], weight))
    }
}

/// Blades of each grade, and paths into it.
fn grades(signature: Signature) -> Vec<[usize; 2]> {
    let paths = signature.paths();
    let of = |g| {
        let blades = signature.blades().masks().iter().filter(|&&blade| grade(blade) == g).count();
        [blades, paths.iter().filter(|path| path.out == g).count()]
    };
    (0..=signature.dimension()).map(of).collect()
}

/// Pairs of a blade and a path into its grade.
fn pairs(signature: Signature) -> usize {
    grades(signature).into_iter().map(|[blades, paths]| blades * paths).sum()
}
