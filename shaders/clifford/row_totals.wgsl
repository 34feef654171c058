//! The sums of a row over its lanes: `row_totals(own, total, iteration, lane, row)`.
//!
//! It has barriers, so all lanes of a workgroup call it for each of their rows. `own` is the sums of a lane over its
//! features, `iteration` counts the lane's rows, and `row` is the row's index. It sets `total` to the sums of the row,
//! the same for all of its lanes, added in a fixed order.

//#variant none
// Without sums.
fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    iteration: u32,
    lane: u32,
    row: u32,
) {
}

//#variant shared
// In shared memory, eight numbers at a time.

// The sums of each lane.
var<workgroup> parts: array<f32, BUFFERS * SUMS * LANES>;

fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    iteration: u32,
    lane: u32,
    row: u32,
) {
    let buffer = (iteration % BUFFERS) * SUMS * LANES;
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        parts[buffer + i * LANES + lane] = (*own)[i];
    }
    workgroupBarrier();
    var left = PART; // lanes of the row whose sums are still to be added
    for (; left > 8u; left = (left + 7u) / 8u) {
        let next = left / 8u;
        if lane % PART < next {
            for (var i = 0u; i < SUMS; i++) {
                let first = buffer + i * LANES + lane;
                var sum = parts[first];
                for (var j = 1u; j < 8u; j++) { sum += parts[first + j * next]; }
                parts[first] = sum;
            }
        }
        workgroupBarrier();
    }
    let first = buffer + (lane / PART) * PART;
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        (*total)[i] = parts[first + i * LANES];
    }
    for (var j = 1u; j < left; j++) {
        //#unroll
        for (var i = 0u; i < SUMS; i++) {
            (*total)[i] += parts[first + i * LANES + j];
        }
    }
    if BUFFERS == 1u { workgroupBarrier(); }
}

//#variant subgroup
// By shuffles within subgroups of SUBGROUP lanes, then in shared memory.

// The sums of each subgroup.
var<workgroup> parts: array<f32, BUFFERS * SUMS * LANES>;

fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    iteration: u32,
    lane: u32,
    row: u32,
) {
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        var sum = (*own)[i];
        for (var by = 1u; by < min(PART, SUBGROUP); by *= 2u) { sum += subgroupShuffleXor(sum, by); }
        (*total)[i] = sum;
    }
    if PART > SUBGROUP {
        let buffer = (iteration % BUFFERS) * SUMS * LANES;
        if lane % SUBGROUP == 0u {
            //#unroll
            for (var i = 0u; i < SUMS; i++) {
                parts[buffer + i * LANES + lane / SUBGROUP] = (*total)[i];
            }
        }
        workgroupBarrier();
        let first = buffer + (lane / PART) * (PART / SUBGROUP);
        //#unroll
        for (var i = 0u; i < SUMS; i++) {
            (*total)[i] = parts[first + i * LANES];
        }
        for (var j = 1u; j < PART / SUBGROUP; j++) {
            //#unroll
            for (var i = 0u; i < SUMS; i++) {
                (*total)[i] += parts[first + i * LANES + j];
            }
        }
        if BUFFERS == 1u { workgroupBarrier(); }
    }
}

//#variant stored
// Adds the sums of the row's parts, which an earlier launch has stored.
fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    iteration: u32,
    lane: u32,
    row: u32,
) {
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        (*total)[i] = sums[(i * dims.rows + row) * dims.parts];
    }
    for (var j = 1u; j < dims.parts; j++) {
        //#unroll
        for (var i = 0u; i < SUMS; i++) {
            (*total)[i] += sums[(i * dims.rows + row) * dims.parts + j];
        }
    }
}
