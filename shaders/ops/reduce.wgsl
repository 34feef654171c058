//! Sums along one axis, of elements or of their squares, and largest magnitudes, in a fixed order.
//!
//! shapes    A of up to 6 axes, any strides -> C without one of them, any strides; sums in f32, magnitudes as bits
//! grid      dims.lanes invocations per element of C, LANES a workgroup
//! subgroup  not used: lanes of a row meet in shared memory, whatever the subgroup size
//! requires  nothing
//! edges     rows past the end are empty and not stored: any length >= 0, any rows >= 1

//#import rows
//#slot term default sum
//#slot store_element default plain

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    //#inline row_part
    var own = held(0);
    for (var i = part; i < length; i += dims.lanes) {
        own = joined(own, term(at.y + i * dims.a_stride));
    }
    parts[lane] = own;
    workgroupBarrier();
    for (var width = dims.lanes / 2u; width > 0u; width /= 2u) {
        if part < width { parts[lane] = joined(parts[lane], parts[lane + width]); }
        workgroupBarrier();
    }
    if part == 0u && row < dims.rows {
        store_element(at.x, total(parts[lane]));
    }
}
