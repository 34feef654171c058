//! Multiply-adds that read no memory: as many as a device computes per second, whatever they are for.
//!
//! shapes    C: a word for each invocation
//! grid      one invocation per word of C, LANES a workgroup
//! subgroup  not used; invocations do not depend on each other
//! requires  nothing; numbers of f16 need f16 in shaders
//! edges     invocations past the end return

struct Dims {
    words: u32,      // of C
    iterations: u32, // of the loop
    factor: u32,     // 1, which the compiler cannot know
    reserved: u32,
}

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
    // Sixteen sums in four vectors, none of which waits for another. NOTE: they start from different numbers, because compilers
    // compute equal sums only once.
    let x = equal(dims.factor);
    let y = equal(index % 7u);
    let first = index % 5u;
    var s0 = consecutive(first);
    var s1 = consecutive(first + 4u);
    var s2 = consecutive(first + 8u);
    var s3 = consecutive(first + 12u);
    for (var iteration = 0u; iteration < dims.iterations; iteration++) {
        s0 = added(s0, x, y);
        s1 = added(s1, x, y);
        s2 = added(s2, x, y);
        s3 = added(s3, x, y);
        s0 = added(s0, x, y);
        s1 = added(s1, x, y);
        s2 = added(s2, x, y);
        s3 = added(s3, x, y);
        s0 = added(s0, x, y);
        s1 = added(s1, x, y);
        s2 = added(s2, x, y);
        s3 = added(s3, x, y);
        s0 = added(s0, x, y);
        s1 = added(s1, x, y);
        s2 = added(s2, x, y);
        s3 = added(s3, x, y);
    }
    c[index] = word(s0) ^ word(s1) ^ word(s2) ^ word(s3);
}
