//! Four signs of a sketch, along a row: of columns j to j + 3, where j is a multiple of four.

//#import sign_words

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    let word = sign_words(i, j, seed)[i % 4u];
    let bits = vec4<u32>(word) >> (vec4<u32>(j % 32u) + vec4<u32>(0u, 1u, 2u, 3u));
    return 1.0 - 2.0 * vec4<f32>(bits & vec4<u32>(1u));
}
