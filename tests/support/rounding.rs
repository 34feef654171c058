//! Sums in f32 under every rounding that a device may use. Error bounds must hold for all of them.

/// The rounding of a sum to one of its two neighbours.
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

    /// a + b, computed exactly and rounded once.
    pub fn add(self, a: f32, b: f32) -> f32 {
        let (a, b) = (f64::from(a), f64::from(b));
        // Knuth's two-sum: sum + rest equals a + b exactly.
        let sum = a + b;
        let of_b = sum - a;
        let rest = (a - (sum - of_b)) + (b - of_b);
        let nearest = <f32 as tilewise::Element>::from_f64(sum);
        // The difference between the exact sum and that value, or at least its sign.
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

/// The sum of the products of pairs, each exact in f32, from first to last, or first within blocks of this length.
pub fn dot(pairs: impl Iterator<Item = [f32; 2]>, rounding: Rounding, block: usize) -> f32 {
    let products: Vec<f32> = pairs.map(|[a, b]| a * b).collect();
    let sum = |terms: &[f32]| terms.iter().fold(0.0, |sum, &term| rounding.add(sum, term));
    let blocks: Vec<f32> = products.chunks(block).map(sum).collect();
    sum(&blocks)
}
