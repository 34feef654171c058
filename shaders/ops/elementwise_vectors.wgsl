//! An elementwise function of one or two tensors whose rows are contiguous and aligned, by vectors of 16 bytes.
//!
//! shapes    C of up to 6 axes; A and B of its shape. Innermost strides are 1; others and offsets are multiples of WIDTH
//! grid      one invocation per VECTORS vectors of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive vectors
//! requires  nothing
//! edges     past the end the last vector is loaded again and not stored; a row's last vector is stored up to its end

//#import elementwise_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ElementwiseProblem::kernel
alias a_unit = vec4<f32>;
alias c_unit = vec4<f32>;
const COMBINATION: u32 = SUM; // the function of two operands
const QUADS: u32 = 1u;        // groups of four elements in a vector
const VECTORS: u32 = 2u;      // of an invocation
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS; // elements of a vector

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

//#slot activation default none
//#import combined
//#slot quad_operands default two
//#slot save_quad x=c default plain
//#import save_vector x=c
//#slot vector_place default only_row

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = block_index(workgroup, grid) * (LANES * VECTORS) + lane;
    // All vectors are loaded before any is stored, so that their loads are under way together.
    var at: array<vec4<u32>, VECTORS>;
    var results: array<array<vec4<f32>, QUADS>, VECTORS>;
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        at[i] = place(min(first + i * LANES, dims.offsets.w - 1u));
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            results[i][k] = value(at[i].xyz + k);
        }
    }
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        if first + i * LANES < dims.offsets.w {
            save_vector_c(at[i].x, at[i].w, results[i]);
        }
    }
}
