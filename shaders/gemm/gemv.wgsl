//! C = epilogue(A B) with few rows or few columns, a skinny product: its time is that of reading the matrix operand once.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; m or n <= SKINNY; any strides of A and B, C row-major; f32 sums
//! grid      ceil(extent / BO) blocks per matrix and split; extent is that of the matrix operand's outer axis: m of A, n of B
//! subgroup  not used; LANES_O x K_LANES invocations, consecutive ones along the matrix operand's contiguous axis
//! requires  LANES_O * K_LANES invocations, and their sums in shared memory
//! edges     past the outer edge the last elements are read again and not stored, past k none: any m, n >= 1, k >= 0

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by Gemv::build; these defaults are a legal tile
alias matrix_unit = f32;
alias vector_unit = f32;
alias c_unit = f32;
alias sum = f32;
const MATRIX_BINDING: u32 = 0u; // 0: A is the matrix operand, B the vector operand; 1: the reverse
const LANES_ALONG_K: u32 = 1u; // consecutive lanes read along k, or (0) along the outer axis
const SKINNY: u32 = 1u;        // rows or columns of the vector operand, rounded up to a power of two
const BO: u32 = 16u;           // elements of the matrix operand along its outer axis, per workgroup
const BK: u32 = 128u;          // elements along k, per iteration of a workgroup
const TO: u32 = 4u;            // elements along the outer axis, per invocation
const MATRIX_LOADS: u32 = ELEMENTS; // how the matrix operand is loaded
const VECTOR_LOADS: u32 = ELEMENTS; // how the vector operand is loaded: never in vectors along the outer axis
//#end
// How an operand is loaded: elements, or vectors of four along an axis. A vector may extend past the end of k, past the outer
// edge and past the end of the operand: windows contain whole vectors, and results past the edge are not stored.
const ELEMENTS: u32 = 0u;
const VECTORS_ALONG_K: u32 = 1u;
const VECTORS_ALONG_OUTER: u32 = 2u;
const_assert BO % TO == 0u && TO % 4u == 0u && BK % 4u == 0u;

const LANES_O: u32 = BO / TO;
const K_LANES: u32 = BK / 4u;
const LANES: u32 = LANES_O * K_LANES;
const QUADS: u32 = TO / 4u;
const VECTOR_BINDING: u32 = 1u - MATRIX_BINDING;
const STORES: u32 = (SKINNY + 3u) / 4u; // of four consecutive elements, in a row of C with SKINNY columns
// Number of sums that one invocation adds between barriers, in the reduction over K_LANES.
const FAN: u32 = 8u;

@group(0) @binding(MATRIX_BINDING) var<storage, read> matrix: array<matrix_unit>;
@group(0) @binding(VECTOR_BINDING) var<storage, read> vector: array<vector_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

var<workgroup> partial: array<vec4<f32>, SKINNY * QUADS * LANES>;

//#slot load x=matrix default element
//#slot load x=vector default element
//#slot epilogue default none
//#slot store_c default elements

// The places at k = 0 of four consecutive elements along the outer axis of the matrix operand; with vectors, four times that of
// the vector. Past the edge the last one is read again.
fn matrix_starts(outer: u32, extent: u32) -> vec4<u32> {
    let first = select(matrices.a_offset, matrices.b_offset, MATRIX_BINDING == 1u);
    if MATRIX_LOADS == VECTORS_ALONG_OUTER {
        return vec4<u32>(first + min(outer, (extent - 1u) / 4u * 4u));
    }
    let rows = min(vec4<u32>(outer) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    return vec4<u32>(first) + rows * select(dims.a_outer, dims.b_outer, MATRIX_BINDING == 1u);
}

// A vector of the matrix operand, or an element, in x.
fn matrix_at(at: u32) -> vec4<f32> {
    return vec4<f32>(load_matrix(at));
}

// Four consecutive elements along the outer axis at one k.
fn matrix_column(starts: vec4<u32>, k: u32) -> vec4<f32> {
    let at = starts + vec4<u32>(k * select(dims.a_k, dims.b_k, MATRIX_BINDING == 1u));
    if MATRIX_LOADS == VECTORS_ALONG_OUTER {
        return matrix_at(at.x);
    }
    return vec4<f32>(matrix_at(at.x).x, matrix_at(at.y).x, matrix_at(at.z).x, matrix_at(at.w).x);
}

// 4 x 4 elements of the matrix operand: one column for each k.
fn matrix_quad(starts: vec4<u32>, ks: vec4<u32>) -> mat4x4<f32> {
    if MATRIX_LOADS == VECTORS_ALONG_K {
        let at = starts + vec4<u32>(ks.x);
        return transpose(mat4x4<f32>(matrix_at(at.x), matrix_at(at.y), matrix_at(at.z), matrix_at(at.w)));
    }
    return mat4x4<f32>(
        matrix_column(starts, ks.x),
        matrix_column(starts, ks.y),
        matrix_column(starts, ks.z),
        matrix_column(starts, ks.w),
    );
}

// A vector of the vector operand, or an element, in x.
fn vector_at(at: u32) -> vec4<f32> {
    return vec4<f32>(load_vector(at));
}

// Four elements along k of row or column t of the vector operand. Past the edge the last one is read again.
fn vector_quad(t: u32, ks: vec4<u32>) -> vec4<f32> {
    let last = select(dims.n, dims.m, MATRIX_BINDING == 1u) - 1u;
    let first = select(matrices.b_offset, matrices.a_offset, MATRIX_BINDING == 1u);
    let start = first + min(t, last) * select(dims.b_outer, dims.a_outer, MATRIX_BINDING == 1u);
    if VECTOR_LOADS == VECTORS_ALONG_K {
        return vector_at(start + ks.x);
    }
    let at = vec4<u32>(start) + ks * select(dims.b_k, dims.a_k, MATRIX_BINDING == 1u);
    return vec4<f32>(vector_at(at.x).x, vector_at(at.y).x, vector_at(at.z).x, vector_at(at.w).x);
}

// Adds the products at four k to the sums. `ks` that are not `within` k contribute nothing.
fn add_four(
    acc: ptr<function, array<array<vec4<f32>, QUADS>, SKINNY>>,
    starts: array<vec4<u32>, QUADS>,
    ks: vec4<u32>,
    within: vec4<bool>,
) {
    var y: array<vec4<f32>, SKINNY>;
    //#unroll
    for (var t = 0u; t < SKINNY; t++) {
        y[t] = select(vec4<f32>(), vector_quad(t, ks), within);
    }
    //#unroll
    for (var q = 0u; q < QUADS; q++) {
        let x = matrix_quad(starts[q], ks);
        // NOTE: both factors are set to zero past the end, because either may be NaN there.
        let x0 = select(vec4<f32>(), x[0], within.x);
        let x1 = select(vec4<f32>(), x[1], within.y);
        let x2 = select(vec4<f32>(), x[2], within.z);
        let x3 = select(vec4<f32>(), x[3], within.w);
        //#unroll
        for (var t = 0u; t < SKINNY; t++) {
            (*acc)[t][q] = fma(x0, vec4<f32>(y[t].x), (*acc)[t][q]);
            (*acc)[t][q] = fma(x1, vec4<f32>(y[t].y), (*acc)[t][q]);
            (*acc)[t][q] = fma(x2, vec4<f32>(y[t].z), (*acc)[t][q]);
            (*acc)[t][q] = fma(x3, vec4<f32>(y[t].w), (*acc)[t][q]);
        }
    }
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let extent = select(dims.m, dims.n, MATRIX_BINDING == 1u);
    let blocks = (extent + BO - 1u) / BO;
    let index = block_index(workgroup, grid);
    if index >= blocks * dims.batches * dims.splits {
        return;
    }
    let pair = index / blocks;
    let k_begin = pair / dims.batches * dims.k_per_split;
    let k_end = min(dims.k, k_begin + dims.k_per_split);
    enter(pair);
    let k_lane = select(lane / LANES_O, lane % K_LANES, LANES_ALONG_K == 1u);
    let lane_o = select(lane % LANES_O, lane / K_LANES, LANES_ALONG_K == 1u);
    let outer0 = index % blocks * BO + lane_o * 4u;

    var acc: array<array<vec4<f32>, QUADS>, SKINNY>;
    var starts: array<vec4<u32>, QUADS>;
    //#unroll
    for (var q = 0u; q < QUADS; q++) {
        starts[q] = matrix_starts(outer0 + q * LANES_O * 4u, extent);
    }
    let four = vec4<u32>(0u, 1u, 2u, 3u);
    var k = k_begin + k_lane * 4u;
    for (; k + 4u <= k_end; k += BK) {
        add_four(&acc, starts, vec4<u32>(k) + four, vec4<bool>(true));
    }
    if k < k_end {
        // Elements past the end belong to other rows, or to another split.
        let ks = min(vec4<u32>(k) + four, vec4<u32>(k_end - 1u));
        add_four(&acc, starts, ks, vec4<u32>(k) + four < vec4<u32>(k_end));
    }
    // Add the sums of all K_LANES, up to FAN at a time and always in this order.
    for (var lanes = K_LANES; lanes > 1u; lanes = (lanes + FAN - 1u) / FAN) {
        let left = (lanes + FAN - 1u) / FAN;
        if k_lane >= left && k_lane < lanes {
            //#unroll
            for (var t = 0u; t < SKINNY; t++) {
                //#unroll
                for (var q = 0u; q < QUADS; q++) {
                    partial[(t * QUADS + q) * LANES + k_lane * LANES_O + lane_o] = acc[t][q];
                }
            }
        }
        // NOTE: one barrier per round suffices: each round reads only places that no other round writes.
        workgroupBarrier();
        if k_lane < left {
            for (var other = k_lane + left; other < lanes; other += left) {
                //#unroll
                for (var t = 0u; t < SKINNY; t++) {
                    //#unroll
                    for (var q = 0u; q < QUADS; q++) {
                        acc[t][q] += partial[(t * QUADS + q) * LANES + other * LANES_O + lane_o];
                    }
                }
            }
        }
    }
    if k_lane != 0u {
        return;
    }
    if MATRIX_BINDING == 1u {
        // Consecutive elements along the outer axis of B are consecutive in a row of C.
        //#unroll
        for (var t = 0u; t < SKINNY; t++) {
            //#unroll
            for (var q = 0u; q < QUADS; q++) {
                store_c(t, outer0 + q * LANES_O * 4u, acc[t][q]);
            }
        }
    } else {
        // A row of C holds the sums of one row of A.
        //#unroll
        for (var q = 0u; q < QUADS; q++) {
            //#unroll
            for (var r = 0u; r < 4u; r++) {
                //#unroll
                for (var s = 0u; s < STORES; s++) {
                    var v = vec4<f32>();
                    //#unroll
                    for (var t = 0u; t < SKINNY / STORES; t++) {
                        v[t] = acc[s * 4u + t][q][r];
                    }
                    store_c(outer0 + q * LANES_O * 4u + r, s * 4u, v);
                }
            }
        }
    }
}
