//! Median and spread of some times, and the quarter that nothing has disturbed.

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
        let [first, median, third] = [0.25, 0.5, 0.75].map(|share| quantile(numbers, share));
        Self { median, range: third - first }
    }

    /// The range as a share of the median.
    pub(crate) fn relative(&self) -> f64 {
        self.range / self.median
    }
}

/// The time that the fastest quarter of some rounds takes at most, to be compared with that of another run.
///
/// Other work on a machine makes some rounds longer and none shorter. A median moves as soon as it meets half of the rounds; this
/// quartile moves when it meets three quarters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FastQuarter {
    pub(crate) seconds: f64,
    /// How far that may be from the one of another run in which nothing has changed. None for fewer than five rounds.
    ///
    /// It has two parts, added as squares. The first is the chance in which rounds were measured: half of the distribution-free
    /// interval between the rounds whose ranks are 1.7 standard deviations around that of the quartile. That takes the rounds
    /// for independent. What changes slowly, such as a clock rate, makes them dependent: the second part is the difference
    /// of the quartiles of both halves of the rounds, in the order in which they were measured.
    pub(crate) uncertainty: Option<f64>,
}

impl FastQuarter {
    const SHARE: f64 = 0.25;
    /// As wide as the notches of box plots, which are made for comparing two of them.
    // R. McGill, J. W. Tukey and W. A. Larsen: Variations of Box Plots, The American Statistician 32 (1978), 12-16. The
    // interval: H. A. David and H. N. Nagaraja, Order Statistics (2003), section 7.1.
    const DEVIATIONS: f64 = 1.7;

    /// Of at least one number, in the order in which they were measured.
    pub(crate) fn of(numbers: &[f64]) -> Self {
        let of = |numbers: &[f64]| quantile(numbers, Self::SHARE);
        let count = numbers.len();
        let uncertainty = (count >= FEWEST).then(|| {
            let deviation = (Self::SHARE * (1.0 - Self::SHARE) / count as f64).sqrt();
            let at =
                |deviations: f64| quantile(numbers, (Self::SHARE + deviations * deviation).clamp(0.0, 1.0));
            let by_chance = (at(Self::DEVIATIONS) - at(-Self::DEVIATIONS)) / 2.0;
            let drift = of(&numbers[count - count / 2..]) - of(&numbers[..count / 2]);
            by_chance.hypot(drift)
        });
        Self { seconds: of(numbers), uncertainty }
    }
}

/// The number that this share of some numbers does not exceed: between two of them as far as the share is between their places.
fn quantile(numbers: &[f64], share: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * sorted.len().saturating_sub(1) as f64;
    let from = (0..sorted.len()).rfind(|&at| at as f64 <= place).unwrap_or(0);
    let to = (from + 1).min(sorted.len() - 1);
    sorted[from] + (sorted[to] - sorted[from]) * (place - from as f64)
}
