//! Matrix products: every kernel and tile, in every form, against their definition.

mod accuracy;
mod coop;
mod coop_khr;
mod coop_nv2;
mod forms;
mod fp8;
mod gemv;
mod integers;
mod linear;
mod module_epilogues;
mod panels;
mod precision;
mod quantised;
mod requantised;
mod tiles;
mod window_gradients;
mod window_volumes;
mod windows;

use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::DeviceType;
use tilewise::planning::fixtures;
use tilewise::planning::gemm::GemmTypes;
use tilewise::{Caps, DType};

/// The kernels on cooperative matrices, which multiply f16.
const ON_MATRICES: [GemmKernel; 3] = [GemmKernel::Coop, GemmKernel::CoopKhr, GemmKernel::CoopNv2];

/// The kernels that a device runs on products of f32 of every shape; `coop.rs` sweeps the one on cooperative matrices, `gemv.rs`
/// that for thin products, `integers.rs` those of i8.
fn scalar(caps: &Caps) -> impl Iterator<Item = GemmKernel> {
    GemmKernel::ALL.into_iter().filter(|&kernel| !tiles_for(caps, kernel).is_empty())
}

/// The tiles of a kernel that a device runs on products of f32 of every shape: GPUs take fewer than software devices.
fn tiles_for(caps: &Caps, kernel: GemmKernel) -> Vec<Tile> {
    let any = support::wgsl::plain([64; 3], GemmTypes::new(DType::F32, DType::F32));
    kernel.tiles().iter().filter(|tile| tile.fits(&any, caps).is_ok()).copied().collect()
}

/// The first and the last tile of each of these kernels.
fn first_and_last_tiles(caps: &Caps) -> Vec<Tile> {
    let of = |kernel| {
        let tiles = tiles_for(caps, kernel);
        [tiles[0], tiles[tiles.len() - 1]]
    };
    let mut tiles: Vec<Tile> = scalar(caps).flat_map(of).collect();
    tiles.dedup();
    tiles
}

#[test]
fn naive_and_tiled_run_everywhere_and_broadcast_on_software_devices() {
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let scalar: Vec<GemmKernel> = scalar(&caps).collect();
        let want = match caps.device_type {
            DeviceType::Software => vec![GemmKernel::Naive, GemmKernel::Broadcast, GemmKernel::Tiled],
            _ => vec![GemmKernel::Naive, GemmKernel::Tiled],
        };
        assert_eq!(scalar, want, "{name}");
    }
}
