//! Sums as they are scaled: `scaled(row, cols, sums)`.

//#variant alpha
// Sums times alpha.
fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    return dims.alpha * sums;
}

//#variant back
// Sums of products of operands whose rows and columns are scaled by powers of two: scaled back, then times alpha.
//#param  set by Epilogue::kernel
const EXPONENTS_BINDING: u32 = 3u;
//#end
@group(0) @binding(EXPONENTS_BINDING) var<storage, read> exponents_a: array<i32>;
@group(0) @binding(EXPONENTS_BINDING + 1u) var<storage, read> exponents_b: array<i32>;

// The exponent of a row or column that has an infinity or a NaN: what it gives has no scale.
const NON_FINITE: i32 = 1024;

//#slot cross_terms default none

// The sum times 2^-exponent, rounded to the nearest once. NOTE: in integers, as factors of f32 may be reassociated, and
// an infinity times a power below all is NaN.
fn scaled_down(sum: f32, exponent: i32) -> f32 {
    let bits = bitcast<u32>(sum);
    let field = i32((bits >> 23u) & 0xffu);
    if field == 0 || field == 255 {
        return sum; // zero; infinite or NaN
    }
    let sign = bits & 0x80000000u;
    let e = field - exponent;
    if e >= 255 {
        return bitcast<f32>(sign | 0x7f800000u);
    }
    if e > 0 {
        return bitcast<f32>((bits & 0x807fffffu) | (u32(e) << 23u));
    }
    if e < -24 {
        return bitcast<f32>(sign);
    }
    let mantissa = (bits & 0x7fffffu) | 0x800000u;
    let below = u32(1 - e);
    return bitcast<f32>(sign | ((mantissa + (1u << (below - 1u)) - 1u + ((mantissa >> below) & 1u)) >> below));
}

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    let row_exponent = exponents_a[matrices.a_offset / dims.scaled_row + row];
    let first = matrices.b_offset / dims.scaled_row;
    var values: vec4<f32>;
    for (var i = 0u; i < 4u; i++) {
        let col_exponent = exponents_b[first + cols[i]];
        var total = sums[i];
        if row_exponent != NON_FINITE && col_exponent != NON_FINITE {
            total = with_cross_terms(total, row, cols[i]);
        }
        values[i] = scaled_down(total, row_exponent + col_exponent);
    }
    return dims.alpha * values;
}
