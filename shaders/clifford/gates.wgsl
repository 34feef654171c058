//! The product of two operands' gates, C = gate(X) gate(Y), from their scalar parts X and Y.
//!
//! shapes    X and Y (rows, features), any strides; C (rows, features), contiguous, f32
//! grid      one invocation per four features of a row, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive features
//! requires  nothing
//! edges     invocations past the end return, features past a row's end are not stored: any extents >= 1

struct Dims {
    rows: u32,
    features: u32,
    units: u32,    // groups of four features per row
    x_offset: u32, // first scalar part in its binding
    x_row: u32,    // strides of X, in elements
    x_feature: u32,
    y_offset: u32,
    y_row: u32,
    y_feature: u32,
    reserved0: u32,
    reserved1: u32,
    reserved2: u32,
}

//#slot dims default immediate
//#import block

//#param  set by GatesProblem::kernel; these defaults are a legal kernel
alias x_unit = f32;
alias y_unit = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

//#slot load x=x default element
//#slot load x=y default element
//#slot gate default one

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let unit = block_index(workgroup, grid) * LANES + lane;
    let row = unit / dims.units;
    if row >= dims.rows {
        return;
    }
    let first = (unit - row * dims.units) * 4u;
    let features = min(first + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.features - 1u));
    let at_x = dims.x_offset + row * dims.x_row + features * dims.x_feature;
    let at_y = dims.y_offset + row * dims.y_row + features * dims.y_feature;
    let gate_x = gate(vec4<f32>(load_x(at_x.x), load_x(at_x.y), load_x(at_x.z), load_x(at_x.w)));
    let gate_y = gate(vec4<f32>(load_y(at_y.x), load_y(at_y.y), load_y(at_y.z), load_y(at_y.w)));
    let gates = gate_x * gate_y;
    let at = row * dims.features + first;
    c[at] = gates.x;
    if first + 1u < dims.features { c[at + 1u] = gates.y; }
    if first + 2u < dims.features { c[at + 2u] = gates.z; }
    if first + 3u < dims.features { c[at + 3u] = gates.w; }
}
