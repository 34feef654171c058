//! Multiply-adds without memory accesses, to measure the peak rate of a device.
//!
//! shapes    C: a word for each invocation
//! grid      one invocation per word of C, LANES a workgroup
//! subgroup  not used; invocations do not depend on each other
//! requires  nothing; numbers of f16 need f16 in shaders
//! edges     invocations past the end return

//#slot dims default immediate
//#import block
//#slot peak_chains default real

//#param  set by PeakProblem::kernel
alias number = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<u32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let index = block_index(workgroup, grid) * LANES + local.x;
    if index >= dims.words {
        return;
    }
    // 32 independent sums in eight vectors: on lavapipe, 16 sums are a tenth slower. NOTE: they start from different numbers,
    // because compilers compute equal sums only once.
    let x = equal(dims.factor);
    let y = equal(index % 7u);
    var sums: array<Four, 8>;
    //#unroll
    for (var i = 0u; i < 8u; i++) {
        sums[i] = consecutive(index % 5u + 4u * i);
    }
    for (var iteration = 0u; iteration < dims.iterations; iteration++) {
        //#unroll
        for (var step = 0u; step < 4u; step++) {
            //#unroll
            for (var i = 0u; i < 8u; i++) {
                sums[i] = added(sums[i], x, y);
            }
        }
    }
    var all = 0u;
    //#unroll
    for (var i = 0u; i < 8u; i++) {
        all ^= word(sums[i]);
    }
    c[index] = all;
}
