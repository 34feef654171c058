//! Median and spread of some times.

/// The median of the rounds, and their interquartile range: half of the rounds are within it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) range: f64,
}

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
