//! The self-test of a row of cooperative matrices: products with every kind of load and store that kernels use.
//!
//! shapes    per load and subgroup: A (SIZE, k)  B (k, SIZE) -> twice C (SIZE, SIZE)
//! grid      4 workgroups, a kind of load each: operands from storage or shared memory, by rows or by columns; more, which repeat the last kind, where the row is timed
//! subgroup  each has its own operands and results
//! requires  a cooperative matrix SIZE x SIZE x SIZE of these types; subgroups of SUBGROUP and no other size
//! edges     none: all sizes are whole matrices

struct Dims {
    k: u32,      // in vectors of four, the element type of A and B
    ld: u32,     // of A and B, in vectors
    ldc: u32,    // in elements
    staged: u32, // vectors per operand. NOTE: with a constant, lavapipe would unroll loops and compile for seconds
}

//#slot dims default immediate

//#param  set by Case::kernel
alias ab_unit = f16;
alias c_unit = f32;
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
const SIZE: u32 = 16u;
const SUBGROUP: u32 = 32u;
const AB_BYTES: u32 = 2u;
const C_BYTES: u32 = 4u;
//#end
const SUBGROUPS: u32 = 2u;
const LANES: u32 = SUBGROUPS * SUBGROUP;
const QUADS: u32 = SIZE / 4u;
// NOTE: rows are padded by 16 bytes, as in kernels; the standard requires multiples of 16 bytes.
const AB_LD: u32 = QUADS + 4u / AB_BYTES;
const C_LD: u32 = QUADS + 4u / C_BYTES;

@group(0) @binding(0) var<storage, read> ab: array<vec4<ab_unit>>;
@group(0) @binding(1) var<storage, read_write> c: array<c_unit>;

var<workgroup> ab_tile: array<vec4<ab_unit>, 2u * SUBGROUPS * SIZE * AB_LD>;
var<workgroup> c_tile: array<vec4<c_unit>, SUBGROUPS * SIZE * C_LD>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(subgroup_id) subgroup_index: u32,
    @builtin(subgroup_size) subgroup_size: u32,
    @builtin(num_subgroups) num_subgroups: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let lane = local.x;
    let kind = workgroup.x;
    let ld = dims.ld;
    let ldc = dims.ldc;
    // NOTE: if subgroups are smaller than expected, there are more of them; none may access memory past the end.
    let subgroup = min(subgroup_index, SUBGROUPS - 1u);
    let a_row = subgroup * 2u * SIZE;
    let b_row = a_row + SIZE;
    let a_shared = a_row * AB_LD;
    let b_shared = b_row * AB_LD;

    // An array, as in kernels. Both kinds of store use one sum, because every operation costs compile time.
    var acc: array<mat_c, 2>;
    acc[0] = mat_c();
    for (var k0 = 0u; k0 < dims.k; k0 += QUADS) {
        for (var i = lane; i < dims.staged; i += LANES) {
            let row = i / QUADS;
            let quad = i % QUADS;
            ab_tile[row * AB_LD + quad] = ab[row * ld + k0 + quad];
        }
        workgroupBarrier();
        let a_at = a_row * ld + k0;
        let b_at = b_row * ld + k0;
        var x: mat_a;
        var y: mat_b;
        if kind == 0u {
            var stored_rows: mat_a = coopLoadT<mat_a>(&ab[a_at], ld);
            var shared_columns: mat_b = coopLoad<mat_b>(&ab_tile[b_shared], AB_LD);
            x = stored_rows;
            y = shared_columns;
        } else if kind == 1u {
            var stored_columns: mat_a = coopLoad<mat_a>(&ab[a_at], ld);
            var shared_rows: mat_b = coopLoadT<mat_b>(&ab_tile[b_shared], AB_LD);
            x = stored_columns;
            y = shared_rows;
        } else if kind == 2u {
            var shared_rows: mat_a = coopLoadT<mat_a>(&ab_tile[a_shared], AB_LD);
            var stored_columns: mat_b = coopLoad<mat_b>(&ab[b_at], ld);
            x = shared_rows;
            y = stored_columns;
        } else {
            var shared_columns: mat_a = coopLoad<mat_a>(&ab_tile[a_shared], AB_LD);
            var stored_rows: mat_b = coopLoadT<mat_b>(&ab[b_at], ld);
            x = shared_columns;
            y = stored_rows;
        }
        acc[0] = coopMultiplyAdd(x, y, acc[0]);
        workgroupBarrier();
    }

    // The sum is stored directly, and through shared memory.
    acc[1] = acc[0];
    let first = acc[0];
    let first_at = (kind * SUBGROUPS + subgroup) * 2u * SIZE * ldc;
    coopStoreT(first, &c[first_at], ldc);
    let second = acc[1];
    let second_at = subgroup * SIZE * C_LD;
    coopStoreT(second, &c_tile[second_at], C_LD);
    workgroupBarrier();
    for (var i = lane; i < dims.staged / 2u; i += LANES) {
        let row = i / QUADS;
        let quad = i % QUADS;
        let at = ((kind * SUBGROUPS + row / SIZE) * 2u * SIZE + SIZE + row % SIZE) * ldc + 4u * quad;
        let v = c_tile[row * C_LD + quad];
        c[at] = v.x;
        c[at + 1u] = v.y;
        c[at + 2u] = v.z;
        c[at + 3u] = v.w;
    }
    // After the results: the properties of subgroups on which kernels rely.
    let facts = 4u * SUBGROUPS * 2u * SIZE * ldc + (kind * LANES + lane) * 4u;
    c[facts] = c_unit(subgroup_size);
    c[facts + 1u] = c_unit(num_subgroups);
    c[facts + 2u] = c_unit(subgroup_index);
    c[facts + 3u] = c_unit(subgroup_lane);
}
