//! Two forms of a product, or a product and something else, against each other: turn by turn, so that what disturbs the
//! machine disturbs both.

use super::{median, products};
use serde_json::json;
use tilewise::Operand;
use tilewise::{DType, Fill, Gemm, Gpu, Plan, Result, Tensor};

/// Seconds that a turn of products should take at least.
const ENOUGH: f64 = 0.01;
/// Products in a turn at most: some forms take several launches each, and a turn is one submission.
pub(crate) const TOGETHER: u64 = 8;

/// Both operands of a product.
pub(crate) type Pair<T> = (Tensor<T>, Tensor<T>);

/// Pairs of operands that take turns, as many as no cache holds. All hold the same values: it is the places in memory
/// that differ.
pub(crate) fn pairs<T: Operand>(gpu: &Gpu, [m, n, k]: [usize; 3]) -> Result<Vec<Pair<T>>> {
    let (a, b) = (Fill::Uniform.values::<T>(m * k, 1), Fill::Uniform.values::<T>(k * n, 2));
    let bytes = ((m * k + k * n) * size_of::<T>()) as u64;
    (0..super::pairs(gpu, bytes)).map(|_| Ok((gpu.tensor(&a, [m, k])?, gpu.tensor(&b, [k, n])?))).collect()
}

/// One side of a contest.
pub(crate) struct Side<'a> {
    plan: Option<String>,
    /// Takes a turn: seconds of one product.
    turn: Box<dyn FnMut() -> Result<f64> + 'a>,
}

impl<'a> Side<'a> {
    /// Products with these options, into one tensor; so many in a turn at most.
    pub(crate) fn product<T: Operand>(
        gpu: &'a Gpu,
        pairs: &'a [Pair<T>],
        at_most: u64,
        options: impl Fn(Gemm<'a, T>) -> Gemm<'a, T> + 'a,
    ) -> Result<Self> {
        let product = move |at: usize| {
            let (a, b) = &pairs[at % pairs.len()];
            options(Gemm::new(a, b))
        };
        let plan = product(0).plan()?;
        let mut c = gpu.empty([pairs[0].0.shape()[0], pairs[0].1.shape()[1]])?;
        Self::launches(gpu, &plan, at_most, move |at| product(at).run_into(&mut c))
    }

    /// What is launched on the operands whose turn it is, planned like this.
    pub(crate) fn launches(
        gpu: &'a Gpu,
        plan: &Plan,
        at_most: u64,
        mut launch: impl FnMut(usize) -> Result<()> + 'a,
    ) -> Result<Self> {
        let mut at = 0;
        let mut seconds = move |products: u64| {
            let next = || {
                at += 1;
                launch(at)
            };
            super::seconds(gpu, products, next).map(|seconds| seconds / products as f64)
        };
        seconds(1)?; // compiles
        let together = products(seconds(1)?, ENOUGH).min(at_most);
        let plan =
            plan.steps().iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)).map(ToString::to_string);
        Ok(Self { plan, turn: Box::new(move || seconds(together)) })
    }

    /// What is no product, and tells its seconds.
    pub(crate) fn other(mut seconds: impl FnMut() -> f64 + 'a) -> Self {
        Self { plan: None, turn: Box::new(move || Ok(seconds())) }
    }
}

/// What is measured, and against what.
pub(crate) struct Contest<'a> {
    pub(crate) case: &'a str,
    pub(crate) form: &'a str,
    pub(crate) against: &'a str,
    pub(crate) size: [usize; 3],
    pub(crate) types: [DType; 2],
}

impl Contest<'_> {
    /// So many rounds, and one line of what came of them.
    pub(crate) fn run(&self, gpu: &Gpu, rounds: usize, mut own: Side<'_>, mut other: Side<'_>) -> Result<()> {
        let mut times = [vec![], vec![]];
        for _ in 0..rounds {
            times[0].push((own.turn)()?);
            times[1].push((other.turn)()?);
        }
        // Round by round, as rounds differ by more than the two sides in one.
        let ratio = median(times[0].iter().zip(&times[1]).map(|(own, other)| own / other).collect());
        let [seconds, seconds_against] = times.map(median);
        let [m, n, k] = self.size;
        let line = json!({
            "device": gpu.caps().adapter,
            "driver": gpu.caps().driver,
            "software": super::is_software(gpu),
            "case": self.case,
            "form": self.form,
            "against": self.against,
            "m": m,
            "n": n,
            "k": k,
            "dtype": self.types[0].to_string(),
            "out_dtype": self.types[1].to_string(),
            "rounds": rounds,
            "seconds": seconds,
            "seconds_against": seconds_against,
            "ratio": ratio,
            "gops": 2.0 * self.size.iter().map(|&extent| extent as f64).product::<f64>() / seconds * 1e-9,
            "plan": own.plan,
            "plan_against": other.plan,
        });
        println!("{line}");
        Ok(())
    }
}
