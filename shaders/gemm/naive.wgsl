//! C = epilogue(A B), one invocation per element: the definition, on every device.
//!
//! shapes    A (m, k)  B (k, n)  C (m, n), batches of them; any strides of A and B, C row-major; f32 sums, i8 in i32 and its epilogue in f32
//! grid      one invocation per element of C, LANES per workgroup
//! subgroup  not used; consecutive invocations read consecutive columns of B
//! requires  nothing
//! edges     invocations past the end return: any m, n >= 1, any k >= 0

//#slot gemm_dims default product
//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by Naive::build
alias a_unit = f32;
alias b_unit = f32;
alias c_unit = f32;
alias accumulator = f32;
alias sum = f32;
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read> b: array<b_unit>;
@group(0) @binding(2) var<storage, read_write> c: array<c_unit>;

//#slot load x=a default element
//#slot load x=b default element
//#slot multiply_add default f32
//#slot epilogue default none
//#slot save x=c default element

fn element(row: u32, col: u32) -> sum {
    var at_a = matrices.a_offset + row * dims.a_outer;
    var at_b = matrices.b_offset + col * dims.b_outer;
    var total = accumulator();
    for (var p = 0u; p < dims.k; p++) {
        total = multiply_add(load_a(at_a), load_b(at_b), total);
        at_a += dims.a_k;
        at_b += dims.b_k;
    }
    return sum(total); // rounds exact sums of i8 if there is an epilogue
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    if unit >= dims.batches * dims.m * dims.n {
        return;
    }
    enter(unit / (dims.m * dims.n));
    let row = unit / dims.n % dims.m;
    let col = unit % dims.n;
    let value = epilogue(row, col, vec4<sum>(element(row, col), sum(), sum(), sum()));
    save_c(matrices.c_offset + row * dims.ldc + col, value.x);
}
