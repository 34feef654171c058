//! C = epilogue(A B) where a processor runs a workgroup as one vector: each element of A is read once for all its invocations.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; f32 sums
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
//! subgroup  not used; the invocations of a workgroup hold BM x TN of C each and read the same elements of A together
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
const_assert BM % 4u == 0u && TN % 4u == 0u && BN % TN == 0u;
const LANES: u32 = BN / TN;
const GROUP: u32 = 8u; // rows of blocks

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot load x=a default element
//#slot load x=b default element
//#slot epilogue default none
//#slot store_c default elements

// Four elements of a row of B, at these places.
fn b_quad(at: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(load_b(at.x), load_b(at.y), load_b(at.z), load_b(at.w));
}

// Four elements of a column of A, at these places, which are those of all invocations: a processor loads each once and
// broadcasts it.
fn a_quad(at: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(load_a(at.x), load_a(at.y), load_a(at.z), load_a(at.w));
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
    let col0 = within / height * BN + local.x * 4u;
    enter(pair);
    let k_begin = pair / dims.batches * dims.k_per_split;
    let k_end = matrices.k_end;

    // The places of this invocation's rows of A and columns of B at k = 0, clamped to the edges.
    var a_from: array<vec4<u32>, BM / 4u>;
    var b_from: array<vec4<u32>, TN / 4u>;
    //#unroll
    for (var i = 0u; i < BM / 4u; i++) {
        let row = min(vec4<u32>(row0 + i * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.m - 1u));
        a_from[i] = matrices.a_offset + row * dims.a_outer;
    }
    //#unroll
    for (var j = 0u; j < TN / 4u; j++) {
        let col = min(vec4<u32>(col0 + j * LANES * 4u) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(dims.n - 1u));
        b_from[j] = matrices.b_offset + col * dims.b_outer;
    }

    var sums: array<array<vec4<f32>, TN / 4u>, BM>;
    var whole = k_begin; // the end of the steps of BK
    for (var k0 = k_begin; k0 + BK <= k_end; k0 += BK) {
        var b_rows: array<array<vec4<f32>, TN / 4u>, BK>;
        //#unroll
        for (var kk = 0u; kk < BK; kk++) {
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                b_rows[kk][j] = b_quad(b_from[j] + (k0 + kk) * dims.b_k);
            }
        }
        // NOTE: the sums of 4 x 4 elements take all products of the step together, so that they are in registers meanwhile.
        //#unroll
        for (var i = 0u; i < BM / 4u; i++) {
            var a_cols: array<vec4<f32>, BK>;
            //#unroll
            for (var kk = 0u; kk < BK; kk++) {
                a_cols[kk] = a_quad(a_from[i] + (k0 + kk) * dims.a_k);
            }
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                //#unroll
                for (var kk = 0u; kk < BK; kk++) {
                    sums[i * 4u + 0u][j] = fma(vec4<f32>(a_cols[kk].x), b_rows[kk][j], sums[i * 4u + 0u][j]);
                    sums[i * 4u + 1u][j] = fma(vec4<f32>(a_cols[kk].y), b_rows[kk][j], sums[i * 4u + 1u][j]);
                    sums[i * 4u + 2u][j] = fma(vec4<f32>(a_cols[kk].z), b_rows[kk][j], sums[i * 4u + 2u][j]);
                    sums[i * 4u + 3u][j] = fma(vec4<f32>(a_cols[kk].w), b_rows[kk][j], sums[i * 4u + 3u][j]);
                }
            }
        }
        whole = k0 + BK;
    }
    for (var p = whole; p < k_end; p++) {
        var b_row: array<vec4<f32>, TN / 4u>;
        //#unroll
        for (var j = 0u; j < TN / 4u; j++) {
            b_row[j] = b_quad(b_from[j] + p * dims.b_k);
        }
        //#unroll
        for (var i = 0u; i < BM / 4u; i++) {
            let a_col = a_quad(a_from[i] + p * dims.a_k);
            //#unroll
            for (var j = 0u; j < TN / 4u; j++) {
                sums[i * 4u + 0u][j] = fma(vec4<f32>(a_col.x), b_row[j], sums[i * 4u + 0u][j]);
                sums[i * 4u + 1u][j] = fma(vec4<f32>(a_col.y), b_row[j], sums[i * 4u + 1u][j]);
                sums[i * 4u + 2u][j] = fma(vec4<f32>(a_col.z), b_row[j], sums[i * 4u + 2u][j]);
                sums[i * 4u + 3u][j] = fma(vec4<f32>(a_col.w), b_row[j], sums[i * 4u + 3u][j]);
            }
        }
    }

    //#unroll
    for (var i = 0u; i < BM; i++) {
        //#unroll
        for (var j = 0u; j < TN / 4u; j++) {
            store_c(row0 + i, col0 + j * LANES * 4u, sums[i][j]);
        }
    }
}
