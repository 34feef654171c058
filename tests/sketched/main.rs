//! What is built on sketches: factorisations, layers, and the vectors of Panther's own code. Their kernels are tested by
//! `tests/sketch` and by the tests of products. Any device will do.

mod advise;
mod factor;
mod factor_qr;
mod layer;
mod layer_fit;
mod layer_use;
mod layers;
mod oracles;
mod oracles_held;
mod oracles_layer;
mod rsvd;
mod sketched_linear;
mod spectrum;
mod stages;
#[path = "../support/mod.rs"]
mod support;
