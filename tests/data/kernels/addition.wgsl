//! An elementwise function of up to four tensors with contiguous, aligned rows, by vectors of 16 bytes; generated code.
//!
//! shapes    C of up to 6 axes; operands of its shape. Innermost strides are 1, or 0 where broadcast; other strides and offsets are multiples of WIDTH, except those of broadcast rows
//! grid      one invocation per VECTORS vectors of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive vectors
//! requires  nothing
//! edges     past the end the last vector is loaded again and not stored; a row's last vector is stored up to its end


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

// C and at most two operands.
struct Place {
    c: u32,
    x0: u32,
    x1: u32,
}

fn place_in_first(col: u32) -> Place {
    let at = dims.offsets.xyz + col * dims.axes.axis0.yzw;
    return Place(at.x, at.y, at.z);
}

fn place_at(row: u32, col: u32) -> Place {
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + col * dims.axes.axis0.yzw);
    return Place(at.x, at.y, at.z);
}


struct Dims {
    axes: Axes, // extent, then the strides of C and of operands 0 and 1, in elements; innermost first
    offsets: vec4<u32>, // first elements of C and of operands 0 and 1 in their bindings, and the number of units of all rows
    units: u32, // of a row
    rank: u32, // number of axes, at least 1
    numbers: vec2<u32>, // the bits of numbers of the function
}

struct Axes {
    axis0: vec4<u32>,
    axis1: vec4<u32>,
    axis2: vec4<u32>,
    axis3: vec4<u32>,
    axis4: vec4<u32>,
    axis5: vec4<u32>,
}

fn axis_at(axis: u32) -> vec4<u32> {
    var found = dims.axes.axis0;
    found = select(found, dims.axes.axis1, axis == 1u);
    found = select(found, dims.axes.axis2, axis == 2u);
    found = select(found, dims.axes.axis3, axis == 3u);
    found = select(found, dims.axes.axis4, axis == 4u);
    found = select(found, dims.axes.axis5, axis == 5u);
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


alias c_unit = vec4<f32>;
alias sum = f32;
const QUADS: u32 = 1;
const VECTORS: u32 = 2;
const STEP: u32 = 64;
const LANES: u32 = 64;
const WIDTH: u32 = 4u * QUADS; // elements of a vector

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;


// The identity.
fn activate(v: vec4<f32>) -> vec4<f32> {
    return v;
}

// The derivative of the identity.
fn slope(v: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}


alias x0_unit = vec4<f32>;
@group(0) @binding(1) var<storage, read> x0: array<x0_unit>;

// Four consecutive elements of operand x0, widened: f32 or f16 memory.
fn quad_x0(at: u32) -> vec4<f32> {
    return vec4<f32>(x0[at]);
}

alias x1_unit = vec4<f32>;
@group(0) @binding(2) var<storage, read> x1: array<x1_unit>;

// Four consecutive elements of operand x1, widened: f32 or f16 memory.
fn quad_x1(at: u32) -> vec4<f32> {
    return vec4<f32>(x1[at]);
}


fn value(at: Place, k: u32) -> vec4<sum> {
    return result(quad_x0(at.x0 / WIDTH * QUADS + k), quad_x1(at.x1 / WIDTH * QUADS + k));
}

// The function of four elements of each operand.
fn result(v0: vec4<f32>, v1: vec4<f32>) -> vec4<sum> {
    let t2 = v0 + v1;
    return t2;
}
// The operands from binding 1 on, and `value(at, k)`: the results for quad `k` of the vector at `at`. Plans generate it.
// NOTE: vectors begin at multiples of WIDTH. In this form compilers recognise that, and load 16 bytes at once.
//
//     fn value(at: Place, k: u32) -> vec4<sum>


// Stores four consecutive elements of operand c: memory of f32, f16 or i32.
fn save_quad_c(at: u32, v: vec4<sum>) {
    c[at] = c_unit(v);
}

fn save_first_c(at: u32, count: u32, v: vec4<sum>) {
    let quad = c_unit(v);
    c[at].x = quad.x;
    if count > 1u { c[at].y = quad.y; }
    if count > 2u { c[at].z = quad.z; }
    if count > 3u { c[at].w = quad.w; }
}


fn save_vector_c(at: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    if count >= 4u * QUADS {
{
            save_quad_c(at + 0u, v[0u]);
}
    } else {
{
            if count > 4u * 0u { save_first_c(at + 0u, count - 4u * 0u, v[0u]); }
}
    }
}

// The tensor is one row.
fn place_of(vector: u32) -> Place {
    return place_in_first(vector * WIDTH);
}

fn left_from(vector: u32) -> u32 {
    return dims.axes.axis0.x - vector * WIDTH;
}


@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let first = block_index(workgroup, grid) * (LANES * VECTORS) + lane * select(1u, VECTORS, STEP == 1u);
    // All vectors are loaded before any is stored, so that their loads overlap.
    var at: array<u32, VECTORS>;
    var results: array<array<vec4<sum>, QUADS>, VECTORS>;
{
        let place = place_of(min(first + 0u * STEP, dims.offsets.w - 1u));
        at[0u] = place.c;
{
            results[0u][0u] = value(place, 0u);
}
}
{
        let place = place_of(min(first + 1u * STEP, dims.offsets.w - 1u));
        at[1u] = place.c;
{
            results[1u][0u] = value(place, 0u);
}
}
{
        let vector = first + 0u * STEP;
        if vector < dims.offsets.w {
            save_vector_c(at[0u] / WIDTH * QUADS, left_from(vector), results[0u]);
        }
}
{
        let vector = first + 1u * STEP;
        if vector < dims.offsets.w {
            save_vector_c(at[1u] / WIDTH * QUADS, left_from(vector), results[1u]);
        }
}
}
