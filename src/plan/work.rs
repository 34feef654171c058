//! What a step computes and moves, and what it waits for.

use crate::gpu::Caps;
use std::fmt;

/// Operations by the unit that computes them: a multiply-add counts two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Flops {
    /// On cooperative matrices.
    pub matrix: f64,
    /// On f32.
    pub f32: f64,
    /// On f16, outside cooperative matrices.
    pub f16: f64,
    /// On integers.
    pub integer: f64,
}

/// What binds a step: what it would still wait for if all else took no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Cooperative matrices.
    Matrix,
    /// Arithmetic outside of them.
    Vector,
    /// Device memory.
    Memory,
    /// None of these: the launch itself, and loads that wait for each other.
    Latency,
}

/// What a step, or a whole plan, computes and moves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Work {
    /// Operations.
    pub flops: Flops,
    /// Bytes of what is bound for reading, each element once: of a step by argument, in order; of a plan one sum.
    pub read: Vec<u64>,
    /// The same of what is bound for writing.
    pub written: Vec<u64>,
    /// What binds it.
    pub bound: Bound,
}

impl Flops {
    /// Operations on f32 alone.
    pub(crate) fn of_f32(f32: f64) -> Self {
        Self { f32, ..Self::default() }
    }

    fn part(&self, part: f64) -> Self {
        Self {
            matrix: self.matrix * part,
            f32: self.f32 * part,
            f16: self.f16 * part,
            integer: self.integer * part,
        }
    }

    /// All of them.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.matrix + self.f32 + self.f16 + self.integer
    }

    fn plus(self, other: &Self) -> Self {
        Self {
            matrix: self.matrix + other.matrix,
            f32: self.f32 + other.f32,
            f16: self.f16 + other.f16,
            integer: self.integer + other.integer,
        }
    }

    /// Seconds on cooperative matrices, and outside of them, at the device's peaks.
    fn seconds(&self, caps: &Caps) -> [f64; 2] {
        let at = |flops: f64, peak: f64| if flops > 0.0 { flops / peak } else { 0.0 };
        let machine = &caps.machine;
        let vector = at(self.f32, machine.f32_flops) + at(self.f16, machine.f16_flops);
        [at(self.matrix, machine.matrix_flops), vector + at(self.integer, machine.f32_flops)]
    }
}

impl Work {
    /// Bytes that are read and written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.iter().chain(&self.written).sum()
    }

    /// What the blocks from `first` to before `end` of so many do of it.
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

    /// Seconds at the device's peaks of matrices, arithmetic and memory.
    pub(super) fn floors(flops: &Flops, bytes: u64, caps: &Caps) -> [f64; 3] {
        let [matrix, vector] = flops.seconds(caps);
        [matrix, vector, bytes as f64 / caps.machine.bytes]
    }

    /// What binds a step of these floors that is predicted to take so many seconds.
    pub(super) fn bound_of([matrix, vector, memory]: [f64; 3], seconds: f64) -> Bound {
        let longest = matrix.max(vector).max(memory);
        if 2.0 * longest < seconds {
            Bound::Latency
        } else if memory == longest {
            Bound::Memory
        } else if vector == longest {
            Bound::Vector
        } else {
            Bound::Matrix
        }
    }

    /// The work of several steps, with the seconds of each: what binds the longest binds all.
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
        let flops = self.flops.sum();
        if flops > 0.0 {
            write!(f, "{}, ", Amount(flops, "FLOP"))?;
        }
        let [read, written] = [&self.read, &self.written].map(|bytes| bytes.iter().sum::<u64>() as f64);
        write!(f, "{} read, {} written, bound by {}", Amount(read, "B"), Amount(written, "B"), self.bound)
    }
}

/// An amount of three significant digits, in powers of 1000 of a unit.
struct Amount(f64, &'static str);

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

/// Seconds, in a readable unit.
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
    fn the_longest_floor_binds_unless_most_of_the_time_is_none_of_them() {
        for (floors, seconds, bound) in [
            ([3.0, 2.0, 1.0], 3.0, Bound::Matrix),
            ([0.0, 2.0, 1.0], 2.5, Bound::Vector),
            ([0.0, 0.0, 1.0], 1.0, Bound::Memory),
            ([0.0, 0.0, 1.0], 2.5, Bound::Latency),
        ] {
            assert_eq!(Work::bound_of(floors, seconds), bound, "{floors:?}");
        }
    }
}
