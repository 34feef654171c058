//! How the coop kernel loads the operands that it stages.

/// The size of one load.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Loads {
    /// A unit of eight f16 elements, 16 bytes.
    Units,
    /// One element.
    Elements,
}

impl Loads {
    /// The element type of the operand's binding.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Units => "Unit",
            Self::Elements => "f16",
        }
    }
}
