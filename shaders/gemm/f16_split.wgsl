//! The f16 split of f32 rows: each row is scaled by a power of two, and each element rounded to a high half, or high and low.
//!
//! shapes    X (batch0, batch1, outer, k), any strides -> C (rows, HALF_COUNT * ld) of f16, without gaps; exponents (rows)
//! grid      LANES / ROWS invocations per row of X, in all batches; LANES per workgroup
//! subgroup  not used; consecutive invocations read consecutive elements: of one row, or, with ROWS > 1, of ROWS rows
//! requires  nothing: f16 is stored as bits, so that no driver rounds or flushes it
//! edges     rows past the end neither read nor write; zeros from k to ld, the next multiple of 8: any rows, k >= 1

//#slot dims default immediate
//#import block

//#param  set by F16SplitProblem::kernel
const HALF_COUNT: u32 = 2u;
const ROWS: u32 = 1u;
const LANES: u32 = 64u;
//#end
const_assert HALF_COUNT <= 2u && LANES % ROWS == 0u && (LANES & (LANES - 1u)) == 0u;

const SIGN: u32 = 0x80000000u;
const INFINITY: u32 = 0x7f800000u; // the bits of an f32
const NON_FINITE: i32 = 1024;      // the exponent of a row with an infinity or a NaN

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> c: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> exponents: array<i32>;

// The maximum of each invocation's part of its row: the bits of the largest finite magnitude, and SIGN if there is an infinity
// or a NaN. The bits of magnitudes have the same order as the magnitudes.
var<workgroup> found: array<u32, LANES>;

// The maximum of two such values.
fn joined(p: u32, q: u32) -> u32 {
    return max(p & ~SIGN, q & ~SIGN) | ((p | q) & SIGN);
}

fn row_start(row: u32) -> u32 {
    let batch = row / dims.outer;
    return dims.x_offset + row % dims.outer * dims.outer_stride + batch % dims.batch1 * dims.batch1_stride
        + batch / dims.batch1 * dims.batch0_stride;
}

// The exponent of the power of two that scales this magnitude into [2^14, 2^15); 0 for 0.
fn exponent_for(magnitude: u32) -> i32 {
    if magnitude == 0u {
        return 0;
    }
    let biased = i32(magnitude >> 23u);
    return 14 - select(i32(firstLeadingBit(magnitude)) - 149, biased - 127, biased > 0);
}

// m * 2^e as f16, rounded to the nearest, ties to even. m < 2^26, and the result is below 2^16; it may be subnormal.
fn nearest_f16(m: u32, e: i32) -> u32 {
    if m == 0u {
        return 0u;
    }
    let exponent = i32(firstLeadingBit(m)) + e;
    let drop = max(exponent, -14) - 10 - e; // bits of m below f16's last place
    var places = m << u32(max(-drop, 0));
    if drop > 0 {
        let below = u32(drop);
        places = (m + (1u << (below - 1u)) - 1u + ((m >> below) & 1u)) >> below;
    }
    // Rounding up to the next power of two carries into the exponent.
    return (u32(max(exponent, -14) + 14) << 10u) + places;
}

// The high and low half of an f32 times 2^exponent. The high half is the nearest f16, but at least the least normal f16 unless
// the element is zero. The low half is the f16 nearest to 2^11 times the rest. NOTE: the high half is zero only for zeros, so
// that its product with an infinity is an infinity, as in f32 arithmetic. The errors are derived in reference/precision.rs.
fn split_f16(bits: u32, exponent: i32) -> vec2<u32> {
    let sign = (bits & SIGN) >> 16u;
    let magnitude = bits & ~SIGN;
    if magnitude == 0u {
        return vec2<u32>(sign, 0u);
    }
    if magnitude >= INFINITY {
        // The low half is zero: an infinity minus itself would be NaN.
        return vec2<u32>(sign | select(0x7c00u, 0x7e00u, magnitude > INFINITY), 0u);
    }
    // The scaled magnitude is m * 2^(e - 23), where m has 24 bits, even if the f32 is subnormal.
    let up = 23u - min(firstLeadingBit(magnitude), 23u);
    let normal = magnitude > 0x7fffffu;
    let m = select(magnitude << up, (magnitude & 0x7fffffu) | 0x800000u, normal);
    let e = select(-126 - i32(up), i32(magnitude >> 23u) - 127, normal) + exponent;
    if e < -14 {
        // In units of 2^-39, far below the rounding of the rest. The last bit is set if any lower bit was set.
        let below = u32(clamp(-16 - e, 0, 31));
        let lost = (m & ((1u << below) - 1u)) != 0u;
        let scaled = select((m >> below) | u32(lost), m << 1u, e == -15);
        return vec2<u32>(sign | 0x400u, (sign ^ 0x8000u) | nearest_f16((1u << 25u) - scaled, -28));
    }
    let places = (m + 0xfffu + ((m >> 13u) & 1u)) >> 13u;
    let rest = i32(m) - i32(places << 13u);
    let hi = sign | ((u32(e + 14) << 10u) + places);
    if HALF_COUNT == 1u || rest == 0 {
        return vec2<u32>(hi, 0u);
    }
    return vec2<u32>(hi, select(sign, sign ^ 0x8000u, rest < 0) | nearest_f16(u32(abs(rest)), e - 12));
}

// The high and low halves of elements p and p + 1 of a row, in a word each; zeros from k on.
fn pair(start: u32, p: u32, exponent: i32) -> vec2<u32> {
    var words = vec2<u32>(0u);
    for (var i = 0u; i < 2u && p + i < dims.k; i++) {
        words |= split_f16(x[start + (p + i) * dims.k_stride], exponent) << vec2<u32>(16u * i);
    }
    return words;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    // NOTE: there is no early return: barriers need uniform control flow, and `block_index` counts as non-uniform.
    let row = block_index(workgroup, grid) * ROWS + lane % ROWS;
    let end = select(0u, dims.k, row < dims.rows);
    let start = row_start(row);
    var mine = 0u;
    for (var p = lane / ROWS; p < end; p += LANES / ROWS) {
        let magnitude = x[start + p * dims.k_stride] & ~SIGN;
        mine = joined(mine, select(SIGN, magnitude, magnitude < INFINITY));
    }
    found[lane] = mine;
    for (var reach = LANES / 2u; reach >= ROWS; reach /= 2u) {
        workgroupBarrier();
        if lane < reach {
            found[lane] = joined(found[lane], found[lane + reach]);
        }
    }
    workgroupBarrier();
    let largest = found[lane % ROWS];
    let exponent = exponent_for(largest & ~SIGN);
    if lane < ROWS && row < dims.rows {
        exponents[row] = select(exponent, NON_FINITE, (largest & SIGN) != 0u);
    }
    for (var p = lane / ROWS * 8u; p < end; p += LANES / ROWS * 8u) {
        var hi: vec4<u32>;
        var lo: vec4<u32>;
        // NOTE: words are shifted in one by one: there is no index, and the loop is not unrolled, because SwiftShader would take
        // seconds to compile eight copies of `split_f16`.
        for (var i = 0u; i < 4u; i++) {
            let pairs = pair(start, p + 2u * i, exponent);
            hi = vec4<u32>(hi.yzw, pairs.x);
            lo = vec4<u32>(lo.yzw, pairs.y);
        }
        c[row * dims.units + dims.hi + p / 8u] = hi;
        if HALF_COUNT == 2u {
            c[row * dims.units + dims.lo + p / 8u] = lo;
        }
    }
}
