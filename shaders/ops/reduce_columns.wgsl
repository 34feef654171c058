//! Reductions along an axis whose elements are far apart, in a fixed order. Each invocation reduces neighbouring columns.
//!
//! shapes    as reduce
//! grid      one invocation per WIDTH neighbours of C and part, LANES a workgroup; consecutive ones have neighbouring columns, then parts
//! subgroup  not used
//! requires  nothing
//! edges     rows past the end have no terms and are not stored, nor are columns past the end: any length >= 0, any rows >= 1

//#import reduce_dims
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ReduceProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias element = f32; // a loaded element of A, or its bits
alias held = f32; // an invocation's state of its terms
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1u; // groups of four elements that an invocation loads together
const LANES: u32 = 64u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

//#slot reduction default sum
//#slot line_quad default elements
//#slot reduced default result

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let index = block_index(workgroup, grid) * LANES + lane;
    let member = index / dims.lanes;
    let column = (index - member * dims.lanes) * WIDTH;
    let row = member / dims.parts;
    let part = member - row * dims.parts;
    let stride = dims.axes.axis0.z;
    let at = kept_at(min(row, dims.rows - 1u), 1u) + column * dims.axes.axis0.yz;
    let left = dims.axes.axis0.x - column;
    // Rows past the end are empty.
    let lines = select(0u, dims.lines, row < dims.rows);
    let groups = dims.length / 4u; // of a line, without the last if it is short
    var origin: array<element, WIDTH>;
    //#unroll
    for (var j = 0u; j < WIDTH; j++) {
        origin[j] = origin_at(at.y + min(j, left - 1u) * stride);
    }
    var own: array<held, WIDTH>;
    //#unroll
    for (var j = 0u; j < WIDTH; j++) {
        own[j] = nothing_from(4u * part);
    }
    var i = part;
    for (; i < groups * lines; i += dims.parts) {
        var group = i;
        var start = at.y;
        if lines > 1u {
            let line = i / groups;
            group = i - line * groups;
            start += line_at(line);
        }
        start += 4u * group * dims.a_stride;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let v0 = line_quad(start, stride, k, left);
            let v1 = line_quad(start + dims.a_stride, stride, k, left);
            let v2 = line_quad(start + 2u * dims.a_stride, stride, k, left);
            let v3 = line_quad(start + 3u * dims.a_stride, stride, k, left);
            //#unroll
            for (var j = 0u; j < 4u; j++) {
                let terms = quad_term(vec4<element>(v0[j], v1[j], v2[j], v3[j]), 4u * group, origin[4u * k + j]);
                own[4u * k + j] = followed(own[4u * k + j], terms);
            }
        }
    }
    // The last elements of lines whose number is not a multiple of four.
    let rest = dims.length - 4u * groups;
    for (; i < groups * lines + select(0u, lines, rest > 0u); i += dims.parts) {
        let start = at.y + line_at(i - groups * lines);
        for (var step = 4u * groups; step < dims.length; step++) {
            //#unroll
            for (var k = 0u; k < QUADS; k++) {
                let v = line_quad(start + step * dims.a_stride, stride, k, left);
                //#unroll
                for (var j = 0u; j < 4u; j++) {
                    own[4u * k + j] = followed(own[4u * k + j], term_of(v[j], step, origin[4u * k + j]));
                }
            }
        }
    }
    if row < dims.rows {
        //#unroll
        for (var j = 0u; j < WIDTH; j++) {
            if j < left { store_reduced(at.x + j * dims.axes.axis0.y, part, own[j]); }
        }
    }
}
