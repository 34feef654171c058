//! WGSL as values: expressions and statements that are put together, counted, and printed once.
//!
//! An [`Expression`] is a tree. Sums and products are written with the operators of Rust, which bind and associate as
//! those of WGSL do, so that the printed text computes in the order in which it was put together: what is printed has
//! parentheses only where WGSL would read another tree without. A [`Block`] is a list of statements; a [`Definition`] is a
//! whole function, with the imports that its calls ask for.
//!
//! Pure: no device, and no knowledge of what is computed.

mod counting;
mod expression;
mod printing;
mod statement;
#[cfg(test)]
mod tests;

#[cfg_attr(
    not(test),
    expect(unused_imports, reason = "the texts of layers, which move here next, fuse")
)]
pub(crate) use expression::fma;
pub(crate) use expression::{ABS, Callee, Expression, SIGN, SQRT, Sum, index, name, number, select};
pub(crate) use statement::{Block, Definition};
