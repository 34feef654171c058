//! A pass that neither begins nor ends with signs.

fn make_signs(row0: u32, low0: u32, lane: u32) {
}
