//! Median and spread of some times, and how certain the median is.

/// The median of the rounds, and their interquartile range: half of the rounds are within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) range: f64,
}

/// Rounds below which quartiles say nothing.
pub(crate) const FEWEST: usize = 5;

impl Spread {
    /// Of at least one number.
    pub(crate) fn of(numbers: &[f64]) -> Self {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        // Between two numbers as far as the share is between their places.
        let quantile = |share: f64| {
            let place = share * sorted.len().saturating_sub(1) as f64;
            let from = (0..sorted.len()).rfind(|&at| at as f64 <= place).unwrap_or(0);
            let to = (from + 1).min(sorted.len() - 1);
            sorted[from] + (sorted[to] - sorted[from]) * (place - from as f64)
        };
        Self { median: quantile(0.5), range: quantile(0.75) - quantile(0.25) }
    }

    /// The range as a share of the median.
    pub(crate) fn relative(&self) -> f64 {
        self.range / self.median
    }
}

/// How far the median of these numbers, in the order in which they were measured, may be from that of another run. None for
/// fewer than five.
///
/// It has two parts, added as squares. The first is the chance in which numbers were measured: the notch of a box plot, 1.57
/// interquartile ranges over the root of their count, about 1.7 standard errors of a median. That takes the numbers for
/// independent. What changes slowly, such as the clock rate of a machine, makes them dependent: the second part is the
/// difference of the medians of both halves.
pub(crate) fn uncertainty(numbers: &[f64]) -> Option<f64> {
    // The notch: R. McGill, J. W. Tukey and W. A. Larsen, Variations of Box Plots, The American Statistician 32 (1978), 12-16.
    if numbers.len() < FEWEST {
        return None;
    }
    let notch = 1.57 * Spread::of(numbers).range / (numbers.len() as f64).sqrt();
    let half = numbers.len() / 2;
    let [first, second] =
        [&numbers[..half], &numbers[numbers.len() - half..]].map(|half| Spread::of(half).median);
    Some(notch.hypot(second - first))
}
