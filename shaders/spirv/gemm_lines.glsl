// The epilogue of cooperative matrices with sums of f32, in registers: values for whole rows or columns of C are stored to shared
// memory, and loaded as matrices.

// Elements of each row or column of the block: scales and the bias.
const uint BIAS_FIRST = ROW_SCALES * BM + COLUMN_SCALES * BN;
const uint LINES = BIAS_FIRST + (BIAS == NOT_THERE ? 0 : (BIAS_OF_ROWS == 1 ? BM : BN));
shared float lines[C_DIRECT == 1 && LINES > 0 ? LINES : 1];

// Stores the elements of the rows and columns of the block that begins here to shared memory.
void load_lines(uint row0, uint col0) {
    for (uint at = gl_LocalInvocationIndex; at < LINES; at += LANES) {
        float value = 0.0;
        if (at < ROW_SCALES * BM) {
            value = row_scale_at(row0 + at);
        } else if (at < BIAS_FIRST) {
            value = column_scale_at(col0 + at - ROW_SCALES * BM);
        } else if (BIAS_OF_ROWS == 1) {
            value = bias_at(row0 + at - BIAS_FIRST, col0);
        } else {
            value = bias_at(row0, col0 + at - BIAS_FIRST);
        }
        lines[at] = value;
    }
    barrier();
}

// Finishes the sums of a matrix, in whose order elements of rows and of columns are loaded too. The matrix begins at this row and column of
// the block.
MatC finished(MatC sums, uint row, uint col) {
    MatC z = sums;
    MatC line;
    if (ROW_SCALES == 1) {
        coopMatLoad(line, lines, row, 0, gl_CooperativeMatrixLayoutColumnMajor);
        z = line * z;
    }
    if (COLUMN_SCALES == 1) {
        coopMatLoad(line, lines, ROW_SCALES * BM + col, 0, gl_CooperativeMatrixLayoutRowMajor);
        z = line * z;
    }
    z = z * dims.alpha;
    if (BIAS != NOT_THERE && BIAS_OF_ROWS == 1) {
        coopMatLoad(line, lines, BIAS_FIRST + row, 0, gl_CooperativeMatrixLayoutColumnMajor);
        z += line;
    } else if (BIAS != NOT_THERE) {
        coopMatLoad(line, lines, BIAS_FIRST + col, 0, gl_CooperativeMatrixLayoutRowMajor);
        z += line;
    }
    if (ACTIVATION != 0) {
        [[unroll]] for (uint e = 0; e < z.length(); e++) {
            z[e] = activate(z[e]);
        }
    }
    return z;
}
