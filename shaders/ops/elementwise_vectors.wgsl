//! An elementwise function of up to four tensors with contiguous, aligned rows, by vectors of 16 bytes; generated code.
//!
//! shapes    C of up to 6 axes; operands of its shape. Innermost strides are 1, or 0 where broadcast; other strides and offsets are multiples of WIDTH, except those of broadcast rows
//! grid      one invocation per VECTORS vectors of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive vectors
//! requires  nothing
//! edges     past the end the last vector is loaded again and not stored; a row's last vector is stored up to its end

//#slot elementwise_dims default two
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ElementwiseProblem::kernel
alias c_unit = vec4<f32>;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u;   // groups of four elements in a vector
const VECTORS: u32 = 2u; // of an invocation
const STEP: u32 = 64u;   // distance between the vectors of an invocation: LANES, or 1
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS; // elements of a vector

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot activation default none

//#generated operands
// The operands from binding 1 on, and `value(at, k)`: the results for quad `k` of the vector at `at`. Plans generate it.
// NOTE: vectors begin at multiples of WIDTH. In this form compilers recognise that, and load 16 bytes at once.
//
//     fn value(at: Place, k: u32) -> vec4<sum>

//#slot save_quad x=c default plain
//#import save_vector x=c
//#slot vector_place default only_row

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = block_index(workgroup, grid) * (LANES * VECTORS) + lane * select(1u, VECTORS, STEP == 1u);
    // All vectors are loaded before any is stored, so that their loads overlap.
    var at: array<u32, VECTORS>;
    var results: array<array<vec4<sum>, QUADS>, VECTORS>;
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        let place = place_of(min(first + i * STEP, dims.offsets.w - 1u));
        at[i] = place.c;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            results[i][k] = value(place, k);
        }
    }
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        let vector = first + i * STEP;
        if vector < dims.offsets.w {
            save_vector_c(at[i] / WIDTH * QUADS, left_from(vector), results[i]);
        }
    }
}
