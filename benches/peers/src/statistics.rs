//! Medians and ratios of rounds.

use crate::clock::median;

/// Seconds of one side, round by round.
pub(crate) type Rounds = Vec<f64>;

/// The median over the rounds of the peer's time over ours, above 1 if ours is faster. Rounds differ by more than the
/// sides of one round, so it is not the ratio of the medians.
pub(crate) fn ratio(peer: &[f64], ours: &[f64]) -> Option<f64> {
    middle(peer.iter().zip(ours).map(|(peer, ours)| peer / ours).collect())
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
        assert!(is(ratio(&peer, &ours), 2.0));
        assert_eq!(ratio(&[], &ours), None);
    }

    #[test]
    fn rounds_that_only_one_side_ran_do_not_count() {
        assert!(is(ratio(&[4.0], &[2.0, 100.0]), 2.0));
    }

    #[test]
    fn the_middle_of_an_even_count_is_between_the_two() {
        assert!(is(middle(vec![3.0, 1.0, 2.0, 10.0]), 2.5));
        assert_eq!(middle(vec![]), None);
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
