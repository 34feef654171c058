//! Sizes that no machine has are errors before the host allocates anything. Each in a process of its own: what goes wrong
//! there aborts it.

use support::process;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{CliffordLayer, LayerProduct, ProductKind};
use tilewise::sketch::{SkLinear, Sketch, SketchKind};
use tilewise::{Error, Fill, Gpu, GpuOptions, Result};

type Case = (&'static str, fn(&Gpu) -> Result<()>);

/// Elements of f32 that take 4 TiB.
const HUGE: usize = 1 << 40;

/// Bytes that a process may have had in memory at once: a test, a device without a driver, and chunks on their way.
const MODEST: u64 = 512 << 20;

const CASES: [Case; 11] = [
    ("empty", |gpu| gpu.empty::<f32>([HUGE]).map(drop)),
    ("zeros", |gpu| gpu.zeros::<f32>([HUGE]).map(drop)),
    ("zeros of many axes", |gpu| gpu.zeros::<i8>([1 << 10; 6]).map(drop)),
    ("random", |gpu| gpu.random::<f32>([HUGE], Fill::Uniform, 1).map(drop)),
    ("a dense sketch", |gpu| {
        Sketch::new(SketchKind::Gaussian, [1 << 20, 1 << 30], 1)?.to_tensor(gpu).map(drop)
    }),
    ("a sparse sketch", |gpu| {
        Sketch::new(SketchKind::CountSketch, [1 << 20, 1 << 30], 1)?.to_tensor(gpu).map(drop)
    }),
    ("a sketched layer", |gpu| {
        SkLinear::<f32>::builder(1, 1 << 20).allow_larger().random(gpu, [1 << 30; 2]).map(drop)
    }),
    ("a Clifford layer", |gpu| clifford_layer(gpu, 16_000)),
    ("a Clifford layer of more weights than can be counted", |gpu| clifford_layer(gpu, HUGE)),
    ("a repeated axis, copied", |gpu| {
        gpu.zeros::<f32>([1])?.as_strided(&[1 << 20, 1 << 20], &[0, 0], 0)?.contiguous().map(drop)
    }),
    ("a repeated axis, read", |gpu| {
        gpu.zeros::<f32>([1])?.as_strided(&[1 << 20, 1 << 20], &[0, 0], 0)?.to_vec().map(drop)
    }),
];

fn clifford_layer(gpu: &Gpu, features: usize) -> Result<()> {
    let builder = CliffordLayer::<f32>::builder(LayerProduct::new(Signature::CL3), ProductKind::Connected);
    builder.random::<f32>(gpu, [features; 2]).map(drop)
}

#[test]
fn absurd_sizes_are_errors_and_abort_nothing() {
    if let Some(name) = process::handed() {
        let (_, case) = CASES.iter().find(|(case, _)| *case == name).expect("a case of that name");
        let gpu = support::noop_with(GpuOptions::default(), |_| ());
        let error = case(&gpu).expect_err("no machine has so much");
        assert!(
            matches!(error, Error::Shape { .. } | Error::Limit { .. } | Error::OutOfMemory { .. }),
            "{error:?}"
        );
        let peak = process::bytes("VmHWM");
        assert!(peak.is_none_or(|peak| peak < MODEST), "{error}: the host had {peak:?} bytes in use");
        assert!(gpu.zeros::<f32>([4]).and_then(|x| x.to_vec()).is_ok_and(|x| x == [0.0; 4]));
        return;
    }
    for (name, _) in CASES {
        process::assert_passes(process::again(
            concat!(module_path!(), "::absurd_sizes_are_errors_and_abort_nothing"),
            name,
        ));
    }
}
