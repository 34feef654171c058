//! Attention: each invocation, or a team of few, computes ROWS query rows of a key head; one loaded key serves all of them. The operands are generated code.
//!
//! shapes    Q (batch, heads, queries, dim), K (batch, kv_heads, keys, dim), V (batch, kv_heads, keys, dim_v), any strides -> Y (batch, heads, queries, dim_v), the largest scores and the logarithms of the sums of exponentials; f32 sums
//! grid      ROWS * LANES / dims.lanes rows of one key head and part of its keys a workgroup; parts, then rows, then key heads
//! subgroup  invocations that share a row exchange partial products, in shared memory if the size is not known
//! requires  nothing
//! edges     rows past the end repeat the last one and are not stored; keys outside a row's range, its length or its mask are not read into its sums: any queries, keys >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16
//#import math
//#import attention_known

//#param  set by AttentionProblem::kernel
const QUADS: u32 = 1u;  // quads of a group, which are neighbours
const HELD: u32 = 2u;   // groups of Q and K that an invocation has
const HELD_V: u32 = 2u; // groups of V and the result
const ROWS: u32 = 1u;   // rows of an invocation, which reads each key and value once for all of them
const LANES: u32 = 64u;
const WHOLE: bool = false; // head dims consist of whole groups, the same number for each invocation
const KEEPS: bool = false; // there is a mask of keys
//#end
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#import attention_within
//#slot attention_range default fixed

//#generated operands
// The operands. `query`, `key` and `value` are quad k of group `group` of a row that begins at `start`; `added` is the bias of a
// score; `key_count` is the number of keys of a batch, `is_kept` whether the mask keeps a key. Plans generate it.
//
//     fn query(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn key(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn value(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn added(batch: u32, head: u32, i: u32, j: u32) -> f32
//     fn key_count(batch: u32) -> u32
//     fn is_kept(batch: u32, j: u32) -> bool
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_lse(row: u32, value: vec2<f32>)

//#slot team default alone
//#import attention_held x=query n=HELD
//#import attention_dots x=key n=HELD
//#import attention_weighted x=value n=HELD_V
//#slot attention_result default whole

// The softmax is summed up block by block of keys (Milakov and Gimelshein, 2018; Dao et al., 2022).
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
    let part = block % dims.parts;
    let batch_head = block / dims.parts / row_blocks; // counted over the batch
    if batch_head >= dims.heads {
        return;
    }
    let first_row = (block / dims.parts - batch_head * row_blocks) * ROWS * at_once;
    let last_row = min(first_row + ROWS * at_once, rows) - 1u;
    let own = lane % team_size();
    let batch = batch_head / dims.kv_heads;
    let kv_head = batch_head % dims.kv_heads;

    var row: array<u32, ROWS>; // rows past the end repeat the last one
    var i: array<u32, ROWS>;
    var head: array<u32, ROWS>;
    var starts: array<u32, ROWS>;
    var o: array<vec4<f32>, ROWS * HELD_V * QUADS>; // sums of values, weighted by exponentials of distances to `most`
    var most: array<f32, ROWS>;                     // the largest score
    var total: array<f32, ROWS>;                    // the sum of the exponentials
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        row[r] = first_row + r * at_once + lane / team_size();
        let known = min(row[r], rows - 1u);
        i[r] = known / dims.group;
        head[r] = kv_head * dims.group + known % dims.group;
        most[r] = LOWEST;
        starts[r] = dims.q.x + batch * dims.q.y + head[r] * dims.q.z + i[r] * dims.q.w;
    }
    var q_row = held_query(starts, own, dims.dim);
    let k_base = dims.k.x + batch * dims.k.y + kv_head * dims.k.z;
    let v_base = dims.v.x + batch * dims.v.y + kv_head * dims.v.z;

    // Keys that all rows of the workgroup attend (`share` of them for each part), then the keys that only some rows
    // attend.
    let count = key_count(batch);
    let first_range = range_of(first_row / dims.group, count);
    let last_range = range_of(last_row / dims.group, count);
    let all_first = max(first_range.x, last_range.x);
    let all_end = max(all_first, min(first_range.y, last_range.y));
    let share = (all_end - all_first) / (4u * dims.parts) * 4u;
    let some_first = min(first_range.x, last_range.x);
    let some_end = max(first_range.y, last_range.y);
    let others = some_end - some_first - share * dims.parts;

    for (var t = 0u; t < share; t += 4u) {
        let j = all_first + part * share + t;
        let dots = dots_key(&q_row, k_base + j * dims.k.w, dims.k.w, own, dims.dim);
        var kept = vec4<bool>(true);
        if KEEPS {
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                kept[c] = is_kept(batch, j + c);
            }
        }
        var p: array<vec4<f32>, ROWS>;
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            var scores = vec4<f32>(0.0);
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                let d = dots[4u * r + c];
                scores[c] = (d.x + d.y) + (d.z + d.w);
            }
            // Scores are scaled last: if scaled operands were rounded, the scores of the two passes would differ by more
            // than their rounding.
            scores = summed(scores, lane) * dims.scale;
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                scores[c] += added(batch, head[r], i[r], j + c);
            }
            if KEEPS {
                scores = select(vec4<f32>(LOWEST), scores, kept);
            }
            let top = max(max(scores.x, scores.y), max(scores.z, scores.w));
            if top > most[r] {
                let factor = exp_of_negative(vec4<f32>(most[r] - top)).x;
                most[r] = top;
                total[r] *= factor;
                //#unroll
                for (var h = 0u; h < HELD_V * QUADS; h++) {
                    o[r * HELD_V * QUADS + h] *= factor;
                }
            }
            p[r] = exp_of_negative(scores - most[r]);
            if KEEPS {
                p[r] = select(vec4<f32>(0.0), p[r], kept);
            }
            total[r] += (p[r].x + p[r].y) + (p[r].z + p[r].w);
        }
        add_value(&o, p, kept, v_base + j * dims.v.w, dims.v.w, own, dims.dim_v);
    }
    // The other keys, one by one. A masked key may have any elements, even NaN.
    for (var t = part; t < others; t += dims.parts) {
        let at = some_first + t;
        let j = select(at, at + share * dims.parts, at >= all_first);
        let dots = dot_key(&q_row, k_base + j * dims.k.w, own, dims.dim);
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            let dot = summed(vec4<f32>((dots[r].x + dots[r].y) + (dots[r].z + dots[r].w)), lane).x;
            let range = range_of(i[r], count);
            if j >= range.x && j < range.y && is_kept(batch, j) {
                let score = dot * dims.scale + added(batch, head[r], i[r], j);
                if score > most[r] {
                    let factor = exp_of_negative(vec4<f32>(most[r] - score)).x;
                    most[r] = score;
                    total[r] *= factor;
                    //#unroll
                    for (var h = 0u; h < HELD_V * QUADS; h++) {
                        o[r * HELD_V * QUADS + h] *= factor;
                    }
                }
                let p = exp_of_negative(vec4<f32>(score - most[r])).x;
                total[r] += p;
                add_one_value(&o, r, p, v_base + j * dims.v.w, own, dims.dim_v);
            }
        }
    }
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        if row[r] < rows {
            var row_sums: array<vec4<f32>, HELD_V * QUADS>;
            //#unroll
            for (var h = 0u; h < HELD_V * QUADS; h++) {
                row_sums[h] = o[r * HELD_V * QUADS + h];
            }
            let at = dims.y.x + batch * dims.y.y + head[r] * dims.y.z + i[r] * dims.y.w;
            let lse_index = (batch * dims.kv_heads * dims.group + head[r]) * dims.queries + i[r];
            store_result(row_sums, most[r], total[r], own, at, lse_index, part);
        }
    }
}
