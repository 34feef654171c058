//! A call of every public function that can fail, by the name that `tests/house/api.txt` has for it.

mod clifford;
mod files;
pub(crate) mod functions;
mod gpu;
mod layers;
mod operations;
mod sketch;
mod transformer;

use super::world::World;
use tilewise::Result;
use tilewise::planning::ops::TensorCall;

/// A call that is written out.
type Written = (&'static str, fn(&mut World) -> Result<()>);

/// A public function, and a call of it that succeeds unless the device is lost.
pub(crate) type Call = (&'static str, Work);

/// What a call does.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// Anything.
    Of(fn(&mut World) -> Result<()>),
    /// A function of elements.
    Function(TensorCall<f32>),
}

impl Work {
    pub(crate) fn run(self, it: &mut World) -> Result<()> {
        match self {
            Self::Of(work) => work(it),
            Self::Function(TensorCall::One(op)) => op(&it.a).map(drop),
            Self::Function(TensorCall::Two(op)) => op(&it.a, &it.b).map(drop),
            Self::Function(TensorCall::Three(op)) => op(&it.a, &it.b, &it.a).map(drop),
            Self::Function(TensorCall::Compare(op)) => op(&it.a, &it.b).map(drop),
            Self::Function(TensorCall::Mask(op)) => op(&it.mask).map(drop),
            Self::Function(TensorCall::Masks(op)) => op(&it.mask, &it.mask).map(drop),
        }
    }
}

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
    let written = rooms.iter().copied().flatten().chain(ndarray);
    written.map(|&(name, work)| (name, Work::Of(work))).chain(functions::calls()).collect()
}
