//! The operands whose gradients a kernel sums up. `row` counts the rows of a team's side in a key head, `column` those of the other
//! side. Each side has two operands: the first ones are factors of scores, the second ones of the gradients of weights.

//#variant queries
// Rows are the queries of a group of heads, columns are keys. The subgroups of a team sum up the first and the second half of dQ.
const OF_KEYS: bool = false;
const SUMS: u32 = (D / FRAGMENT + 1u) / 2u; // matrices of a subgroup
const TURNED: u32 = 2u * SUMS * FRAGMENT;
const P_OPERAND: u32 = 0u;
const B_ROLE: u32 = SUMS * B_NEXT_COLUMN;

fn row_unit(operand: u32, batch: u32, kv_head: u32, row: u32, col: u32) -> Unit {
    return query_side(operand, batch, kv_head, row, col);
}

fn column_unit(operand: u32, batch: u32, kv_head: u32, column: u32, col: u32) -> Unit {
    return key_side(operand, batch, kv_head, column, col);
}

// Columns that some rows attend: the first and the end; then the same for columns that all rows attend.
fn columns_of(first_row: u32, last_row: u32, count: u32) -> vec4<u32> {
    let first_range = range_of(first_row / dims.group, count);
    let last_range = range_of(last_row / dims.group, count);
    return vec4<u32>(min(first_range.x, last_range.x), max(first_range.y, last_range.y), max(first_range.x, last_range.x), min(first_range.y, last_range.y));
}

fn pair_of(kv_head: u32, row: u32, column: u32) -> Pair {
    return Pair(row / dims.group, kv_head * dims.group + row % dims.group, column);
}

fn known_of_row(batch: u32, kv_head: u32, row: u32) -> vec4<f32> {
    let pair = pair_of(kv_head, row, 0u);
    return stats[(batch * dims.kv_heads * dims.group + pair.head) * dims.queries + pair.i];
}

fn stage_known(batch: u32, kv_head: u32, first: u32, last: u32, lane: u32) {}

fn known_of(own: vec4<f32>, quad: u32) -> Known {
    return Known(vec4<f32>(own.x), vec4<f32>(own.y), vec4<f32>(own.z));
}

// The factor of a subgroup's sums when the level grows, and at the end.
fn grown(role: u32, factor: f32) -> f32 {
    return factor;
}

fn unscaled(role: u32, level: u32) -> vec2<f32> {
    return vec2<f32>(up(level), dims.scale);
}

fn store(role: u32, batch: u32, kv_head: u32, row: u32, col: u32, v: array<vec4<f32>, QUADS>) {
    let place = role * SUMS * FRAGMENT + col;
    if place < D {
        let pair = pair_of(kv_head, row, 0u);
        let at = dims.dq.x + batch * dims.dq.y + pair.head * dims.dq.z + pair.i * dims.dq.w;
        store_result(at, place / WIDTH, WIDTH, v);
    }
}

//#variant keys
// Rows are keys, columns the queries of a group of heads. The first subgroup of a team sums up dK, the second dV.
const OF_KEYS: bool = true;
const SUMS: u32 = DM / FRAGMENT; // matrices of a subgroup
const TURNED: u32 = 2u * DM;
const P_OPERAND: u32 = FRAGMENT * P_LD;
const B_ROLE: u32 = B_OPERAND;
var<workgroup> known: array<vec4<f32>, 3u * BC / 4u>; // of a block's columns: largest scores, logarithms, and deltas

fn row_unit(operand: u32, batch: u32, kv_head: u32, row: u32, col: u32) -> Unit {
    return key_side(operand, batch, kv_head, row, col);
}

fn column_unit(operand: u32, batch: u32, kv_head: u32, column: u32, col: u32) -> Unit {
    return query_side(operand, batch, kv_head, column, col);
}

// Columns that attend some rows: the first and the end; then the same for columns that attend all rows.
fn columns_of(first_row: u32, last_row: u32, count: u32) -> vec4<u32> {
    let first_range = queries_of(first_row);
    let last_range = queries_of(last_row);
    let some = vec2<u32>(min(first_range.x, last_range.x), max(first_range.y, last_range.y));
    let every = vec2<u32>(max(first_range.x, last_range.x), min(first_range.y, last_range.y));
    // No query attends keys past a length.
    let ends = select(vec2<u32>(some.y, every.y), vec2<u32>(0u), vec2<bool>(first_row >= count, last_row >= count));
    return dims.group * vec4<u32>(some.x, ends.x, every.x, ends.y);
}

fn pair_of(kv_head: u32, row: u32, column: u32) -> Pair {
    return Pair(column / dims.group, kv_head * dims.group + column % dims.group, row);
}

fn known_of_row(batch: u32, kv_head: u32, row: u32) -> vec4<f32> {
    return vec4<f32>();
}

fn stage_known(batch: u32, kv_head: u32, first: u32, last: u32, lane: u32) {
    if lane < BC {
        let pair = pair_of(kv_head, 0u, min(first + lane, last));
        let query_stats = stats[(batch * dims.kv_heads * dims.group + pair.head) * dims.queries + pair.i];
        known[lane / 4u][lane % 4u] = query_stats.x;
        known[(BC + lane) / 4u][lane % 4u] = query_stats.y;
        known[(2u * BC + lane) / 4u][lane % 4u] = query_stats.z;
    }
}

fn known_of(own: vec4<f32>, quad: u32) -> Known {
    return Known(known[quad], known[BC / 4u + quad], known[BC / 2u + quad]);
}

fn grown(role: u32, factor: f32) -> f32 {
    return select(factor, 1.0, role == 1u);
}

// Weights are stored times 2^15.
fn unscaled(role: u32, level: u32) -> vec2<f32> {
    return select(vec2<f32>(up(level), dims.scale), vec2<f32>(1.0 / WEIGHTS, 1.0), role == 1u);
}

fn store(role: u32, batch: u32, kv_head: u32, row: u32, col: u32, v: array<vec4<f32>, QUADS>) {
    let dk_base = dims.dk.x + batch * dims.dk.y + kv_head * dims.dk.z + row * dims.dk.w;
    let dv_base = dims.dv.x + batch * dims.dv.y + kv_head * dims.dv.z + row * dims.dv.w;
    if col < select(D, DV, role == 1u) {
        // A masked key may have any elements, even NaN.
        let kept = vec4<bool>(row < key_count(batch) && is_kept(batch, row));
        var results: array<vec4<f32>, QUADS>;
        //#unroll
        for (var c = 0u; c < QUADS; c++) {
            results[c] = select(vec4<f32>(0.0), v[c], kept);
        }
        store_result(select(dk_base, dv_base, role == 1u), col / WIDTH, WIDTH, results);
    }
}
