//! The sizes of an elementwise function, in elements, and the places of its operands. A row is a line along the innermost axis.
//! Its units are the groups of neighbours that a kernel moves together: four elements, or a vector of 16 bytes.
//!
//! `place_at(row, col)` has the indices of an element of a row in C and the operands, `place_in_first(col)` those in row 0.
//#import places

//#variant two
// C and at most two operands.
struct Place {
    c: u32,
    x0: u32,
    x1: u32,
}

fn place_in_first(col: u32) -> Place {
    let at = dims.offsets.xyz + col * dims.axes.axis0.yzw;
    return Place(at.x, at.y, at.z);
}

fn place_at(row: u32, col: u32) -> Place {
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + col * dims.axes.axis0.yzw);
    return Place(at.x, at.y, at.z);
}

//#variant four
// C and at most four operands.
// The strides of two operands along two axes each.
struct MoreAxes {
    axes01: vec4<u32>,
    axes23: vec4<u32>,
    axes45: vec4<u32>,
}

struct MoreNumbers {
    low: vec4<u32>,
    high: vec4<u32>,
}

struct Place {
    c: u32,
    x0: u32,
    x1: u32,
    x2: u32,
    x3: u32,
}

// The strides of operands 2 and 3 along an axis.
fn more_strides(axis: u32) -> vec2<u32> {
    let low = select(dims.more_axes.axes01, dims.more_axes.axes23, axis >= 2u);
    let two = select(low, dims.more_axes.axes45, axis >= 4u);
    return select(two.xy, two.zw, axis % 2u == 1u);
}

fn place_in_first(col: u32) -> Place {
    let at = dims.offsets.xyz + col * dims.axes.axis0.yzw;
    let more = dims.more_offsets.xy + col * more_strides(0u);
    return Place(at.x, at.y, at.z, more.x, more.y);
}

fn place_at(row: u32, col: u32) -> Place {
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + col * dims.axes.axis0.yzw);
    var more = dims.more_offsets.xy + col * more_strides(0u);
    var rest = row;
    for (var axis = 1u; axis < dims.rank; axis++) {
        let extent = axis_at(axis).x;
        let outer = rest / extent;
        more += (rest - outer * extent) * more_strides(axis);
        rest = outer;
    }
    return Place(at.x, at.y, at.z, more.x, more.y);
}
