//! The plan's ranking of tiles next to the static estimate: what the inner loops alone would take, with nothing waiting for
//! memory. Where the two disagree, the reason is given in words, so that whoever changes either reads what that changes.

use std::fmt;
use support::wgsl;
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::DeviceType;
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Caps, DType};

/// Products: m, n, k.
const SIZES: [[usize; 3]; 5] = [[256; 3], [512; 3], [1024; 3], [4096; 3], [64, 4096, 1024]];
/// The type of A and B; the sums are stored in f32.
const TYPES: [DType; 2] = [DType::F32, DType::F16];
/// The static estimate of the tile that a plan takes is at most this many times that of the best tile.
const MOST: f64 = 1.5;
/// Tiles that are printed of each ranking.
const PRINTED: usize = 4;

/// A plan that takes a tile of a larger static estimate than another tile's: device, product, type, reason.
type Disagreement = (&'static str, [usize; 3], DType, &'static str);

/// The chain of iterations decides: each waits for its loads, and with 8x8 sums, 8 deep, there are twice as many as with 4x4, 16
/// deep. Larger tiles compute faster, but a small product has no other blocks that compute in the meantime.
const CHAIN: &str =
    "a chain of half as many iterations, as blocks are 16 deep and not 8, is worth slower loops";
/// The second launch decides: four microseconds are longer than the product.
const LAUNCH: &str =
    "the better loop is only 16 deep, so that it needs splits, and their second launch takes longer";

const KNOWN: &[Disagreement] = &[
    ("h200", [256; 3], DType::F16, LAUNCH),
    ("h100", [256; 3], DType::F16, LAUNCH),
    ("rtx-4090", [256; 3], DType::F16, LAUNCH),
    ("rtx-4090", [512; 3], DType::F32, CHAIN),
    ("rtx-4090", [512; 3], DType::F16, LAUNCH),
    ("rtx-4090", [64, 4096, 1024], DType::F32, CHAIN),
    ("a100", [256; 3], DType::F16, LAUNCH),
    ("rtx-3090", [256; 3], DType::F32, CHAIN),
    ("rtx-3090", [256; 3], DType::F16, LAUNCH),
    ("rtx-3090", [512; 3], DType::F32, CHAIN),
    ("t4", [256; 3], DType::F32, CHAIN),
    ("radv-rdna4", [512; 3], DType::F32, CHAIN),
    ("radv-rdna4", [64, 4096, 1024], DType::F32, CHAIN),
    ("radv-rdna3", [256; 3], DType::F32, CHAIN),
    ("radv-rdna3", [512; 3], DType::F32, CHAIN),
    ("radv-rdna3", [64, 4096, 1024], DType::F32, CHAIN),
];

/// A tile with what the plan predicts, and the static estimate, both with the plan's number of splits.
struct Ranked {
    tile: &'static Tile,
    splits: u32,
    predicted: f64,
    estimate: f64,
    share: f64,
}

impl fmt::Display for Ranked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile, splits, predicted, estimate, share } = self;
        let [predicted, estimate] = [predicted, estimate].map(|seconds| seconds * 1e6);
        let what = format!("{} {tile}, splits {splits}", tile.kernel);
        write!(f, "{what:<66} {predicted:>10.1} us {estimate:>10.1} us {share:>5.2} of the peak")
    }
}

/// The tiles that fit, from the fastest to the slowest by the plan's prediction.
fn ranking(shape: [usize; 3], ab: DType, caps: &Caps) -> Vec<Ranked> {
    let problem = wgsl::plain(shape, GemmTypes::new(ab, DType::F32));
    let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
    let ranked = tiles.filter(|tile| tile.fits(&problem, caps).is_ok()).map(|tile| {
        let plan = problem.pinned(Pin::Tile(*tile)).plan(caps).expect("it fits");
        let splits = wgsl::parts_of(&plan);
        Ranked {
            tile,
            splits,
            predicted: plan.seconds(),
            estimate: tile.arithmetic_seconds(&problem, splits, caps),
            share: tile.share_of_peak(&problem, caps),
        }
    });
    let mut ranked: Vec<Ranked> = ranked.collect();
    ranked.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    ranked
}

/// How much longer the inner loops of the plan's tile take than those of the best tile.
fn disagreement(ranked: &[Ranked]) -> f64 {
    let best = ranked.iter().map(|one| one.estimate).fold(f64::INFINITY, f64::min);
    ranked[0].estimate / best
}

#[test]
fn plans_agree_with_the_static_estimate_or_say_why_not() {
    let mut found = Vec::new();
    // A software device has no compiled loops: its estimate is the plan's own.
    let gpus = fixtures::ALL.into_iter().filter(|(_, caps)| caps().device_type != DeviceType::Software);
    for (name, caps) in gpus {
        let caps = caps();
        for (shape, ab) in SIZES.into_iter().flat_map(|shape| TYPES.map(|ab| (shape, ab))) {
            let ranked = ranking(shape, ab, &caps);
            let times = disagreement(&ranked);
            println!("{name}, {shape:?} {ab}: predicted and static estimate; {times:.2} times the least");
            ranked.iter().take(PRINTED).for_each(|one| println!("  {one}"));
            if let Some(best) = ranked.iter().min_by(|a, b| a.estimate.total_cmp(&b.estimate)) {
                println!("  {best} (least)");
            }
            if times > MOST {
                found.push((name, shape, ab));
            }
        }
    }
    let known: Vec<_> = KNOWN.iter().map(|&(name, shape, ab, _)| (name, shape, ab)).collect();
    assert_eq!(found, known, "found, and known with their reasons");
    assert!(KNOWN.iter().all(|(.., why)| why.split(' ').count() > 5), "a reason for each");
}

/// What `explain` prints as the share of the peak is a share of the device's peak: it times the peak is the speed of the loop.
#[test]
fn the_share_of_the_peak_and_the_seconds_of_a_loop_are_one_estimate() {
    for caps in [fixtures::lavapipe(), fixtures::swiftshader()] {
        let problem = wgsl::plain([512; 3], GemmTypes::new(DType::F32, DType::F32));
        let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
        let mut compared = 0;
        for tile in tiles.filter(|tile| tile.kernel != GemmKernel::Gemv) {
            if tile.fits(&problem, &caps).is_ok() {
                let seconds = tile.arithmetic_seconds(&problem, 1, &caps);
                let reached = 2.0 * 512f64.powi(3) / seconds / caps.machine.f32_flops;
                let share = tile.share_of_peak(&problem, &caps);
                assert!(
                    (reached / share - 1.0).abs() < 1e-6,
                    "{} {tile}: {share}, not {reached}",
                    tile.kernel
                );
                compared += 1;
            }
        }
        assert!(compared > 10, "{compared} tiles on {}", caps.adapter);
    }
}
