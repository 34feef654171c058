//! Conversion of values that the new type cannot hold.

/// How a conversion treats values that the new type cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// As Rust's `as`: a real beyond the largest becomes infinity, an integer keeps its low bits. A real that becomes
    /// an integer saturates.
    Rust,
    /// The largest finite value of the new type with the same sign.
    Saturate,
}
