//! Four signs of a sketch, along a row: of columns j to j + 3, where j is a multiple of four. A word has the signs of a row
//! in 32 columns, and comes with those of its neighbours.

var<private> signs_at: vec2<u32> = vec2<u32>(0xffffffffu);
var<private> signs: vec4<u32>;

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    let at = vec2<u32>(i / 4u, j / 32u);
    if any(at != signs_at) {
        signs_at = at;
        signs = philox(vec4<u32>(at, 0u, TAG), seed);
    }
    let bits = vec4<u32>(signs[i % 4u]) >> (vec4<u32>(j % 32u) + vec4<u32>(0u, 1u, 2u, 3u));
    return 1.0 - 2.0 * vec4<f32>(bits & vec4<u32>(1u));
}
