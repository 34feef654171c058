//! The gradients of an attention's keys and values: each invocation, or a team of few, computes ROWS keys of a head; one loaded query serves all of them. The operands are generated code.
//!
//! shapes    Q (batch, heads, queries, dim), K (batch, kv_heads, keys, dim), V (batch, kv_heads, keys, dim_v), G (batch, heads, queries, dim_v), any strides, statistics (rows) of four f32 -> dK like K, and behind it dV like V; f32 sums
//! grid      ROWS * LANES / dims.lanes keys of one head a workgroup; keys, then key heads
//! subgroup  invocations that share a key exchange partial products, in shared memory if the size is not known
//! requires  nothing
//! edges     keys past the end repeat the last one and are not stored, those that are masked store zeros: any queries, keys >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16
//#import math

//#param  set by AttentionBackward::kernel
const QUADS: u32 = 1u;  // quads of a group, which are neighbours
const HELD: u32 = 2u;   // groups of K and dK that an invocation has
const HELD_V: u32 = 2u; // groups of V and dV
const ROWS: u32 = 1u;   // keys of an invocation, which reads each query and gradient once for all of them
const LANES: u32 = 64u;
const WHOLE: bool = false; // head dims consist of whole groups, the same number for each invocation
//#end
const WIDTH: u32 = 4u * QUADS;
const KEEPS: bool = false; // every query counts
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
//     fn store_dkv(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#slot team default alone
//#import attention_held x=key n=HELD
//#import attention_held x=value n=HELD_V
//#import attention_dots x=query n=HELD
//#import attention_dots x=gradient n=HELD_V
//#import attention_weighted x=query n=HELD
//#import attention_weighted x=gradient n=HELD_V

// The queries of all heads of a group are summed up in order, so that no two invocations add to the same element.
@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let at_once = LANES / team_size();
    let key_blocks = (dims.keys + ROWS * at_once - 1u) / (ROWS * at_once);
    let block = block_index(workgroup, grid);
    let batch_head = block / key_blocks; // counted over the batch
    if batch_head >= dims.heads {
        return;
    }
    let first_key = (block - batch_head * key_blocks) * ROWS * at_once;
    let last_key = min(first_key + ROWS * at_once, dims.keys) - 1u;
    let own = lane % team_size();
    let batch = batch_head / dims.kv_heads;
    let kv_head = batch_head % dims.kv_heads;

    var at_key: array<u32, ROWS>;
    var j: array<u32, ROWS>; // keys past the end repeat the last one
    var k_starts: array<u32, ROWS>;
    var v_starts: array<u32, ROWS>;
    var sums: array<vec4<f32>, ROWS * HELD * QUADS>;     // of the keys' gradients
    var sums_v: array<vec4<f32>, ROWS * HELD_V * QUADS>; // of the values' gradients
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        at_key[r] = first_key + r * at_once + lane / team_size();
        j[r] = min(at_key[r], dims.keys - 1u);
        k_starts[r] = dims.k.x + batch * dims.k.y + kv_head * dims.k.z + j[r] * dims.k.w;
        v_starts[r] = dims.v.x + batch * dims.v.y + kv_head * dims.v.z + j[r] * dims.v.w;
    }
    var k_row = held_key(k_starts, own, dims.dim);
    var values = held_value(v_starts, own, dims.dim_v);

    // Queries that attend all keys of the workgroup (a multiple of four of them), then the queries that attend only
    // some.
    let count = key_count(batch);
    let first_range = queries_of(first_key);
    let last_range = queries_of(last_key);
    let all_first = max(first_range.x, last_range.x);
    let all_end = max(all_first, min(first_range.y, last_range.y));
    let share = (all_end - all_first) / 4u * 4u;
    let some_first = min(first_range.x, last_range.x);
    let some_end = max(first_range.y, last_range.y);
    let others = some_end - some_first - share;
    let members = select(dims.group, 0u, first_key >= count); // no query attends keys past a length

    for (var member = 0u; member < members; member++) {
        let head = kv_head * dims.group + member;
        let q_base = dims.q.x + batch * dims.q.y + head * dims.q.z;
        let g_base = dims.g.x + batch * dims.g.y + head * dims.g.z;
        let stats_base = (batch * dims.kv_heads * dims.group + head) * dims.queries;
        for (var t = 0u; t < share; t += 4u) {
            let i = all_first + t;
            var most = vec4<f32>(0.0);
            var logarithm = vec4<f32>(0.0);
            var delta = vec4<f32>(0.0);
            //#unroll
            for (var c = 0u; c < 4u; c++) {
                let known = stats[stats_base + i + c];
                most[c] = known.x;
                logarithm[c] = known.y;
                delta[c] = known.z;
            }
            let dots = dots_query(&k_row, q_base + i * dims.q.w, dims.q.w, own, dims.dim);
            let products = dots_gradient(&values, g_base + i * dims.g.w, dims.g.w, own, dims.dim_v);
            var p: array<vec4<f32>, ROWS>;  // the weights
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
                    scores[c] += added(batch, head, i + c, j[r]);
                }
                p[r] = weight(scores, most, logarithm);
                ds[r] = p[r] * (dp - delta);
            }
            add_query(&sums, ds, vec4<bool>(true), q_base + i * dims.q.w, dims.q.w, own, dims.dim);
            add_gradient(&sums_v, p, vec4<bool>(true), g_base + i * dims.g.w, dims.g.w, own, dims.dim_v);
        }
        // The other queries, one by one.
        for (var t = 0u; t < others; t++) {
            let at = some_first + t;
            let i = select(at, at + share, at >= all_first);
            let known = stats[stats_base + i];
            let dots = dot_query(&k_row, q_base + i * dims.q.w, own, dims.dim);
            let products = dot_gradient(&values, g_base + i * dims.g.w, own, dims.dim_v);
            //#unroll
            for (var r = 0u; r < ROWS; r++) {
                let d = dots[r];
                let e = products[r];
                let found = summed(vec4<f32>((d.x + d.y) + (d.z + d.w), (e.x + e.y) + (e.z + e.w), 0.0, 0.0), lane);
                let range = queries_of(j[r]);
                if i >= range.x && i < range.y {
                    let score = found.x * dims.scale + added(batch, head, i, j[r]);
                    let p = weight(vec4<f32>(score), vec4<f32>(known.x), vec4<f32>(known.y)).x;
                    let ds = p * (found.y - known.z);
                    add_one_query(&sums, r, ds, q_base + i * dims.q.w, own, dims.dim);
                    add_one_gradient(&sums_v, r, p, g_base + i * dims.g.w, own, dims.dim_v);
                }
            }
        }
    }
    // A masked key may have any elements, even NaN.
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        if at_key[r] < dims.keys {
            let kept = vec4<bool>(j[r] < count && is_kept(batch, j[r]));
            let key_base = dims.dk.x + batch * dims.dk.y + kv_head * dims.dk.z + j[r] * dims.dk.w;
            //#unroll
            for (var h = 0u; h < HELD; h++) {
                let group = own + h * team_size();
                if WHOLE || group * WIDTH < dims.dim {
                    var quads: array<vec4<f32>, QUADS>;
                    //#unroll
                    for (var quad = 0u; quad < QUADS; quad++) {
                        let whole = sums[(r * HELD + h) * QUADS + quad] * dims.scale;
                        quads[quad] = select(vec4<f32>(0.0), whole, kept);
                    }
                    store_dkv(key_base, group, dims.dim - group * WIDTH, quads);
                }
            }
            let value_base = dims.dv.x + batch * dims.dv.y + kv_head * dims.dv.z + j[r] * dims.dv.w;
            //#unroll
            for (var h = 0u; h < HELD_V; h++) {
                let group = own + h * team_size();
                if WHOLE || group * WIDTH < dims.dim_v {
                    var quads: array<vec4<f32>, QUADS>;
                    //#unroll
                    for (var quad = 0u; quad < QUADS; quad++) {
                        quads[quad] = select(vec4<f32>(0.0), sums_v[(r * HELD_V + h) * QUADS + quad], kept);
                    }
                    store_dkv(value_base, group, dims.dim_v - group * WIDTH, quads);
                }
            }
        }
    }
}
