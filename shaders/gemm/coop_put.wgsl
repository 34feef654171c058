//! Stores units of operand x to shared memory (a put). `x_outer_of(put)` and `x_k_of(put)` return the indices within the block
//! of the first unit of a put; `put_x(at, put, first, last)` puts the units of a put at the place `at` of the first. X_CYCLE
//! successive puts fill X_CYCLE_ROWS rows.

//#variant in_order
// One unit at a time, in the order of device memory: nothing is transposed.
const X_CYCLE: u32 = X_ROW / 8u;
const X_CYCLE_ROWS: u32 = 1u;

fn x_outer_of(put: u32) -> u32 {
    return put / (X_ROW / 8u) * (1u - X_OUTER) + put % (X_ROW / 8u) * 8u * X_OUTER;
}

fn x_k_of(put: u32) -> u32 {
    return put / (X_ROW / 8u) * X_OUTER + put % (X_ROW / 8u) * 8u * (1u - X_OUTER);
}

fn put_x(at: u32, put: u32, first: Unit, last: Unit) {
    x_tile[at] = first.x;
    x_tile[at + 1u] = first.y;
}

//#variant transposed
// Units along the outer axis, in rows along k: two units, neighbours along k, whose elements are put in pairs of 4 bytes. Four
// lanes load 64 bytes of a line, and the next lanes its neighbours along k, so that lanes write to different banks.
const X_CYCLE: u32 = 2u * BK;
const X_CYCLE_ROWS: u32 = 32u;

fn x_outer_of(put: u32) -> u32 {
    return put / (2u * BK) * 32u + put % 4u * 8u;
}

fn x_k_of(put: u32) -> u32 {
    return put / 4u % (BK / 2u) * 2u;
}

fn put_x(at: u32, put: u32, first: Unit, last: Unit) {
    // NOTE: another lane writes the other half of each vector. In SPIR-V, components are separate memory locations.
    let half = x_k_of(put) % 4u;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        x_tile[at + e * X_LD][half] = first.x[e];
        x_tile[at + e * X_LD][half + 1u] = last.x[e];
        x_tile[at + (e + 4u) * X_LD][half] = first.y[e];
        x_tile[at + (e + 4u) * X_LD][half + 1u] = last.y[e];
    }
}
