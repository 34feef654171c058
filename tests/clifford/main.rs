//! Clifford algebras on the device, and the vectors of others' code. `tests/laws` has the laws that need none.

mod batch;
mod functions;
mod motors;
mod npz;
mod oracles;
mod products;
#[path = "../support/mod.rs"]
mod support;
mod versors;
