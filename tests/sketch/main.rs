//! Sketches on the device: dense operators, sparse ones, Hadamard transforms, and products whose operands they make.
//! `tests/laws/sketch.rs` has what needs none, `tests/sketched` what is built on them.

mod dense;
mod hadamard;
mod halves;
mod shares;
mod sparse;
#[path = "../support/mod.rs"]
mod support;
