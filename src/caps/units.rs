//! Sizes and rates as text.

/// `128 MiB`; `~2.0 GiB` if the size is not a whole number of its unit.
pub(crate) fn format_bytes(size: u64) -> String {
    let (unit, name) = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        .into_iter()
        .find(|&(unit, _)| size >= unit)
        .unwrap_or((1, "B"));
    if size.is_multiple_of(unit) {
        format!("{} {name}", size / unit)
    } else {
        format!("~{:.1} {name}", size as f64 / unit as f64)
    }
}

/// `58 GFLOP/s`, with one decimal unless it is zero.
pub(crate) fn format_rate(per_second: f64, unit: &str) -> String {
    let (scale, prefix) = [(1e12, "T"), (1e9, "G"), (1e6, "M")]
        .into_iter()
        .find(|&(scale, _)| per_second >= scale)
        .unwrap_or((1.0, ""));
    let tenths = (per_second / scale * 10.0).round() / 10.0;
    format!("{tenths} {prefix}{unit}")
}
