//! Paired measurements: a variant of an operation and its baseline are timed in turn, so that whatever disturbs the
//! machine disturbs both.

use super::Session;
use super::peak::Copier;
use super::rows::{PairedRow, Product};
use super::statistics::{median, ratios};
use super::turns::Turns;
use super::{clock, repetitions};
use serde_json::json;
use tilewise::gemm::Operand;
use tilewise::{DType, Fill, Gemm, Gpu, Plan, Result, Tensor};

/// Rounds, in each of which variant and baseline are timed once.
pub const ROUNDS: usize = 15;
/// Operations that are timed together at most: some are several launches each, and all are one submission.
pub const TOGETHER: u64 = 8;
/// Seconds that one timing should take at least.
const ENOUGH: f64 = 0.01;

/// Both operands of a product.
pub type Pair<T> = (Tensor<T>, Tensor<T>);

/// Pairs of operands that take turns, too many for any cache. All hold the same values in different places in memory.
pub fn pairs<T: Operand>(gpu: &Gpu, [m, n, k]: [usize; 3]) -> Result<Vec<Pair<T>>> {
    let (a, b) = (Fill::Uniform.values::<T>(m * k, 1), Fill::Uniform.values::<T>(k * n, 2));
    let turns = Turns::of(gpu, (m * k + k * n) * size_of::<T>());
    turns.sets(|| Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?)))
}

/// A plan's step with the longest predicted time.
pub fn slowest_step(plan: &Plan) -> Option<String> {
    plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)).map(ToString::to_string)
}

/// A variant or a baseline.
pub struct Side<'a> {
    plan: Option<String>,
    /// Seconds of one operation.
    time: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Side<'a> {
    /// Products with these options into one tensor, `together` at most in one timing.
    pub fn product<T: Operand>(
        gpu: &'a Gpu,
        pairs: &'a [Pair<T>],
        together: u64,
        options: impl Fn(Gemm<'a, T>) -> Gemm<'a, T> + 'a,
    ) -> Result<Self> {
        let product = move |at: usize| {
            let (a, b) = &pairs[at % pairs.len()];
            options(Gemm::new(a, b))
        };
        let plan = product(0).plan()?;
        let mut c = gpu.empty([pairs[0].0.shape()[0], pairs[0].1.shape()[1]])?;
        Self::launches(gpu, &plan, together, move |at| product(at).run_into(&mut c))
    }

    /// Operations of this plan; `launch` gets a number that counts up, to take other operands each time.
    pub fn launches(
        gpu: &'a Gpu,
        plan: &Plan,
        together: u64,
        mut launch: impl FnMut(usize) -> Result<()> + 'a,
    ) -> Result<Self> {
        let mut at = 0;
        let mut seconds = move |count: u64| {
            let next = || {
                at += 1;
                launch(at)
            };
            clock::seconds(gpu, count, next).map(|seconds| seconds / count as f64)
        };
        seconds(1)?; // compiles
        let count = repetitions::estimated(seconds(1)?, ENOUGH, together.min(clock::MAX_TOGETHER));
        Ok(Self { plan: slowest_step(plan), time: Box::new(move || seconds(count)) })
    }

    /// A copy that reads this number of bytes and writes them.
    pub fn copy(gpu: &'a Gpu, bytes: usize) -> Self {
        Self::copy_or_compute(gpu, bytes, 0.0)
    }

    /// The lower bound of an operation that moves this number of bytes, reads and writes counted: a copy that moves as
    /// many, or `computing` seconds, whichever is longer.
    pub fn lower_bound(gpu: &'a Gpu, bytes: usize, computing: f64) -> Self {
        Self::copy_or_compute(gpu, bytes / 2, computing)
    }

    fn copy_or_compute(gpu: &'a Gpu, bytes: usize, computing: f64) -> Self {
        // A copy consists of whole workgroups, which only the smallest operands do not fill.
        let copier = Copier::new(gpu, (bytes as u64).next_multiple_of(1024));
        Self { plan: None, time: Box::new(move || Ok(copier.seconds(gpu).max(computing))) }
    }
}

/// What is measured, and against which baseline.
pub struct Paired<'a> {
    /// The name of the case.
    pub case: &'a str,
    /// What is measured.
    pub variant: &'a str,
    /// What it is held against.
    pub baseline: &'a str,
    /// Its sizes: m, n and k of a product.
    pub size: [usize; 3],
    /// The types of operands and result.
    pub types: [DType; 2],
}

impl Paired<'_> {
    /// Times both for [`ROUNDS`] and prints one line.
    pub fn run(&self, session: &Session, variant: Side<'_>, baseline: Side<'_>) -> Result<()> {
        self.run_rounds(session, ROUNDS, variant, baseline)
    }

    /// Times both for this number of rounds and prints one line.
    pub fn run_rounds(
        &self,
        session: &Session,
        rounds: usize,
        mut variant: Side<'_>,
        mut baseline: Side<'_>,
    ) -> Result<()> {
        let rounds = session.rounds(rounds);
        let mut times = [vec![], vec![]];
        for _ in 0..rounds {
            times[0].push((variant.time)()?);
            times[1].push((baseline.time)()?);
        }
        let [own, other] = &times;
        let medians = [own, other, &ratios(own, other)].map(|of| median(of));
        let [Some(seconds), Some(baseline_seconds), Some(ratio)] = medians else { return Ok(()) };
        let caps = session.gpu.caps();
        let ([m, n, k], [dtype, out_dtype]) = (self.size, self.types.map(|dtype| dtype.to_string()));
        let product = Product { m, n, k, dtype, out_dtype };
        let row = PairedRow {
            device: caps.adapter.clone(),
            driver: caps.driver.clone(),
            software: session.is_software(),
            case: self.case.into(),
            variant: self.variant.into(),
            baseline: self.baseline.into(),
            rounds,
            seconds,
            baseline_seconds,
            ratio,
            gops: product.operations() / seconds * 1e-9,
            product,
            plan: variant.plan,
            baseline_plan: baseline.plan,
        };
        println!("{}", json!(row));
        Ok(())
    }
}
