//! Conversion of values that are out of the new type's range.

/// The treatment of values outside the new type's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// As Rust's `as`. A real number out of range becomes infinity. An integer keeps its low bits. The conversion of a
    /// real number to an integer saturates.
    Rust,
    /// The largest finite value of the new type, with the same sign.
    Saturate,
}
