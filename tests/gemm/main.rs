//! Matrix products: every kernel and tile, in every form, against their definition.

mod accuracy;
mod coop;
mod forms;
mod gemv;
mod integers;
mod panels;
mod precision;
#[path = "../support/mod.rs"]
mod support;
mod tiles;
