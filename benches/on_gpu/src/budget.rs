//! The time that a section may take: its own limit, or its share of what is left of the whole run's time.

use crate::section::Section;
use std::time::{Duration, Instant};

/// The time of a run.
pub(crate) struct Budget {
    /// What each section may take.
    limit: Duration,
    /// When the run has to end, if its time is limited.
    deadline: Option<Instant>,
}

impl Budget {
    /// `limit` for each section, and `total` for all of them together.
    pub(crate) fn begin(limit: Duration, total: Option<Duration>) -> Self {
        Self { limit, deadline: total.map(|total| Instant::now() + total) }
    }

    /// Whether the run as a whole has to end in time: a section that is stopped then has done what it could.
    pub(crate) fn is_limited(&self) -> bool {
        self.deadline.is_some()
    }

    /// What the first of these sections may take if the others are to run too. What it leaves goes to them.
    pub(crate) fn of_first(&self, to_come: &[Section]) -> Duration {
        match self.deadline {
            None => self.limit,
            Some(deadline) => {
                share(deadline.saturating_duration_since(Instant::now()), to_come).min(self.limit)
            }
        }
    }
}

/// The first section's share of `left`.
fn share(left: Duration, to_come: &[Section]) -> Duration {
    let all: u32 = to_come.iter().map(|section| section.share()).sum();
    to_come.first().map_or(left, |first| left * first.share() / all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    const NINE_MINUTES: Duration = Duration::from_secs(540);

    #[test]
    fn the_time_is_shared_and_what_is_left_goes_to_those_that_come() {
        let all = Section::value_variants();
        let (first, rest) = (share(NINE_MINUTES, all), &all[1..]);
        assert!(first > Duration::from_secs(5) && first < Duration::from_secs(15), "{first:?}");
        assert!(share(NINE_MINUTES, rest) > share(NINE_MINUTES - first, rest));
        assert_eq!(share(NINE_MINUTES, &[Section::Checked]), NINE_MINUTES);
        let mut left = NINE_MINUTES;
        for at in 0..all.len() {
            left -= share(left, &all[at..]);
        }
        assert_eq!(left, Duration::ZERO);
    }

    #[test]
    fn a_run_without_a_limit_has_that_of_each_section() {
        let (limit, all) = (Duration::from_secs(480), Section::value_variants());
        assert_eq!(Budget::begin(limit, None).of_first(all), limit);
        let over = Budget::begin(limit, Some(Duration::ZERO));
        assert!(over.is_limited() && over.of_first(all).is_zero());
    }
}
