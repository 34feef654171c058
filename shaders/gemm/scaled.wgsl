//! The scale of sums: `scaled(row, cols, sums)`.

//#variant alpha
// Sums times alpha.
fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    return dims.alpha * sums;
}

//#variant rows
// Sums times the scale of their row, then times alpha.
//#param  set by GemmProblem::bind_epilogue
const ROW_SCALES_BINDING: u32 = 3u;
//#end
@group(0) @binding(ROW_SCALES_BINDING) var<storage, read> row_scales: array<f32>;

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    return dims.alpha * (row_scales[dims.row_scale_offset + row * dims.row_scale_step] * sums);
}

//#variant columns
// Sums times the scales of their columns, then times alpha.
//#param  set by GemmProblem::bind_epilogue
const COLUMN_SCALES_BINDING: u32 = 3u;
//#end
@group(0) @binding(COLUMN_SCALES_BINDING) var<storage, read> column_scales: array<f32>;

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    let at = vec4<u32>(dims.column_scale_offset) + cols * dims.column_scale_step;
    return dims.alpha * (vec4<f32>(column_scales[at.x], column_scales[at.y], column_scales[at.z], column_scales[at.w]) * sums);
}

//#variant columns_of_groups
// The same with scales of the columns of all matrices along axis 1 of the batch, one matrix after another.
//#param  set by GemmProblem::bind_epilogue
const COLUMN_SCALES_BINDING: u32 = 3u;
//#end
@group(0) @binding(COLUMN_SCALES_BINDING) var<storage, read> column_scales: array<f32>;

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    let columns = vec4<u32>(matrices.index % dims.batch1 * dims.n) + cols;
    let at = vec4<u32>(dims.column_scale_offset) + columns * dims.column_scale_step;
    return dims.alpha * (vec4<f32>(column_scales[at.x], column_scales[at.y], column_scales[at.z], column_scales[at.w]) * sums);
}

//#variant rows_and_columns
// Sums times the scale of their row, then times the scales of their columns, then times alpha. A product of two scales may
// leave the range of f32 even if the product with the sum does not.
//#param  set by GemmProblem::bind_epilogue
const ROW_SCALES_BINDING: u32 = 3u;
const COLUMN_SCALES_BINDING: u32 = 4u;
//#end
@group(0) @binding(ROW_SCALES_BINDING) var<storage, read> row_scales: array<f32>;
@group(0) @binding(COLUMN_SCALES_BINDING) var<storage, read> column_scales: array<f32>;

fn scaled(row: u32, cols: vec4<u32>, sums: vec4<f32>) -> vec4<f32> {
    let at = vec4<u32>(dims.column_scale_offset) + cols * dims.column_scale_step;
    let row_scaled = row_scales[dims.row_scale_offset + row * dims.row_scale_step] * sums;
    return dims.alpha * (vec4<f32>(column_scales[at.x], column_scales[at.y], column_scales[at.z], column_scales[at.w]) * row_scaled);
}

//#variant back
// Undoes the scaling of A's rows and B's columns by powers of two, then multiplies by alpha.
//#param  set by GemmProblem::bind_epilogue
const EXPONENTS_BINDING: u32 = 3u;
//#end
@group(0) @binding(EXPONENTS_BINDING) var<storage, read> exponents_a: array<i32>;
@group(0) @binding(EXPONENTS_BINDING + 1u) var<storage, read> exponents_b: array<i32>;

// The exponent of a row or column with an infinity or a NaN, whose products are not scaled.
const NON_FINITE: i32 = 1024;

//#slot cross_terms default none

// The sum times 2^-exponent, rounded once, to the nearest. NOTE: this uses integers, because compilers may reassociate f32
// factors, and an infinity times an underflowed power is NaN.
fn scaled_down(sum: f32, exponent: i32) -> f32 {
    let bits = bitcast<u32>(sum);
    let field = i32((bits >> 23u) & 0xffu);
    if field == 0 || field == 255 {
        return sum; // zero, infinite or NaN
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
