//! What the device reaches at best: multiply-adds that touch no memory, and a copy that does nothing else.

/// iterations: iterations of the loop; one: 1.0, a value that the compiler cannot know.
struct Params {
    iterations: u32,
    one: f32,
}

@group(0) @binding(0) var<storage, read> params: Params;
@group(0) @binding(1) var<storage, read> source: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<f32>>;

/// 16 multiply-adds of vec4 per iteration, on 16 sums that do not depend on one another. All differ, so that a compiler cannot
/// compute one of them for several.
@compute @workgroup_size(64)
fn multiply_add(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = vec4(params.one);
    let y = (vec4(f32(id.x)) + vec4(0.0, 1.0, 2.0, 3.0)) * 1e-6;
    var a = y;
    var b = y + 1.0;
    var c = y + 2.0;
    var d = y + 3.0;
    for (var iteration = 0u; iteration < params.iterations; iteration++) {
        a = fma(a, x, y); b = fma(b, x, y); c = fma(c, x, y); d = fma(d, x, y);
        a = fma(a, x, y); b = fma(b, x, y); c = fma(c, x, y); d = fma(d, x, y);
        a = fma(a, x, y); b = fma(b, x, y); c = fma(c, x, y); d = fma(d, x, y);
        a = fma(a, x, y); b = fma(b, x, y); c = fma(c, x, y); d = fma(d, x, y);
    }
    result[id.x] = (a + b) + (c + d);
}

/// Every invocation moves one vec4.
@compute @workgroup_size(64)
fn copy(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * 64u + id.x;
    if i < arrayLength(&source) {
        result[i] = source[i];
    }
}
