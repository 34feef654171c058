//! Values that are not finite, for rows that attend them: `strange_sums(p_base, v_base, j0, range, batch, col)`.

// The sums of four columns of weighted values that are not finite, over the keys of a block that a row attends.
fn strange_sums(p_base: u32, v_base: u32, j0: u32, range: vec2<u32>, batch: u32, col: u32) -> vec4<f32> {
    var sums = vec4<f32>();
    for (var c = 0u; c < BC; c++) {
        let j = j0 + c;
        if j >= range.x && j < range.y && is_kept(batch, j) {
            let unit = value_unit(v_base + j * dims.v.w, col / 8u * 8u);
            let values = select(unit.x, unit.y, vec4<bool>(col % 8u == 4u));
            let p = f32(k_tile[p_base + c / 4u][c % 4u]);
            sums += select(p * vec4<f32>(values), vec4<f32>(), is_finite(values));
        }
    }
    return sums;
}
