//! Paired measurements: a variant of an operation and its baseline are timed in turn, so that whatever disturbs the
//! machine disturbs both.

use super::Session;
use super::clock::{self, median, repetitions};
use super::peak::Copier;
use serde_json::json;
use tilewise::Operand;
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
    repeated(gpu, (m * k + k * n) * size_of::<T>(), || Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?)))
}

/// Operands of this number of bytes that take turns, too many for any cache.
pub fn repeated<T>(gpu: &Gpu, bytes: usize, operands: impl Fn() -> Result<T>) -> Result<Vec<T>> {
    (0..clock::pair_count(gpu, bytes as u64)).map(|_| operands()).collect()
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
        let count = repetitions(seconds(1)?, ENOUGH).min(together);
        let slowest = plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok(Self { plan: slowest.map(ToString::to_string), time: Box::new(move || seconds(count)) })
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
        // Round by round: rounds differ by more than the two sides of one round.
        let ratio = median(times[0].iter().zip(&times[1]).map(|(own, other)| own / other).collect());
        let [seconds, baseline_seconds] = times.map(median);
        let caps = session.gpu.caps();
        let [m, n, k] = self.size;
        let line = json!({
            "device": caps.adapter,
            "driver": caps.driver,
            "software": session.is_software(),
            "case": self.case,
            "variant": self.variant,
            "baseline": self.baseline,
            "m": m,
            "n": n,
            "k": k,
            "dtype": self.types[0].to_string(),
            "out_dtype": self.types[1].to_string(),
            "rounds": rounds,
            "seconds": seconds,
            "baseline_seconds": baseline_seconds,
            "ratio": ratio,
            "gops": 2.0 * self.size.iter().map(|&extent| extent as f64).product::<f64>() / seconds * 1e-9,
            "plan": variant.plan,
            "baseline_plan": baseline.plan,
        });
        println!("{line}");
        Ok(())
    }
}
