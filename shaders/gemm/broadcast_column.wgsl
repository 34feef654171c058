//! Stored columns of B of the kernel that broadcasts A (broadcast_lines.wgsl).

// A column: the place of its first element.
struct Column {
    at: u32,
}

// The same in a run: the place at its start.
struct ColumnInRun {
    at: u32,
}

fn column_of_b(column: u32) -> Column {
    return Column(matrices.b_offset + column * dims.b_outer);
}

fn step_of_b() -> u32 {
    return dims.b_k;
}

fn in_column(column: ColumnInRun, value: f32) -> f32 {
    return value;
}
