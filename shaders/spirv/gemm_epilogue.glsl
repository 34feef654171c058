// The epilogue of a product and the store of C, as in gemm/epilogue.wgsl: activation(alpha r c sum + beta C + bias) + residual,
// where r is the scale of a row and c that of a column; with windows also activation((sum + bias) c + shift) + residual. The includer
// declares dims and sets the constants of the existing operands.

#include "gemm_result.glsl"

layout(set = 0, binding = 3, std430) readonly buffer Bias { uint bias_words[]; };
layout(set = 0, binding = 4, std430) readonly buffer Residual { uint residual_words[]; };
layout(set = 0, binding = 5, std430) readonly buffer RowScales { float row_scales[]; };
layout(set = 0, binding = 6, std430) readonly buffer ColumnScales { float column_scales[]; };

#include "activation.glsl"
#include "gemm_rounded.glsl"

// The word with element `at` of a tensor of this form.
uint word_of(uint form, uint at) {
    return form == OF_F32 ? at : at / 2;
}

// Element `at` of a tensor of this form, from its word.
float element_of(uint form, uint at, uint word) {
    if (form == OF_F32) {
        return uintBitsToFloat(word);
    }
    const uint bits = bitfieldExtract(word, int(at % 2 * 16), 16);
    return form == OF_F16_BITS ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

// The index of a column in the vectors of the epilogue, which with windows go on from matrix to matrix.
#ifdef WINDOWS
#define COLUMN(col) (first_column + (col))
#else
#define COLUMN(col) (col)
#endif

float bias_at(uint row, uint col) {
    const uint at = dims.bias_offset + row * dims.bias_row + COLUMN(col) * dims.bias_col;
    return element_of(BIAS, at, bias_words[word_of(BIAS, at)]);
}

float residual_at(uint row, uint col) {
    const uint at = residual_first + row * dims.residual_row + col * dims.residual_col;
    return element_of(RESIDUAL, at, residual_words[word_of(RESIDUAL, at)]);
}

float row_scale_at(uint row) {
    return row_scales[dims.row_scale_offset + row * dims.row_scale_step];
}

float column_scale_at(uint col) {
    return column_scales[dims.column_scale_offset + COLUMN(col) * dims.column_scale_step];
}

// The previous contents of C.
float previous_at(uint at) {
#if BITS == 16
    if (C_FORM == OF_OPERANDS) {
        return float(c_rounded[at]);
    }
#endif
    return C_FORM == OF_F32 ? c_floats[at] : element_of(C_FORM, at, c_words[at / 2]);
}

// The result of a sum in this row and column of C.
float finished(uint row, uint col, float sum) {
    float z = sum;
#ifdef WINDOWS
    if (ROW_SCALES == 2) {
        // A shift is in the place of the scales of rows.
        z = (BIAS == NOT_THERE ? z : z + bias_at(row, col)) * column_scale_at(col) + row_scale_at(COLUMN(col));
        z = activate(z);
        return RESIDUAL == NOT_THERE ? z : z + residual_at(row, col);
    }
#endif
    // NOTE: a product of two scales may leave the range of f32 even if the product with the sum does not.
    if (ROW_SCALES == 1) {
        z = row_scale_at(row) * z;
    }
    if (COLUMN_SCALES == 1) {
        z = column_scale_at(col) * z;
    }
    z = dims.alpha * z;
    if (PREVIOUS == 1) {
        z += dims.beta * previous_at(c_first + row * dims.ldc + col);
    }
    if (BIAS != NOT_THERE) {
        z += bias_at(row, col);
    }
    z = activate(z);
    return RESIDUAL == NOT_THERE ? z : z + residual_at(row, col);
}

// Stores the result of a sum, if it is within C. The form of C has a type in this module.
void save(uint row, uint col, SUM sum) {
    if (row >= dims.m || col >= dims.n) {
        return;
    }
    const uint at = c_first + row * dims.ldc + col;
    if (C_FORM == OF_SUMS) {
        c[at] = sum;
        return;
    }
    const float z = EPILOGUE == 1 ? finished(row, col, float(sum)) : float(sum);
    put(at, z);
}

// The bits of a result whose form fills words with several.
uint bits_of_result(float z) {
    if (C_FORM == OF_I8_BITS) {
        return i8_bits(z, dims.out_scale);
    }
    return C_FORM == OF_F16_BITS ? f16_bits(z) : bf16_bits(z);
}
