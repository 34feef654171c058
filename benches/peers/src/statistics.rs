//! Medians and ratios of rounds.

use bench::clock::median;
use std::fmt;

/// Seconds of one side, round by round.
pub(crate) type Rounds = Vec<f64>;

/// The peer's time over ours in each round that both ran, above 1 if ours is faster. Rounds differ by more than the sides of one
/// round, so a ratio of medians would say less than the median of these.
pub(crate) fn ratios(peer: &[f64], ours: &[f64]) -> Vec<f64> {
    peer.iter().zip(ours).map(|(peer, ours)| peer / ours).collect()
}

/// A median, and the quartiles around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) quartiles: [f64; 2],
}

impl Spread {
    /// That of some numbers, if there are any. A quartile between two numbers is interpolated.
    pub(crate) fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let last = numbers.len().checked_sub(1)?;
        let at_quarters = |quarters: usize| {
            let (below, rest) = (quarters * last / 4, quarters * last % 4);
            let above = numbers[(below + 1).min(last)];
            numbers[below] + (above - numbers[below]) * rest as f64 / 4.0
        };
        Some(Self { median: at_quarters(2), quartiles: [at_quarters(1), at_quarters(3)] })
    }
}

/// `1.60 (1.55 to 1.66)`: the median and the quartiles.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, quartiles: [low, high] } = self;
        write!(f, "{median:.2} ({low:.2} to {high:.2})")
    }
}

/// The median of some numbers, if there are any.
pub(crate) fn middle(numbers: Vec<f64>) -> Option<f64> {
    if numbers.is_empty() { None } else { Some(median(numbers)) }
}

/// How many products fill `enough` seconds: doubles their number until they do.
pub(crate) fn repetitions<E>(
    enough: f64,
    most: u64,
    mut seconds: impl FnMut(u64) -> Result<f64, E>,
) -> Result<u64, E> {
    let mut count = 1;
    while count < most && seconds(count)? < enough {
        count *= 2;
    }
    Ok(count.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-12)
    }

    #[test]
    fn a_ratio_is_the_median_of_the_ratios_of_rounds() {
        // The machine is three times as slow in the second round: the ratio does not show it.
        let (peer, ours) = ([2.0, 6.0, 3.0], [1.0, 3.0, 1.0]);
        assert!(is(middle(ratios(&peer, &ours)), 2.0));
        assert!(ratios(&[], &ours).is_empty());
    }

    #[test]
    fn rounds_that_only_one_side_ran_do_not_count() {
        assert_eq!(ratios(&[4.0], &[2.0, 100.0]), [2.0]);
    }

    #[test]
    fn the_middle_of_an_even_count_is_between_the_two() {
        assert!(is(middle(vec![3.0, 1.0, 2.0, 10.0]), 2.5));
        assert_eq!(middle(vec![]), None);
    }

    #[test]
    fn a_spread_has_the_quartiles() {
        let spread = Spread::of(vec![4.0, 1.0, 2.0, 3.0, 5.0]);
        assert_eq!(spread, Some(Spread { median: 3.0, quartiles: [2.0, 4.0] }));
        let between = Spread::of(vec![1.0, 3.0]).map(|spread| spread.to_string());
        assert_eq!(between.as_deref(), Some("2.00 (1.50 to 2.50)"));
        let one = Spread::of(vec![1.0]).map(|spread| spread.to_string());
        assert_eq!(one.as_deref(), Some("1.00 (1.00 to 1.00)"));
        assert_eq!(Spread::of(vec![]), None);
    }

    #[test]
    fn repetitions_fill_the_time_and_stop_at_the_limit() {
        let each = |seconds: f64| move |count: u64| Ok::<_, ()>(seconds * count as f64);
        assert_eq!(repetitions(0.01, 1024, each(0.001)), Ok(16));
        assert_eq!(repetitions(0.01, 1024, each(0.02)), Ok(1));
        assert_eq!(repetitions(0.01, 1000, each(1e-9)), Ok(1000));
        assert_eq!(repetitions(0.01, 8, |_| Err("lost")), Err("lost"));
    }
}
