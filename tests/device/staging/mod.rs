//! Staged writes and reads: the recorded order, what overlaps, the bounds, and what happens to whatever is given up.

mod bounds;
mod given_up;
mod order;
mod reads;
mod refused;
mod scopes;

use support::TestGpu;
use support::on_every_device;
use support::operand::bits;
use tilewise::{Element, Fill};

/// The smallest ring: one buffer of 256 bytes.
const TINY: u64 = 256;

/// A device whose rings have this many bytes.
fn with_ring(bytes: u64) -> Option<TestGpu> {
    support::own(|options| options.staging_bytes = Some(bytes))
}

fn values<T: Element>(len: usize, seed: u64) -> Vec<T> {
    Fill::Integers.values(len, seed)
}
