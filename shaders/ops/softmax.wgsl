//! Softmax along the last axis: exponentials of the distances to a row's maximum, divided by their sum.
//!
//! shapes    A of up to 6 axes, any strides -> C of its shape, row-major from the start of its binding; f32 sums
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  not used: lanes of a row combine their values in shared memory
//! requires  nothing
//! edges     rows past the end are empty, elements past a row's end are not stored: any length >= 1, any rows >= 1

//#import axis
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by AxisProblem::kernel
alias a_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const LANES: u32 = 256u;
//#end

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<f32, LANES>; // one value per lane

//#slot load x=a default element
//#import load_quad x=a
//#slot store_quad default elements
//#import math

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let row = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let part = lane % dims.lanes;
    let at = row_at(min(row, dims.rows - 1u));
    let length = select(0u, dims.length, row < dims.rows); // rows past the end are empty

    // The lowest f32. A row without a larger element has an undefined sum and becomes NaN.
    var most = vec4<f32>(-3.40282347e38);
    for (var i = 4u * part; i < length; i += 4u * dims.lanes) {
        most = max(most, load_quad_a(at.y + i * dims.a_stride, dims.a_stride, length - i));
    }
    parts[lane] = max(max(most.x, most.y), max(most.z, most.w));
    workgroupBarrier();
    for (var width = dims.lanes / 2u; width > 0u; width /= 2u) {
        if part < width { parts[lane] = max(parts[lane], parts[lane + width]); }
        workgroupBarrier();
    }
    let top = parts[lane - part];
    workgroupBarrier();

    var sums = vec4<f32>(0.0);
    for (var i = 4u * part; i < length; i += 4u * dims.lanes) {
        let e = exp_of(load_quad_a(at.y + i * dims.a_stride, dims.a_stride, length - i) - top);
        sums += select(vec4<f32>(0.0), e, vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(length - i));
    }
    parts[lane] = (sums.x + sums.y) + (sums.z + sums.w);
    workgroupBarrier();
    for (var width = dims.lanes / 2u; width > 0u; width /= 2u) {
        if part < width { parts[lane] += parts[lane + width]; }
        workgroupBarrier();
    }
    let total = parts[lane - part];

    for (var i = 4u * part; i < length; i += 4u * dims.lanes) {
        let e = exp_of(load_quad_a(at.y + i * dims.a_stride, dims.a_stride, length - i) - top);
        store_quad(at.x + i, 1u, length - i, e / total);
    }
}
