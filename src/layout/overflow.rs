//! Conversion of values that are out of the new type's range.

/// How a conversion treats values that are out of the new type's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// As Rust's `as`. A real number out of range becomes infinity. An integer keeps its low bits. A real number that
    /// becomes an integer saturates.
    Rust,
    /// The largest finite value of the new type, with the same sign.
    Saturate,
}
