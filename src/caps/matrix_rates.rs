//! Rates of cooperative matrices of other types than f16 with f32 sums, as multiples of its rate.

/// Parts of names of devices that sum products of f16 on matrices in f16 twice as fast as in f32: `GeForce` cards (the sources are those
/// of the rates of i8). Data-centre cards, AMD and Intel have one rate for both.
const DOUBLE_IN_F16: &[&str] = &["GeForce", "RTX 50", "RTX 40", "RTX 30"];

/// The rate of sums of f16 on a device that its driver calls `adapter`; 1 if it is not known.
pub(super) fn f16_sums_times(adapter: &str) -> f64 {
    if DOUBLE_IN_F16.iter().any(|name| adapter.contains(name)) { 2.0 } else { 1.0 }
}

/// Parts of the names of devices, and the rate of i8 with sums of i32, as a multiple of f16 with sums of f32. The first entry whose
/// name is part of the adapter's name is used.
///
/// Figures are from the vendors' data sheets, dense. `GeForce` cards sum f16 in f32 at half speed (appendices of NVIDIA's papers on
/// Turing, Ampere, Ada and Blackwell: 71 and 284 on an RTX 3090, 165.2 and 660.6 on an RTX 4090); data-centre cards do not (312 and
/// 624 on an A100, 989 and 1,979 on an H100). RDNA 3 has one rate for f16 and i8, RDNA 4 twice the rate for i8 (195 and 389 on an
/// RX 9070 XT). Intel's f16 is half of int8. Lavapipe: as measured, see the book's results on software drivers.
const I8_TIMES: &[(&str, f64)] = &[
    ("GeForce", 4.0),
    ("RTX 50", 4.0),
    ("RTX 40", 4.0),
    ("RTX 30", 4.0),
    ("NVIDIA", 2.0),
    ("RX 90", 2.0),
    ("GFX12", 2.0),
    ("Intel", 2.0),
    ("B580", 2.0),
];

/// Parts of names of devices whose matrices multiply e4m3 and e5m2, with sums of f32, at twice the rate of f16 with sums of f32:
/// 330.3 and 165.2 on an RTX 4090, 1,979 and 989 on an H100 and an H200, 389 and 195 on an RX 9070 XT (the sources are those of the
/// rates of i8). Assumed: other devices of these makers, if they list such matrices.
const DOUBLE_IN_FP8: &[&str] = &["GeForce", "RTX 50", "RTX 40", "NVIDIA", "RX 90", "GFX12"];

/// The rate of e4m3 and e5m2 on a device that its driver calls `adapter`; 1 if it is not known.
pub(super) fn fp8_times(adapter: &str) -> f64 {
    if DOUBLE_IN_FP8.iter().any(|name| adapter.contains(name)) { 2.0 } else { 1.0 }
}

/// The rate of i8 on a device that its driver calls `adapter`; 1 if it is not known.
pub(super) fn i8_times(adapter: &str) -> f64 {
    I8_TIMES.iter().find(|(name, _)| adapter.contains(name)).map_or(1.0, |(_, times)| *times)
}
