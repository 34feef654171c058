//! WGSL as values: expressions and statements that are put together, counted, and printed once.
//!
//! An [`Expression`] is a tree. Sums and products are written with the operators of Rust, which bind and associate as
//! those of WGSL do, so that the printed text computes in the order in which it was put together: what is printed has
//! parentheses only where WGSL would read another tree without. A [`Block`] is a list of statements, a [`Definition`] a whole
//! function, a [`Structure`] a type; a [`Module`] has several, with the imports that its calls ask for.
//!
//! Pure: no device, and no knowledge of what is computed.

#[cfg(test)]
mod as_read;
mod counting;
mod definition;
mod expression;
mod printing;
mod statement;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use as_read::flops_as_read;
pub(crate) use definition::{Definition, Member, Module, Structure};
pub(crate) use expression::{
    ABS, Callee, Expression, MIN, SIGN, SQRT, Sum, fma, index, integer, name, number, select,
};
pub(crate) use statement::Block;
