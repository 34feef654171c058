//! Split-k reduction: C = epilogue(the sum of all splits), always in the order of the splits, so results are bit-exact.
//!
//! shapes    sums (splits, batches, m, n) without gaps, f32 or i32; C (m, n), batches of them
//! grid      one invocation per four elements of a row of C, LANES per workgroup
//! subgroup  not used; consecutive invocations read consecutive elements
//! requires  nothing
//! edges     invocations past the end return: any m, n >= 1

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by reduce::step
alias c_unit = f32;
alias accumulator = f32;
alias sum = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read> sums: array<accumulator>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot epilogue default none
//#slot store_c default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let quad = block_index(workgroup, grid) * LANES + lane;
    let quads = (dims.n + 3u) / 4u; // of a row
    if quad >= dims.batches * dims.m * quads {
        return;
    }
    let row = quad / quads; // of all matrices
    let col = quad % quads * 4u;
    let elements = dims.batches * dims.m * dims.n;
    let last = elements * dims.splits - 1u;
    var total = vec4<accumulator>();
    for (var at = row * dims.n + col; at <= last; at += elements) {
        // NOTE: elements past the end of a row belong to the next row. They are read but not stored.
        total += vec4<accumulator>(sums[at], sums[min(at + 1u, last)], sums[min(at + 2u, last)], sums[min(at + 3u, last)]);
    }
    enter(row / dims.m);
    store_c(row % dims.m, col, vec4<sum>(total));
}
