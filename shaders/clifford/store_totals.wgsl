//! Stores the sums of a row for the next launch: `store_totals(row, block, total)`. `row` is within the rows. In each
//! workgroup that has a part of the row, `block` of `dims.blocks`, one lane calls it.

//#variant none
// Stores nothing: one workgroup has the whole row.
fn store_totals(row: u32, block: u32, total: ptr<function, array<f32, SUMS>>) {
}

//#variant parts
// Stores the sums of the part. The next launch adds those of all parts.
fn store_totals(row: u32, block: u32, total: ptr<function, array<f32, SUMS>>) {
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        sums[(i * dims.rows + row) * dims.blocks + block] = (*total)[i];
    }
}
