//! A function of one or two multivectors at each position, with code generated from the algebra's table of signs.
//!
//! shapes    C (blades, ...) or (..., blades), with up to 5 position axes; X and Y likewise, strides 0 where broadcast
//! grid      one invocation per WIDTH positions along the innermost axis (1, 2 or 4), LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions
//! requires  nothing
//! edges     invocations past the end return, positions past a row's end are not stored: any extents >= 1


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


struct Dims {
    axes: Axes, // extent, then the strides of C, X and Y, in elements; innermost first
    blades: vec4<u32>, // strides of C, X and Y from blade to blade
    offsets: vec4<u32>, // first elements of C, X and Y in their bindings, and the number of units of all rows
    units: u32, // of a row: groups of WIDTH positions
    rank: u32, // number of axes, at least 1
    out: u32, // number of blades of C
    reserved0: u32,
}

struct Axes {
    axis0: vec4<u32>,
    axis1: vec4<u32>,
    axis2: vec4<u32>,
    axis3: vec4<u32>,
    axis4: vec4<u32>,
}

fn axis_at(axis: u32) -> vec4<u32> {
    var found = dims.axes.axis0;
    found = select(found, dims.axes.axis1, axis == 1u);
    found = select(found, dims.axes.axis2, axis == 2u);
    found = select(found, dims.axes.axis3, axis == 3u);
    found = select(found, dims.axes.axis4, axis == 4u);
    return found;
}

// For devices without immediates: a window of a ring of uniforms, with a dynamic offset.
@group(1) @binding(0) var<uniform> dims: Dims;

fn block_index(workgroup: vec3<u32>, grid: vec3<u32>) -> u32 {
    return workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
}

// Packs two elements as f16, on devices without f16 in shaders.

fn rounded(v: vec2<f32>) -> vec2<f32> {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // The power of two below, at least 2^-14: from there on f16 are subnormal. Their unit is 2^10 times less.
    let power = max(bits & vec2<u32>(0x7f800000u), vec2<u32>(0x38800000u));
    let unit = bitcast<vec2<f32>>(power - vec2<u32>(0x05000000u));
    let inverse = bitcast<vec2<f32>>(vec2<u32>(0x84000000u) - power);
    let nearest = bitcast<vec2<u32>>(round(bitcast<vec2<f32>>(magnitude) * inverse) * unit);
    // From 65520 on, which is half-way from the largest f16 to 2^16, it is infinity, or the NaN that it was.
    let special = max(magnitude, vec2<u32>(0x7f800000u));
    let all = select(nearest, special, magnitude >= vec2<u32>(0x477ff000u));
    return bitcast<vec2<f32>>(all | (bits & vec2<u32>(0x80000000u)));
}


fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(rounded(v));
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    // The biases of the exponents differ by 112. Subnormals count units of 2^-24, which is the last place of 0.5.
    let normal = (magnitude - vec2<u32>(0x38000000u)) >> vec2<u32>(13u);
    let subnormal = bitcast<vec2<u32>>(bitcast<vec2<f32>>(magnitude) + vec2<f32>(0.5)) - vec2<u32>(0x3f000000u);
    let finite = select(normal, subnormal, magnitude < vec2<u32>(0x38800000u));
    let infinite_or_nan = select(vec2<u32>(0x7c00u), vec2<u32>(0x7e00u), magnitude > vec2<u32>(0x7f800000u));
    let without_sign = select(finite, infinite_or_nan, magnitude >= vec2<u32>(0x47800000u));
    let half = without_sign | ((bits >> vec2<u32>(16u)) & vec2<u32>(0x8000u));
    return half.x | (half.y << 16u);
}


alias c_unit = vec2<f32>;
alias sum = f32; // type of results before they are stored
alias lanes = vec2<f32>;
const WIDTH: u32 = 2u;
const LANES: u32 = 64u;

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

alias x_unit = vec2<f32>;
@group(0) @binding(1) var<storage, read> x: array<x_unit>;

// Two consecutive elements of operand x, widened; `at` is even.
fn load_x(at: u32) -> vec2<f32> {
    return vec2<f32>(x[at / 2u]);
}


// One blade of x at all positions of an invocation, which are contiguous and aligned.
fn read_x(at: u32, stride: u32, count: u32) -> lanes {
    return load_x(at);
}

alias y_unit = vec2<f32>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;

// Two consecutive elements of operand y, widened; `at` is even.
fn load_y(at: u32) -> vec2<f32> {
    return vec2<f32>(y[at / 2u]);
}


// One blade of y at all positions of an invocation, which are contiguous and aligned.
fn read_y(at: u32, stride: u32, count: u32) -> lanes {
    return load_y(at);
}

// The operands, from binding 1 on: X, and Y if the function has two, each with its `x_unit`, `load_x` and `read_x`.
// Plans generate these declarations.


// Two elements at once.
fn store_consecutive(at: u32, count: u32, v: vec2<f32>) {
    c[at / 2u] = c_unit(v);
}


// Loads the operands, then computes and stores the result, blade by blade.
fn results(at: vec3<u32>, stride: vec3<u32>, step: vec3<u32>, count: u32) {
    let x0 = read_x(at.y + 0u * step.y, stride.y, count);
    let x1 = read_x(at.y + 1u * step.y, stride.y, count);
    let x2 = read_x(at.y + 2u * step.y, stride.y, count);
    let x3 = read_x(at.y + 3u * step.y, stride.y, count);
    let x4 = read_x(at.y + 4u * step.y, stride.y, count);
    let x5 = read_x(at.y + 5u * step.y, stride.y, count);
    let x6 = read_x(at.y + 6u * step.y, stride.y, count);
    let x7 = read_x(at.y + 7u * step.y, stride.y, count);
    let y0 = read_y(at.z + 0u * step.z, stride.z, count);
    let y1 = read_y(at.z + 1u * step.z, stride.z, count);
    let y2 = read_y(at.z + 2u * step.z, stride.z, count);
    let y3 = read_y(at.z + 3u * step.z, stride.z, count);
    let y4 = read_y(at.z + 4u * step.z, stride.z, count);
    let y5 = read_y(at.z + 5u * step.z, stride.z, count);
    let y6 = read_y(at.z + 6u * step.z, stride.z, count);
    let y7 = read_y(at.z + 7u * step.z, stride.z, count);
    // 1
    let z0 = x0 * y0 + x1 * y1 + x2 * y2 + x3 * y3 - x4 * y4 - x5 * y5 - x6 * y6 - x7 * y7;
    store_consecutive(at.x + 0u * step.x, count, z0);
    // e1
    let z1 = x0 * y1 + x1 * y0 - x2 * y4 - x3 * y5 + x4 * y2 + x5 * y3 - x6 * y7 - x7 * y6;
    store_consecutive(at.x + 1u * step.x, count, z1);
    // e2
    let z2 = x0 * y2 + x1 * y4 + x2 * y0 - x3 * y6 - x4 * y1 + x5 * y7 + x6 * y3 + x7 * y5;
    store_consecutive(at.x + 2u * step.x, count, z2);
    // e3
    let z3 = x0 * y3 + x1 * y5 + x2 * y6 + x3 * y0 - x4 * y7 - x5 * y1 - x6 * y2 - x7 * y4;
    store_consecutive(at.x + 3u * step.x, count, z3);
    // e12
    let z4 = x0 * y4 + x1 * y2 - x2 * y1 + x3 * y7 + x4 * y0 - x5 * y6 + x6 * y5 + x7 * y3;
    store_consecutive(at.x + 4u * step.x, count, z4);
    // e13
    let z5 = x0 * y5 + x1 * y3 - x2 * y7 - x3 * y1 + x4 * y6 + x5 * y0 - x6 * y4 - x7 * y2;
    store_consecutive(at.x + 5u * step.x, count, z5);
    // e23
    let z6 = x0 * y6 + x1 * y7 + x2 * y3 - x3 * y2 - x4 * y5 + x5 * y4 + x6 * y0 + x7 * y1;
    store_consecutive(at.x + 6u * step.x, count, z6);
    // e123
    let z7 = x0 * y7 + x1 * y6 - x2 * y5 + x3 * y4 + x4 * y3 - x5 * y2 + x6 * y1 + x7 * y0;
    store_consecutive(at.x + 7u * step.x, count, z7);
}
// The computation of an invocation: a function that plans generate from an algebra's table of signs.
//
// `results(at, stride, step, count)` reads all blades of X and Y, computes each blade of C and stores it. `at` has the
// indices in C, X and Y (x, y, z) of the first blade at the invocation's first position, `stride` the distances between
// positions, and `step` the distances between blades, in elements. `count` is the number of positions, from 1 to WIDTH;
// nothing is stored after them. It calls `read_x` and `read_y` for operands, `store_consecutive` for C, and imported
// functions.
//
//     fn results(at: vec3<u32>, stride: vec3<u32>, step: vec3<u32>, count: u32)

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.offsets.w {
        return;
    }
    let row = unit / dims.units;
    let first = (unit - row * dims.units) * WIDTH;
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + first * dims.axes.axis0.yzw);
    let count = min(dims.axes.axis0.x - first, WIDTH);
    results(at, dims.axes.axis0.yzw, dims.blades.xyz, count);
}
