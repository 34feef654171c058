//! Writes rows of zeros with a 1 at the id.
//!
//! shapes    ids of up to 5 axes, any strides -> C of these axes and then classes, without gaps from the start of its binding
//! grid      one invocation per four consecutive elements of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is written as 32-bit words for all types
//! edges     an id that is no class has zeros; the last elements are stored one by one, the rest of C's last word is preserved

//#import places

//#slot dims default immediate
//#import block

//#param  set by OneHotProblem::kernel
alias c_unit = vec4<u32>; // the memory of four elements
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> ids: array<i32>;

//#slot save_bits x=c

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let quad = block_index(workgroup, grid) * LANES + lane;
    if quad >= (dims.count + 3u) / 4u {
        return;
    }
    let first = quad * 4u;
    var v: vec4<u32>;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        // Past the end of C the last element is taken again.
        let at = min(first + i, dims.count - 1u);
        let which = at / dims.classes;
        let row = which / dims.axes.axis0.x;
        let along = (which - row * dims.axes.axis0.x) * dims.axes.axis0.yzw;
        let place = places(row, 1u, dims.rank, vec3<u32>(dims.index_offset, 0u, 0u) + along).x;
        v[i] = select(0u, dims.one, ids[place] == i32(at - which * dims.classes));
    }
    if first + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - first, v);
    }
}
