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

// An index along k of the run: its distance from the start.
struct RowInRun {
    step: u32,
}

fn row_of_b(k: u32, begin: u32) -> RowInRun {
    return RowInRun((k - begin) * dims.b_k);
}

fn b_value(column: ColumnInRun, row: RowInRun) -> f32 {
    return load_b(column.at + row.step);
}
