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

use support::on_every_device;
use support::operand::bits;
use tilewise::{Element, Fill, Gpu, Tensor};

fn random<T: Element>(gpu: &Gpu, shape: &[usize], seed: u64) -> Tensor<T> {
    gpu.random(shape, Fill::Uniform, seed).unwrap()
}
