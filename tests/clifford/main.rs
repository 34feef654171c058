//! Clifford algebras and layers on the device, and the vectors of others' code. `tests/plans/laws` has the laws that need
//! no device.

mod batch;
mod functions;
mod layers;
mod motors;
mod npz;
mod oracles;
mod points;
mod products;
mod ranges;
mod versors;
