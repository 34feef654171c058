//! The gradient of an attention's queries, or those of its keys and values, on cooperative matrices; the operands are generated code.
//!
//! shapes    Q (batch, heads, queries, D), K (batch, kv_heads, keys, D), V (batch, kv_heads, keys, DV), G (batch, heads, queries, DV) of f16, any strides, statistics (rows) of four f32 -> dQ like Q, or dK like K and behind it dV like V; f32 sums
//! grid      TEAMS * FRAGMENT rows of one key head a workgroup; rows, then key heads
//! subgroup  two are a team of FRAGMENT rows: the first multiplies for scores, the second for the gradients of weights, BC columns at a time; both share what is between the products, and each has sums of its own
//! requires  f16; cooperative matrices of FRAGMENT cubed, (f16, f16) -> f32; subgroups of SUBGROUP and no other size
//! edges     rows past the end repeat the last one and are not stored; pairs of a query and a key that it does not attend have no weight, keys that are masked store zeros: any queries, keys >= 1

//#slot dims default immediate
//#slot pack_pair default f16
//#import math
//#slot attention_range default fixed
//#import attention_weight

//#param  set by GradientTile::kernel; these defaults are a legal tile
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
const FRAGMENT: u32 = 16u;
const TEAMS: u32 = 4u;
const BC: u32 = 16u;
const D: u32 = 64u;
const DV: u32 = 64u;
const DM: u32 = 64u; // the larger of both
const SUBGROUP: u32 = 32u;
const QUADS: u32 = 1u;     // of four results that a lane stores together
const ADDS: bool = false;  // something is added to scores
const KEEPS: bool = false; // there is a mask of keys
//#end
const SUBGROUPS: u32 = 2u * TEAMS;
const LANES: u32 = SUBGROUPS * SUBGROUP;
const BLOCK_ROWS: u32 = TEAMS * FRAGMENT;
const WIDTH: u32 = 4u * QUADS;
const WEIGHTS: f32 = 32768.0; // weights are stored times this, so that small ones keep their digits
const NOT_A_NUMBER: u32 = 0x7fc00000u;
alias sum = f32; // type of results before they are stored

// A query, its head in the batch, and a key.
struct Pair {
    i: u32,
    head: u32,
    j: u32,
}

// The statistics of the queries of four pairs.
struct Known {
    most: vec4<f32>, // the largest score
    logarithm: vec4<f32>,
    delta: vec4<f32>,
}

//#generated operands
// The operands. `query_unit`, `key_unit`, `value_unit` and `gradient_unit` are eight elements of a row that begins at `start`, from `at` on;
// `store_result` stores four or eight; the other functions are those of `attention_dq.wgsl`. Plans generate it.
//
//     fn query_unit(start: u32, at: u32) -> Unit
//     fn key_unit(start: u32, at: u32) -> Unit
//     fn value_unit(start: u32, at: u32) -> Unit
//     fn gradient_unit(start: u32, at: u32) -> Unit
//     fn added(batch: u32, head: u32, i: u32, j: u32) -> f32
//     fn key_count(batch: u32) -> u32
//     fn is_kept(batch: u32, j: u32) -> bool
//     fn store_result(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#import attention_finite
//#import attention_gradients_tiles
//#slot attention_gradients_order default in_order
//#import attention_exponent
//#import attention_sides
//#slot attention_gradients_of default queries

// Weights are recomputed from the statistics (Dao, 2023). A gradient of a score has no bound, so it is stored times a power of two
// that depends on the largest one (`attention_exponent.wgsl`).
@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(subgroup_id) subgroup_index: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let lane = local.x;
    let rows = select(dims.group * dims.queries, dims.keys, OF_KEYS); // of a key head
    let row_blocks = (rows + BLOCK_ROWS - 1u) / BLOCK_ROWS;
    // NOTE: this is not in a function, because naga treats function results as non-uniform.
    let index = workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
    let batch_head = index / row_blocks; // counted over the batch
    if batch_head >= dims.heads {
        return;
    }
    let first_row = (index - batch_head * row_blocks) * BLOCK_ROWS;
    let batch = batch_head / dims.kv_heads;
    let kv_head = batch_head % dims.kv_heads;
    let role = subgroup_index % 2u; // in the team
    let team_row = first_row + subgroup_index / 2u * FRAGMENT;
    let team_lane = role * SUBGROUP + subgroup_lane;
    let own_s = subgroup_index * FRAGMENT * S_LD;
    let own_p = subgroup_index * FRAGMENT * P_LD;
    let team_s = own_s - role * FRAGMENT * S_LD;
    let team_p = own_p - role * FRAGMENT * P_LD;
    let count = key_count(batch);

    // A subgroup's operand stays in matrices. BC columns at a time pass through shared memory.
    var own: array<mat_a, OF_ROWS>;
    //#unroll
    for (var piece = 0u; piece < DM; piece += BC) {
        //#unroll
        for (var n = 0u; n < (ROW_UNITS + SUBGROUP - 1u) / SUBGROUP; n++) {
            let unit = subgroup_lane + n * SUBGROUP;
            let row = unit / (BC / 8u);
            let col = unit % (BC / 8u);
            if (ROW_UNITS % SUBGROUP == 0u || unit < ROW_UNITS) && piece + 8u * col < DM {
                let elements = row_unit(role, batch, kv_head, min(team_row + row, rows - 1u), piece + 8u * col);
                p_tile[own_p + row * P_LD + 2u * col] = elements.x;
                p_tile[own_p + row * P_LD + 2u * col + 1u] = elements.y;
            }
        }
        workgroupBarrier();
        //#unroll
        for (var f = 0u; f < BC; f += FRAGMENT) {
            if piece + f < DM {
                let at = own_p + f / 4u;
                var loaded: mat_a = coopLoadT<mat_a>(&p_tile[at], P_LD);
                own[(piece + f) / FRAGMENT] = loaded;
            }
        }
        workgroupBarrier();
    }
    var sums: array<mat_c, OF_SUMS>;
    //#unroll
    for (var col = 0u; col < SUMS; col++) {
        sums[col] = mat_c();
    }
    var row: array<u32, SHARE>; // of this lane's quads of scores; rows past the end repeat the last one
    var known_row: array<vec4<f32>, SHARE>;
    //#unroll
    for (var n = 0u; n < SHARE; n++) {
        row[n] = min(team_row + (team_lane + n * TEAM) / (BC / 4u), rows - 1u);
        known_row[n] = known_of_row(batch, kv_head, row[n]);
    }
    var level = LEAST_LEVEL;

    let columns = columns_of(first_row, min(first_row + BLOCK_ROWS, rows) - 1u, count);
    let end = columns.y;
    for (var first = columns.x; first < end; first += BC) {
        let is_edge = first < columns.z || first + BC > columns.w;
        var is_strange = false;
        //#unroll
        for (var n = 0u; n < (UNITS + LANES - 1u) / LANES; n++) {
            let unit = lane + n * LANES;
            if UNITS % LANES == 0u || unit < UNITS {
                let operand = unit / (UNITS / 2u);
                let place = unit / (DM / 8u) % BC;
                let col = unit % (DM / 8u) * 8u;
                let elements = column_unit(operand, batch, kv_head, min(first + place, end - 1u), col);
                is_strange = is_strange || !are_finite(elements);
                stage_unit(operand, place, col, elements);
            }
        }
        stage_known(batch, kv_head, first, end - 1u, lane);
        let are_strange = subgroupAny(is_strange);
        if subgroup_lane == 0u {
            strange[subgroup_index] = u32(are_strange);
        }
        workgroupBarrier();
        var s: array<mat_c, COLUMNS>;
        //#unroll
        for (var c = 0u; c < COLUMNS; c++) {
            s[c] = mat_c();
        }
        //#unroll
        for (var d = 0u; d < DM / FRAGMENT; d++) {
            //#unroll
            for (var c = 0u; c < COLUMNS; c++) {
                let at = role * TILE + c * FRAGMENT * LD + d * (FRAGMENT / 4u);
                var others: mat_b = coopLoad<mat_b>(&tiles[at], LD);
                s[c] = coopMultiplyAdd(own[d], others, s[c]);
            }
        }
        //#unroll
        for (var c = 0u; c < COLUMNS; c++) {
            let products = s[c];
            let to = own_s + c * (FRAGMENT / 4u);
            coopStoreT(products, &s_tile[to], S_LD);
        }
        workgroupBarrier();

        var has_strange = 0u;
        //#unroll
        for (var n = 0u; n < SUBGROUPS; n++) {
            has_strange |= strange[n];
        }
        var p: array<vec4<f32>, SHARE>;
        var ds: array<vec4<f32>, SHARE>; // the gradients of the scores
        var top = 0u;
        //#unroll
        for (var n = 0u; n < SHARE; n++) {
            let quad = (team_lane + n * TEAM) % (BC / 4u);
            let at = team_s + (team_lane + n * TEAM) / (BC / 4u) * S_LD + quad;
            let query_known = known_of(known_row[n], quad);
            var scores = s_tile[at] * dims.scale;
            if ADDS {
                //#unroll
                for (var c = 0u; c < 4u; c++) {
                    let pair = pair_of(kv_head, row[n], min(first + 4u * quad + c, end - 1u));
                    scores[c] += added(batch, pair.head, pair.i, pair.j);
                }
            }
            p[n] = weight(scores, query_known.most, query_known.logarithm);
            ds[n] = p[n] * (s_tile[at + FRAGMENT * S_LD] - query_known.delta);
            if KEEPS || is_edge || has_strange != 0u {
                //#unroll
                for (var c = 0u; c < 4u; c++) {
                    let column = first + 4u * quad + c;
                    let pair = pair_of(kv_head, row[n], min(column, end - 1u));
                    let distance = i32(pair.j) - i32(pair.i);
                    let is_within = column < end && pair.j < count && distance >= dims.lower && distance <= dims.upper;
                    let attends = is_within && is_kept(batch, pair.j);
                    // The tile has zeros in place of elements that are not finite.
                    var bits = vec2<u32>(bitcast<u32>(p[n][c]), bitcast<u32>(ds[n][c]));
                    if has_strange != 0u {
                        bits = select(bits, vec2<u32>(NOT_A_NUMBER), vec2<bool>(is_column_strange(batch, kv_head, min(column, end - 1u))));
                    }
                    bits = select(vec2<u32>(0u), bits, vec2<bool>(attends));
                    p[n][c] = bitcast<f32>(bits.x);
                    ds[n][c] = bitcast<f32>(bits.y);
                }
            }
            top = max(top, top_of(ds[n]));
        }
        let top_of_subgroup = subgroupMax(top);
        if subgroup_lane == 0u {
            tops[subgroup_index] = top_of_subgroup;
        }
        workgroupBarrier();

        let old = level;
        //#unroll
        for (var n = 0u; n < SUBGROUPS; n++) {
            level = max(level, tops[n] >> 23u);
        }
        //#unroll
        for (var n = 0u; n < SHARE; n++) {
            let to = team_p + (team_lane + n * TEAM) / (BC / 4u) * P_LD + (team_lane + n * TEAM) % (BC / 4u);
            p_tile[to] = vec4<f16>(ds[n] * down(level));
            if OF_KEYS {
                p_tile[to + FRAGMENT * P_LD] = vec4<f16>(p[n] * WEIGHTS);
            }
        }
        if level > old {
            let factor = grown(role, between(old, level));
            //#unroll
            for (var col = 0u; col < SUMS; col++) {
                let scaled = sums[col] * factor;
                sums[col] = scaled;
            }
        }
        workgroupBarrier();
        //#unroll
        for (var c = 0u; c < COLUMNS; c++) {
            let p_base = team_p + role * P_OPERAND + c * (FRAGMENT / 4u);
            var weights: mat_a = coopLoadT<mat_a>(&p_tile[p_base], P_LD);
            //#unroll
            for (var col = 0u; col < SUMS; col++) {
                let at = B_FIRST + role * B_ROLE + c * B_NEXT_ROW + col * B_NEXT_COLUMN;
                var others: mat_b;
                if B_ALONG_ROWS {
                    var from_columns: mat_b = coopLoad<mat_b>(&tiles[at], B_LD);
                    others = from_columns;
                } else {
                    var from_rows: mat_b = coopLoadT<mat_b>(&tiles[at], B_LD);
                    others = from_rows;
                }
                sums[col] = coopMultiplyAdd(weights, others, sums[col]);
            }
        }
        workgroupBarrier();
    }

    let factors = unscaled(role, level);
    //#unroll
    for (var piece = 0u; piece < SUMS; piece += COLUMNS) {
        //#unroll
        for (var c = 0u; c < COLUMNS; c++) {
            if piece + c < SUMS {
                let piece_sums = sums[piece + c];
                let to = own_s + c * (FRAGMENT / 4u);
                coopStoreT(piece_sums, &s_tile[to], S_LD);
            }
        }
        workgroupBarrier();
        //#unroll
        for (var n = 0u; n < (FRAGMENT * BC / WIDTH + SUBGROUP - 1u) / SUBGROUP; n++) {
            let place = subgroup_lane + n * SUBGROUP;
            let piece_row = place / (BC / WIDTH);
            let col = place % (BC / WIDTH) * WIDTH;
            if piece_row < FRAGMENT && team_row + piece_row < rows && piece * FRAGMENT + col < SUMS * FRAGMENT {
                var results: array<vec4<f32>, QUADS>;
                //#unroll
                for (var c = 0u; c < QUADS; c++) {
                    results[c] = s_tile[own_s + piece_row * S_LD + col / 4u + c] * factors.x * factors.y;
                }
                store(role, batch, kv_head, team_row + piece_row, piece * FRAGMENT + col, results);
            }
        }
        workgroupBarrier();
    }
}
