//! Four signs of a sketch, down a column: of rows i to i + 3, where i is a multiple of four. Four words have the signs of
//! these rows in 32 columns, so they are kept from one step along k to the next.

var<private> signs_at: vec2<u32> = vec2<u32>(0xffffffffu);
var<private> signs: vec4<u32>;

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    let at = vec2<u32>(i / 4u, j / 32u);
    if any(at != signs_at) {
        signs_at = at;
        signs = philox(vec4<u32>(at, 0u, TAG), seed);
    }
    return 1.0 - 2.0 * vec4<f32>((signs >> vec4<u32>(j % 32u)) & vec4<u32>(1u));
}
