//! Joins the parts of each row of an attention, in a fixed order; the operands are generated code.
//!
//! shapes    parts (rows, parts, dim_v + 2) of f32 -> Y (batch, heads, queries, dim_v), the largest scores and the logarithms of the sums of exponentials
//! grid      one invocation per row and four neighbours of Y, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return, neighbours past a row's end are not stored: any rows, dim_v >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16
//#import math
//#import attention_known

//#param  set by AttentionProblem::merge_kernel
const LANES: u32 = 64u;
//#end
const QUADS: u32 = 1u;
const WIDTH: u32 = 4u;
alias sum = f32; // type of results before they are stored

//#generated operands
// The parts and the results. Plans generate it.
//
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)
//     fn store_lse(row: u32, value: vec2<f32>)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let groups = (dims.dim_v + 3u) / 4u;
    let index = block_index(workgroup, grid) * LANES + local.x;
    let row = index / groups;
    let group = index - row * groups;
    let head_rows = dims.group * dims.queries;
    if row >= dims.heads * head_rows {
        return;
    }
    let size = dims.dim_v + 2u;
    let start = row * dims.parts * size;
    var most = parts[start + dims.dim_v];
    for (var part = 1u; part < dims.parts; part++) {
        most = max(most, parts[start + part * size + dims.dim_v]);
    }
    var total = 0.0;
    var all = vec4<f32>(0.0);
    for (var part = 0u; part < dims.parts; part++) {
        let at = start + part * size;
        let factor = exp_of_negative(vec4<f32>(parts[at + dims.dim_v] - most)).x;
        total += parts[at + dims.dim_v + 1u] * factor;
        //#unroll
        for (var c = 0u; c < 4u; c++) {
            all[c] += parts[at + min(4u * group + c, dims.dim_v - 1u)] * factor;
        }
    }
    let factor = select(1.0 / total, 0.0, total == 0.0);
    let i = row % dims.queries;
    let head = row / dims.queries % (dims.kv_heads * dims.group);
    let batch = row / dims.queries / (dims.kv_heads * dims.group);
    var v: array<vec4<f32>, QUADS>;
    v[0] = all * factor;
    store_y(dims.y.x + batch * dims.y.y + head * dims.y.z + i * dims.y.w, group, dims.dim_v - 4u * group, v);
    if group == 0u {
        store_lse(row, known_of(most, total));
    }
}
