//! Statistics of rounds: medians, quartiles, ratios, and the quarter that nothing has disturbed.

use std::fmt;

/// Rounds below which quartiles say nothing.
pub const FEWEST: usize = 5;

/// The median of some numbers, if there are any.
pub fn median(numbers: &[f64]) -> Option<f64> {
    Spread::of(numbers).map(|spread| spread.median)
}

/// The ratio of two sides in each round that both ran. Rounds differ by more than the sides of one round, so a ratio of medians
/// would say less than the median of these.
pub fn ratios(of: &[f64], to: &[f64]) -> Vec<f64> {
    of.iter().zip(to).map(|(of, to)| of / to).collect()
}

/// How some numbers are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub least: f64,
    pub median: f64,
    pub most: f64,
    /// The quartiles: half of the numbers are between them.
    pub quartiles: [f64; 2],
}

impl Spread {
    /// That of some numbers, if there are any.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let sorted = sorted(numbers);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let [first, median, third] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        Some(Self { least, median, most, quartiles: [first, third] })
    }

    /// The distance of the quartiles.
    pub fn range(&self) -> f64 {
        self.quartiles[1] - self.quartiles[0]
    }
}

/// `1.60 (1.55 to 1.66)`: the median and the quartiles.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, quartiles: [low, high], .. } = self;
        write!(f, "{median:.2} ({low:.2} to {high:.2})")
    }
}

/// The time that the fastest quarter of some rounds takes at most, to be compared with that of another run.
///
/// Other work on a machine makes some rounds longer and none shorter. A median moves as soon as it meets half of the rounds; this
/// quartile moves when it meets three quarters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastQuarter {
    pub seconds: f64,
    /// How far that may be from the one of another run in which nothing has changed. None for fewer than five rounds.
    ///
    /// It has two parts, added as squares. The first is the chance in which rounds were measured: half of the distribution-free
    /// interval between the rounds whose ranks are 1.7 standard deviations around that of the quartile. That takes the rounds
    /// for independent. What changes slowly, such as a clock rate, makes them dependent: the second part is the difference
    /// of the quartiles of both halves of the rounds, in the order in which they were measured.
    pub uncertainty: Option<f64>,
}

impl FastQuarter {
    const SHARE: f64 = 0.25;
    /// As wide as the notches of box plots, which are made for comparing two of them.
    // R. McGill, J. W. Tukey and W. A. Larsen: Variations of Box Plots, The American Statistician 32 (1978), 12-16. The
    // interval: H. A. David and H. N. Nagaraja, Order Statistics (2003), section 7.1.
    const DEVIATIONS: f64 = 1.7;

    /// Of some numbers in the order in which they were measured, if there are any.
    pub fn of(numbers: &[f64]) -> Option<Self> {
        let Spread { quartiles: [seconds, _], .. } = Spread::of(numbers)?;
        let count = numbers.len();
        let uncertainty = (count >= FEWEST).then(|| {
            let deviation = (Self::SHARE * (1.0 - Self::SHARE) / count as f64).sqrt();
            let ranked = sorted(numbers);
            let at =
                |deviations: f64| quantile(&ranked, (Self::SHARE + deviations * deviation).clamp(0.0, 1.0));
            let by_chance = (at(Self::DEVIATIONS) - at(-Self::DEVIATIONS)) / 2.0;
            let of = |part: &[f64]| quantile(&sorted(part), Self::SHARE);
            by_chance.hypot(of(&numbers[count - count / 2..]) - of(&numbers[..count / 2]))
        });
        Some(Self { seconds, uncertainty })
    }
}

fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The number that this share of sorted numbers does not exceed: between two of them as far as the share is between their places.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = share * last as f64;
    let from = (0..=last).rfind(|&at| at as f64 <= place).unwrap_or(0);
    let to = (from + 1).min(last);
    sorted[from] + (sorted[to] - sorted[from]) * (place - from as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_the_ratios_of_rounds() {
        // The machine is three times as slow in the second round: the ratio does not show it.
        let (peer, ours) = ([2.0, 6.0, 3.0], [1.0, 3.0, 1.0]);
        assert_eq!(median(&ratios(&peer, &ours)), Some(2.0));
        assert!(ratios(&[], &ours).is_empty());
    }

    #[test]
    fn rounds_that_only_one_side_ran_do_not_count() {
        assert_eq!(ratios(&[4.0], &[2.0, 100.0]), [2.0]);
    }

    #[test]
    fn the_median_of_an_even_count_is_between_the_two() {
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn a_spread_has_the_quartiles() {
        let spread = Spread { least: 1.0, median: 3.0, most: 5.0, quartiles: [2.0, 4.0] };
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0, 5.0]), Some(spread));
        assert!((spread.range() - 2.0).abs() < 1e-12);
        let text = |numbers: &[f64]| Spread::of(numbers).map(|spread| spread.to_string());
        assert_eq!(text(&[1.0, 3.0]).as_deref(), Some("2.00 (1.50 to 2.50)"));
        assert_eq!(text(&[1.0]).as_deref(), Some("1.00 (1.00 to 1.00)"));
        assert_eq!(text(&[]), None);
    }

    #[test]
    fn what_disturbs_half_of_the_rounds_does_not_move_the_fast_quarter() {
        let quiet = FastQuarter::of(&[1.0; 8]);
        assert_eq!(quiet, Some(FastQuarter { seconds: 1.0, uncertainty: Some(0.0) }));
        let disturbed = FastQuarter::of(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
        assert_eq!(disturbed.map(|quarter| quarter.seconds), Some(1.0));
        // A clock rate that changes in the middle of the rounds.
        let drift = FastQuarter::of(&[1.0, 1.0, 1.0, 1.5, 1.5, 1.5]).and_then(|quarter| quarter.uncertainty);
        assert!(drift.is_some_and(|uncertainty| uncertainty >= 0.5), "{drift:?}");
        assert_eq!(FastQuarter::of(&[1.0; 4]).map(|quarter| quarter.uncertainty), Some(None));
    }
}
