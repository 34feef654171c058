//! The sizes of a copy into a view. A row is a line along one axis. Sizes are in units for `copy`, in elements for
//! `copy_parts`.

//#slot axes default six
//#import places

struct Dims {
    axes: Axes,                // of the rows: extent, then the strides of C and A, innermost first; `w` is for `shift`
    c_offset: u32,             // first unit or element in the bindings
    a_offset: u32,
    c_stride: u32, // along a row
    a_stride: u32,
    row: u32,       // length of a row
    row_units: u32, // invocations for a row
    units: u32,     // invocations for all rows
    rank: u32,      // number of axes of the rows
}

//#slot shift default none
