//! Every shader of the crate, by name and text, in the order of names. `shaders/build.rs` makes the tables from the folder.

/// The kernels: one entry point each, in `shaders/`.
pub const SHADERS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The fragments that kernels import, in `shaders/common/`.
pub const FRAGMENTS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fragments.rs"));

/// The table's name and text of this name.
pub(super) fn find(
    table: &[(&'static str, &'static str)],
    name: &str,
) -> Option<(&'static str, &'static str)> {
    table.iter().find(|(n, _)| *n == name).copied()
}
