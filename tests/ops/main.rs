//! Operations on elements and along axes, and casts.

mod cast;
mod elements;
mod rows;
#[path = "../support/mod.rs"]
mod support;
