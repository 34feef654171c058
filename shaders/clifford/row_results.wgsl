//! What becomes of a row, by its sums.

let x0 = kept[u * KEPT + 0u];
if is_mine { save_c(row * dims.features + feature, x0 / sqrt(total[0] / f32(dims.features) + 1e-6)); }
