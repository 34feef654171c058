//! Sketches and what is built on them, on the device: operators, factorisations, and the vectors of Panther's own code.
//! `tests/sketch_law.rs` has what needs none.

mod dense;
mod factor;
mod factor_qr;
mod hadamard;
mod halves;
mod layer;
mod layer_fit;
mod layer_use;
mod layers;
mod oracles;
mod oracles_held;
mod oracles_layer;
mod shares;
mod sparse;
mod spectrum;
#[path = "../support/mod.rs"]
mod support;
