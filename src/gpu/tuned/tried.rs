//! The outcome of tuning one problem: all candidates that were tried, with their times.

use crate::plan::Seconds;
use std::fmt;

/// The outcome of tuning one problem ([`Gpu::tune`](crate::Gpu::tune)). `Display` prints a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tuned {
    /// The problem in a few words, such as `matmul 256x256x256 f32`.
    pub problem: String,
    /// When it was tuned, in seconds since the beginning of 1970.
    pub date: u64,
    /// The candidates. The first is the plan that is predicted to be the fastest.
    pub tried: Vec<Tried>,
    /// The key that distinguishes the problem from others.
    pub(crate) key: String,
}

/// A candidate that was tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// The plan's [signature](crate::Plan::signature).
    pub signature: String,
    /// The predicted time in seconds.
    pub predicted: f64,
    /// The median of the measured times in seconds. None if it was not measured.
    pub measured: Option<f64>,
    /// The difference between the upper and the lower quartile of the measured times, as a share of the median.
    pub spread: f64,
    /// Its outcome.
    pub verdict: TriedVerdict,
}

/// The outcome of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TriedVerdict {
    /// It was the fastest of those with right results.
    Won,
    /// Its results were right.
    Right,
    /// Its results were right. It took three times as long as the fastest one in the first rounds, and was not measured again.
    Slow,
    /// A result was outside its error bound, which is a bug of the driver or of this crate. It cannot win.
    Wrong,
    /// It could not be compiled or run.
    Failed,
    /// The time limit was reached before it was measured, or it was the only candidate.
    Untried,
}

impl TriedVerdict {
    /// All verdicts, and the words for them.
    pub(in crate::gpu) const ALL: [(Self, &'static str); 6] = [
        (Self::Won, "won"),
        (Self::Right, "right"),
        (Self::Slow, "slow"),
        (Self::Wrong, "wrong"),
        (Self::Failed, "failed"),
        (Self::Untried, "untried"),
    ];
}

impl Tuned {
    /// The fastest candidate with right results. None if no candidate was measured.
    #[must_use]
    pub fn winner(&self) -> Option<&Tried> {
        self.tried.iter().find(|tried| tried.verdict == TriedVerdict::Won)
    }

    /// The time of the plan that is predicted to be the fastest, divided by the time of the winner. None if either was
    /// not measured.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        Some(self.tried.first()?.measured? / self.winner()?.measured?)
    }
}

/// ```text
/// matmul 256x256x256 f32, tuned on 2026-11-26
///   won     147.0 us (spread 3 %), predicted 30.0 us: gemm/tiled 32x32x16 (4x4 per invocation) #5b2c0f9d31a8
///   right   180.2 us (spread 1 %), predicted 28.5 us: gemm/tiled 64x64x16 (8x8 per invocation) #0c9e7b6a5d41
///   untried not measured, predicted 95.0 us: gemm/naive 64 elements #91c2ffa0e7b3
/// ```
impl fmt::Display for Tuned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tuned on {}", self.problem, Day(self.date / SECONDS_OF_DAY))?;
        self.tried.iter().try_for_each(|tried| write!(f, "\n  {tried}"))
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7} ", self.verdict)?;
        match self.measured {
            Some(seconds) => write!(f, "{} (spread {:.0} %)", Seconds(seconds), 100.0 * self.spread)?,
            None => f.write_str("not measured")?,
        }
        write!(f, ", predicted {}: {}", Seconds(self.predicted), self.signature)
    }
}

impl fmt::Display for TriedVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Self::ALL.iter().find(|(verdict, _)| verdict == self).map_or("", |(_, word)| word);
        f.pad(word)
    }
}

const SECONDS_OF_DAY: u64 = 24 * 60 * 60;

/// A day, counted from the beginning of 1970. Prints `2026-11-26`.
struct Day(u64);

impl fmt::Display for Day {
    /// By 400 years of 146,097 days, from March on, so that a leap day is the last of its year.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.saturating_add(719_468); // since March 1 of the year 0
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let of_month = of_year - (153 * month + 2) / 5 + 1;
        let (year, month) =
            if month < 10 { (400 * era + year, month + 3) } else { (400 * era + year + 1, month - 9) };
        write!(f, "{year}-{month:02}-{of_month:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn days_have_the_dates_of_the_calendar() {
        for (day, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_783, "2026-11-26"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(Day(day).to_string(), date);
        }
    }
}
