//! The report of a run: its table, what was left out, how predictions did, and the comparison with a saved run.

use crate::compare::Comparison;
use crate::record::Run;
use crate::table;
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
    /// Whether every result is within its bound, and no row is slower where that counts.
    pub(crate) fn ok(&self) -> bool {
        let slower = self.comparison.as_ref().is_some_and(Comparison::has_regressions);
        self.run.ok() && !(slower && self.regressions == Regressions::Failing)
    }
}

impl Run {
    /// Whether every result is within its bound.
    pub(crate) fn ok(&self) -> bool {
        self.rows.iter().all(|row| row.ok)
    }

    /// The share of the rows whose measured time is within this factor of the predicted one.
    pub(crate) fn predicted_within(&self, factor: f64) -> f64 {
        let is_within = |ratio: f64| ratio <= factor && ratio >= 1.0 / factor;
        let within = self.rows.iter().filter(|row| is_within(row.over_predicted())).count();
        within as f64 / self.rows.len().max(1) as f64
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
        writeln!(f, "peaks      {}", run.peaks)?;
        let rounds = run.rows.iter().map(|row| row.rounds.len()).max().unwrap_or(0);
        writeln!(
            f,
            "times      medians of {rounds} round{} by {}; spread: interquartile range over the median",
            if rounds == 1 { "" } else { "s" },
            run.clock()
        )?;
        table::write(f, run)?;
        for left in &run.left_out {
            writeln!(f, "left out   {}: {}", left.case, left.why)?;
        }
        let [twice, third] = [2.0, 1.3].map(|factor| 100.0 * run.predicted_within(factor));
        writeln!(
            f,
            "predicted  {twice:.0}% of {} rows within a factor of 2, {third:.0}% within 1.3",
            run.rows.len()
        )?;
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
