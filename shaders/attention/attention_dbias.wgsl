//! The gradient of an attention's bias, summed over the axes along which it broadcasts; the operands are generated code.
//!
//! shapes    Q (batch, heads, queries, dim), K (batch, kv_heads, keys, dim), V (batch, kv_heads, keys, dim_v), G (batch, heads, queries, dim_v), any strides, statistics (rows) of four f32 -> dB like the bias; f32 sums
//! grid      one invocation per four neighbours of dB, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     neighbours past the end are not computed, keys outside a row's range, its length or its mask are not read into sums: any queries, keys >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16
//#import math

//#param  set by AttentionBackward::bias_kernel
const LANES: u32 = 64u;
//#end
const QUADS: u32 = 1u;
const WIDTH: u32 = 4u;
const WHOLE: bool = false;
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
//     fn store_db(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

// The gradient of a score.
fn score_gradient(batch: u32, head: u32, i: u32, j: u32) -> f32 {
    let kv_head = head / dims.group;
    let q_base = dims.q.x + batch * dims.q.y + head * dims.q.z + i * dims.q.w;
    let k_base = dims.k.x + batch * dims.k.y + kv_head * dims.k.z + j * dims.k.w;
    var dots = vec4<f32>(0.0);
    for (var group = 0u; 4u * group < dims.dim; group++) {
        let query_quad = within(query(q_base, group, 0u, dims.dim), group, 0u, dims.dim);
        dots += query_quad * within(key(k_base, group, 0u, dims.dim), group, 0u, dims.dim);
    }
    let g_base = dims.g.x + batch * dims.g.y + head * dims.g.z + i * dims.g.w;
    let v_base = dims.v.x + batch * dims.v.y + kv_head * dims.v.z + j * dims.v.w;
    var products = vec4<f32>(0.0);
    for (var group = 0u; 4u * group < dims.dim_v; group++) {
        let given = within(gradient(g_base, group, 0u, dims.dim_v), group, 0u, dims.dim_v);
        products += given * within(value(v_base, group, 0u, dims.dim_v), group, 0u, dims.dim_v);
    }
    let score = ((dots.x + dots.y) + (dots.z + dots.w)) * dims.scale + added(batch, head, i, j);
    let dp = (products.x + products.y) + (products.z + products.w);
    let known = stats[(batch * dims.kv_heads * dims.group + head) * dims.queries + i];
    return weight(vec4<f32>(score), vec4<f32>(known.x), vec4<f32>(known.y)).x * (dp - known.z);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let shape = dims.bias_shape;
    let total = shape.x * shape.y * shape.z * shape.w;
    let group = block_index(workgroup, grid) * LANES + local.x;
    if group >= (total + 3u) / 4u {
        return;
    }
    var sums: array<vec4<f32>, QUADS>;
    for (var c = 0u; c < min(4u, total - 4u * group); c++) {
        let at = 4u * group + c;
        // If the bias has one element along an axis, the axis is summed up from 0 in steps of one; otherwise there is
        // one step.
        for (var batch = at / shape.w / shape.z / shape.y; batch < dims.batches; batch += shape.x) {
            let count = key_count(batch);
            for (var head = at / shape.w / shape.z % shape.y; head < dims.kv_heads * dims.group; head += shape.y) {
                for (var i = at / shape.w % shape.z; i < dims.queries; i += shape.z) {
                    let range = range_of(i, count);
                    for (var j = at % shape.w; j < dims.keys; j += shape.w) {
                        if j >= range.x && j < range.y && is_kept(batch, j) {
                            sums[0][c] += score_gradient(batch, head, i, j);
                        }
                    }
                }
            }
        }
    }
    store_db(0u, group, total - 4u * group, sums);
}
