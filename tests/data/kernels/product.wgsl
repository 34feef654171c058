//! C = epilogue(A B), a BM x BN block of C per workgroup, its operands staged in shared memory BK deep.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches; any strides of A and B, C row-major; f32 sums, f16 within an iteration
//! grid      ceil(m / BM) * ceil(n / BN) blocks per matrix and split, GROUP rows of blocks at a time, to share the cache
//! subgroup  shuffles A on software devices; an invocation holds TM x TN of C, 4 x 4 pieces LANES_M, LANES_N apart
//! requires  LANES invocations and STAGES of both blocks in shared memory
//! edges     rows and columns past the end repeat the last one and are not stored, k is zero-filled: any m, n >= 1, k >= 0


// The matrices that a workgroup works on: the places of their first elements in their bindings.
struct Matrices {
    a_offset: u32,
    b_offset: u32,
    c_offset: u32,
    residual_offset: u32,
    index: u32, // of the matrix in its batch
    k_end: u32, // end of the split
}

var<private> matrices: Matrices;

// Both operands are stored.

// Selects a pair. Every split of a matrix has a matrix of sums of its own, after those of the previous splits.
fn enter(pair: u32) {
    let index = pair % dims.batches;
    let split = pair / dims.batches;
    matrices.index = index;
    let i = index / dims.batch1;
    let j = index % dims.batch1;
    matrices.a_offset = dims.a_offset + i * dims.a_batch0 + j * dims.a_batch1;
    matrices.b_offset = dims.b_offset + i * dims.b_batch0 + j * dims.b_batch1;
    matrices.c_offset = dims.c_offset + i * dims.c_batch0 + j * dims.c_batch1 + split * dims.batches * dims.m * dims.n;
    matrices.residual_offset = dims.residual_offset + i * dims.residual_batch0 + j * dims.residual_batch1;
    matrices.k_end = min(dims.k, (split + 1u) * dims.k_per_split);
}


struct Dims {
    m: u32,
    n: u32,
    k: u32,
    k_per_split: u32, // length of a split of k: k, or a multiple of 32
    batches: u32, // matrices of the batch
    batch1: u32, // extent of its axis 1
    splits: u32, // splits of k, each summed into a matrix of its own
    a_outer: u32, // stride of A along m
    a_k: u32, // stride of A along k
    a_offset: u32, // first element of A in its binding
    a_batch0: u32,
    a_batch1: u32,
    b_outer: u32, // stride of B along n
    b_k: u32, // stride of B along k
    b_offset: u32,
    b_batch0: u32,
    b_batch1: u32,
    ldc: u32, // stride of C along m; along n it is 1
    c_offset: u32,
    c_batch0: u32,
    c_batch1: u32,
    alpha: f32,
    beta: f32,
    bias_row: u32, // strides of the bias along m and n
    bias_col: u32,
    bias_offset: u32,
    residual_row: u32,
    residual_col: u32,
    residual_offset: u32,
    residual_batch0: u32,
    residual_batch1: u32,
    scaled_row: u32, // length of a row of A and of a column of B, if they are scaled
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
alias b_unit = vec4<f32>;
alias c_unit = vec4<f32>;
alias sum = f32;
alias iteration_sum = f32;
const ITERATION_SUMS: bool = false; // each iteration sums in iteration_sum, then adds that to the f32 sums
const BM: u32 = 32;
const BN: u32 = 64;
const BK: u32 = 16;
const TM: u32 = 4;
const TN: u32 = 4;
const A_STAGE: u32 = 3;
const B_STAGE: u32 = 2;
const STAGES: u32 = 2;
const TAG: u32 = 0u; // last word of the Philox counters, for a generated operand

const_assert BM % TM == 0u && BN % TN == 0u;
const_assert TM % 4u == 0u && TN % 4u == 0u;
const_assert LANES_M % NEAR_M == 0u && LANES_N % NEAR_N == 0u;

const LANES_M: u32 = BM / TM;
const LANES_N: u32 = BN / TN;
const LANES: u32 = LANES_M * LANES_N;
const NEAR_M: u32 = min(4u, LANES_M); // register tiles of 32 consecutive lanes
const NEAR_N: u32 = 8u;
const A_BLOCK: u32 = BM;
const B_BLOCK: u32 = BN;

// The indices of an invocation's register tile. NOTE: 32 consecutive lanes hold 4 x 8 tiles, so they read 4 vectors of A and 8
// of B at once. No other shape needs fewer.
fn tile_m(lane: u32) -> u32 {
    return lane / NEAR_N % NEAR_M + lane / (NEAR_M * LANES_N) * NEAR_M;
}

fn tile_n(lane: u32) -> u32 {
    return lane % NEAR_N + lane / (NEAR_M * NEAR_N) % (LANES_N / NEAR_N) * NEAR_N;
}
const GROUP: u32 = 8u; // rows of blocks
const_assert BM * BK % (4u * LANES) == 0u && BN * BK % (4u * LANES) == 0u;
const_assert BM % 16u == 0u && BN % 16u == 0u && BK % 8u == 0u; // for squares
// How an operand is loaded: elements, with lanes along k or along the outer axis; vectors of four along the outer axis; or
// squares, four vectors of four along k.
const STAGE_SCALAR_K: u32 = 0u;
const STAGE_SCALAR_OUTER: u32 = 1u;
const STAGE_VECTOR_OUTER: u32 = 2u;
const STAGE_SQUARES: u32 = 3u;

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;


// A single segment: all of k.
const SEGMENTED: bool = false;

fn k_extent(matrix: u32) -> u32 {
    return dims.k;
}

fn enter_segment(k0: u32) {}

fn k_in_segment(k: u32) -> u32 {
    return k;
}


// No operand has windows.
fn prepare_windows(row0: u32, lane: u32) {}


// Four consecutive elements of operand a, widened; `at` is a multiple of four.
fn load_a(at: u32) -> vec4<f32> {
    return vec4<f32>(a[at / 4u]);
}


// Four consecutive elements of operand b, widened; `at` is a multiple of four.
fn load_b(at: u32) -> vec4<f32> {
    return vec4<f32>(b[at / 4u]);
}


// A stored operand a.
const A_AHEAD: bool = true;

// The place of the chunk's first element, clamped to the outer edge.
fn a_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = extent - select(1u, 4u, A_STAGE == STAGE_VECTOR_OUTER);
    return matrices.a_offset + min(outer, last) * dims.a_outer + k_in_segment(k) * dims.a_k;
}

// The chunk at `at`. A square is four vectors along k, of consecutive places of the outer axis, and is transposed. A vector may
// extend past the end of the operand: windows contain whole vectors.
fn a_chunk(at: u32, outer: u32, extent: u32) -> a_elements {
    var elements: a_elements;
    if A_STAGE == STAGE_VECTOR_OUTER {
        elements[0] = vec4<iteration_sum>(vec4<f32>(load_a(at)));
        return elements;
    }
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    let v0 = vec4<iteration_sum>(vec4<f32>(load_a(at)));
    let v1 = vec4<iteration_sum>(vec4<f32>(load_a(at + min(1u, beyond) * dims.a_outer)));
    let v2 = vec4<iteration_sum>(vec4<f32>(load_a(at + min(2u, beyond) * dims.a_outer)));
    let v3 = vec4<iteration_sum>(vec4<f32>(load_a(at + min(3u, beyond) * dims.a_outer)));
    let square = transpose(mat4x4<iteration_sum>(v0, v1, v2, v3));
{
        elements[0u] = square[0u];
}
{
        elements[1u] = square[1u];
}
{
        elements[2u] = square[2u];
}
{
        elements[3u] = square[3u];
}
    return elements;
}

// The chunk k0 further along k than the one at `at`.
fn a_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> a_elements {
    return a_chunk(at + k0 * dims.a_k, outer, extent);
}


// A stored operand b.
const B_AHEAD: bool = true;

// The place of the chunk's first element, clamped to the outer edge.
fn b_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = extent - select(1u, 4u, B_STAGE == STAGE_VECTOR_OUTER);
    return matrices.b_offset + min(outer, last) * dims.b_outer + k_in_segment(k) * dims.b_k;
}

// The chunk at `at`. A square is four vectors along k, of consecutive places of the outer axis, and is transposed. A vector may
// extend past the end of the operand: windows contain whole vectors.
fn b_chunk(at: u32, outer: u32, extent: u32) -> b_elements {
    var elements: b_elements;
    if B_STAGE == STAGE_VECTOR_OUTER {
        elements[0] = vec4<iteration_sum>(vec4<f32>(load_b(at)));
        return elements;
    }
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    let v0 = vec4<iteration_sum>(vec4<f32>(load_b(at)));
    let v1 = vec4<iteration_sum>(vec4<f32>(load_b(at + min(1u, beyond) * dims.b_outer)));
    let v2 = vec4<iteration_sum>(vec4<f32>(load_b(at + min(2u, beyond) * dims.b_outer)));
    let v3 = vec4<iteration_sum>(vec4<f32>(load_b(at + min(3u, beyond) * dims.b_outer)));
    let square = transpose(mat4x4<iteration_sum>(v0, v1, v2, v3));
{
        elements[0u] = square[0u];
}
    return elements;
}

// The chunk k0 further along k than the one at `at`.
fn b_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> b_elements {
    return b_chunk(at + k0 * dims.b_k, outer, extent);
}


const A_LD: u32 = A_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const A_QUADS: u32 = A_BLOCK / 4u;
const A_DEPTH: u32 = 1u + A_STAGE / STAGE_SQUARES * 3u; // vectors of a chunk, along k: four of a square
const A_CHUNKS: u32 = A_QUADS * BK / A_DEPTH;
const A_SHARE: u32 = (A_CHUNKS + LANES - 1u) / LANES; // chunks per lane
var<workgroup> a_tile: array<vec4<iteration_sum>, STAGES * BK * A_LD>;

// A chunk: its vectors along the outer axis, in the order of k.
alias a_elements = array<vec4<iteration_sum>, A_DEPTH>;

// Whether there is a chunk for a lane: there may be fewer squares than lanes.
fn is_chunk_a(chunk: u32) -> bool {
    return A_CHUNKS % LANES == 0u || chunk < A_CHUNKS;
}

// The indices of a chunk within the block, along the outer axis and along k. NOTE: eight consecutive lanes take two squares
// along k and four along the outer axis, so that they write to different banks.
fn a_outer_of(chunk: u32) -> u32 {
    if A_STAGE == STAGE_SQUARES {
        return (chunk / 2u % 4u + chunk / BK * 4u) * 4u;
    }
    return select(chunk % A_QUADS, chunk / BK, A_STAGE == STAGE_SCALAR_K) * 4u;
}

fn a_k_of(chunk: u32) -> u32 {
    if A_STAGE == STAGE_SQUARES {
        return (chunk % 2u + chunk / 8u % (BK / 8u) * 2u) * 4u;
    }
    return select(chunk / A_QUADS, chunk % BK, A_STAGE == STAGE_SCALAR_K);
}

fn put_a(chunk: u32, stage: u32, elements: a_elements) {
    let place = (stage * BK + a_k_of(chunk)) * A_LD + a_outer_of(chunk) / 4u;
{
        a_tile[place + 0u * A_LD] = elements[0u];
}
{
        a_tile[place + 1u * A_LD] = elements[1u];
}
{
        a_tile[place + 2u * A_LD] = elements[2u];
}
{
        a_tile[place + 3u * A_LD] = elements[3u];
}
}

// The chunk at these indices, with zeros past the end of k.
fn edge_a(outer: u32, extent: u32, k: u32) -> a_elements {
    if k >= matrices.k_end {
        return a_elements();
    }
    var elements = a_chunk(a_start(outer, extent, k), outer, extent);
{
        elements[1u] = select(vec4<iteration_sum>(), elements[1u], k + 1u < matrices.k_end);
}
{
        elements[2u] = select(vec4<iteration_sum>(), elements[2u], k + 2u < matrices.k_end);
}
{
        elements[3u] = select(vec4<iteration_sum>(), elements[3u], k + 3u < matrices.k_end);
}
    return elements;
}

// The place of a lane's chunk at k = 0, computed once before the first iteration. If k is less than BK, no chunk is loaded
// ahead and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place
// changes.
fn locate_a(outer0: u32, extent: u32, chunk: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return a_start(outer0 + a_outer_of(chunk), extent, min(a_k_of(chunk), dims.k));
}

// A lane's chunk of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_a(start: u32, outer0: u32, extent: u32, k0: u32, chunk: u32) -> a_elements {
    if SEGMENTED {
        return edge_a(outer0 + a_outer_of(chunk), extent, k0 + a_k_of(chunk));
    }
    return a_ahead(start, outer0 + a_outer_of(chunk), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_a(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var chunk = lane; chunk < A_CHUNKS; chunk += LANES) {
        put_a(chunk, stage, edge_a(outer0 + a_outer_of(chunk), extent, k0 + a_k_of(chunk)));
    }
}

const B_LD: u32 = B_BLOCK / 4u + 1u; // NOTE: odd, so that rows start in different banks
const B_QUADS: u32 = B_BLOCK / 4u;
const B_DEPTH: u32 = 1u + B_STAGE / STAGE_SQUARES * 3u; // vectors of a chunk, along k: four of a square
const B_CHUNKS: u32 = B_QUADS * BK / B_DEPTH;
const B_SHARE: u32 = (B_CHUNKS + LANES - 1u) / LANES; // chunks per lane
var<workgroup> b_tile: array<vec4<iteration_sum>, STAGES * BK * B_LD>;

// A chunk: its vectors along the outer axis, in the order of k.
alias b_elements = array<vec4<iteration_sum>, B_DEPTH>;

// Whether there is a chunk for a lane: there may be fewer squares than lanes.
fn is_chunk_b(chunk: u32) -> bool {
    return B_CHUNKS % LANES == 0u || chunk < B_CHUNKS;
}

// The indices of a chunk within the block, along the outer axis and along k. NOTE: eight consecutive lanes take two squares
// along k and four along the outer axis, so that they write to different banks.
fn b_outer_of(chunk: u32) -> u32 {
    if B_STAGE == STAGE_SQUARES {
        return (chunk / 2u % 4u + chunk / BK * 4u) * 4u;
    }
    return select(chunk % B_QUADS, chunk / BK, B_STAGE == STAGE_SCALAR_K) * 4u;
}

fn b_k_of(chunk: u32) -> u32 {
    if B_STAGE == STAGE_SQUARES {
        return (chunk % 2u + chunk / 8u % (BK / 8u) * 2u) * 4u;
    }
    return select(chunk / B_QUADS, chunk % BK, B_STAGE == STAGE_SCALAR_K);
}

fn put_b(chunk: u32, stage: u32, elements: b_elements) {
    let place = (stage * BK + b_k_of(chunk)) * B_LD + b_outer_of(chunk) / 4u;
{
        b_tile[place + 0u * B_LD] = elements[0u];
}
}

// The chunk at these indices, with zeros past the end of k.
fn edge_b(outer: u32, extent: u32, k: u32) -> b_elements {
    if k >= matrices.k_end {
        return b_elements();
    }
    var elements = b_chunk(b_start(outer, extent, k), outer, extent);
    return elements;
}

// The place of a lane's chunk at k = 0, computed once before the first iteration. If k is less than BK, no chunk is loaded
// ahead and the place is not used; k is clamped so that its product with a stride does not wrap. With segments the place
// changes.
fn locate_b(outer0: u32, extent: u32, chunk: u32) -> u32 {
    if SEGMENTED {
        return 0u;
    }
    return b_start(outer0 + b_outer_of(chunk), extent, min(b_k_of(chunk), dims.k));
}

// A lane's chunk of the block that starts at k0, from its place at k = 0. The block does not extend past k, but a segment may
// end within it.
fn fetch_b(start: u32, outer0: u32, extent: u32, k0: u32, chunk: u32) -> b_elements {
    if SEGMENTED {
        return edge_b(outer0 + b_outer_of(chunk), extent, k0 + b_k_of(chunk));
    }
    return b_ahead(start, outer0 + b_outer_of(chunk), extent, k0);
}

// Stages a block that may extend past the end of k.
fn stage_b(outer0: u32, extent: u32, k0: u32, stage: u32, lane: u32) {
    for (var chunk = lane; chunk < B_CHUNKS; chunk += LANES) {
        put_b(chunk, stage, edge_b(outer0 + b_outer_of(chunk), extent, k0 + b_k_of(chunk)));
    }
}

// Read from shared memory when they are needed.
const A_HELD: bool = false;

fn a_column(held: vec4<iteration_sum>, kk: u32, place: u32) -> vec4<iteration_sum> {
    return a_tile[place];
}


// No epilogue: the sums themselves.
fn epilogue(row: u32, col: u32, sums: vec4<sum>) -> vec4<sum> {
    return sums;
}


// Stores four consecutive elements of a row of C at once; n, the strides and the offset are multiples of four.
fn store_c(row: u32, col: u32, sums: vec4<sum>) {
    if row < dims.m && col < dims.n {
        c[(matrices.c_offset + row * dims.ldc + col) / 4u] = c_unit(epilogue(row, col, sums));
    }
}


@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
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
    let col0 = within / height * BN;
    enter(pair);
    let k_begin = pair / dims.batches * dims.k_per_split;
    let k_end = min(k_extent(pair % dims.batches), k_begin + dims.k_per_split);
    let lane_m = tile_m(lane);
    let lane_n = tile_n(lane);

    // The sums of this lane's register tile, and those that products are added to: of the iteration, or of all iterations.
    var acc: array<array<vec4<f32>, TN / 4u>, TM>;
    var sums: array<array<vec4<iteration_sum>, TN / 4u>, TM>;
    // The places of this lane's chunks at k = 0, and the chunks of the next iteration, which are loaded during this one.
    var a_from: array<u32, A_SHARE>;
    var b_from: array<u32, B_SHARE>;
    var a_next: array<a_elements, A_SHARE>;
    var b_next: array<b_elements, B_SHARE>;
{
        a_from[0u] = locate_a(row0, dims.m, lane + 0u * LANES);
}
{
        b_from[0u] = locate_b(col0, dims.n, lane + 0u * LANES);
}
{
        b_from[1u] = locate_b(col0, dims.n, lane + 1u * LANES);
}
    if k_begin < k_end {
        enter_segment(k_begin);
    }
    prepare_windows(row0, lane);
    var stage = 0u;
    for (var k0 = k_begin; k0 < k_end; k0 += BK) {
        // Stage both blocks. The first iteration, and one that extends past the end of k, are not loaded ahead.
        let ahead = k0 > k_begin && k0 + BK <= k_end;
        if A_AHEAD && ahead {
{
                if is_chunk_a(lane + 0u * LANES) {
                    put_a(lane + 0u * LANES, stage, a_next[0u]);
                }
}
        } else {
            stage_a(row0, dims.m, k0, stage, lane);
        }
        if B_AHEAD && ahead {
{
                if is_chunk_b(lane + 0u * LANES) {
                    put_b(lane + 0u * LANES, stage, b_next[0u]);
                }
}
{
                if is_chunk_b(lane + 1u * LANES) {
                    put_b(lane + 1u * LANES, stage, b_next[1u]);
                }
}
        } else {
            stage_b(col0, dims.n, k0, stage, lane);
        }
        // NOTE: two stages need no other barrier: the stage that is filled next was read before this barrier.
        workgroupBarrier();
        // Start to load the chunks of the next iteration, if they are loaded ahead.
        let next = k0 + BK;
        if next + BK <= k_end {
            enter_segment(next);
            if A_AHEAD {
{
                    if is_chunk_a(lane + 0u * LANES) {
                        a_next[0u] = fetch_a(a_from[0u], row0, dims.m, next, lane + 0u * LANES);
                    }
}
            }
            if B_AHEAD {
{
                    if is_chunk_b(lane + 0u * LANES) {
                        b_next[0u] = fetch_b(b_from[0u], col0, dims.n, next, lane + 0u * LANES);
                    }
}
{
                    if is_chunk_b(lane + 1u * LANES) {
                        b_next[1u] = fetch_b(b_from[1u], col0, dims.n, next, lane + 1u * LANES);
                    }
}
            }
        }

        if ITERATION_SUMS {
            sums = array<array<vec4<iteration_sum>, TN / 4u>, TM>();
        }
        var a_held: array<vec4<iteration_sum>, TM / 4u>;
        if A_HELD {
{
                a_held[0u] = a_tile[(stage * BK + lane % BK) * A_LD + 0u * LANES_M + lane_m];
}
        }
        for (var kk = 0u; kk < BK; kk++) {
            var b_row: array<vec4<iteration_sum>, TN / 4u>;
{
                b_row[0u] = b_tile[(stage * BK + kk) * B_LD + 0u * LANES_N + lane_n];
}
{
                let a_col = a_column(a_held[0u], kk, (stage * BK + kk) * A_LD + 0u * LANES_M + lane_m);
{
                    sums[0u][0u] = fma(vec4<iteration_sum>(a_col.x), b_row[0u], sums[0u][0u]);
                    sums[1u][0u] = fma(vec4<iteration_sum>(a_col.y), b_row[0u], sums[1u][0u]);
                    sums[2u][0u] = fma(vec4<iteration_sum>(a_col.z), b_row[0u], sums[2u][0u]);
                    sums[3u][0u] = fma(vec4<iteration_sum>(a_col.w), b_row[0u], sums[3u][0u]);
}
}
        }
        if ITERATION_SUMS {
{
{
                    acc[0u][0u] += vec4<f32>(sums[0u][0u]);
}
}
{
{
                    acc[1u][0u] += vec4<f32>(sums[1u][0u]);
}
}
{
{
                    acc[2u][0u] += vec4<f32>(sums[2u][0u]);
}
}
{
{
                    acc[3u][0u] += vec4<f32>(sums[3u][0u]);
}
}
        }

        // The next iteration fills the other stage. If there is only one, it waits until this one has been read.
        if STAGES == 1u {
            workgroupBarrier();
        }
        stage = (stage + 1u) % STAGES;
    }
    if !ITERATION_SUMS {
{
{
                acc[0u][0u] = vec4<f32>(sums[0u][0u]);
}
}
{
{
                acc[1u][0u] = vec4<f32>(sums[1u][0u]);
}
}
{
{
                acc[2u][0u] = vec4<f32>(sums[2u][0u]);
}
}
{
{
                acc[3u][0u] = vec4<f32>(sums[3u][0u]);
}
}
    }

{
        let row = row0 + (0u * LANES_M + lane_m) * 4u;
{
            let col = col0 + (0u * LANES_N + lane_n) * 4u;
{
                store_c(row + 0u, col, acc[0u][0u]);
}
{
                store_c(row + 1u, col, acc[1u][0u]);
}
{
                store_c(row + 2u, col, acc[2u][0u]);
}
{
                store_c(row + 3u, col, acc[3u][0u]);
}
}
}
}
