//! Report on the sketch of a weight.

use crate::Init;
use serde_json::{Value, json};
use std::fmt;
use support::significant;
use tilewise::reference::store_tolerance;
use tilewise::sketch::RankRecommendation;
use tilewise::{DType, Plan};

/// Largest error of a fit over the least possible.
const MAX_OVER_LEAST: f64 = 1.02;
/// Allowance for rounding.
const ROUNDING: f64 = 1e-6;

/// Sizes, errors and times of a sketched layer.
pub(crate) struct Report {
    pub(crate) name: String,
    pub(crate) device: String,
    pub(crate) dtype: DType,
    pub(crate) features: [usize; 2],
    pub(crate) terms: usize,
    pub(crate) rank: usize,
    pub(crate) init: Init,
    pub(crate) advice: Option<RankRecommendation>,
    pub(crate) batch: usize,
    pub(crate) params: usize,
    pub(crate) dense_params: usize,
    pub(crate) bytes: usize,
    pub(crate) weight_rel_error: f64,
    pub(crate) output_rel_error: f64,
    pub(crate) optimal_weight_rel_error: f64,
    pub(crate) dense_seconds: f64,
    pub(crate) sketched_seconds: f64,
    pub(crate) plans: Vec<Plan>,
    pub(crate) losses: Vec<f64>,
    pub(crate) bound_ratio: f64,
}

impl Report {
    pub(crate) fn ok(&self) -> bool {
        // Only a fit without training is compared with the least possible error.
        let fitted = self.init == Init::Fit && self.losses.is_empty();
        let rounding = store_tolerance(1.0, self.dtype) + ROUNDING;
        let near =
            !fitted || self.weight_rel_error <= MAX_OVER_LEAST * self.optimal_weight_rel_error + rounding;
        let learnt = match &self.losses[..] {
            [first, .., last] => *last <= 1.02 * first,
            _ => true,
        };
        near && learnt && self.bound_ratio <= 1.0
    }

    /// Floating-point operations of the layer.
    fn flops(&self) -> usize {
        2 * self.batch * self.params
    }

    fn speedup(&self) -> f64 {
        if self.sketched_seconds > 0.0 { self.dense_seconds / self.sketched_seconds } else { 0.0 }
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "tensor": self.name,
            "device": self.device,
            "dtype": self.dtype.to_string(),
            "inputs": self.features[0],
            "outputs": self.features[1],
            "batch": self.batch,
            "terms": self.terms,
            "rank": self.rank,
            "params": self.params,
            "dense_params": self.dense_params,
            "flops": self.flops(),
            "bytes": self.bytes,
            "weight_rel_error": self.weight_rel_error,
            "output_rel_error": self.output_rel_error,
            "optimal_weight_rel_error": self.optimal_weight_rel_error,
            "dense_seconds": self.dense_seconds,
            "sketched_seconds": self.sketched_seconds,
            "speedup": self.speedup(),
            "plans": self.plans.iter().map(Plan::to_string).collect::<Vec<_>>(),
            "losses": self.losses,
            "bound_ratio": self.bound_ratio,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [inputs, outputs] = self.features;
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "weight     {}, {outputs} x {inputs}, {}", self.name, self.dtype)?;
        if let Some(advice) = &self.advice {
            writeln!(f, "advice     {}", advice.to_string().trim_end().replace('\n', "\n           "))?;
        }
        let share = 100.0 * self.params as f64 / self.dense_params as f64;
        writeln!(
            f,
            "layer      terms {}, rank {}: {} parameters, {share:.1} % of {}",
            self.terms, self.rank, self.params, self.dense_params
        )?;
        let [weight, least, output] =
            [self.weight_rel_error, self.optimal_weight_rel_error, self.output_rel_error].map(significant);
        writeln!(f, "weight     relative error {weight}, least possible {least}")?;
        writeln!(f, "outputs    relative error {output}, for {} rows of random activations", self.batch)?;
        for (step, loss) in self.losses.iter().enumerate() {
            let last = step + 1 == self.losses.len();
            if last || step % self.losses.len().div_ceil(8) == 0 {
                writeln!(f, "  step {step:>5}  loss {}", significant(*loss))?;
            }
        }
        let [dense, own] =
            [self.dense_seconds, self.sketched_seconds].map(|seconds| significant(seconds * 1e3));
        writeln!(f, "time       {own} ms, dense {dense} ms: {} times as fast", significant(self.speedup()))?;
        for plan in self.plans.iter().map(Plan::to_string) {
            writeln!(f, "  {}", plan.lines().next().unwrap_or_default())?;
        }
        let verdict = if self.ok() { "ok" } else { "FAILED" };
        writeln!(
            f,
            "check      {verdict} (largest error of an output {} of its bound, against f64)",
            significant(self.bound_ratio)
        )
    }
}
