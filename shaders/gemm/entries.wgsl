//! Four consecutive entries of a sketch along the outer axis of an operand: `entries(outer, k, seed)`. A normal or uniform
//! number is computed from one random word, a sign from one random bit.

//#param  set by GeneratedOperand::bind
const NORMAL: bool = true; // normal numbers; otherwise uniform
//#end

//#import normal_entry

// A uniform entry of a sketch: the exact midpoint of one of 2^24 intervals of -1..1.
fn uniform_entry(word: u32) -> f32 {
    return f32(i32(word >> 8u) * 2 - 16777215) * 5.9604644775390625e-8; // 2^-24
}

fn entry(word: u32) -> f32 {
    if NORMAL {
        return normal_entry(word);
    }
    return uniform_entry(word);
}

//#variant words
// Four numbers of a column: rows i to i + 3, where i is a multiple of four. They share one call of Philox.
fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    let words = philox(vec4<u32>(i / 4u, j, 0u, TAG), seed);
    return vec4<f32>(entry(words.x), entry(words.y), entry(words.z), entry(words.w));
}

//#variant words_across
// Four numbers of a row: columns j to j + 3. Each needs its own call of Philox.
fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    var four: vec4<f32>;
    //#unroll
    for (var t = 0u; t < 4u; t++) {
        four[t] = entry(philox(vec4<u32>(i / 4u, j + t, 0u, TAG), seed)[i % 4u]);
    }
    return four;
}

//#variant signs
// Four signs of a column: rows i to i + 3, where i is a multiple of four.
//#import sign_words

fn entries(i: u32, j: u32, seed: vec2<u32>) -> vec4<f32> {
    return 1.0 - 2.0 * vec4<f32>((sign_words(i, j, seed) >> vec4<u32>(j % 32u)) & vec4<u32>(1u));
}

//#variant signs_across
// Four signs of a row: columns j to j + 3, where j is a multiple of four.
//#import sign_words

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    let word = sign_words(i, j, seed)[i % 4u];
    let bits = vec4<u32>(word) >> (vec4<u32>(j % 32u) + vec4<u32>(0u, 1u, 2u, 3u));
    return 1.0 - 2.0 * vec4<f32>(bits & vec4<u32>(1u));
}
