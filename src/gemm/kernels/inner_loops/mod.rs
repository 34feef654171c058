//! The compiled inner loops of the kernels, and the share of a peak that they can reach.
//!
//! The tables are data: `tilewise-isa TARGET --loops FILE` (`tests/isa`) writes one for each GPU that Mesa compiles for. A
//! test compiles the kernels again with the same Mesa and compares the results with the tables.

mod bmg;
mod gfx1201;
mod line;
mod nearest;
mod nv176;
mod share;

mod navi31;

pub use line::InnerLoop;
