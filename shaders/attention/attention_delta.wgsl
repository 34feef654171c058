//! The statistics of each row for the backward pass of an attention: its largest score, the logarithm of its sum of exponentials, and its result times the gradient of the result; the operands are generated code.
//!
//! shapes    Y, G (batch, heads, queries, dim_v), any strides; largest scores and logarithms (rows) of two f32 -> statistics (rows) of four f32, of which the last is 0
//! grid      one invocation per row, LANES a workgroup
//! subgroup  not used
//! requires  nothing
//! edges     invocations past the end return: any rows, dim_v >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by AttentionBackward::delta_kernel
const QUADS: u32 = 1u;     // quads of a group, which are neighbours
const WHOLE: bool = false; // rows consist of whole groups
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;

//#import attention_within

//#generated operands
// The operands. `result` and `gradient` are quad k of group `group` of a row that begins at `start`. Plans generate it.
//
//     fn result(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>
//     fn gradient(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let row = block_index(workgroup, grid) * LANES + local.x;
    if row >= dims.rows {
        return;
    }
    let i = row % dims.queries;
    let head = row / dims.queries % dims.heads;
    let batch = row / dims.queries / dims.heads;
    let y_base = dims.y.x + batch * dims.y.y + head * dims.y.z + i * dims.y.w;
    let g_base = dims.g.x + batch * dims.g.y + head * dims.g.z + i * dims.g.w;
    var products = vec4<f32>(0.0);
    for (var group = 0u; group * WIDTH < dims.dim_v; group++) {
        //#unroll
        for (var quad = 0u; quad < QUADS; quad++) {
            let product_quad = result(y_base, group, quad, dims.dim_v) * gradient(g_base, group, quad, dims.dim_v);
            products += within(product_quad, group, quad, dims.dim_v);
        }
    }
    let sum = (products.x + products.y) + (products.z + products.w);
    // A row without keys has no weights. Its logarithm is minus infinity, so a largest score is stored that makes all weights 0.
    let at = dims.lse + 2u * row;
    let most = bitcast<u32>(lse[at]);
    let logarithm = bitcast<u32>(lse[at + 1u]);
    let is_empty = logarithm == 0xff800000u;
    stats[row] = vec4<f32>(
        bitcast<f32>(select(most, 0x7f7fffffu, is_empty)),
        bitcast<f32>(select(logarithm, 0u, is_empty)),
        sum,
        0.0,
    );
}
