//! What becomes of a row's sums beside its results: `store_totals(row, block, total)`, of a row that is there. One of the
//! lanes of a row calls it in each of the workgroups that have a part of the row, `block` of `dims.blocks`.

//#variant none
// Nothing: the workgroup has the whole row.
fn store_totals(row: u32, block: u32, total: ptr<function, array<f32, SUMS>>) {
}

//#variant parts
// Stores them for the next launch, which adds those of all parts.
fn store_totals(row: u32, block: u32, total: ptr<function, array<f32, SUMS>>) {
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        sums[(i * dims.rows + row) * dims.blocks + block] = (*total)[i];
    }
}
