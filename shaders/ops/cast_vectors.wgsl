//! Copies a contiguous, aligned tensor and converts its type, in integer code, by vectors of 16 bytes.
//!
//! shapes    A without gaps, from a multiple of WIDTH elements -> C without gaps from the start of its binding
//! grid      one invocation per VECTORS groups of WIDTH elements, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive groups
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     past the end the last group is loaded again and not stored; the rest of C's last word is preserved

//#import places
//#slot dims default immediate
//#import block

//#param  set by CastProblem::kernel
alias a_unit = vec4<u32>; // the memory of four elements
alias c_unit = vec4<u32>;
const A_PER_WORD: u32 = 1u;
const C_PER_WORD: u32 = 1u;
const FROM: u32 = F32;       // types of A and C, constants of `numbers`
const TO: u32 = F32;
const KEPT: bool = true;     // elements keep their bits, also those of NaN
const LIMITED: bool = false; // values outside the range of TO saturate
const QUADS: u32 = 1u;       // of a group of neighbours
const VECTORS: u32 = 2u;     // groups of an invocation
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;
const C_MASK: u32 = 0xffffffffu >> (32u - 32u / C_PER_WORD);

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#import converted
//#slot quad_bits x=a
//#slot save_bits x=c

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = block_index(workgroup, grid) * (LANES * VECTORS) + lane;
    let last = (dims.count - 1u) / WIDTH;
    // All groups are loaded before any is stored, so that their loads overlap.
    var v: array<array<vec4<u32>, QUADS>, VECTORS>;
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        let at = (dims.a_offset / WIDTH + min(first + i * LANES, last)) * QUADS;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            // A group of words may be longer than 16 bytes. The window of A ends with the 16 bytes of its last element.
            let beyond = A_PER_WORD == 1u && at + k > (dims.a_offset + dims.count - 1u) / 4u;
            v[i][k] = quad_bits_a(select(at + k, at, beyond));
        }
    }
    //#unroll
    for (var i = 0u; i < VECTORS; i++) {
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            v[i][k] = vec4<u32>(converted(v[i][k].x), converted(v[i][k].y), converted(v[i][k].z), converted(v[i][k].w));
        }
        let group = first + i * LANES;
        if group < last || (group == last && (last + 1u) * WIDTH == dims.count) {
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                save_bits_c(group * QUADS + k, v[i][k]);
            }
        } else if group == last {
            let left = dims.count - last * WIDTH;
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                if left > 4u * k { save_first_bits_c(group * QUADS + k, left - 4u * k, v[i][k]); }
            }
        }
    }
}
