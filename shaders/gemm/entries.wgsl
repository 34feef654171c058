//! Four entries of a sketch side by side along the outer axis of an operand: `entries(outer, k, seed)`.

//#variant words
// Four entries of a sketch from a word each, down a column: of rows i to i + 3, where i is a multiple of four.
//#slot entry default normal

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    let words = philox(vec4<u32>(i / 4u, j, 0u, TAG), seed);
    return vec4<f32>(entry(words.x), entry(words.y), entry(words.z), entry(words.w));
}

//#variant words_across
// Four entries of a sketch from a word each, along a row: of columns j to j + 3.
//#slot entry default normal

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    var four: vec4<f32>;
    //#unroll
    for (var t = 0u; t < 4u; t++) {
        four[t] = entry(philox(vec4<u32>(i / 4u, j + t, 0u, TAG), seed)[i % 4u]);
    }
    return four;
}

//#variant signs
// Four signs of a sketch, down a column: of rows i to i + 3, where i is a multiple of four.
//#import sign_words

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    return 1.0 - 2.0 * vec4<f32>((sign_words(i, j, seed) >> vec4<u32>(j % 32u)) & vec4<u32>(1u));
}

//#variant signs_across
// Four signs of a sketch, along a row: of columns j to j + 3, where j is a multiple of four.
//#import sign_words

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    let word = sign_words(i, j, seed)[i % 4u];
    let bits = vec4<u32>(word) >> (vec4<u32>(j % 32u) + vec4<u32>(0u, 1u, 2u, 3u));
    return 1.0 - 2.0 * vec4<f32>(bits & vec4<u32>(1u));
}
