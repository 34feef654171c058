//! Softmax and its logarithm along an axis: exponentials of the distances to a row's maximum, divided by their sum.
//!
//! shapes    A of up to 6 axes, any strides -> C of its shape, row-major; a mask M that is added, any strides; f32 sums
//! grid      dims.lanes invocations per row, LANES a workgroup
//! subgroup  lanes of a row combine their values, in shared memory too if they are more or the size is not known
//! requires  nothing
//! edges     rows past the end and elements past a row's end are not stored: any length >= 1, any rows >= 1



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

// The begin of a row in C, A and M. Rows are counted along the axes from this one on.
fn row_start(row: u32, first: u32) -> vec3<u32> {
    return places(row, first, dims.rank, vec3<u32>(0u, dims.a_offset, dims.m_offset));
}

struct Dims {
    axes: Axes, // of the rows: extent, then the strides of C, A and M; innermost first
    strides: vec4<u32>, // along the axis: of C, A and M; then its length
    a_offset: u32, // first elements in their bindings
    m_offset: u32,
    rows: u32, // without the innermost axis if it has the columns
    rank: u32, // number of axes of the rows
    lanes: u32, // invocations that share a row: a power of two, at most LANES; or groups of columns
    scale: f32, // of x
    parts: u32, // invocations that share a group of columns: a power of two, at most LANES
    reserved: u32,
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


alias a_unit = vec4<f32>;
alias c_unit = vec4<f32>;
alias sum = f32; // type of results before they are stored
const QUADS: u32 = 1;
const GROUPS: u32 = 4;
const LANES: u32 = 256;
const EVEN: bool = true;
const WIDTH: u32 = 4u * QUADS;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;
var<workgroup> parts: array<held, LANES / SUBGROUP>; // one value per subgroup
alias held = vec2<f32>; // the largest, and the sum of the exponentials of the distances to it


// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.

// Four consecutive elements of operand a, widened: f32 or f16 memory.
fn quad_a(at: u32) -> vec4<f32> {
    return vec4<f32>(a[at]);
}


fn row_quad_a(start: u32, stride: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    return quad_a((start / WIDTH + group) * QUADS + k);
}

// Vectors of 16 bytes of a contiguous row that begins at a multiple of a vector.

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

fn store_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    save_vector_c((start / WIDTH + group) * QUADS, count, v);
}

fn rows_at_once() -> u32 {
    return LANES >> firstTrailingBit(dims.lanes);
}

fn part_of(lane: u32) -> u32 {
    return lane & (dims.lanes - 1u);
}

// Subgroups are not used: their size is not known, and lanes exchange values in shared memory.
const SUBGROUP: u32 = 1u;

struct Place {
    @builtin(local_invocation_id) local: vec3<u32>,
}

fn lane_at(place: Place) -> u32 {
    return place.local.x;
}

fn row_of(lane: u32) -> u32 {
    return lane >> firstTrailingBit(dims.lanes);
}

fn exchanged(v: held, step: u32) -> held {
    return v; // never called
}


// There is no mask.
fn masked(x: vec4<f32>, at: u32, stride: u32, count: u32) -> vec4<f32> {
    return x;
}


// x if it is NaN, otherwise the value. Compilers may assume that there is no NaN and no infinity, so this tests bits.
fn keep_nan(x: vec4<f32>, value: vec4<f32>) -> vec4<f32> {
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    return select(value, x, magnitude > vec4<u32>(0x7f800000u));
}

// Cody and Waite: ln 2 in two parts. The first has few bits, so that a whole number times it is exact, with or without fma.
const MINUS_LN_2: vec4<f32> = vec4<f32>(-0.693359375);

// e^r, where r is at most half of ln 2 away from 0.
fn exp_of_rest(r: vec4<f32>) -> vec4<f32> {
    // In pairs of independent terms.
    let square = r * r;
    let first = fma(r, vec4<f32>(0.166666672), vec4<f32>(0.5));
    let second = fma(r, vec4<f32>(8.33331048e-3), vec4<f32>(4.1666463e-2));
    let third = fma(r, vec4<f32>(1.9891269e-4), vec4<f32>(1.39339e-3));
    return fma(fma(fma(third, square, second), square, first), square, r) + 1.0;
}

// The bits of e^(x + low) for sums from -126 ln 2 to 89, where low is less than an ulp of x or two thousandths of it. The lowest
// bits of 1.5 * 2^23 + n are those of n: they are added to the exponent of e^r, and the higher bits are dropped.
fn bits_of_exp(x: vec4<f32>, low: vec4<f32>) -> vec4<u32> {
    let n = round((x + low) * 1.44269504);
    let p = exp_of_rest(fma(n, vec4<f32>(2.12194440e-4), fma(n, MINUS_LN_2, x) + low));
    return bitcast<vec4<u32>>(p) + (bitcast<vec4<u32>>(n + 12582912.0) << vec4<u32>(23u));
}

// e^(x + low) for x + low < 88.72, with such a low; 0 where it is below the smallest normal number.
fn exp_of_sum(x: vec4<f32>, low: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(clamp(x, vec4<f32>(-88.0), vec4<f32>(89.0)), low);
    return bitcast<vec4<f32>>(select(vec4<u32>(0u), value, x + low >= vec4<f32>(-87.3365402))); // 126 ln 2
}

// e^x for x of at most 0; 0 where it is below the smallest normal number.
fn exp_of_negative(x: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(max(x, vec4<f32>(-88.0)), vec4<f32>(0.0));
    let magnitude = bitcast<vec4<u32>>(x) & vec4<u32>(0x7fffffffu);
    let beyond = select(vec4<u32>(0u), bitcast<vec4<u32>>(x), magnitude > vec4<u32>(0x7f800000u)); // NaN stays NaN
    return bitcast<vec4<f32>>(select(value, beyond, magnitude > vec4<u32>(0x42aeac4fu))); // 126 ln 2
}

// e^x; infinity if it overflows, 0 where it is below the smallest normal number.
fn exp_of(x: vec4<f32>) -> vec4<f32> {
    let value = bits_of_exp(clamp(x, vec4<f32>(-88.0), vec4<f32>(89.0)), vec4<f32>(0.0));
    // Compared as integers: above 88.7228317, where negative floats are below; and below -126 ln 2, where positive ones are.
    let overflows = bitcast<vec4<i32>>(x) > vec4<i32>(0x42b17217);
    let vanishes = bitcast<vec4<u32>>(x) > vec4<u32>(0xc2aeac4fu);
    let normal = select(select(value, vec4<u32>(0x7f800000u), overflows), vec4<u32>(0u), vanishes);
    return keep_nan(x, bitcast<vec4<f32>>(normal));
}

fn tanh_of(x: vec4<f32>) -> vec4<f32> {
    let a = min(abs(x), vec4<f32>(10.0)); // beyond, tanh is 1
    let z = a * a;
    var p = vec4<f32>(-6.09671418e-3);
    p = fma(p, z, vec4<f32>(2.09971797e-2));
    p = fma(p, z, vec4<f32>(-5.38509078e-2));
    p = fma(p, z, vec4<f32>(0.133327693));
    p = fma(p, z, vec4<f32>(-0.333333284));
    let small = fma(p, z * a, a);
    let large = 1.0 - 2.0 / (exp_of_sum(2.0 * a, vec4<f32>(0.0)) + 1.0);
    let value = bitcast<vec4<u32>>(select(large, small, a < vec4<f32>(0.625)));
    let sign = bitcast<vec4<u32>>(x) & vec4<u32>(0x80000000u);
    return keep_nan(x, bitcast<vec4<f32>>(value | sign));
}

// 1 / (1 + e^-x).
fn sigmoid_of(x: vec4<f32>) -> vec4<f32> {
    let e = exp_of_sum(-abs(x), vec4<f32>(0.0)); // never more than 1
    let upper = 1.0 / (1.0 + e);
    return keep_nan(x, select(e * upper, upper, x >= vec4<f32>(0.0)));
}

// The normal distribution function: (1 + erf(x / sqrt 2)) / 2. The lower tail is computed directly, without cancellation.
fn normal_of(x: vec4<f32>) -> vec4<f32> {
    let a = min(abs(x), vec4<f32>(15.0)); // beyond, the tail is zero
    // The tail is e^(-a^2 / 2) P(q) / (a + 3), where P is a polynomial in q = (a - 3) / (a + 3).
    let d = a + 3.0;
    var s = 1.0 / d;
    s = fma(fma(-d, s, vec4<f32>(1.0)), s, s); // a division is within 2.5 ulp; one Newton iteration makes that 1 ulp
    let q = (a - 3.0) * s;
    var p = vec4<f32>(5.54918734e-5);
    p = fma(p, q, vec4<f32>(1.33323949e-4));
    p = fma(p, q, vec4<f32>(-2.44709314e-4));
    p = fma(p, q, vec4<f32>(-1.03447656e-3));
    p = fma(p, q, vec4<f32>(1.02415727e-3));
    p = fma(p, q, vec4<f32>(6.96992036e-3));
    p = fma(p, q, vec4<f32>(-1.04622887e-2));
    p = fma(p, q, vec4<f32>(-4.72627617e-2));
    p = fma(p, q, vec4<f32>(0.230017677));
    p = fma(p, q, vec4<f32>(-0.509332001));
    p = fma(p, q, vec4<f32>(0.729083717));
    // a^2 / 2 in two parts: the square of the upper 12 bits is exact, and the rest is small.
    let upper = bitcast<vec4<f32>>(bitcast<vec4<u32>>(a) & vec4<u32>(0xfffff000u));
    let tail = exp_of_sum(-0.5 * upper * upper, -0.5 * (a - upper) * (a + upper)) * (p * s);
    return keep_nan(x, select(tail, 1.0 - tail, x >= vec4<f32>(0.0)));
}

// The lowest f32. A row without a larger element has no sum and becomes NaN.
const LOWEST: vec4<f32> = vec4<f32>(-3.4028234663852886e38);
const NO_SUMS: vec2<f32> = vec2<f32>(-3.4028234663852886e38, 0.0);

// The sum of x for distances to `top`.
fn rescaled(x: vec2<f32>, top: f32) -> f32 {
    return x.y * exp_of_negative(vec4<f32>(x.x - top)).x;
}

// The joined states x and y of two sets of elements.
fn joined_sums(x: vec2<f32>, y: vec2<f32>) -> vec2<f32> {
    let top = max(x.x, y.x);
    let factors = exp_of_negative(vec4<f32>(x.x - top, y.x - top, 0.0, 0.0));
    return vec2<f32>(top, x.y * factors.x + y.y * factors.y);
}

// The values, or NaN where a sum is 0. Compilers may assume that nothing is divided by zero.
fn or_nan(v: vec4<f32>, sums: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(v), vec4<u32>(0x7fc00000u), sums == vec4<f32>(0.0)));
}

// The values within a row, and minus infinity in place of the others, so that their exponentials are 0.
fn or_lowest(v: vec4<f32>, is_within: vec4<bool>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(vec4<u32>(0xff800000u), bitcast<vec4<u32>>(v), is_within));
}

// Exponentials, divided by their sum.
fn form_of(distance: vec4<f32>, e: vec4<f32>) -> vec4<f32> {
    return e;
}

fn end_of(most: vec4<f32>, sums: vec4<f32>, top: vec4<f32>) -> vec4<f32> {
    return or_nan(exp_of_negative(top - most) / sums, sums);
}

fn finished(v: vec4<f32>, last: vec4<f32>) -> vec4<f32> {
    return v * last;
}


fn across_rows(own: held, lane: u32) -> held {
    var all = own;
    for (var step = 1u; step < min(dims.lanes, SUBGROUP); step *= 2u) {
        all = joined_rows(all, exchanged(all, step));
    }
    if dims.lanes <= SUBGROUP {
        return all;
    }
    // Each subgroup has one value now. It combines with those of the row's other subgroups through shared memory.
    let count = dims.lanes / SUBGROUP;
    let part = lane % dims.lanes / SUBGROUP;
    let at = lane / SUBGROUP;
    let is_first = lane % SUBGROUP == 0u;
    if is_first { parts[at] = all; }
    workgroupBarrier();
    if LANES / SUBGROUP <= SUBGROUP {
        all = parts[at - part + lane % count];
        for (var step = 1u; step < count; step *= 2u) {
            all = joined_rows(all, exchanged(all, step));
        }
    } else {
        for (var width = count / 2u; width > 0u; width /= 2u) {
            if is_first && part < width { parts[at] = joined_rows(parts[at], parts[at + width]); }
            workgroupBarrier();
        }
        all = parts[at - part];
    }
    workgroupBarrier();
    return all;
}

fn joined_rows(x: held, y: held) -> held {
    return joined_sums(x, y);
}

// A group of a row. It is loaded at once, so that a compiler can use one access.
fn loaded(start: u32, group: u32, length: u32) -> array<vec4<f32>, QUADS> {
    var x: array<vec4<f32>, QUADS>;
{
        x[0u] = row_quad_a(start, dims.strides.y, group, 0u, length);
}
    return x;
}

// Quad k of a group, scaled and masked.
fn scores(x: vec4<f32>, start: u32, group: u32, k: u32, length: u32) -> vec4<f32> {
    let first = min(group * WIDTH + 4u * k, length - 1u);
    return masked(x * dims.scale, start + first * dims.strides.z, dims.strides.z, length - first);
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    place: Place,
) {
    let lane = lane_at(place);
    let row = block_index(workgroup, grid) * rows_at_once() + row_of(lane);
    let part = part_of(lane);
    let at = row_start(min(row, dims.rows - 1u), 0u); // invocations past the end read the last row
    let length = dims.strides.w;
    let groups = (length + WIDTH - 1u) / WIDTH;

    var own = NO_SUMS;
    var kept: array<array<vec4<f32>, QUADS>, GROUPS>;
    for (var first = part; first < groups; first += dims.lanes * GROUPS) {
        var most = vec4<f32>(own.x);
{
            let group = select(min(first + 0u * dims.lanes, groups - 1u), first + 0u * dims.lanes, EVEN);
            kept[0u] = loaded(at.y, group, length);
{
                kept[0u][0u] = scores(kept[0u][0u], at.z, group, 0u, length);
                if !EVEN {
                    let index = vec4<u32>(0u, 1u, 2u, 3u) + ((first + 0u * dims.lanes) * WIDTH + 4u * 0u);
                    kept[0u][0u] = or_lowest(kept[0u][0u], index < vec4<u32>(length));
                }
                most = max(most, kept[0u][0u]);
}
}
{
            let group = select(min(first + 1u * dims.lanes, groups - 1u), first + 1u * dims.lanes, EVEN);
            kept[1u] = loaded(at.y, group, length);
{
                kept[1u][0u] = scores(kept[1u][0u], at.z, group, 0u, length);
                if !EVEN {
                    let index = vec4<u32>(0u, 1u, 2u, 3u) + ((first + 1u * dims.lanes) * WIDTH + 4u * 0u);
                    kept[1u][0u] = or_lowest(kept[1u][0u], index < vec4<u32>(length));
                }
                most = max(most, kept[1u][0u]);
}
}
{
            let group = select(min(first + 2u * dims.lanes, groups - 1u), first + 2u * dims.lanes, EVEN);
            kept[2u] = loaded(at.y, group, length);
{
                kept[2u][0u] = scores(kept[2u][0u], at.z, group, 0u, length);
                if !EVEN {
                    let index = vec4<u32>(0u, 1u, 2u, 3u) + ((first + 2u * dims.lanes) * WIDTH + 4u * 0u);
                    kept[2u][0u] = or_lowest(kept[2u][0u], index < vec4<u32>(length));
                }
                most = max(most, kept[2u][0u]);
}
}
{
            let group = select(min(first + 3u * dims.lanes, groups - 1u), first + 3u * dims.lanes, EVEN);
            kept[3u] = loaded(at.y, group, length);
{
                kept[3u][0u] = scores(kept[3u][0u], at.z, group, 0u, length);
                if !EVEN {
                    let index = vec4<u32>(0u, 1u, 2u, 3u) + ((first + 3u * dims.lanes) * WIDTH + 4u * 0u);
                    kept[3u][0u] = or_lowest(kept[3u][0u], index < vec4<u32>(length));
                }
                most = max(most, kept[3u][0u]);
}
}
        let top = max(max(most.x, most.y), max(most.z, most.w));
        var sums = vec4<f32>(0.0);
{
{
                let distance = kept[0u][0u] - top;
                let e = exp_of_negative(distance);
                sums += e;
                kept[0u][0u] = form_of(distance, e);
}
}
{
{
                let distance = kept[1u][0u] - top;
                let e = exp_of_negative(distance);
                sums += e;
                kept[1u][0u] = form_of(distance, e);
}
}
{
{
                let distance = kept[2u][0u] - top;
                let e = exp_of_negative(distance);
                sums += e;
                kept[2u][0u] = form_of(distance, e);
}
}
{
{
                let distance = kept[3u][0u] - top;
                let e = exp_of_negative(distance);
                sums += e;
                kept[3u][0u] = form_of(distance, e);
}
}
        own = vec2<f32>(top, rescaled(own, top) + ((sums.x + sums.y) + (sums.z + sums.w)));
    }
    let all = across_rows(own, lane);

    if groups <= dims.lanes * GROUPS {
        // The lane has kept its exponentials relative to its own maximum.
        let last = end_of(vec4<f32>(all.x), vec4<f32>(all.y), vec4<f32>(own.x));
{
            let group = part + 0u * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
{
                    kept[0u][0u] = finished(kept[0u][0u], last);
}
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), kept[0u]);
            }
}
{
            let group = part + 1u * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
{
                    kept[1u][0u] = finished(kept[1u][0u], last);
}
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), kept[1u]);
            }
}
{
            let group = part + 2u * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
{
                    kept[2u][0u] = finished(kept[2u][0u], last);
}
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), kept[2u]);
            }
}
{
            let group = part + 3u * dims.lanes;
            if (EVEN || group < groups) && row < dims.rows {
{
                    kept[3u][0u] = finished(kept[3u][0u], last);
}
                store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), kept[3u]);
            }
}
    } else if row < dims.rows {
        let last = end_of(vec4<f32>(all.x), vec4<f32>(all.y), vec4<f32>(all.x));
        for (var group = part; group < groups; group += dims.lanes) {
            var results = loaded(at.y, group, length);
{
                let distance = scores(results[0u], at.z, group, 0u, length) - all.x;
                results[0u] = finished(form_of(distance, exp_of_negative(distance)), last);
}
            store_group(at.x, dims.strides.x, group, select(length - group * WIDTH, WIDTH, EVEN), results);
        }
    }
}
