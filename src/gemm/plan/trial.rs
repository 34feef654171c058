//! How the candidates of a product are tried: the operands, a reference plan, and the bounds of the results.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{
    Accumulator, BiasAxis, Epilogue, GemmKernel, GemmProblem, MAX_F16_PRODUCTS, Numbers, Pin, Scale, SplitK,
};
use crate::layout::{DType, Precision};
use crate::ops::Activation;
use crate::plan::{Plan, Problem, Tolerance, Trial, TrialRun, TrialValues};
use std::fmt;

/// Unit roundoff of an f32 sum, as of `reference::gamma`.
const U: f64 = 1.0 / (1 << 23) as f64;
/// Unit roundoff of an f16 sum.
const U_F16: f64 = 1.0 / (1 << 10) as f64;
/// The largest product of two of the integers.
const LARGEST: u32 = 9;
/// The largest product of two i8.
const LARGEST_I8_PRODUCT: f64 = 16_384.0;
/// Integers up to this are exact in f32.
const EXACT: u32 = 1 << 24;
/// The steepest activation's slope: that of `Hardswish`.
const STEEPEST: f64 = 1.5;
/// The error that activations add to a result, relative and absolute: more than twice 8 ulp.
const OF_ACTIVATION: f64 = 1e-5;
/// A bound of generated entries: normal values are at most 6.34.
const LARGEST_ENTRY: f64 = 6.5;
/// Terms of a sparse sum that are not zero, on average.
const TERMS: f64 = 32.0;
/// The same for a sum of generated entries, which is rounded. No sum has more than twice this number of terms: that would be
/// eight standard deviations.
const ROUNDED_TERMS: u32 = 64;
/// Alpha and beta: products with it are exact.
const NUMBER: f32 = 0.5;

/// How the candidates of a product with a generated operand are tried.
pub(crate) struct GeneratedTrial {
    /// The product, restricted to a simple candidate.
    pub(crate) simple: GemmProblem,
    /// The values of the stored operand in each run, and the largest allowed difference of results.
    pub(crate) runs: Vec<(TrialValues, Tolerance)>,
}

impl GemmProblem {
    /// The trial of a product with stored operands. None for a product with generated operands, which needs their table, and if
    /// no simple kernel computes the product in short launches.
    pub(super) fn stored_trial(&self, caps: &Caps) -> Result<Option<Trial>> {
        if self.generated.is_some() || self.elements() == 0 {
            return Ok(None);
        }
        let Some(reference) = self.simple_plan(caps)? else { return Ok(None) };
        self.trial_against(self.to_string(), reference).map(Some)
    }

    /// The trial of a problem that is this product, with all operands stored, and has another name and another reference, which sums
    /// in f32.
    ///
    /// # Errors
    /// As [`plan`](Problem::plan).
    pub(crate) fn trial_against(&self, description: String, reference: Plan) -> Result<Trial> {
        let numbers = Numbers { alpha: NUMBER, beta: NUMBER, out_scale: NUMBER };
        let (scalars, runs) = (self.numbers(numbers, [7, 0]), self.stored_runs()?);
        Ok(Trial { description, reference, scalars, runs })
    }

    /// The runs, with values for all operands.
    fn stored_runs(&self) -> Result<Vec<TrialRun>> {
        let operands = self.operands()?.len();
        let positive = |tolerance| TrialRun {
            values: vec![TrialValues::Positive; operands],
            tolerances: vec![tolerance],
        };
        if self.types.ab.is_float() {
            Ok(vec![self.exact_run()?, positive(self.stored_tolerance(self.sum_tolerance()))])
        } else {
            // Sums of i8 are exact. An epilogue in f32 may round, which may change the nearest i8 by 1.
            let tolerance = match self.types.c {
                DType::I32 => Tolerance::default(),
                DType::I8 => Tolerance { relative: 0.0, absolute: 1.0 },
                _ => {
                    let rounded = 8.0 * U * LARGEST_I8_PRODUCT * f64::from(self.k());
                    let absolute = OF_ACTIVATION + rounded;
                    self.stored_tolerance(Tolerance { relative: OF_ACTIVATION, absolute })
                }
            };
            Ok(vec![positive(tolerance)])
        }
    }

    /// A run with integers. Their sums are exact in any order, so a lost term cannot be taken for a rounding error.
    fn exact_run(&self) -> Result<TrialRun> {
        let k = self.k();
        let is_linear = matches!(self.epilogue.activation, Activation::None | Activation::Relu);
        // Before an activation, which saturates, sums have few terms. So do sums that would be too large.
        let (values, tolerance) = if is_linear && k < EXACT / LARGEST {
            ([TrialValues::Integers; 2], Tolerance::default())
        } else {
            let rounded = if is_linear { 0.0 } else { OF_ACTIVATION };
            (self.sparse_values(), Tolerance { relative: rounded, absolute: rounded })
        };
        let operand = |at: usize| values.get(at).copied().unwrap_or(TrialValues::Integers);
        let values = (0..self.operands()?.len()).map(operand).collect();
        Ok(TrialRun { values, tolerances: vec![self.stored_tolerance(tolerance)] })
    }

    /// Values of A and B for which few terms of each sum are not zero. Each of the k terms should occur in some sum, so in a
    /// product of a vector and a matrix more elements of the vector are not zero.
    fn sparse_values(&self) -> [TrialValues; 2] {
        let [m, n, k] = [self.m(), self.n(), self.k()].map(f64::from);
        let both = (TERMS / k).min(1.0);
        let of_a = (both * n / m).sqrt().clamp(both, 1.0);
        [of_a, both / of_a].map(|share| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most k")]
            let one_in = (1.0 / share).round() as u32;
            TrialValues::Signs { one_in: one_in.max(1) }
        })
    }

    /// A plan with a simple kernel: one invocation for each element, or the smallest tile if such a sum takes too long for
    /// one launch. None if that takes too long as well.
    fn simple_plan(&self, caps: &Caps) -> Result<Option<Plan>> {
        let strict = self.precision(Precision::Strict).accumulated_in(Accumulator::F32);
        let naive = strict.pinned(Pin::Kernel(GemmKernel::Naive)).split_k(SplitK::Auto);
        let (product, panels) = naive.on_device(caps)?;
        let part = match &panels {
            Some(panels) => product.first_panel(panels)?,
            None => product,
        };
        if !part.is_too_long(part.choose(caps)?, caps) {
            return naive.plan(caps).map(Some);
        }
        if panels.is_some() {
            return Ok(None);
        }
        let simplest = strict.pinned(Pin::Free).split_k(SplitK::Auto).simplest(caps)?;
        simplest.map(|simplest| simplest.plan(caps)).transpose()
    }

    /// The same product restricted to the smallest tile and the fewest splits whose launches are short.
    pub(crate) fn simplest(&self, caps: &Caps) -> Result<Option<Self>> {
        let ranked = self.ranked(caps)?.into_iter().filter(|choice| !self.is_too_long(*choice, caps));
        let simplest = ranked.min_by_key(|(tile, splits)| (tile.tm * tile.tn, *splits));
        Ok(simplest.map(|(tile, splits)| self.pinned(Pin::Tile(*tile)).split_k(SplitK::Splits(splits))))
    }

    /// The same product restricted to a simple candidate, and the runs of its trial: for each run the values of the stored
    /// operand, and the largest allowed difference of results. For a product with one generated operand. None for other
    /// products.
    ///
    /// # Errors
    /// As [`plan`](Problem::plan).
    pub(crate) fn generated_trial(&self, caps: &Caps) -> Result<Option<GeneratedTrial>> {
        if self.generated.is_none() || self.elements() == 0 {
            return Ok(None);
        }
        let Some(simple) = self.simplest(caps)? else { return Ok(None) };
        // A sum of terms that are at most as large as an entry.
        let sum = |terms: u32| Tolerance {
            absolute: 2.0 * gamma(terms) * f64::from(terms) * LARGEST_ENTRY,
            relative: 0.0,
        };
        let k = self.k();
        let (one_in, few) = (k.div_ceil(ROUNDED_TERMS), k.min(2 * ROUNDED_TERMS));
        let runs = vec![(TrialValues::Signs { one_in }, sum(few)), (TrialValues::Signed, sum(k))];
        Ok(Some(GeneratedTrial { simple, runs }))
    }

    /// The largest allowed difference between the sums of a candidate and of the reference. All terms are positive, so the sum is
    /// also the sum of magnitudes. After an activation the sum is not known, so the largest is assumed.
    fn sum_tolerance(&self) -> Tolerance {
        let k = self.k();
        let own = match (self.is_f16_split(), self.precision, self.types.accumulator) {
            (true, Precision::Fast, _) => 2f64.powi(-10) + gamma(k),
            (true, Precision::Split, _) => 2f64.powi(-20) + 1.01 * gamma(k),
            (_, _, Accumulator::F16) => {
                let short = gamma_of(f64::from(k.min(MAX_F16_PRODUCTS)), U_F16);
                short + gamma(k) + short * gamma(k)
            }
            _ => gamma(k),
        };
        let (relative, terms) = (own + gamma(k), f64::from(k) + 3.0);
        // Products that are flushed, and small halves of split operands.
        let flushed = match self.types.accumulator {
            Accumulator::F16 => terms * 2f64.powi(-12),
            Accumulator::F32 => terms * 2f64.powi(-27),
        };
        match self.epilogue.activation {
            Activation::None | Activation::Relu => Tolerance { relative, absolute: flushed },
            _ => Tolerance {
                relative: OF_ACTIVATION,
                absolute: STEEPEST * (relative * terms + flushed) + OF_ACTIVATION,
            },
        }
    }

    /// The same after storing both results in the type of C.
    fn stored_tolerance(&self, Tolerance { relative, absolute }: Tolerance) -> Tolerance {
        let [more, least] = match self.types.c {
            // No product is stored in 8 bits.
            DType::F32 | DType::I8 | DType::I32 | DType::F8E4M3 | DType::F8E5M2 => [0.0, 0.0],
            DType::Bf16 => [2f64.powi(-7), 2f64.powi(-125)],
            DType::F16 => [2f64.powi(-9), 2f64.powi(-13)],
        };
        Tolerance { relative: relative + more, absolute: absolute + least }
    }
}

/// The relative error of a sum of `k` products and the epilogue's few terms in f32.
fn gamma(k: u32) -> f64 {
    gamma_of(f64::from(k) + 4.0, U)
}

fn gamma_of(k: f64, u: f64) -> f64 {
    let ku = k * u;
    if ku < 1.0 { ku / (1.0 - ku) } else { f64::INFINITY }
}

/// `matmul 8 x 256x256x1024 f16 -> f32, alpha, bias, gelu`: the batch, m, n and k, the types, and the epilogue.
impl fmt::Display for GemmProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batches, types) = (self.batches(), &self.types);
        f.write_str("matmul ")?;
        if batches > 1 {
            write!(f, "{batches} x ")?;
        }
        write!(f, "{}x{}x{} {}", self.m(), self.n(), self.k(), types.ab)?;
        if types.c != types.ab {
            write!(f, " -> {}", types.c)?;
        }
        let Epilogue { scale, line_scale, bias, residual, activation, .. } = self.epilogue;
        let is_scaled = |axis| line_scale.axes().contains(&axis);
        let words = [
            (types.accumulator == Accumulator::F16, "sums in f16".to_owned()),
            (types.ab == DType::F32 && self.precision != Precision::Strict, self.precision.to_string()),
            (self.pin != Pin::Free, "pinned".to_owned()),
            (self.split != SplitK::Auto, "splits given".to_owned()),
            (is_scaled(BiasAxis::Rows), "row scale".to_owned()),
            (is_scaled(BiasAxis::Columns), "column scale".to_owned()),
            (scale == Scale::Alpha, "alpha".to_owned()),
            (self.epilogue.adds_previous(), "beta".to_owned()),
            (bias.is_some(), "bias".to_owned()),
            (activation != Activation::None, format!("{activation:?}").to_lowercase()),
            (residual.is_some(), "residual".to_owned()),
            (self.is_requantised(), "requantised".to_owned()),
        ];
        words.iter().filter(|(is_said, _)| *is_said).try_for_each(|(_, word)| write!(f, ", {word}"))
    }
}
