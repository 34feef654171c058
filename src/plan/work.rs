//! The work of a step: operations, bytes, and the bottleneck.

use crate::caps::Caps;
use std::fmt;

/// Arithmetic operations, by the unit that computes them. A multiply-add counts as two. For a matrix product only the operations of
/// its definition count: not the padding that blocks compute beyond its edges, not conversions, addresses or the epilogue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Flops {
    /// Operations on cooperative matrices of floats.
    pub matrix: f64,
    /// Operations on f32.
    pub f32: f64,
    /// Operations on f16 outside cooperative matrices.
    pub f16: f64,
    /// Operations on integers outside cooperative matrices: multiply-adds of i8, and the generation of random numbers.
    /// Predictions assume the peak `machine.i8_flops` for both.
    pub integer: f64,
    /// Operations on cooperative matrices of i8.
    pub integer_matrix: f64,
}

/// Integer operations of one call of Philox4x32-10, which returns four words (`shaders/common/philox.wgsl`). The high word of a
/// product with a constant takes 16: 4 products, 3 masks, 5 shifts and 4 sums. A round takes two of these, 2 low products, 4
/// exclusive ors and 2 sums for the key: 40 operations, for ten rounds.
pub(crate) const PHILOX: f64 = 400.0;

/// The bottleneck of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Arithmetic on cooperative matrices.
    Matrix,
    /// Arithmetic outside cooperative matrices.
    Vector,
    /// Bandwidth of device memory, or of the cache that all cores share.
    Memory,
    /// The launch itself, or loads that wait for one another.
    Latency,
}

/// The operations and the memory traffic of a step or of a whole plan.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Work {
    /// Operations.
    pub flops: Flops,
    /// Bytes read; each element counts once. For a step: one entry per binding, in order. For a plan: one sum.
    pub read: Vec<u64>,
    /// Bytes written, counted in the same way.
    pub written: Vec<u64>,
    /// The bottleneck.
    pub bound: Bound,
}

impl Flops {
    /// Operations on f32 and no others.
    pub(crate) fn of_f32(f32: f64) -> Self {
        Self { f32, ..Self::default() }
    }

    /// Operations on integers and no others.
    pub(crate) fn of_integers(integer: f64) -> Self {
        Self { integer, ..Self::default() }
    }

    pub(super) fn part(&self, part: f64) -> Self {
        Self {
            matrix: self.matrix * part,
            f32: self.f32 * part,
            f16: self.f16 * part,
            integer: self.integer * part,
            integer_matrix: self.integer_matrix * part,
        }
    }

    /// The sum over all units.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.matrix + self.f32 + self.f16 + self.integer + self.integer_matrix
    }

    /// The sum of both, unit by unit.
    pub(crate) fn plus(self, other: &Self) -> Self {
        Self {
            matrix: self.matrix + other.matrix,
            f32: self.f32 + other.f32,
            f16: self.f16 + other.f16,
            integer: self.integer + other.integer,
            integer_matrix: self.integer_matrix + other.integer_matrix,
        }
    }

    /// Seconds at the device's peaks: on cooperative matrices, and outside them.
    fn seconds(&self, caps: &Caps) -> [f64; 2] {
        let at = |flops: f64, peak: f64| if flops > 0.0 { flops / peak } else { 0.0 };
        let machine = &caps.machine;
        let vector = at(self.f32, machine.f32_flops) + at(self.f16, machine.f16_flops);
        let matrix = at(self.matrix, machine.matrix_flops) + at(self.integer_matrix, machine.i8_matrix_flops);
        [matrix, vector + at(self.integer, machine.i8_flops)]
    }
}

/// The predicted time of a step and the term that determines it. A coarse model, not a promise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) seconds: f64,
    pub(crate) bound: Bound,
}

impl Prediction {
    /// The longest of several terms that overlap in time.
    pub(crate) fn longest(terms: &[(f64, Bound)]) -> Self {
        let none = Self { seconds: 0.0, bound: Bound::Latency };
        terms.iter().fold(
            none,
            |longest, &(seconds, bound)| {
                if seconds > longest.seconds { Self { seconds, bound } } else { longest }
            },
        )
    }

    /// The roofline model: the longer of two times, arithmetic at its peak and bytes at theirs.
    pub(super) fn roofline(flops: &Flops, bytes: u64, caps: &Caps) -> Self {
        let [matrix, vector] = flops.seconds(caps);
        let memory = bytes as f64 / caps.machine.memory_bandwidth;
        Self::longest(&[(memory, Bound::Memory), (vector, Bound::Vector), (matrix, Bound::Matrix)])
    }

    /// The bottleneck on this device: the launch itself if the prediction is shorter than one launch.
    pub(super) fn bound_on(&self, caps: &Caps) -> Bound {
        if self.seconds < caps.machine.launch_seconds { Bound::Latency } else { self.bound }
    }
}

impl Work {
    /// Bytes read plus bytes written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.iter().chain(&self.written).sum()
    }

    /// The share of the workgroups `first..end` out of `all`.
    pub(super) fn of_blocks(&self, [first, end, all]: [u64; 3]) -> Self {
        let up_to = |bytes: u64, block: u64| u128::from(bytes) * u128::from(block) / u128::from(all);
        let part = |bytes: &Vec<u64>| -> Vec<u64> {
            let of =
                |&bytes: &u64| u64::try_from(up_to(bytes, end) - up_to(bytes, first)).unwrap_or(u64::MAX);
            bytes.iter().map(of).collect()
        };
        let flops = self.flops.part((end - first) as f64 / all as f64);
        Self { flops, read: part(&self.read), written: part(&self.written), bound: self.bound }
    }

    /// The work of several steps, given with their seconds. The bottleneck is that of the longest step.
    pub(super) fn sum<'a>(steps: impl Iterator<Item = (&'a Self, f64)>) -> Self {
        let mut all =
            Self { flops: Flops::default(), read: vec![0], written: vec![0], bound: Bound::Latency };
        let mut longest = 0.0;
        for (work, seconds) in steps {
            all.flops = all.flops.plus(&work.flops);
            all.read[0] += work.read.iter().sum::<u64>();
            all.written[0] += work.written.iter().sum::<u64>();
            if seconds > longest {
                (longest, all.bound) = (seconds, work.bound);
            }
        }
        all
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Matrix => "matrix units",
            Self::Vector => "arithmetic",
            Self::Memory => "memory",
            Self::Latency => "latency",
        })
    }
}

/// `33.6 MFLOP, 1.57 MB read, 524 kB written, bound by memory`.
impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.flops.sum() > 0.0 {
            write!(f, "{}, ", self.flops)?;
        }
        let [read, written] = [&self.read, &self.written].map(|bytes| bytes.iter().sum::<u64>() as f64);
        write!(f, "{} read, {} written, bound by {}", Amount(read, "B"), Amount(written, "B"), self.bound)
    }
}

/// `33.6 MFLOP, 1.05 Mop on integers`.
impl fmt::Display for Flops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let floating = self.matrix + self.f32 + self.f16;
        let integers = self.integer + self.integer_matrix;
        if integers == 0.0 {
            return write!(f, "{}", Amount(floating, "FLOP"));
        }
        if floating > 0.0 {
            write!(f, "{}, ", Amount(floating, "FLOP"))?;
        }
        write!(f, "{} on integers", Amount(integers, "op"))
    }
}

/// An amount with three significant digits and an SI prefix.
pub(super) struct Amount(pub(super) f64, pub(super) &'static str);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(amount, unit) = *self;
        let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
        let (scale, prefix) = prefixes.into_iter().find(|&(scale, _)| amount >= scale).unwrap_or((1.0, ""));
        let scaled = amount / scale;
        let decimals = match scaled {
            _ if prefix.is_empty() => 0,
            x if x < 10.0 => 2,
            x if x < 100.0 => 1,
            _ => 0,
        };
        write!(f, "{scaled:.decimals$} {prefix}{unit}")
    }
}

/// A time in microseconds, milliseconds or seconds.
pub(crate) struct Seconds(pub(crate) f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s < 1e-3 => write!(f, "{:.1} us", s * 1e6),
            s if s < 1.0 => write!(f, "{:.2} ms", s * 1e3),
            s => write!(f, "{s:.2} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits() {
        for (amount, text) in
            [(0.0, "0 B"), (999.0, "999 B"), (1024.0, "1.02 kB"), (5.24e5, "524 kB"), (3.36e7, "33.6 MB")]
        {
            assert_eq!(Amount(amount, "B").to_string(), text);
        }
    }

    #[test]
    fn the_longest_term_binds_unless_a_launch_takes_longer() {
        let caps = crate::caps::fixtures::h200();
        let all = |matrix, vector, memory| {
            Prediction::longest(&[(matrix, Bound::Matrix), (vector, Bound::Vector), (memory, Bound::Memory)])
        };
        for (prediction, seconds, bound) in [
            (all(3.0, 2.0, 1.0), 3.0, Bound::Matrix),
            (all(0.0, 2.0, 1.0), 2.0, Bound::Vector),
            (all(0.0, 0.0, 1.0), 1.0, Bound::Memory),
            (all(0.0, 0.0, 1e-6), 1e-6, Bound::Latency),
            (all(0.0, 0.0, 0.0), 0.0, Bound::Latency),
        ] {
            assert_eq!((prediction.seconds, prediction.bound_on(&caps)), (seconds, bound), "{prediction:?}");
        }
    }
}
