//! The offsets of an element in up to three operands, from its index over some of `dims.axes`. Each axis has its extent, then
//! the strides of the operands.

// The offsets of an index, if index 0 is at `at`. The index counts along the axes from `first` to before `end`, and is less than
// the product of their extents.
fn places(index: u32, first: u32, end: u32, at: vec3<u32>) -> vec3<u32> {
    var rest = index;
    var moved = at;
    for (var axis = first; axis < end; axis++) {
        let sizes = axis_at(axis);
        // The remainder is the index along the outermost axis.
        var here = rest;
        if axis + 1u < end {
            rest /= sizes.x;
            here -= rest * sizes.x;
        }
        moved += here * sizes.yzw;
    }
    return moved;
}
