//! The product of two operands' gates, C = gate(X) gate(Y), from their scalar parts X and Y.
//!
//! shapes    X and Y (rows, features), any strides; C (rows, features), contiguous, f32
//! grid      one invocation per four features of a row, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive features
//! requires  nothing
//! edges     invocations past the end return, features past a row's end are not stored: any extents >= 1

//#slot dims default immediate
//#import block

//#param  set by GatesProblem::kernel; these defaults are a legal kernel
alias x_unit = f32;
alias y_unit = f32;
alias c_unit = f32;
const LANES: u32 = 64u;
//#end

alias sum = f32; // type of results before they are stored

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;
@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

//#slot scalars x=x default elements
//#slot scalars x=y default elements
//#slot gate default one
//#slot store_consecutive default four

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    let row = unit / dims.units;
    if row >= dims.rows {
        return;
    }
    let first = (unit - row * dims.units) * 4u;
    let gates = gate(scalars_x(row, first)) * gate(scalars_y(row, first));
    store_consecutive(row * dims.features + first, dims.features - first, gates);
}
