//! The sums of a row over its lanes: `row_totals(own, total, step, lane, row)`.
//!
//! All lanes of a workgroup call it for each of their rows, as there are barriers in it. `own` are the sums that a lane has of
//! its features, `step` counts the lane's rows, and `row` is the row's index. `total` becomes the sums of the row, the same
//! for all of its lanes, added in a fixed order.

//#variant none
// Of rows that nothing is summed of: nobody reads their sums.
fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    step: u32,
    lane: u32,
    row: u32,
) {
}

//#variant shared
// In shared memory, eight numbers at a time.

// Where lanes leave what they have.
var<workgroup> parts: array<f32, BUFFERS * SUMS * LANES>;

fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    step: u32,
    lane: u32,
    row: u32,
) {
    let buffer = (step % BUFFERS) * SUMS * LANES;
    for (var i = 0u; i < SUMS; i++) {
        parts[buffer + i * LANES + lane] = (*own)[i];
    }
    workgroupBarrier();
    var left = PART; // of the row's lanes, whose numbers have those of others in them
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
    for (var i = 0u; i < SUMS; i++) {
        let first = buffer + i * LANES + (lane / PART) * PART;
        var sum = parts[first];
        for (var j = 1u; j < left; j++) { sum += parts[first + j]; }
        (*total)[i] = sum;
    }
    if BUFFERS == 1u { workgroupBarrier(); }
}

//#variant subgroup
// Within subgroups of SUBGROUP lanes by swapping, and in shared memory what is left.

// Where subgroups leave what they have.
var<workgroup> parts: array<f32, BUFFERS * SUMS * LANES>;

fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    step: u32,
    lane: u32,
    row: u32,
) {
    for (var i = 0u; i < SUMS; i++) {
        var sum = (*own)[i];
        for (var by = 1u; by < min(PART, SUBGROUP); by *= 2u) { sum += subgroupShuffleXor(sum, by); }
        (*total)[i] = sum;
    }
    if PART > SUBGROUP {
        let buffer = (step % BUFFERS) * SUMS * LANES;
        if lane % SUBGROUP == 0u {
            for (var i = 0u; i < SUMS; i++) { parts[buffer + i * LANES + lane / SUBGROUP] = (*total)[i]; }
        }
        workgroupBarrier();
        for (var i = 0u; i < SUMS; i++) {
            let first = buffer + i * LANES + (lane / PART) * (PART / SUBGROUP);
            var sum = parts[first];
            for (var j = 1u; j < PART / SUBGROUP; j++) { sum += parts[first + j]; }
            (*total)[i] = sum;
        }
        if BUFFERS == 1u { workgroupBarrier(); }
    }
}

//#variant given
// Of what a launch before this has found of the row's parts.
fn row_totals(
    own: ptr<function, array<f32, SUMS>>,
    total: ptr<function, array<f32, SUMS>>,
    step: u32,
    lane: u32,
    row: u32,
) {
    for (var i = 0u; i < SUMS; i++) {
        let first = (i * dims.rows + row) * dims.parts;
        var sum = sums[first];
        for (var j = 1u; j < dims.parts; j++) { sum += sums[first + j]; }
        (*total)[i] = sum;
    }
}
