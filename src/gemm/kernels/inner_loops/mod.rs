//! What compilers of GPUs make of the kernels' inner loops, and how much of a peak those can reach.
//!
//! The tables are data: `tilewise-isa TARGET --loops FILE` (`tests/isa`) writes one for each GPU that Mesa compiles for, and a
//! test compares them with what the same Mesa makes of the kernels today.

mod bmg;
mod gfx1201;
mod line;
mod nearest;
mod nv176;
mod share;

mod navi31;

pub use line::InnerLoop;
