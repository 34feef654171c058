//! How many operations fill a time, so that a clock's resolution and what begins a measurement do not show in it.

/// How many operations of `once` seconds each fill `enough` seconds, and `most` at most.
pub fn estimated(once: f64, enough: f64, most: u64) -> u64 {
    (1..most).find(|&count| count as f64 * once >= enough).unwrap_or(most)
}

/// How many operations fill `enough` seconds by the host's clock, where one alone says little: doubles their number until they
/// do. `seconds` runs a number of them.
pub fn doubled<E>(enough: f64, most: u64, mut seconds: impl FnMut(u64) -> Result<f64, E>) -> Result<u64, E> {
    let mut count = 1;
    while count < most && seconds(count)? < enough {
        count *= 2;
    }
    Ok(count.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_fill_the_time_and_stop_at_the_limit() {
        assert_eq!(
            [(0.004, 31), (0.02, 31), (1e-9, 31)].map(|(once, most)| estimated(once, 0.01, most)),
            [3, 1, 31]
        );
        let each = |seconds: f64| move |count: u64| Ok::<_, ()>(seconds * count as f64);
        assert_eq!(doubled(0.01, 1024, each(0.001)), Ok(16));
        assert_eq!(doubled(0.01, 1024, each(0.02)), Ok(1));
        assert_eq!(doubled(0.01, 1000, each(1e-9)), Ok(1000));
        assert_eq!(doubled(0.01, 8, |_| Err("lost")), Err("lost"));
    }
}
