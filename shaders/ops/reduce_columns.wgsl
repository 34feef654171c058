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
alias element = f32; // an element of A that was loaded, or its bits
alias held = f32; // what an invocation knows of its terms
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
    @builtin(local_invocation_index) lane: u32,
) {
    let index = block_index(workgroup, grid) * LANES + lane;
    let member = index / dims.lanes;
    let column = (index - member * dims.lanes) * WIDTH;
    let row = member / dims.parts;
    let part = member - row * dims.parts;
    let stride = dims.axes[0].z;
    let at = kept_at(min(row, dims.rows - 1u), 1u) + column * dims.axes[0].yz;
    let left = dims.axes[0].x - column;
    let terms = select(0u, dims.length * dims.lines, row < dims.rows); // rows past the end are empty
    var origin: array<element, WIDTH>;
    //#unroll
    for (var j = 0u; j < WIDTH; j++) {
        origin[j] = origin_at(at.y + min(j, left - 1u) * stride);
    }
    var own: array<held, WIDTH>;
    //#unroll
    for (var j = 0u; j < WIDTH; j++) {
        own[j] = NOTHING;
    }
    for (var i = part; i < terms; i += dims.parts) {
        var step = i;
        var start = at.y;
        if dims.lines > 1u {
            let line = i / dims.length;
            step = i - line * dims.length;
            start += line_at(line);
        }
        start += step * dims.a_stride;
        //#unroll
        for (var k = 0u; k < QUADS; k++) {
            let v = line_quad(start, stride, k, left);
            own[4u * k] = joined(own[4u * k], term_of(v.x, i, origin[4u * k]));
            own[4u * k + 1u] = joined(own[4u * k + 1u], term_of(v.y, i, origin[4u * k + 1u]));
            own[4u * k + 2u] = joined(own[4u * k + 2u], term_of(v.z, i, origin[4u * k + 2u]));
            own[4u * k + 3u] = joined(own[4u * k + 3u], term_of(v.w, i, origin[4u * k + 3u]));
        }
    }
    if row < dims.rows {
        //#unroll
        for (var j = 0u; j < WIDTH; j++) {
            if j < left { store_reduced(at.x + j * dims.axes[0].y, part, own[j]); }
        }
    }
}
