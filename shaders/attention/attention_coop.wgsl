//! Attention on cooperative matrices: scores and sums of values are products of matrices, with the softmax between them in registers; the operands are generated code.
//!
//! shapes    Q (batch, heads, queries, D), K (batch, kv_heads, keys, D), V (batch, kv_heads, keys, DV) of f16, any strides -> Y (batch, heads, queries, DV), the largest scores and the logarithms of the sums of exponentials; f32 sums
//! grid      SUBGROUPS * WM rows of one key head a workgroup; rows, then key heads
//! subgroup  WM rows; their scores for BC keys at a time, and their sums, are FRAGMENT x FRAGMENT matrices; LANES_OF_ROW neighbours share the softmax of LANE_ROWS rows
//! requires  f16; cooperative matrices of FRAGMENT cubed, (f16, f16) -> f32; subgroups of SUBGROUP and no other size
//! edges     rows past the end repeat the last one and are not stored; keys outside a row's range, its length or its mask have no weight: any queries, keys >= 1

//#slot dims default immediate
//#slot pack_pair default f16
//#import attention_known
//#slot attention_range default fixed

//#param  set by Coop::kernel; these defaults are a legal tile
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
const FRAGMENT: u32 = 16u;
const WM: u32 = 16u;
const BC: u32 = 32u;
const D: u32 = 64u;
const DV: u32 = 64u;
const SUBGROUP: u32 = 32u;
const LANES_OF_ROW: u32 = 2u;
const LANE_ROWS: u32 = 1u; // rows of a lane: several if there are more rows than lanes
const QUADS: u32 = 1u;     // of four results that a lane stores together
const ADDS: bool = false;  // something is added to scores
const KEEPS: bool = false; // there is a mask of keys
//#end
const SUBGROUPS: u32 = 4u;
const LANES: u32 = SUBGROUPS * SUBGROUP;
const BLOCK_ROWS: u32 = SUBGROUPS * WM;
const SHARE: u32 = BC / LANES_OF_ROW; // of a row's BC scores, those of a lane
const_assert WM % FRAGMENT == 0u && BC % FRAGMENT == 0u && D % FRAGMENT == 0u && DV % FRAGMENT == 0u;
const_assert SUBGROUP * LANE_ROWS == WM * LANES_OF_ROW && BC % LANES_OF_ROW == 0u && SHARE % 8u == 0u;
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored
//#generated operands
// The operands. `query_unit`, `key_unit` and `value_unit` are eight elements of a row that begins at `start`, from `at` on; the other
// functions are those of `attention.wgsl`. Plans generate it.
//
//     fn query_unit(start: u32, at: u32) -> Unit
//     fn key_unit(start: u32, at: u32) -> Unit
//     fn value_unit(start: u32, at: u32) -> Unit
//     fn added(batch: u32, head: u32, i: u32, j: u32) -> f32
//     fn key_count(batch: u32) -> u32
//     fn is_kept(batch: u32, j: u32) -> bool
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_lse(row: u32, value: vec2<f32>)

//#import attention_tiles
//#import attention_keys
//#slot attention_values default in_order
//#import attention_strange

// The softmax is summed up block by block of keys (Milakov and Gimelshein, 2018; Dao et al., 2022). Sums stay in matrices. Elements
// of a matrix cannot be multiplied one by one, so sums are rescaled late: only if a score exceeds the largest known one by more
// than `LATE`.
@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(subgroup_id) subgroup_index: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let lane = local.x;
    let rows = dims.group * dims.queries; // of a key head
    let row_blocks = (rows + BLOCK_ROWS - 1u) / BLOCK_ROWS;
    // NOTE: this is not in a function, because naga treats function results as non-uniform.
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    let batch_head = index / row_blocks; // counted over the batch
    if batch_head >= dims.heads {
        return;
    }
    let first_row = (index - batch_head * row_blocks) * BLOCK_ROWS;
    let last_row = min(first_row + BLOCK_ROWS, rows) - 1u;
    let batch = batch_head / dims.kv_heads;
    let kv_head = batch_head % dims.kv_heads;
    // This lane's rows, and its columns of every BC. Rows past the end repeat the last one.
    let tile_row = subgroup_index * WM;
    let own_row = tile_row + subgroup_lane / LANES_OF_ROW;
    let own = subgroup_lane % LANES_OF_ROW;
    let own_p = own_row * P_LD + own * (SHARE / 4u);
    let own_s = own_row * S_LD + own * (SHARE / 4u);
    let count = key_count(batch);
    var i: array<u32, LANE_ROWS>;
    var head: array<u32, LANE_ROWS>;
    var range: array<vec2<u32>, LANE_ROWS>;
    var most: array<f32, LANE_ROWS>;    // a score of the row, at most LATE below the largest one
    var largest: array<f32, LANE_ROWS>; // the largest one
    var total: array<f32, LANE_ROWS>;   // the sum of this lane's exponentials
    var factor: array<f32, LANE_ROWS>;  // the factor of sums
    //#unroll
    for (var part = 0u; part < LANE_ROWS; part++) {
        let known = min(first_row + own_row + part * SUBGROUP, rows - 1u);
        i[part] = known / dims.group;
        head[part] = kv_head * dims.group + known % dims.group;
        range[part] = range_of(i[part], count);
        most[part] = LOWEST;
        largest[part] = LOWEST;
    }
    let k_base = dims.k.x + batch * dims.k.y + kv_head * dims.k.z;
    let v_base = dims.v.x + batch * dims.v.y + kv_head * dims.v.z;

    // Q stays in matrices. BC columns at a time pass through shared memory.
    var q_rows: array<array<mat_a, OF_Q>, ROWS>;
    //#unroll
    for (var piece = 0u; piece < D; piece += BC) {
        //#unroll
        for (var part = 0u; part < LANE_ROWS; part++) {
            let q_base = dims.q.x + batch * dims.q.y + head[part] * dims.q.z + i[part] * dims.q.w;
            //#unroll
            for (var unit = 0u; unit < SHARE / 8u; unit++) {
                let col = piece + own * SHARE + 8u * unit;
                if col < D {
                    let elements = query_unit(q_base, col);
                    let to = own_p + part * SUBGROUP * P_LD + 2u * unit;
                    k_tile[to] = elements.x;
                    k_tile[to + 1u] = elements.y;
                }
            }
        }
        workgroupBarrier();
        //#unroll
        for (var f = 0u; f < BC; f += FRAGMENT) {
            if piece + f < D {
                //#unroll
                for (var r = 0u; r < ROWS; r++) {
                    let at = (tile_row + r * FRAGMENT) * P_LD + f / 4u;
                    var loaded: mat_a = coopLoadT<mat_a>(&k_tile[at], P_LD);
                    q_rows[r][(piece + f) / FRAGMENT] = loaded;
                }
            }
        }
        workgroupBarrier();
    }
    var o: array<array<mat_c, OF_O>, ROWS>; // sums of values, weighted by exponentials of distances to a score
    //#unroll
    for (var r = 0u; r < ROWS; r++) {
        //#unroll
        for (var col = 0u; col < DV / FRAGMENT; col++) {
            o[r][col] = mat_c();
        }
    }

    // Keys that all rows of the workgroup attend, then keys that only some rows attend.
    let first_range = range_of(first_row / dims.group, count);
    let last_range = range_of(last_row / dims.group, count);
    let all_first = max(first_range.x, last_range.x);
    let all_end = min(first_range.y, last_range.y);
    let some_first = min(first_range.x, last_range.x);
    let some_end = max(first_range.y, last_range.y);

    for (var j0 = some_first; j0 < some_end; j0 += BC) {
        let is_edge = j0 < all_first || j0 + BC > all_end;
        stage_keys(k_base, j0, some_end - 1u, lane);
        var is_mended = stage_values(v_base, j0, some_end - 1u, batch, is_edge, lane);
        workgroupBarrier();
        var s: array<array<mat_c, KEYS>, ROWS>;
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            //#unroll
            for (var key = 0u; key < KEYS; key++) {
                s[r][key] = mat_c();
            }
        }
        //#unroll
        for (var d = 0u; d < D / FRAGMENT; d++) {
            //#unroll
            for (var key = 0u; key < KEYS; key++) {
                let at = key * FRAGMENT * K_LD + d * (FRAGMENT / 4u);
                var keys: mat_b = coopLoad<mat_b>(&k_tile[at], K_LD);
                //#unroll
                for (var r = 0u; r < ROWS; r++) {
                    s[r][key] = coopMultiplyAdd(q_rows[r][d], keys, s[r][key]);
                }
            }
        }
        //#unroll
        for (var r = 0u; r < ROWS; r++) {
            //#unroll
            for (var key = 0u; key < KEYS; key++) {
                let sums = s[r][key];
                let to = (tile_row + r * FRAGMENT) * S_LD + key * (FRAGMENT / 4u);
                coopStoreT(sums, &s_tile[to], S_LD);
            }
        }
        workgroupBarrier();

        //#unroll
        for (var part = 0u; part < LANE_ROWS; part++) {
            var scores: array<vec4<f32>, SHARE / 4u>;
            var top = LOWEST;
            //#unroll
            for (var quad = 0u; quad < SHARE / 4u; quad++) {
                scores[quad] = s_tile[own_s + part * SUBGROUP * S_LD + quad] * dims.scale;
                let j = j0 + own * SHARE + 4u * quad;
                if ADDS {
                    //#unroll
                    for (var c = 0u; c < 4u; c++) {
                        scores[quad][c] += added(batch, head[part], i[part], min(j + c, some_end - 1u));
                    }
                }
                if KEEPS || is_edge {
                    //#unroll
                    for (var c = 0u; c < 4u; c++) {
                        let is_within = j + c >= range[part].x && j + c < range[part].y;
                        let attends = is_within && is_kept(batch, min(j + c, some_end - 1u));
                        scores[quad][c] = bitcast<f32>(select(NO_SCORE, bitcast<u32>(scores[quad][c]), attends));
                    }
                }
                top = max(top, max(max(scores[quad].x, scores[quad].y), max(scores[quad].z, scores[quad].w)));
            }
            //#unroll
            for (var step = 1u; step < LANES_OF_ROW; step *= 2u) {
                top = max(top, subgroupShuffleXor(top, step));
            }
            largest[part] = max(largest[part], top);
            factor[part] = 1.0;
            if top > most[part] + LATE {
                factor[part] = exp_of_negative(vec4<f32>(most[part] - top)).x;
                is_mended = is_mended || total[part] > 0.0;
                most[part] = top;
                total[part] *= factor[part];
            }
            //#unroll
            for (var quad = 0u; quad < SHARE / 4u; quad++) {
                let p = exp_of(scores[quad] - most[part]);
                total[part] += (p.x + p.y) + (p.z + p.w);
                k_tile[own_p + part * SUBGROUP * P_LD + quad] = vec4<f16>(p);
            }
        }
        let are_mended = subgroupAny(is_mended);
        if subgroup_lane == 0u {
            mends[subgroup_index] = u32(are_mended);
        }
        workgroupBarrier();

        if (mends.x | mends.y | mends.z | mends.w) != 0u {
            //#unroll
            for (var piece = 0u; piece < DV; piece += BC) {
                //#unroll
                for (var f = 0u; f < BC; f += FRAGMENT) {
                    if piece + f < DV {
                        //#unroll
                        for (var r = 0u; r < ROWS; r++) {
                            let sums = o[r][(piece + f) / FRAGMENT];
                            let to = (tile_row + r * FRAGMENT) * S_LD + f / 4u;
                            coopStoreT(sums, &s_tile[to], S_LD);
                        }
                    }
                }
                workgroupBarrier();
                //#unroll
                for (var part = 0u; part < LANE_ROWS; part++) {
                    //#unroll
                    for (var quad = 0u; quad < SHARE / 4u; quad++) {
                        let col = piece + own * SHARE + 4u * quad;
                        if col < DV {
                            let at = own_s + part * SUBGROUP * S_LD + quad;
                            var sums = s_tile[at] * factor[part];
                            if is_edge {
                                let p_base = (own_row + part * SUBGROUP) * P_LD;
                                sums += strange_sums(p_base, v_base, j0, range[part], batch, col);
                            }
                            s_tile[at] = sums;
                        }
                    }
                }
                workgroupBarrier();
                //#unroll
                for (var f = 0u; f < BC; f += FRAGMENT) {
                    if piece + f < DV {
                        //#unroll
                        for (var r = 0u; r < ROWS; r++) {
                            let at = (tile_row + r * FRAGMENT) * S_LD + f / 4u;
                            var loaded: mat_c = coopLoadT<mat_c>(&s_tile[at], S_LD);
                            o[r][(piece + f) / FRAGMENT] = loaded;
                        }
                    }
                }
                workgroupBarrier();
            }
        }
        //#unroll
        for (var key = 0u; key < KEYS; key++) {
            var weights: array<mat_a, ROWS>;
            //#unroll
            for (var r = 0u; r < ROWS; r++) {
                let at = (tile_row + r * FRAGMENT) * P_LD + key * (FRAGMENT / 4u);
                var loaded: mat_a = coopLoadT<mat_a>(&k_tile[at], P_LD);
                weights[r] = loaded;
            }
            //#unroll
            for (var col = 0u; col < DV / FRAGMENT; col++) {
                let at = key * V_NEXT_KEY + col * V_NEXT_COLUMN;
                var values: mat_b;
                if V_ALONG_KEYS {
                    var from_columns: mat_b = coopLoad<mat_b>(&v_tile[at], V_LD);
                    values = from_columns;
                } else {
                    var from_rows: mat_b = coopLoadT<mat_b>(&v_tile[at], V_LD);
                    values = from_rows;
                }
                //#unroll
                for (var r = 0u; r < ROWS; r++) {
                    o[r][col] = coopMultiplyAdd(weights[r], values, o[r][col]);
                }
            }
        }
        workgroupBarrier();
    }

    //#unroll
    for (var part = 0u; part < LANE_ROWS; part++) {
        //#unroll
        for (var step = 1u; step < LANES_OF_ROW; step *= 2u) {
            total[part] += subgroupShuffleXor(total[part], step);
        }
        factor[part] = select(1.0 / total[part], 0.0, total[part] == 0.0); // 0 for a row without keys
        if first_row + own_row + part * SUBGROUP < rows && own == 0u {
            let lse_index = (batch * dims.kv_heads * dims.group + head[part]) * dims.queries + i[part];
            let late = vec2<f32>(0.0, most[part] - largest[part]); // the sum is of distances to `most`
            store_lse(lse_index, known_of(largest[part], total[part]) + late);
        }
    }
    //#unroll
    for (var piece = 0u; piece < DV; piece += BC) {
        //#unroll
        for (var f = 0u; f < BC; f += FRAGMENT) {
            if piece + f < DV {
                //#unroll
                for (var r = 0u; r < ROWS; r++) {
                    let sums = o[r][(piece + f) / FRAGMENT];
                    let to = (tile_row + r * FRAGMENT) * S_LD + f / 4u;
                    coopStoreT(sums, &s_tile[to], S_LD);
                }
            }
        }
        workgroupBarrier();
        //#unroll
        for (var part = 0u; part < LANE_ROWS; part++) {
            if first_row + own_row + part * SUBGROUP < rows {
                let y_base = dims.y.x + batch * dims.y.y + head[part] * dims.y.z + i[part] * dims.y.w;
                //#unroll
                for (var quad = 0u; quad < SHARE / 4u; quad += QUADS) {
                    let col = piece + own * SHARE + 4u * quad;
                    if col < DV {
                        var results: array<vec4<f32>, QUADS>;
                        //#unroll
                        for (var c = 0u; c < QUADS; c++) {
                            results[c] = s_tile[own_s + part * SUBGROUP * S_LD + quad + c] * factor[part];
                        }
                        store_y(y_base, col / WIDTH, WIDTH, results);
                    }
                }
            }
        }
        workgroupBarrier();
    }
}
