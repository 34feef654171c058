//! What the device reaches at best on cooperative matrices: products whose operands stay in registers.
enable f16;
enable wgpu_cooperative_matrix;

// The row of the device; these lines are written anew for it.
alias mat_a = coop_mat16x16<f16, A>;
alias mat_b = coop_mat16x16<f16, B>;
alias mat_c = coop_mat16x16<f32, C>;
const SIZE: u32 = 16u;
const LANES: u32 = 32u;

/// iterations: iterations of the loop; one: not used here.
struct Params {
    iterations: u32,
    one: f32,
}

@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

/// Two products per iteration, whose sums do not depend on one another. A workgroup is one subgroup.
@compute @workgroup_size(LANES)
fn multiply_matrices(@builtin(workgroup_id) group: vec3<u32>) {
    let rows = SIZE / 4u;
    var a: mat_a = coopLoadT<mat_a>(&source[0], rows);
    var b: mat_b = coopLoadT<mat_b>(&source[SIZE * rows], rows);
    var c: mat_b = coopLoadT<mat_b>(&source[2u * SIZE * rows], rows);
    var acc: array<mat_c, 2>;
    acc[0] = mat_c();
    acc[1] = mat_c();
    for (var iteration = 0u; iteration < params.iterations; iteration++) {
        acc[0] = coopMultiplyAdd(a, b, acc[0]);
        acc[1] = coopMultiplyAdd(a, c, acc[1]);
    }
    let first = acc[0];
    coopStoreT(first, &result[2u * group.x * SIZE * SIZE], SIZE);
    let second = acc[1];
    coopStoreT(second, &result[(2u * group.x + 1u) * SIZE * SIZE], SIZE);
}
