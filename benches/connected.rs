//! Fully connected products of Clifford layers and their gradients, each timed in turn with bare matrix products of the
//! same sizes: the difference is the cost of forming an operand while it is staged. Also a norm against no norm, and the
//! fast precision against the strict one. One JSON object per line; the exit status says whether everything ran. `m` and
//! `n` are rows and outputs; `k` is the number of products that are summed for one output, over all blades and paths.
//!
//! - `TILEWISE_SIZES=128` sets inputs and outputs, `TILEWISE_BATCHES=1024` the rows.

use bench::paired::{Paired, Side};
use bench::{ByDevice, Session};
use std::process::ExitCode;
use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Signature, grade};
use tilewise::gemm::Operand;
use tilewise::{Fill, Gemm, Precision, Real, Result, Tensor, f16};

/// Products that are timed together at most: gradients are several launches each, and all are one submission.
const TOGETHER: u64 = 2;
/// Inputs and outputs.
const FEATURES: ByDevice<&[usize]> = ByDevice { software: &[128], gpu: &[512] };
const ROWS: ByDevice<&[usize]> = ByDevice { software: &[1024], gpu: &[8192] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let bench = Bench { session };
        bench.session.for_batches("connected", &FEATURES, &ROWS, |size| bench.all(size))
    })
}

struct Bench {
    session: Session,
}

/// A batch of matrix products, (batch, m, k) times (batch, k, n), or with one B for the whole batch.
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

    /// A product with a norm after it, against none.
    fn norm<T: Real>(&self, signature: Signature, size: [usize; 2]) -> Result<()> {
        let (product, [x, y, _], weight) = self.operands::<T>(signature, Gate::Gelu, size)?;
        let bare = Connected::new(product, &x, &y, &weight)?;
        let own = Connected::new(product.norm(GradeNorm::Rms), &x, &y, &weight)?;
        self.variant(&format!("{signature}, rms norm"), "no norm", signature, size, [&own, &bare])
    }

    /// The precision that may round operands of f32 to f16, against the strict one.
    fn fast(&self, signature: Signature, size: [usize; 2]) -> Result<()> {
        let (product, [x, y, _], weight) = self.operands::<f32>(signature, Gate::Gelu, size)?;
        let of = |precision| Ok(Connected::new(product, &x, &y, &weight)?.precision(precision));
        let [own, bare] = [of(Precision::Fast)?, of(Precision::Strict)?];
        self.variant(&format!("{signature}, fast"), "strict", signature, size, [&own, &bare])
    }

    /// One product against another of the same size.
    fn variant<T: Real>(
        &self,
        variant: &str,
        baseline: &str,
        signature: Signature,
        [rows, features]: [usize; 2],
        products: [&Connected<'_, T>; 2],
    ) -> Result<()> {
        let [own, other] = products.map(|connected| {
            Side::launches(&self.session.gpu, &connected.plan()?, TOGETHER, |_| connected.run().map(drop))
        });
        let size = [rows, features, pairs(signature) * features];
        let paired = Paired { case: "connected", variant, baseline, size, types: [T::DTYPE; 2] };
        paired.run(&self.session, own?, other?)
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
            Side::launches(&self.session.gpu, &connected.plan()?, TOGETHER, |_| connected.run().map(drop))?;
        // One product per grade: a matrix per blade, summed over the paths into the grade.
        let products: Result<Vec<Products<T>>> = grades(signature)
            .into_iter()
            .map(|[blades, paths]| self.products([blades, 1], [rows, features, paths * features]))
            .collect();
        let variant = format!("{signature}, {gate} gate");
        self.compare(&variant, signature, [rows, features], own, &products?)
    }

    fn backward<T: Real + Operand<Sum = f32>>(
        &self,
        signature: Signature,
        gate: Gate,
        [rows, features]: [usize; 2],
    ) -> Result<()> {
        let (product, [x, y, g], weight) = self.operands::<T>(signature, gate, [rows, features])?;
        let connected = Connected::new(product, &x, &y, &weight)?;
        let own = Side::launches(&self.session.gpu, &connected.plan_backward(&g)?, TOGETHER, |_| {
            connected.backward(&g).map(drop)
        })?;
        // The weight's gradient is a matrix per path, the inputs' gradients one per blade and path.
        let mut products = Vec::new();
        for [blades, paths] in grades(signature) {
            products.push(self.products::<T>([paths, paths], [features, features, blades * rows])?);
            products.push(self.products::<T>([blades * paths, 1], [rows, features, features])?);
        }
        let variant = format!("{signature}, {gate} gate, backward");
        self.compare(&variant, signature, [rows, features], own, &products)
    }

    /// A product against the matrix products that it consists of.
    fn compare<T: Real + Operand<Sum = f32>>(
        &self,
        variant: &str,
        signature: Signature,
        [rows, features]: [usize; 2],
        own: Side<'_>,
        products: &[Products<T>],
    ) -> Result<()> {
        let gpu = &self.session.gpu;
        let plan = Gemm::new(&products[0].a, &products[0].b).plan()?;
        let bare = Side::launches(gpu, &plan, TOGETHER, |_| {
            products.iter().try_for_each(|Products { a, b }| Gemm::new(a, b).run().map(drop))
        })?;
        let size = [rows, features, pairs(signature) * features];
        let types = [T::DTYPE; 2];
        let paired = Paired { case: "connected", variant, baseline: "matrix products", size, types };
        paired.run(&self.session, own, bare)
    }

    fn products<T: Real>(&self, batches: [usize; 2], [m, n, k]: [usize; 3]) -> Result<Products<T>> {
        Ok(Products {
            a: self.session.gpu.random([batches[0], m, k], Fill::Uniform, 1)?,
            b: self.session.gpu.random([batches[1], k, n], Fill::Uniform, 2)?,
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
            let tensor = self.session.gpu.random([blades.len(), rows, features], Fill::Uniform, seed)?;
            Multivectors::new(tensor, &blades, BladeAxis::First)
        };
        let weight =
            self.session.gpu.random([signature.paths().len(), features, features], Fill::Uniform, 4)?;
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
