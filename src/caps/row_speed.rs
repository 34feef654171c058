//! The measured speed of a row of cooperative matrices.

use std::fmt;

/// The speed of a row of cooperative matrices on this device, as a multiple of scalar arithmetic. It is measured by the row's
/// self-test with more iterations, against the same multiply-adds without matrices. Below 0.5 the row is slow, and a GPU uses it
/// for pinned kernels only: some drivers list rows that they emulate. Above 0.5, predictions decide, because whole products differ
/// from this small one. Predictions for software devices, which emulate all rows, already take that into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowSpeed {
    /// In units of 1e-6.
    millionths: u64,
}

impl RowSpeed {
    /// This multiple, to three digits. None if it is not a positive number.
    ///
    /// ```
    /// use tilewise::gpu::RowSpeed;
    ///
    /// let emulated = RowSpeed::new(0.000_69).expect("a positive number");
    /// assert_eq!(emulated.to_string(), "0.00069");
    /// assert!(emulated.is_slow());
    /// ```
    #[must_use]
    pub fn new(times: f64) -> Option<Self> {
        let rounded: f64 = format!("{times:.2e}").parse().ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
        let millionths = (rounded * 1e6).round() as u64;
        (rounded > 0.0 && rounded <= MOST).then_some(Self { millionths: millionths.max(1) })
    }

    /// As a number.
    #[must_use]
    pub fn times(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "at most 1e15")]
        let millionths = self.millionths as f64;
        millionths / 1e6
    }

    /// Whether scalar arithmetic is at least twice as fast.
    #[must_use]
    pub fn is_slow(self) -> bool {
        self.millionths < SLOW
    }
}

/// A multiple that no row reaches.
const MOST: f64 = 1e9;
/// A row is slow below this multiple, in units of 1e-6. The margin is larger than the difference between a small test and whole
/// products. For example, matrices of Apple's GPUs run on the units of scalar arithmetic.
const SLOW: u64 = 500_000;

/// `0.85`: a decimal fraction without zeros at its end.
impl fmt::Display for RowSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.millionths / 1_000_000, self.millionths % 1_000_000);
        let part = format!("{part:06}");
        match part.trim_end_matches('0') {
            "" => f.pad(&whole.to_string()),
            part => f.pad(&format!("{whole}.{part}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RowSpeed;

    #[test]
    fn a_speed_is_printed_to_three_digits_and_read_back() {
        for (times, printed) in [
            (1.0, "1"),
            (20.04, "20"),
            (0.8476, "0.848"),
            (0.5, "0.5"),
            (0.499, "0.499"),
            (0.000_694, "0.000694"),
            (3e-9, "0.000001"),
            (1234.5, "1230"),
        ] {
            let speed = RowSpeed::new(times).unwrap();
            assert_eq!(speed.to_string(), printed);
            assert_eq!(printed.parse().ok().and_then(RowSpeed::new), Some(speed));
            assert!((speed.times() - times).abs() <= 0.005 * times + 1e-6, "{times}");
            assert_eq!(speed.is_slow(), times < 0.5, "{times}");
        }
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY, 1e300].into_iter().all(|x| RowSpeed::new(x).is_none()));
    }
}
