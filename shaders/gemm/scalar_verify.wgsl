//! The multiply-adds of a row's self-test without cooperative matrices. They are timed: a row is worth using if it is faster.
//!
//! shapes    per iteration: A (M, DEPTH) and B (DEPTH, N), in packs along k -> the sums of C (M, N)
//! grid      any number of workgroups, which compute the same
//! subgroup  not used: LANES invocations share a product, in any subgroups
//! requires  the numbers of the slot
//! edges     none: all sizes are whole

struct Dims {
    iterations: u32,
    staged: u32, // packs per iteration. NOTE: with a constant, lavapipe would unroll loops and compile for seconds
    depth: u32,  // DEPTH, for the same reason
    reserved: u32,
}

//#slot dims default immediate
//#slot scalar_sums default f32

//#param  set by ScalarCase::kernel
const LANES: u32 = 32u;
const M: u32 = 16u;
const N: u32 = 16u;
const DEPTH: u32 = 16u;
const ROWS: u32 = 1u; // of C, per invocation
const COLS: u32 = 8u;
//#end
// An odd number of packs, so that the rows of A lie in different banks.
const A_LD: u32 = DEPTH | 1u;
const A_TILE: u32 = M * A_LD;
const ACROSS: u32 = N / COLS; // invocations along a row of C
const SUMS: u32 = ROWS * COLS;

@group(0) @binding(0) var<storage, read> ab: array<Pack>;
@group(0) @binding(1) var<storage, read_write> c: array<u32>;

var<workgroup> tile: array<Pack, A_TILE + DEPTH * N>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    // NOTE: if invocations have whole rows of C, all read the same numbers of B, and a software device reads them once.
    let a_at = lane / ACROSS * ROWS * A_LD;
    let b_at = A_TILE + lane % ACROSS * COLS;
    var sums: array<Sum, SUMS>;
    for (var iteration = 0u; iteration < dims.iterations; iteration++) {
        for (var i = lane; i < dims.staged; i += LANES) {
            tile[i] = ab[iteration * dims.staged + i];
        }
        workgroupBarrier();
        for (var k = 0u; k < dims.depth; k++) {
            var x: array<Pack, ROWS>;
            //#unroll
            for (var row = 0u; row < ROWS; row++) {
                x[row] = tile[a_at + row * A_LD + k];
            }
            //#unroll
            for (var col = 0u; col < COLS; col++) {
                let y = tile[b_at + k * N + col];
                //#unroll
                for (var row = 0u; row < ROWS; row++) {
                    sums[row * COLS + col] = added(sums[row * COLS + col], x[row], y);
                }
            }
        }
        workgroupBarrier();
    }
    let at = (workgroup.x * LANES + lane) * SUMS;
    //#unroll
    for (var i = 0u; i < SUMS; i++) {
        c[at + i] = word(sums[i]);
    }
}
