//! Sizes that no machine has are errors before the host allocates anything. Each in a process of its own: what goes wrong
//! there aborts it.

use super::support;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{CliffordLayer, LayerProduct, ProductKind};
use tilewise::sketch::{SkLinear, Sketch, SketchKind};
use tilewise::{Error, Fill, Gpu, GpuOptions, Result};

const CHILD: &str = "TILEWISE_TEST_CHILD";

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
        SkLinear::<f32>::builder(1, 1 << 20).without_saving().random(gpu, [1 << 30; 2]).map(drop)
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

/// The most memory that this process had at once, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[test]
fn absurd_sizes_are_errors_and_abort_nothing() {
    if let Ok(name) = std::env::var(CHILD) {
        let (_, case) = CASES.iter().find(|(case, _)| *case == name).expect("a case of that name");
        let gpu = support::noop_with(GpuOptions::default(), |_| ());
        let error = case(&gpu).expect_err("no machine has so much");
        assert!(
            matches!(error, Error::Shape { .. } | Error::Limit { .. } | Error::OutOfMemory { .. }),
            "{error:?}"
        );
        let peak = peak();
        assert!(peak.is_none_or(|peak| peak < MODEST), "{error}: the host had {peak:?} bytes in use");
        assert!(gpu.zeros::<f32>([4]).and_then(|x| x.to_vec()).is_ok_and(|x| x == [0.0; 4]));
        return;
    }
    for (name, _) in CASES {
        let child = support::example::this()
            .args(["--exact", "sizes::absurd_sizes_are_errors_and_abort_nothing", "--nocapture"])
            .env(CHILD, name)
            .output()
            .expect("the test runs again");
        let said = String::from_utf8_lossy(&child.stdout);
        let passed = child.status.success() && said.contains("1 passed");
        assert!(passed, "{name}: {said}\n{}", String::from_utf8_lossy(&child.stderr));
    }
}
