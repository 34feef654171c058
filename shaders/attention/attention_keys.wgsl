//! Stages keys in shared memory: `stage_keys(k_base, j0, last, lane)`.

// Stages BC keys from j0 on. Keys past the last one repeat the last one: no row attends them.
fn stage_keys(k_base: u32, j0: u32, last: u32, lane: u32) {
    //#unroll
    for (var n = 0u; n < (K_UNITS + LANES - 1u) / LANES; n++) {
        let unit = lane + n * LANES;
        if K_UNITS % LANES == 0u || unit < K_UNITS {
            let row = unit / (D / 8u);
            let col = unit % (D / 8u);
            let elements = key_unit(k_base + min(j0 + row, last) * dims.k.w, 8u * col);
            k_tile[row * K_LD + 2u * col] = elements.x;
            k_tile[row * K_LD + 2u * col + 1u] = elements.y;
        }
    }
}
