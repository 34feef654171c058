//! The sizes of a sparse operator's application, in elements. A line of the operator has nonzeros at places: lines are
//! added to places, or places to lines. Columns are what is beside the operator's axis, those of all batches in a row.

struct Dims {
    lines: u32,
    places: u32,
    nonzeros: u32,  // of a line
    different: u32, // 1: at different places, 0: at any
    seed0: u32,
    seed1: u32,
    tag: u32, // the last word of the counter
    scale: f32,
    columns: u32,
    extent0: u32, // of the innermost axis of the columns, and of the next
    extent1: u32,
    x_offset: u32, // first element of X in its binding
    x_axis: u32,   // strides of X: along the operator's axis, and along those of the columns
    x_stride0: u32,
    x_stride1: u32,
    x_stride2: u32,
    y_axis: u32, // of Y
    y_stride0: u32,
    y_stride1: u32,
    y_stride2: u32,
    rows: u32,  // of Y that a workgroup makes: a power of two where they are places
    width: u32, // columns of a workgroup
    part: u32,  // lines that a workgroup sums
    chunk: u32, // lines that it takes at once, if their nonzeros fit
    parts: u32,
    y_part: u32, // elements from the sums of a part to those of the next
    reserved0: u32,
    reserved1: u32,
}

// The first elements of a column, in X and in Y.
fn column_at(column: u32) -> vec2<u32> {
    let outer = column / dims.extent0;
    let i = vec3<u32>(column % dims.extent0, outer % dims.extent1, outer / dims.extent1);
    return vec2<u32>(
        dims.x_offset + i.x * dims.x_stride0 + i.y * dims.x_stride1 + i.z * dims.x_stride2,
        i.x * dims.y_stride0 + i.y * dims.y_stride1 + i.z * dims.y_stride2,
    );
}
