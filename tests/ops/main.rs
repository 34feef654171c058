//! Operations on elements and along axes, casts, and files of tensors.

mod bits;
mod cast;
mod copies;
mod cumsum;
mod elements;
mod functions;
mod io;
mod maps;
mod masks;
mod positions;
mod reductions;
mod softmax;
#[path = "../support/mod.rs"]
mod support;
mod vectors;
