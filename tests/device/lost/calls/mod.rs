//! A call of every public function that can fail, by the name that `tests/house/api.txt` has for it.

mod clifford;
mod files;
mod gpu;
mod layers;
mod operations;
mod sketch;
mod transformer;

use super::world::World;
use tilewise::Result;

/// A public function, and a call of it that succeeds unless the device is lost.
pub(crate) type Call = (&'static str, fn(&mut World) -> Result<()>);

/// All calls.
pub(crate) fn all() -> Vec<Call> {
    let rooms = [
        gpu::CALLS,
        operations::CALLS,
        clifford::CALLS,
        layers::CALLS,
        sketch::CALLS,
        transformer::CALLS,
        files::CALLS,
    ];
    #[cfg(not(feature = "ndarray"))]
    let ndarray = &[];
    #[cfg(feature = "ndarray")]
    let ndarray = gpu::NDARRAY;
    rooms.iter().copied().flatten().chain(ndarray).copied().collect()
}
