//! Four signs of a sketch, down a column: of rows i to i + 3, where i is a multiple of four.

//#import sign_words

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    return 1.0 - 2.0 * vec4<f32>((sign_words(i, j, seed) >> vec4<u32>(j % 32u)) & vec4<u32>(1u));
}
