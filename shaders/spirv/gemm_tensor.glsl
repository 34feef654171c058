// An operand of a product on matrices of a workgroup, which are loaded from memory through a tensor layout: nothing is staged.
// `OF(name)` is the name with the operand's letter before it; BINDING is its binding.

layout(set = 0, binding = BINDING, std430) readonly buffer OF(Elements) { AB OF(elements)[]; };

// The operand's lines in memory: along the outer axis if OUTER is 1, else along k. What is past an end is loaded as zeros.
Plane OF(plane)(uint extent, uint k_end) {
    Plane plane = createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    if (OF(OUTER) == 1) {
        plane = setTensorLayoutDimensionNV(plane, k_end, extent);
        return setTensorLayoutStrideNV(plane, dims.OF(k), dims.OF(outer));
    }
    plane = setTensorLayoutDimensionNV(plane, extent, k_end);
    return setTensorLayoutStrideNV(plane, dims.OF(outer), dims.OF(k));
}
