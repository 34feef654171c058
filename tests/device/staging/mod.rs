//! Staged writes and reads: the recorded order, what overlaps, the bounds, and what happens to whatever is given up.

mod bounds;
mod given_up;
mod order;
mod reads;
mod refused;
mod scopes;

use support::TestGpu;
use support::watchdog::in_time;
use tilewise::{Element, Error, Fill, Gpu, Result, Tensor};

/// The smallest ring: one buffer of 256 bytes.
const TINY: u64 = 256;

/// Devices of every kind; for a second driver, which compiles slowly, one with dims in a ring.
fn devices() -> Vec<TestGpu> {
    if support::is_second_driver() { support::bare().into_iter().collect() } else { support::every_device() }
}

/// Does this on these devices, each time within five minutes.
fn on_every_device(what: &str, work: impl Fn(&Gpu)) {
    devices().iter().for_each(|gpu| in_time(what, || work(gpu)));
}

/// A device whose rings have this many bytes.
fn with_ring(bytes: u64) -> Option<TestGpu> {
    support::own(|options| options.staging_bytes = Some(bytes))
}

fn values<T: Element>(len: usize, seed: u64) -> Vec<T> {
    Fill::Integers.values(len, seed)
}

fn bits<T: Element>(tensor: &Tensor<T>) -> Vec<u8> {
    bytemuck::cast_slice(&tensor.to_vec().unwrap()).to_vec()
}

/// Asserts that the call fails with an [`Error::Input`] with these words.
fn refused<T>(result: Result<T>, words: &str) {
    let error = result.err().unwrap_or_else(|| panic!("there must be an error: {words}"));
    assert!(matches!(error, Error::Input { .. }) && error.to_string().contains(words), "{error}");
}
