//! Shared by the tests of sketches and of the algorithms built on them.

use tilewise::gemm::{GemmKernel, Tile};
use tilewise::sketch::{Scaling, Sketch, philox};

/// The sign of every column and the Hadamard row of every row, read from the operator's entries.
pub fn signs_and_rows(s: &Sketch) -> (Vec<f64>, Vec<usize>) {
    let [d, n] = s.shape();
    let unscaled = s.scaled(Scaling::Unscaled);
    let sign = |j: usize| {
        let word = philox(s.seed(), [u32::try_from(j / 128).unwrap(), 0, 0, 8])[j / 32 % 4];
        if word >> (j % 32) & 1 == 0 { 1.0 } else { -1.0 }
    };
    let bits = n.next_power_of_two().trailing_zeros();
    let has = |i: usize, bit: u32| f64::from(unscaled.entry(i, 1 << bit)) * sign(1 << bit) < 0.0;
    let row = |i: usize| (0..bits).map(|bit| usize::from(has(i, bit)) << bit).sum();
    ((0..n).map(sign).collect(), (0..d).map(row).collect())
}

/// A tile that software drivers compile in a second. Those that plans choose for them take four.
pub fn small() -> Tile {
    let tiles = GemmKernel::Tiled.tiles();
    *tiles.iter().find(|tile| [tile.tm, tile.tn] == [4, 4]).unwrap()
}
