//! Captures and their runs: the same bits as eager work, what is an error, and whose memory it is.

mod bits;
mod callbacks;
mod held;
mod inputs;
mod long;
mod memory;
mod mistakes;
mod operations;
mod orders;
mod positions;
mod scopes;
mod seeds;
mod stale;
mod table;
mod tensors;
mod training;

use support::TestGpu;
use support::watchdog::in_time;
use tilewise::{Element, Fill, Gpu, Result, Tensor};

/// Devices of every kind; for a second driver, which compiles slowly, one with dims in a ring.
fn devices() -> Vec<TestGpu> {
    if support::is_second_driver() { support::bare().into_iter().collect() } else { support::every_device() }
}

/// Does this on these devices, each time within five minutes.
fn on_every_device(what: &str, work: impl Fn(&Gpu)) {
    devices().iter().for_each(|gpu| in_time(what, || work(gpu)));
}

fn random<T: Element>(gpu: &Gpu, shape: &[usize], seed: u64) -> Tensor<T> {
    gpu.random(shape, Fill::Uniform, seed).unwrap()
}

fn bits<T: Element>(tensor: &Tensor<T>) -> Vec<u8> {
    bytemuck::cast_slice(&tensor.to_vec().unwrap()).to_vec()
}

/// Asserts that the call fails with these words.
fn fails_with<T>(result: Result<T>, words: &str) {
    let error = result.err().unwrap_or_else(|| panic!("there must be an error: {words}"));
    assert!(error.to_string().contains(words), "{error}");
}
