//! The gradient of an attention's queries: each invocation, or a team of few, computes ROWS query rows of a key head; one loaded key serves all of them. The operands are generated code.
//!
//! shapes    Q (batch, heads, queries, dim), K (batch, kv_heads, keys, dim), V (batch, kv_heads, keys, dim_v), G (batch, heads, queries, dim_v), any strides, statistics (rows) of four f32 -> dQ like Q; f32 sums
//! grid      ROWS * LANES / dims.lanes rows of one key head a workgroup; rows, then key heads
//! subgroup  invocations that share a row exchange partial products, in shared memory if the size is not known
//! requires  nothing
//! edges     rows past the end repeat the last one and are not stored; keys outside a row's range, its length or its mask are not read into its sums: any queries, keys >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16
//#import math

//#param  set by AttentionBackward::kernel
const QUADS: u32 = 1u;  // quads of a group, which are neighbours
const HELD: u32 = 2u;   // groups of Q and dQ that an invocation has
const HELD_V: u32 = 2u; // groups of G
const ROWS: u32 = 1u;   // rows of an invocation, which reads each key and value once for all of them
const LANES: u32 = 64u;
const WHOLE: bool = false; // head dims consist of whole groups, the same number for each invocation
const KEEPS: bool = false; // there is a mask of keys
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import attention_within
//#slot attention_range default fixed
//#import attention_weight

//#generated operands
// The operands. `query`, `key`, `value` and `gradient` are quad k of group `group` of a row that begins at `start`; `added` is the
// bias of a score; `key_count` is the number of keys of a batch, `is_kept` whether the mask keeps a key. Plans generate it.
//
//     fn query(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn key(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn value(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn added(batch: u32, head: u32, i: u32, j: u32) -> f32
//     fn key_count(batch: u32) -> u32
//     fn is_kept(batch: u32, j: u32) -> bool
//     fn store_dq(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#slot team default alone
//#import attention_held x=query n=HELD
//#import attention_held x=gradient n=HELD_V
//#import attention_dots x=key n=HELD
//#import attention_dots x=value n=HELD_V
//#import attention_weighted x=key n=HELD

// Weights are recomputed from the statistics (Dao, 2023).
@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let rows = dims.group * dims.queries; // of a key head
    let at_once = LANES / team_size();
    let row_blocks = (rows + ROWS * at_once - 1u) / (ROWS * at_once);
    let block = block_index(workgroup, grid);
    let batch_head = block / row_blocks; // counted over the batch
    if batch_head >= dims.heads {
        return;
    }
    let first_row = (block - batch_head * row_blocks) * ROWS * at_once;
    let last_row = min(first_row + ROWS * at_once, rows) - 1u;
    let own = lane % team_size();
    let batch = batch_head / dims.kv_heads;
    let kv_head = batch_head % dims.kv_heads;

    var row: array<u32, ROWS>; // rows past the end repeat the last one
    var i: array<u32, ROWS>;
    var head: array<u32, ROWS>;
    var known: array<vec4<f32>, ROWS>; // the row's statistics
    var q_starts: array<u32, ROWS>;
    var g_starts: array<u32, ROWS>;
    var sums: array<vec4<f32>, ROWS * HELD * QUADS>;
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        row[r] = first_row + r * at_once + lane / team_size();
        let in_group = min(row[r], rows - 1u);
        i[r] = in_group / dims.group;
        head[r] = kv_head * dims.group + in_group % dims.group;
        known[r] = stats[(batch * dims.kv_heads * dims.group + head[r]) * dims.queries + i[r]];
        q_starts[r] = dims.q.x + batch * dims.q.y + head[r] * dims.q.z + i[r] * dims.q.w;
        g_starts[r] = dims.g.x + batch * dims.g.y + head[r] * dims.g.z + i[r] * dims.g.w;
    }
    var q_row = held_query(q_starts, own, dims.dim);
    var given = held_gradient(g_starts, own, dims.dim_v); // the gradient of the result
    let k_base = dims.k.x + batch * dims.k.y + kv_head * dims.k.z;
    let v_base = dims.v.x + batch * dims.v.y + kv_head * dims.v.z;

    // Keys that all rows of the workgroup attend (a multiple of four of them), then the keys that only some rows
    // attend.
    let count = key_count(batch);
    let first_range = range_of(first_row / dims.group, count);
    let last_range = range_of(last_row / dims.group, count);
    let all_first = max(first_range.x, last_range.x);
    let all_end = max(all_first, min(first_range.y, last_range.y));
    let share = (all_end - all_first) / 4u * 4u;
    let some_first = min(first_range.x, last_range.x);
    let some_end = max(first_range.y, last_range.y);
    let others = some_end - some_first - share;

    for (var t = 0u; t < share; t += 4u) {
        let j = all_first + t;
        var kept = vec4<bool>(true);
        if KEEPS {
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                kept[c] = is_kept(batch, j + c);
            }
        }
        let dots = dots_key(&q_row, k_base + j * dims.k.w, dims.k.w, own, dims.dim);
        let products = dots_value(&given, v_base + j * dims.v.w, dims.v.w, own, dims.dim_v);
        var ds: array<vec4<f32>, ROWS>; // the gradients of the scores
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            var scores = vec4<f32>(0.0);
            var dp = vec4<f32>(0.0); // the gradients of the weights
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                let d = dots[4u * r + c];
                scores[c] = (d.x + d.y) + (d.z + d.w);
                let e = products[4u * r + c];
                dp[c] = (e.x + e.y) + (e.z + e.w);
            }
            // Scores are scaled last: if scaled operands were rounded, the scores of the two passes would differ by more
            // than their rounding.
            scores = summed(scores, lane) * dims.scale;
            dp = summed(dp, lane);
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                scores[c] += added(batch, head[r], i[r], j + c);
            }
            ds[r] = weight(scores, vec4<f32>(known[r].x), vec4<f32>(known[r].y)) * (dp - known[r].z);
            if KEEPS {
                ds[r] = select(vec4<f32>(0.0), ds[r], kept);
            }
        }
        add_key(&sums, ds, kept, k_base + j * dims.k.w, dims.k.w, own, dims.dim);
    }
    // The other keys, one by one. A masked key may have any elements, even NaN.
    for (var t = 0u; t < others; t++) {
        let at = some_first + t;
        let j = select(at, at + share, at >= all_first);
        let dots = dot_key(&q_row, k_base + j * dims.k.w, own, dims.dim);
        let products = dot_value(&given, v_base + j * dims.v.w, own, dims.dim_v);
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            let d = dots[r];
            let e = products[r];
            let found = summed(vec4<f32>((d.x + d.y) + (d.z + d.w), (e.x + e.y) + (e.z + e.w), 0.0, 0.0), lane);
            let range = range_of(i[r], count);
            if j >= range.x && j < range.y && is_kept(batch, j) {
                let score = found.x * dims.scale + added(batch, head[r], i[r], j);
                let p = weight(vec4<f32>(score), vec4<f32>(known[r].x), vec4<f32>(known[r].y)).x;
                let ds = p * (found.y - known[r].z);
                add_one_key(&sums, r, ds, k_base + j * dims.k.w, own, dims.dim);
            }
        }
    }
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        if row[r] < rows {
            let at = dims.dq.x + batch * dims.dq.y + head[r] * dims.dq.z + i[r] * dims.dq.w;
            //#unroll
            for (var h = 0u; h < HELD; h++) {
                let group = own + h * team_size();
                if WHOLE || group * WIDTH < dims.dim {
                    var in_group: array<vec4<f32>, QUADS>;
                    //#unroll
                    for (var quad = 0u; quad < QUADS; quad++) {
                        in_group[quad] = sums[(r * HELD + h) * QUADS + quad] * dims.scale;
                    }
                    store_dq(at, group, dims.dim - group * WIDTH, in_group);
                }
            }
        }
    }
}
