//! Copies a view into the middle of a larger tensor, bit by bit, and fills the rest with one value.
//!
//! shapes    A of up to 6 axes, any strides -> C of as many axes, none shorter, without gaps from the start of its binding
//! grid      one invocation per four consecutive elements of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive elements
//! requires  nothing: memory is read and written as 32-bit words for all types
//! edges     elements of C beyond A are `value`; the last elements are stored one by one, the rest of C's last word is preserved

//#slot dims default immediate
//#import block

//#param  set by PadProblem::kernel
alias c_unit = vec4<u32>; // the memory of four elements
const PER_WORD: u32 = 1u; // elements of a word
const WHOLE: bool = true; // rows are whole quads, or there is only one row
const LANES: u32 = 64u;
//#end
const BITS: u32 = 32u / PER_WORD;
const MASK: u32 = 0xffffffffu >> (32u - BITS);

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> a: array<u32>;

//#slot save_bits x=c

// The begin of a row of C in A, and whether it is a row of A.
struct Row {
    place: u32,
    is_inside: bool,
}

fn row_of(row: u32) -> Row {
    var rest = row;
    var found = Row(dims.a_offset, true);
    for (var axis = 1u; axis < dims.rank; axis++) {
        let extents = axis_at(axis);
        let outer = rest / extents.x;
        let index = rest - outer * extents.x;
        let at = max(index, extents.y) - extents.y;
        found.is_inside = found.is_inside && index >= extents.y && at < extents.z;
        found.place += min(at, max(extents.z, 1u) - 1u) * extents.w;
        rest = outer;
    }
    return found;
}

// The bits of an element of C in a row.
fn padded(row: Row, col: u32) -> u32 {
    let extents = dims.axes.axis0;
    let at = max(col, extents.y) - extents.y;
    if !row.is_inside || col < extents.y || at >= extents.z {
        return dims.value & MASK;
    }
    let place = row.place + at * extents.w;
    return (a[place / PER_WORD] >> (place % PER_WORD * BITS)) & MASK;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let quad = block_index(workgroup, grid) * LANES + lane;
    if quad >= (dims.count + 3u) / 4u {
        return;
    }
    let first = quad * 4u;
    let length = dims.axes.axis0.x;
    var row = first / length;
    var col = first - row * length;
    var begin = row_of(row);
    var v: vec4<u32>;
    //#unroll
    for (var i = 0u; i < 4u; i++) {
        v[i] = padded(begin, col);
        // Past the end of C the last element is taken again.
        if first + i + 1u < dims.count {
            col += 1u;
            if !WHOLE && col == length {
                col = 0u;
                row += 1u;
                begin = row_of(row);
            }
        }
    }
    if first + 4u <= dims.count {
        save_bits_c(quad, v);
    } else {
        save_first_bits_c(quad, dims.count - first, v);
    }
}
