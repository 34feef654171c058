//! What the benches share: the device, the sizes, and batches of products on the device's clock.
#![allow(dead_code, reason = "each bench takes what it needs")]

pub(crate) mod contest;
pub(crate) mod definition;
#[path = "../../examples/support/mod.rs"]
pub(crate) mod examples;

use tilewise::gpu::DeviceType;
use tilewise::{Error, Gpu, Result};

/// Products that are timed together at most: fewer than one submission holds, in two launches each where k is split.
pub(crate) const PRODUCTS_AT_MOST: u64 = 31;
/// Pairs of operands take turns, so that none is still in the device's cache from its last turn: so many bytes
/// of them, several times what the largest cache of a GPU holds, where their number and the memory allow.
const PAIRS_BYTES: u64 = 256 << 20;
const PAIRS_AT_LEAST: u64 = 2;
const PAIRS_AT_MOST: u64 = 32;

/// The device, or `None` where there is none and none is required.
pub(crate) fn open() -> Result<Option<Gpu>> {
    match Gpu::open() {
        Err(Error::Unsupported { .. }) if std::env::var("GPU_REQUIRED").as_deref() != Ok("1") => Ok(None),
        opened => opened.map(Some),
    }
}

/// Whether `cargo bench -- --test` asks whether it works, not for figures.
pub(crate) fn is_testing() -> bool {
    std::env::args().any(|argument| argument == "--test")
}

/// Whether a case ran; a line says why not, and the others go on.
pub(crate) fn told(case: &str, size: usize, result: Result<()>) -> bool {
    if let Err(error) = &result {
        println!("{}", serde_json::json!({ "case": case, "size": size, "error": error.to_string() }));
    }
    result.is_ok()
}

/// Whether a CPU does it, which is measured at smaller sizes.
pub(crate) fn is_software(gpu: &Gpu) -> bool {
    gpu.caps().device_type == DeviceType::Software
}

/// Whether `case` ran for every batch that `TILEWISE_BATCHES` names of every number of features that `TILEWISE_SIZES` does:
/// `[batch, features]`. Where they are not set, for one of these, on software devices and on GPUs; in tests for a small one.
pub(crate) fn of_batches(
    gpu: &Gpu,
    name: &str,
    [features, batch]: [[usize; 2]; 2],
    mut case: impl FnMut([usize; 2]) -> Result<()>,
) -> Result<bool> {
    let of_device = usize::from(!is_software(gpu));
    let (features, batches) = if is_testing() {
        (vec![16], vec![4])
    } else {
        (sizes(&[features[of_device]])?, sizes_from("TILEWISE_BATCHES", &[batch[of_device]])?)
    };
    let mut ok = true;
    for &features in &features {
        for &batch in &batches {
            ok &= told(name, features, case([batch, features]));
        }
    }
    Ok(ok)
}

/// The sizes of the cubes: `TILEWISE_SIZES`, or these.
pub(crate) fn sizes(default: &[usize]) -> Result<Vec<usize>> {
    sizes_from("TILEWISE_SIZES", default)
}

/// The sizes that a variable lists, or these.
pub(crate) fn sizes_from(variable: &str, default: &[usize]) -> Result<Vec<usize>> {
    let Ok(value) = std::env::var(variable) else { return Ok(default.to_vec()) };
    let sizes: Result<Vec<usize>, _> = value.split(',').map(|size| size.trim().parse()).collect();
    sizes.map_err(|_| Error::Input {
        what: variable.into(),
        why: format!("`{value}` is not a list of sizes such as 256,512"),
    })
}

/// How many pairs of operands, of so many bytes each, take turns.
pub(crate) fn pairs(gpu: &Gpu, bytes: u64) -> u64 {
    let room = gpu.caps().memory.unwrap_or(1 << 30) / 4;
    PAIRS_BYTES.div_ceil(bytes).clamp(PAIRS_AT_LEAST, PAIRS_AT_MOST).min(room / bytes).max(1)
}

/// The middle of some numbers; between two, halfway.
pub(crate) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len() - 1;
    f64::midpoint(numbers[last / 2], numbers[last.div_ceil(2)])
}

/// How many products that take `once` seconds each fill `enough` seconds.
pub(crate) fn products(once: f64, enough: f64) -> u64 {
    (1..PRODUCTS_AT_MOST).find(|&products| products as f64 * once > enough).unwrap_or(PRODUCTS_AT_MOST)
}

/// Seconds on the device's clock for so many products, each launched by `launch`.
pub(crate) fn seconds(gpu: &Gpu, products: u64, mut launch: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut seconds = 0.0;
    let mut left = products;
    while left > 0 {
        let now = left.min(PRODUCTS_AT_MOST);
        let ((), timing) = gpu.time(|| (0..now).try_for_each(|_| launch()))?;
        seconds += timing.seconds;
        left -= now;
    }
    Ok(seconds)
}
