//! The report of a run: its table, what was left out, how predictions did, and the comparison with a saved run.

use crate::choice::Choice;
use crate::compare::Comparison;
use crate::record::{Row, Run};
use crate::table;
use serde::Serialize;
use std::fmt;

/// What a run ends with.
pub(crate) struct Report {
    pub(crate) run: Run,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) regressions: Regressions,
}

/// What rows that are slower than in the saved run do to the exit status.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Regressions {
    Reported,
    Failing,
}

impl Report {
    /// Whether every result is within its bound, and, where that counts, no row is slower and some were compared.
    pub(crate) fn ok(&self) -> bool {
        let is_fine = |comparison: &Comparison| comparison.says_something() && !comparison.has_regressions();
        self.run.ok()
            && (self.regressions == Regressions::Reported || self.comparison.as_ref().is_none_or(is_fine))
    }
}

/// Plans that were chosen by measured times, or those that were not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plans {
    Tuned,
    Untuned,
}

/// How well times were predicted.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Predictions {
    pub(crate) rows: usize,
    /// The share of the rows whose measured time is within this factor of the predicted one.
    pub(crate) within_2: f64,
    pub(crate) within_1_3: f64,
}

impl Run {
    /// Whether every result is within its bound.
    pub(crate) fn ok(&self) -> bool {
        self.rows.iter().all(|row| row.ok)
    }

    /// How well the times of rows were predicted, of those with tuned plans or of the others. None if there are no such rows.
    pub(crate) fn predictions(&self, plans: Plans) -> Option<Predictions> {
        let is_asked = |row: &&Row| (row.choice == Choice::Tuned) == (plans == Plans::Tuned);
        let ratios: Vec<f64> = self.rows.iter().filter(is_asked).map(Row::over_predicted).collect();
        let within = |factor: f64| {
            let within = ratios.iter().filter(|&&ratio| ratio <= factor && ratio >= 1.0 / factor).count();
            within as f64 / ratios.len() as f64
        };
        let rows = ratios.len();
        (rows > 0).then(|| Predictions { rows, within_2: within(2.0), within_1_3: within(1.3) })
    }

    /// The clocks that timed the rows.
    fn clock(&self) -> &'static str {
        if self.rows.iter().all(|row| row.clock == "gpu") {
            "the device's timestamps"
        } else {
            "the host's clock, as the device has no timestamps"
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = &self.run;
        writeln!(f, "device     {}, {}, {}", run.device, run.backend, run.driver)?;
        writeln!(f, "run        {}, version {}, {}", run.command, run.version, run.date)?;
        writeln!(f, "peaks      {}", run.peak_rates())?;
        let rates = if run.rates_measured { "rates measured in an earlier run" } else { "assumed rates" };
        writeln!(f, "predicted  from {rates} of the device")?;
        let rounds = run.rows.iter().map(|row| row.rounds.len()).max().unwrap_or(0);
        writeln!(
            f,
            "times      medians of {rounds} round{} by {}; spread: interquartile range over the median",
            if rounds == 1 { "" } else { "s" },
            run.clock()
        )?;
        if run.rows.iter().any(|row| row.turns.in_cache) {
            let cache = run.cache_bytes >> 20;
            writeln!(
                f,
                "in cache   the operands that take turns fit in the device's last cache of {cache} MiB"
            )?;
        }
        f.write_str(&table::text(run))?;
        for left in &run.left_out {
            writeln!(f, "left out   {}: {}", left.case, left.why)?;
        }
        for (plans, name) in [(Plans::Untuned, "not tuned"), (Plans::Tuned, "tuned")] {
            let Some(Predictions { rows, within_2, within_1_3 }) = run.predictions(plans) else { continue };
            let [twice, third] = [within_2, within_1_3].map(|share| 100.0 * share);
            writeln!(
                f,
                "predicted  {name}: {twice:.0}% of {rows} rows within a factor of 2, {third:.0}% within 1.3"
            )?;
        }
        if let Some(comparison) = &self.comparison {
            write!(f, "{comparison}")?;
        }
        let wrong = run.rows.iter().filter(|row| !row.ok).count();
        match wrong {
            0 => writeln!(f, "check      ok: every result is within its bound"),
            wrong => writeln!(f, "check      FAILED: {wrong} results exceed their bound"),
        }
    }
}
