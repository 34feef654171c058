//! The fully connected products of layers on the device, and their gradients, against the reference.

mod agreement;
mod counts;
mod refused;
#[path = "../support/mod.rs"]
mod support;
