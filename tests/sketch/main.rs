//! Sketches on the device: operators, and what is built on them. `tests/plans/laws/sketch.rs` has what needs no device.
//! `operators` has kernels of its own; any device will do for the others.

mod compress;
mod factor;
mod layer;
mod operators;
mod oracles;
mod progress;
mod small;
mod spectrum;
