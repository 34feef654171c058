//! C = epilogue(A B) where a processor runs a workgroup as one vector: each element of A is read once for all its invocations.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; f32 sums
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
//! subgroup  not used; the invocations of a workgroup read the same elements of A, and have BM x TN of C each, LANES columns apart
//! requires  LANES invocations
//! edges     rows and columns past the end repeat the last one and are not stored: any m, n >= 1, k >= 0

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by Broadcast::build; these defaults are a legal tile
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
alias sum = f32;
const BM: u32 = 16u;
const BN: u32 = 64u;
const BK: u32 = 4u;
const TN: u32 = 8u;
//#end
const_assert BM % 4u == 0u && BN % TN == 0u;
const LANES: u32 = BN / TN;
const GROUP: u32 = 8u; // rows of blocks

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot load x=a default element
//#slot load x=b default element
//#slot epilogue default none
//#slot save x=c default element

//#slot broadcast_lines default memory
//#slot windows default none

// Four elements of a column of A, at the same addresses for all invocations: a processor loads each once. `step` is their distance
// along k from the places of the rows.
fn a_quad(rows: FourRows, step: u32) -> vec4<f32> {
    let at = rows.at + step;
    return in_rows(rows, vec4<f32>(load_a(at.x), load_a(at.y), load_a(at.z), load_a(at.w)));
}

// The epilogue of an element. Past the edges, that of the last row or column is computed again.
fn finished(row: u32, col: u32, value: f32) -> f32 {
    return epilogue(min(row, dims.m - 1u), min(col, dims.n - 1u), vec4<f32>(value, 0.0, 0.0, 0.0)).x;
}

// Stores an element of C, unless it is past the edges.
fn store(row: u32, col: u32, value: f32) {
    if row < dims.m && col < dims.n {
        save_c(matrices.c_offset + row * dims.ldc + col, value);
    }
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    // The order of blocks: GROUP rows of blocks at a time, column by column, so that concurrent blocks share operands in the
    // cache; then the next matrix of the batch, then the next split.
    let rows = (dims.m + BM - 1u) / BM;
    let cols = (dims.n + BN - 1u) / BN;
    let index = block_index(workgroup, grid);
    if index >= rows * cols * dims.batches * dims.splits {
        return;
    }
    let pair = index / (rows * cols);
    let block = index % (rows * cols);
    let first = block / (GROUP * cols) * GROUP;
    let height = min(GROUP, rows - first);
    let within = block - first * cols;
    let row0 = (first + within % height) * BM;
    let col0 = within / height * BN + local.x;
    enter(pair);
    let k_begin = pair / dims.batches * dims.k_per_split;
    let k_end = matrices.k_end;

    // This invocation's columns of B; clamped to the edge.
    var columns: array<Column, TN>;
    //#unroll
    for (var j = 0u; j < TN; j++) {
        columns[j] = column_of_b(min(col0 + j * LANES, dims.n - 1u));
    }

    hold_rows(row0);

    // Four rows of a column each.
    var sums: array<array<vec4<f32>, TN>, BM / 4u>;
    var end = k_begin; // that of the previous run
    for (var begin = k_begin; begin < k_end; begin = end) {
        end = run_end(begin, k_end);
        // The places of the rows of A and the columns of B at the start of the run.
        var a_from: array<FourRows, BM / 4u>;
        //#unroll
        for (var i = 0u; i < BM / 4u; i++) {
            a_from[i] = four_rows(i, begin);
        }
        var b_from: array<ColumnInRun, TN>;
        //#unroll
        for (var j = 0u; j < TN; j++) {
            b_from[j] = in_run(columns[j], begin);
        }
        var k_left = begin; // the end of the whole steps of BK
        for (var k0 = begin; k0 + BK <= end; k0 += BK) {
            var b_rows: array<array<f32, TN>, BK>;
            //#unroll
            for (var kk = 0u; kk < BK; kk++) {
                let row = row_of_b(k0 + kk, begin);
                //#unroll
                for (var j = 0u; j < TN; j++) {
                    b_rows[kk][j] = b_value(b_from[j], row);
                }
            }
            //#unroll
            for (var i = 0u; i < BM / 4u; i++) {
                var a_cols: array<vec4<f32>, BK>;
                //#unroll
                for (var kk = 0u; kk < BK; kk++) {
                    a_cols[kk] = a_quad(a_from[i], (k0 + kk - begin) * dims.a_k);
                }
                // NOTE: a sum takes all products of the step at once, so it is loaded into a register once for BK of them.
                //#unroll
                for (var j = 0u; j < TN; j++) {
                    //#unroll
                    for (var kk = 0u; kk < BK; kk++) {
                        sums[i][j] = fma(a_cols[kk], vec4<f32>(b_rows[kk][j]), sums[i][j]);
                    }
                }
            }
            k_left = k0 + BK;
        }
        for (var k_at = k_left; k_at < end; k_at++) {
            let row = row_of_b(k_at, begin);
            var b_row: array<f32, TN>;
            //#unroll
            for (var j = 0u; j < TN; j++) {
                b_row[j] = b_value(b_from[j], row);
            }
            //#unroll
            for (var i = 0u; i < BM / 4u; i++) {
                let a_col = a_quad(a_from[i], (k_at - begin) * dims.a_k);
                //#unroll
                for (var j = 0u; j < TN; j++) {
                    sums[i][j] = fma(a_col, vec4<f32>(b_row[j]), sums[i][j]);
                }
            }
        }
    }

    // NOTE: no store lies between the epilogues of a column, so that a compiler may read what is of the column once.
    //#unroll
    for (var j = 0u; j < TN; j++) {
        let col = col0 + j * LANES;
        //#unroll
        for (var i = 0u; i < BM / 4u; i++) {
            let row = row0 + i * 4u;
            sums[i][j] = vec4<f32>(
                finished(row, col, sums[i][j].x),
                finished(row + 1u, col, sums[i][j].y),
                finished(row + 2u, col, sums[i][j].z),
                finished(row + 3u, col, sums[i][j].w),
            );
        }
    }
    //#unroll
    for (var i = 0u; i < BM / 4u; i++) {
        //#unroll
        for (var j = 0u; j < TN; j++) {
            let col = col0 + j * LANES;
            store(row0 + i * 4u, col, sums[i][j].x);
            store(row0 + i * 4u + 1u, col, sums[i][j].y);
            store(row0 + i * 4u + 2u, col, sums[i][j].z);
            store(row0 + i * 4u + 3u, col, sums[i][j].w);
        }
    }
}
