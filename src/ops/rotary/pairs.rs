//! Which elements of a row rotate together, and in which direction.

/// Which elements of a row form a pair. Models differ in this, and a model that was trained with one cannot be run with the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RotaryPairs {
    /// Elements $i$ and $i + d/2$ of $d$ rotary dims, as in Llama and GPT-NeoX.
    Halves,
    /// Elements $2i$ and $2i + 1$, as in GPT-J.
    Interleaved,
}

impl RotaryPairs {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Halves, Self::Interleaved];
}

/// A rotation, or its gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RotaryPass {
    /// By the angles of the table.
    Forward,
    /// By their negatives.
    Backward,
}

impl RotaryPass {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Forward, Self::Backward];

    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Forward => "Rotary::apply",
            Self::Backward => "Rotary::backward",
        }
    }

    /// The factor of the sines.
    pub(super) fn sign(self) -> f32 {
        match self {
            Self::Forward => 1.0,
            Self::Backward => -1.0,
        }
    }
}
