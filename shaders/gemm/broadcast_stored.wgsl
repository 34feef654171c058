//! Stored rows of A, in fours, of the kernel that broadcasts them (broadcast_lines.wgsl).

struct FourRows {
    at: vec4<u32>,
}

var<private> first_row: u32;

fn hold_rows(row0: u32) {
    first_row = row0;
}

fn four_rows(i: u32, k: u32) -> FourRows {
    let rows = min(vec4<u32>(first_row + i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.m - 1u));
    return FourRows(matrices.a_offset + rows * dims.a_outer + k * dims.a_k);
}

fn in_rows(rows: FourRows, values: vec4<f32>) -> vec4<f32> {
    return values;
}
