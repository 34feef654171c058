//! What each known device would run, written out with its reason: whoever changes the cost model reads here what that
//! changes. Operands of f16, results of f32.

mod support;

use support::wgsl;
use tilewise::gemm::{GemmKernel, GemmTypes, plan};
use tilewise::gpu::fixtures;
use tilewise::{DType, Error};

/// A device, the kernel with its block and patch, and why.
type Choice = (&'static str, &'static str, &'static str);

fn check(shape: [usize; 3], choices: [Choice; fixtures::ALL.len()]) {
    let problem = wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F32));
    for ((name, caps), (device, want, why)) in fixtures::ALL.into_iter().zip(choices) {
        assert_eq!(name, device, "the devices in their order");
        let found = match plan(&problem, &caps()) {
            Err(Error::Limit { .. }) => "none".to_owned(),
            Err(error) => panic!("{name}: {error}"),
            Ok(plan) => {
                let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
                let mut taken = tiles.filter(|tile| {
                    tile.kernel.shader() == plan.kernel.shader() && tile.to_string() == plan.tile
                });
                let tile = taken.next().expect("a plan takes a tile of the table");
                let matrices =
                    if tile.fragment == 0 { String::new() } else { format!(" of {}", tile.fragment) };
                format!("{} {}x{}, {}x{}{matrices}", tile.kernel, tile.bm, tile.bn, tile.tm, tile.tn)
            }
        };
        assert_eq!(found, want, "{shape:?} on {name}, where it was: {why}");
    }
}

#[test]
fn a_large_cube_takes_the_largest_patches() {
    const REUSE: &str =
        "the largest patches read least; taller blocks read B again less often than wider ones A";
    const UNPINNED: &str =
        "subgroups of more than one size; the largest patches that a GPU keeps in registers";
    check(
        [8192; 3],
        [
            ("h200", "coop 256x128, 64x64 of 16", REUSE),
            ("rtx-4090", "coop 256x128, 64x64 of 16", REUSE),
            ("radv-rdna4", "tiled 128x128, 8x8", UNPINNED),
            ("radv-rdna3", "tiled 128x128, 8x8", UNPINNED),
            ("intel-xe2", "tiled 128x128, 8x8", "no row that the shading language can spell"),
            ("apple-m2", "coop 128x128, 64x32 of 8", "its registers hold 64 sums a lane, no patch of 64x64"),
            ("lavapipe", "none", "256 MiB of C are more than it can bind"),
            (
                "swiftshader",
                "tiled 128x128, 16x16",
                "no matrices, and a CPU's cache holds the largest patches",
            ),
            ("bare-webgpu", "none", "256 MiB of C are more than it can bind"),
        ],
    );
}

#[test]
fn few_rows_take_blocks_that_keep_every_core_busy() {
    const WAVE: &str =
        "128 blocks of 64 rows are one wave; larger blocks would leave cores idle, and half of each";
    check(
        [64, 8192, 8192],
        [
            ("h200", "coop 64x64, 32x32 of 16", WAVE),
            ("rtx-4090", "coop 64x64, 32x32 of 16", WAVE),
            ("radv-rdna4", "tiled 64x64, 4x4", "two blocks a core, of as many lanes as keep it busy"),
            ("radv-rdna3", "tiled 32x64, 4x4", "256 blocks fill 96 cores more evenly than 128 do"),
            ("intel-xe2", "tiled 32x64, 8x8", "256 blocks fill 20 cores more evenly than 128 do"),
            (
                "apple-m2",
                "coop 64x64, 32x32 of 8",
                "matrices reach more of the same units' roof than loops do",
            ),
            ("lavapipe", "tiled 64x64, 8x8", "emulated matrices lose; no row of a block is idle"),
            ("swiftshader", "tiled 64x64, 8x8", "no row of a block is idle"),
            ("bare-webgpu", "tiled 64x64, 8x8", "no row of a block is idle"),
        ],
    );
}

#[test]
fn a_small_cube_waits_for_its_chain_of_steps() {
    const CHAIN: &str = "steps of 32 make the shortest chain, and less than a wave is there to hide it";
    const DEEP: &str = "steps of 16 make a chain half as long as steps of 8";
    check(
        [512; 3],
        [
            ("h200", "coop 64x64, 32x32 of 16", CHAIN),
            ("rtx-4090", "coop 64x64, 32x32 of 16", CHAIN),
            ("radv-rdna4", "tiled 64x64, 4x4", DEEP),
            ("radv-rdna3", "tiled 64x64, 4x4", DEEP),
            ("intel-xe2", "tiled 128x128, 8x8", "16 blocks are one wave of 20 cores, 64 would be four"),
            ("apple-m2", "coop 32x64, 32x32 of 8", "128 blocks fill 10 cores more evenly than 64 do"),
            ("lavapipe", "tiled 128x128, 16x16", "emulated matrices lose; the largest patches read least"),
            ("swiftshader", "tiled 128x128, 16x16", "the largest patches read least"),
            ("bare-webgpu", "tiled 128x128, 8x8", "16 blocks are two whole waves of 8 cores"),
        ],
    );
}

#[test]
fn few_columns_take_the_narrowest_blocks() {
    const NARROW: &str = "no block is narrower than 64 columns, and 128 of them are one wave";
    check(
        [8192, 32, 8192],
        [
            ("h200", "coop 64x64, 32x32 of 16", NARROW),
            ("rtx-4090", "coop 64x64, 32x32 of 16", NARROW),
            ("radv-rdna4", "tiled 64x64, 4x4", NARROW),
            ("radv-rdna3", "tiled 32x64, 4x4", "256 blocks fill 96 cores more evenly than 128 do"),
            ("intel-xe2", "tiled 32x64, 8x8", "256 blocks fill 20 cores more evenly than 128 do"),
            (
                "apple-m2",
                "coop 64x64, 32x32 of 8",
                "matrices reach more of the same units' roof than loops do",
            ),
            ("lavapipe", "tiled 64x64, 8x8", "emulated matrices lose; larger patches are in wider blocks"),
            ("swiftshader", "tiled 64x64, 8x8", "larger patches are in wider blocks"),
            ("bare-webgpu", "tiled 64x64, 8x8", "larger patches are in wider blocks"),
        ],
    );
}

#[test]
fn one_row_takes_the_flattest_blocks() {
    const FLAT: &str = "the fewest idle rows; a kernel for single rows is to come";
    const CPU: &str = "no idle rows, and a CPU has no chain of loads to wait for";
    check(
        [1, 4096, 4096],
        [
            ("h200", "coop 32x64, 32x32 of 16", FLAT),
            ("rtx-4090", "coop 32x64, 32x32 of 16", FLAT),
            ("radv-rdna4", "tiled 32x64, 4x4", FLAT),
            ("radv-rdna3", "tiled 32x64, 4x4", FLAT),
            ("intel-xe2", "tiled 32x64, 4x4", FLAT),
            ("apple-m2", "coop 32x64, 32x32 of 8", FLAT),
            ("lavapipe", "naive 1x64, 1x1", CPU),
            ("swiftshader", "naive 1x64, 1x1", CPU),
            (
                "bare-webgpu",
                "naive 1x64, 1x1",
                "no idle rows: eight cores would compute 31 of 32 rows for nothing",
            ),
        ],
    );
}
