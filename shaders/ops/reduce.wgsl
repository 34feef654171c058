//! Reductions along lines, in a fixed order: sums, products, extremes, their indices, and variances.
//!
//! shapes    A of up to 6 axes, any strides -> C without some of them, row-major; sums in f32 or i32, extremes as bits
//! grid      dims.lanes invocations per element of C and part, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end have no terms and are not stored: any length >= 0, any rows >= 1

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
const QUADS: u32 = 1u; // quads of a group, which are neighbours
const GROUPS: u32 = 4u; // groups that a lane loads together
const RANGES: bool = false; // the groups of each lane are neighbours
const LANES: u32 = 256u;
//#end
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup

//#slot row_lanes default shared
//#import across x=terms
//#slot reduction default sum
//#slot line_quad default elements
//#slot reduced default result

fn joined_terms(x: held, y: held) -> held {
    return joined(x, y);
}

// The begin in A of whole group i of the row from `first` on, and the index of its first element.
fn group_at(i: u32, first: u32) -> vec2<u32> {
    var group = i;
    var start = first;
    if dims.lines > 1u {
        let groups = dims.length / WIDTH;
        let line = i / groups;
        group = i - line * groups;
        start += line_at(line);
    }
    return vec2<u32>(start + group * WIDTH * dims.a_stride, group * WIDTH);
}

// The state of some terms, joined with those of whole group i of the row from `first` on.
fn followed_by_group(terms: held, i: u32, first: u32, origin: element) -> held {
    let at = group_at(i, first);
    var all = terms;
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        all = followed(all, quad_term(line_quad(at.x, dims.a_stride, k, WIDTH), at.y + 4u * k, origin));
    }
    return all;
}

//#slot row_blocks default terms

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let member = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    var row = member;
    var part = 0u;
    if dims.parts > 1u {
        row = member / dims.parts;
        part = member - row * dims.parts;
    }
    let at = kept_at(min(row, dims.rows - 1u), 0u);
    // Rows past the end are empty.
    let lines = select(0u, dims.lines, row < dims.rows);
    let rest = dims.length % WIDTH;
    let whole = dims.length / WIDTH * lines; // groups
    let groups = whole + select(0u, lines, rest > 0u); // and the short ones of all lines
    // Groups are cut into ranges of neighbours: one range for each part, whose lanes take turns, or one range for each
    // lane.
    var range = part;
    var ranges = dims.parts;
    var first = part_of(lane);
    var step = dims.lanes;
    if RANGES {
        range = part * dims.lanes + part_of(lane);
        ranges = dims.parts * dims.lanes;
        first = 0u;
        step = 1u;
    }
    var share = groups;
    if ranges > 1u { share = (groups + ranges - 1u) / ranges; }
    let end = min(groups, (range + 1u) * share);
    var i = range * share + first;
    let origin = origin_at(at.y);
    var own = followed_by_blocks(nothing_from(i * WIDTH), &i, min(end, whole), step, at.y, origin);
    for (; i < min(end, whole); i += step) {
        own = followed_by_group(own, i, at.y, origin);
    }
    // The short groups.
    for (; i < end; i += step) {
        let start = at.y + line_at(i - whole) + (dims.length - rest) * dims.a_stride;
        for (var j = 0u; j < rest; j++) {
            let v = line_quad(start, dims.a_stride, j / 4u, rest);
            own = followed(own, term_of(v[j % 4u], dims.length - rest + j, origin));
        }
    }
    let all = across_terms(own, lane);
    if part_of(lane) == 0u && row < dims.rows {
        store_reduced(at.x, part, all);
    }
}
