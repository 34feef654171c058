//! Sums in f32 under every rounding that a device may have: what a bound must survive.

/// How a sum is rounded to one of its two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    TowardsZero,
    Up,
    Down,
    /// Away from zero.
    Away,
}

impl Rounding {
    pub const ALL: [Self; 5] = [Self::Nearest, Self::TowardsZero, Self::Up, Self::Down, Self::Away];

    /// a + b, exactly and then rounded.
    pub fn add(self, a: f32, b: f32) -> f32 {
        let (a, b) = (f64::from(a), f64::from(b));
        // Knuth's two-sum: sum + rest is a + b exactly.
        let sum = a + b;
        let of_b = sum - a;
        let rest = (a - (sum - of_b)) + (b - of_b);
        let nearest = <f32 as tilewise::Element>::from_f64(sum);
        // How far the exact sum is from that, its sign at least.
        let error = if sum == f64::from(nearest) { rest } else { sum - f64::from(nearest) };
        let (up, down) = match error {
            error if error > 0.0 => (nearest.next_up(), nearest),
            error if error < 0.0 => (nearest, nearest.next_down()),
            _ => (nearest, nearest),
        };
        match self {
            Self::Nearest => nearest,
            Self::Up => up,
            Self::Down => down,
            Self::TowardsZero => {
                if sum > 0.0 {
                    down
                } else {
                    up
                }
            }
            Self::Away => {
                if sum > 0.0 {
                    up
                } else {
                    down
                }
            }
        }
    }
}

/// The sum of products of pairs, each exact in f32, one after another, or first in blocks of this many.
pub fn dot(pairs: impl Iterator<Item = [f32; 2]>, rounding: Rounding, block: usize) -> f32 {
    let products: Vec<f32> = pairs.map(|[a, b]| a * b).collect();
    let sum = |terms: &[f32]| terms.iter().fold(0.0, |sum, &term| rounding.add(sum, term));
    let blocks: Vec<f32> = products.chunks(block).map(sum).collect();
    sum(&blocks)
}
