//! Four entries of a sketch from a word each, down a column: of rows i to i + 3, where i is a multiple of four.

//#import entry

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    let words = philox(vec4<u32>(i / 4u, j, 0u, TAG), seed);
    return vec4<f32>(entry(words.x), entry(words.y), entry(words.z), entry(words.w));
}
