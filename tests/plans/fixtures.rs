//! What known devices would run, written out with its reason: whoever changes the cost model reads here what that
//! changes. Operands of f16, results of f32. The other fixtures are of the same vendors.

use support::wgsl;
use tilewise::DType;
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::planning::{Problem, Step};

/// A device, the kernel with its block and patch, and why.
type Choice = (&'static str, &'static str, &'static str);

/// Why software devices take what they do for whole blocks.
const ARC: &str =
    "8 sums are what fits into its subgroups of 32, and larger blocks read less; WGSL can spell no row";
const CPU_BLOCK: &str = "emulated matrices lose; every element of A is loaded once for a workgroup, and B gathered once for 16 rows";

fn check(shape: [usize; 3], choices: [Choice; 10]) {
    let problem = wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F32));
    for (device, want, why) in choices {
        let (name, caps) = fixtures::ALL.into_iter().find(|(name, _)| *name == device).expect("a fixture");
        let plan = problem.plan(&caps()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let tile = Tile::of_step(&plan.steps()[0]).expect("a plan takes a tile of the table");
        let matrices = if tile.fragment == 0 { String::new() } else { format!(" of {}", tile.fragment) };
        let parts = match wgsl::parts_of(&plan) {
            1 => String::new(),
            parts => format!(" in {parts} parts"),
        };
        let is_panel = |step: &&Step| step.kernel.shader() != "gemm/reduce_splits" && step.first_block == 0;
        let panels = match plan.steps().iter().filter(is_panel).count() {
            1 => String::new(),
            panels => format!("{panels} panels of "),
        };
        let Tile { kernel, bm, bn, tm, tn, .. } = tile;
        let found = format!("{panels}{kernel} {bm}x{bn}, {tm}x{tn}{matrices}{parts}");
        assert_eq!(found, want, "{shape:?} on {name}, where it was: {why}");
    }
}

#[test]
fn a_large_cube_takes_the_largest_patches() {
    const REUSE: &str =
        "the largest patches read least; taller blocks read B again less often than wider ones A";
    const PAIRS_OF_WORKGROUPS: &str = "its cache delivers enough; two workgroups on a core, with twice the arithmetic between barriers, hide the barriers";
    check(
        [8192; 3],
        [
            ("h200", "coop 256x128, 64x64 of 16", REUSE),
            ("rtx-4090", "coop 128x128, 64x64 of 16", PAIRS_OF_WORKGROUPS),
            ("radv-rdna4", "coop 128x128, 64x64 of 16", PAIRS_OF_WORKGROUPS),
            ("radv-rdna3", "coop 128x128, 64x64 of 16", PAIRS_OF_WORKGROUPS),
            ("intel-xe2", "coop_khr 64x64, 16x16", ARC),
            ("apple-m2", "coop 128x128, 64x32 of 8", "its registers hold 64 sums a lane, no patch of 64x64"),
            (
                "lavapipe",
                "16 panels of broadcast 16x64, 16x8",
                "256 MiB of C are more than it can bind as a whole",
            ),
            (
                "swiftshader",
                "tiled 128x128, 16x16",
                "no matrices, and a CPU's cache holds the largest patches",
            ),
            (
                "bare-webgpu",
                "16 panels of tiled 64x64, 8x8",
                "256 MiB of C are more than it can bind as a whole",
            ),
            (
                "bare-vulkan",
                "16 panels of tiled 64x64, 8x8",
                "256 MiB of C are more than it can bind as a whole",
            ),
        ],
    );
}

#[test]
fn few_rows_take_blocks_that_keep_every_core_busy() {
    const WAVE: &str =
        "no row of a block is idle; 128 blocks in two parts fill the cores more evenly than in one";
    const LARGE: &str =
        "reading B bounds it: the widest blocks read A least, half their rows idle, parts fill the cores";
    check(
        [64, 8192, 8192],
        [
            ("h200", "coop 128x256, 64x64 of 16 in 8 parts", LARGE),
            ("rtx-4090", "coop 64x64, 32x64 of 16 in 2 parts", WAVE),
            (
                "radv-rdna4",
                "coop 64x64, 32x64 of 16",
                "no row of a block is idle; 128 blocks fill 64 cores twice",
            ),
            ("radv-rdna3", "coop 64x64, 32x64 of 16 in 2 parts", WAVE),
            ("intel-xe2", "coop_khr 64x64, 16x16", ARC),
            (
                "apple-m2",
                "coop 64x64, 32x32 of 8",
                "matrices reach more of the same units' roof than loops do",
            ),
            ("lavapipe", "broadcast 16x64, 16x8", CPU_BLOCK),
            ("swiftshader", "tiled 64x64, 32x8", "no row of a block is idle"),
            ("bare-webgpu", "tiled 64x64, 8x8", "no row of a block is idle"),
            ("bare-vulkan", "tiled 64x64, 8x8", "no row of a block is idle"),
        ],
    );
}

#[test]
fn a_small_cube_waits_for_its_chain_of_steps() {
    const CHAIN: &str = "steps of 32 make the shortest chain, and less than a wave is there to hide it";
    check(
        [512; 3],
        [
            (
                "h200",
                "coop 128x128, 64x64 of 16 in 4 parts",
                "a quarter of the chain is worth the second launch; the largest patches read least while it waits",
            ),
            ("rtx-4090", "coop 64x64, 32x32 of 16", CHAIN),
            ("radv-rdna4", "coop 64x64, 32x64 of 16", CHAIN),
            ("radv-rdna3", "coop 64x64, 32x64 of 16", CHAIN),
            ("intel-xe2", "coop_khr 64x64, 16x16", ARC),
            ("apple-m2", "coop 32x64, 32x32 of 8", "128 blocks fill 10 cores more evenly than 64 do"),
            ("lavapipe", "broadcast 16x64, 16x8", CPU_BLOCK),
            ("swiftshader", "tiled 128x128, 16x16", "the largest patches read least"),
            ("bare-webgpu", "tiled 128x128, 8x8", "16 blocks are two whole waves of 8 cores"),
            ("bare-vulkan", "tiled 64x64, 8x8", "its workgroups have 128 invocations, not 256"),
        ],
    );
}

#[test]
fn few_columns_take_the_narrowest_blocks() {
    const TALL: &str = "half of every block is idle, so reading A bounds it: taller blocks read B less often, parts fill the cores";
    const PARTS: &str =
        "no block is narrower than 64 columns; 128 of them in two parts fill the cores more evenly";
    check(
        [8192, 32, 8192],
        [
            ("h200", "coop 128x64, 64x32 of 16 in 8 parts", TALL),
            ("rtx-4090", "coop 64x64, 32x64 of 16 in 2 parts", PARTS),
            (
                "radv-rdna4",
                "coop 128x64, 64x64 of 16",
                "64 blocks fill 64 cores; half of every block is idle, so reading A bounds it",
            ),
            ("radv-rdna3", "coop 128x64, 64x64 of 16 in 4 parts", TALL),
            ("intel-xe2", "coop_khr 32x32, 16x16", "no column of a block is idle"),
            (
                "apple-m2",
                "coop 64x64, 32x32 of 8",
                "matrices reach more of the same units' roof than loops do",
            ),
            ("lavapipe", "broadcast 16x32, 16x4", "no column of a block is idle"),
            ("swiftshader", "tiled 64x64, 32x8", "larger patches are in wider blocks"),
            ("bare-webgpu", "tiled 64x64, 8x8", "larger patches are in wider blocks"),
            ("bare-vulkan", "tiled 64x64, 8x8", "larger patches are in wider blocks"),
        ],
    );
}

#[test]
fn one_row_reads_b_once_along_its_rows() {
    const RUNS: &str = "blocks of 128 columns read runs of 256 bytes, and parts of k keep every core busy";
    const FEW: &str = "32 blocks of 128 columns keep its few cores busy by themselves";
    const CPU: &str =
        "a lane's own 8 columns make runs of memory and stay in registers; every invocation costs";
    check(
        [1, 4096, 4096],
        [
            ("h200", "gemv 128x8, 4x8 in 16 parts", RUNS),
            ("rtx-4090", "gemv 128x8, 4x8 in 16 parts", RUNS),
            ("radv-rdna4", "gemv 128x8, 4x8 in 8 parts", RUNS),
            ("radv-rdna3", "gemv 128x8, 4x8 in 8 parts", RUNS),
            ("intel-xe2", "gemv 128x8, 4x8 in 2 parts", RUNS),
            ("apple-m2", "gemv 128x8, 4x8", FEW),
            ("lavapipe", "gemv 64x8, 8x8", CPU),
            ("swiftshader", "gemv 64x8, 8x8", CPU),
            ("bare-webgpu", "gemv 128x8, 4x8", FEW),
            (
                "bare-vulkan",
                "naive 1x64, 1x1",
                "128 invocations hold thin tiles of short runs alone; 64 columns side by side read longer ones",
            ),
        ],
    );
}

#[test]
fn one_column_reads_a_once_along_its_rows() {
    const ROWS: &str = "128 lanes along a row: the fewest steps to wait for, and 1024 blocks fill every core";
    const FEWER: &str = "few cores are busy with fewer blocks, which read the vector less often";
    const CPU: &str = "eight lanes along a row are what runs at once, and every further one costs";
    check(
        [4096, 1, 4096],
        [
            ("h200", "gemv 4x8, 4x8", ROWS),
            ("rtx-4090", "gemv 4x8, 4x8", ROWS),
            ("radv-rdna4", "gemv 4x8, 4x8", ROWS),
            ("radv-rdna3", "gemv 4x8, 4x8", ROWS),
            ("intel-xe2", "gemv 32x8, 4x8", FEWER),
            ("apple-m2", "gemv 32x8, 4x8", FEWER),
            ("lavapipe", "gemv 128x8, 4x8", CPU),
            ("swiftshader", "gemv 128x8, 4x8", CPU),
            ("bare-webgpu", "gemv 16x8, 4x8", "its workgroups have 256 invocations, not 512; as above"),
            ("bare-vulkan", "gemv 16x8, 4x8", "its workgroups have 128 invocations, not 512"),
        ],
    );
}

#[test]
fn eight_rows_are_the_most_that_read_b_once() {
    const ONCE: &str = "no row is idle, and B is read once: 24 of 32 rows of a block would be idle";
    const MATRICES: &str =
        "both read B once, which takes nearly all of the time; next to that, matrices need less of it, by 2%";
    const CPU: &str = "as for one row: no row is idle, and a lane's own columns make runs of memory";
    check(
        [8, 4096, 4096],
        [
            (
                "h200",
                "coop 32x64, 32x32 of 16 in 8 parts",
                "a loop of gemv has 311 instructions for 128 multiply-adds: they take longer than reading B, where matrices have time for idle rows",
            ),
            ("rtx-4090", "gemv 128x8, 4x8 in 4 parts", ONCE),
            ("radv-rdna4", "coop 32x64, 32x32 of 16 in 4 parts", MATRICES),
            ("radv-rdna3", "coop 32x64, 32x32 of 16 in 4 parts", MATRICES),
            ("intel-xe2", "gemv 128x8, 4x8 in 2 parts", ONCE),
            ("apple-m2", "gemv 128x8, 4x8", ONCE),
            (
                "lavapipe",
                "broadcast 8x64, 8x8",
                "two thirds of the time of gemv, whose invocations hold 64 sums each",
            ),
            ("swiftshader", "gemv 64x8, 8x8", CPU),
            ("bare-webgpu", "tiled 32x64, 8x8", "the sums of 256 invocations do not fit into 16 KiB"),
            ("bare-vulkan", "tiled 32x64, 8x8", "its workgroups have 128 invocations, not 256"),
        ],
    );
}

/// A layer of f16 is two products on tensor cores, of any sizes, and so are its gradients: on NVIDIA's devices, as those
/// of Apple do small ones sooner without.
#[test]
fn both_products_of_a_sketched_layer_are_on_tensor_cores() {
    let devices = fixtures::ALL.into_iter().filter(|(name, _)| ["h200", "rtx-4090"].contains(name));
    for (name, caps) in devices {
        for [batch, inputs, outputs, inner] in
            [[8192, 8192, 8192, 32], [512, 4096, 11008, 128], [512, 1000, 500, 34], [333, 777, 1111, 26]]
        {
            let forward = [[batch, inner, inputs], [batch, outputs, inner]];
            let backward = [[inputs, inner / 2, batch], [inner / 2, outputs, batch]];
            for shape in forward.into_iter().chain(backward) {
                let problem = wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F16));
                // As layers whose U is data have it, and those of signs.
                for problem in [problem, problem.pinned(Pin::Staged)] {
                    let found = problem.plan(&caps()).unwrap();
                    let kernel = found.steps()[0].kernel.shader();
                    assert_eq!(kernel, GemmKernel::Coop.shader(), "{shape:?} on {name}: {found}");
                }
            }
        }
    }
}
