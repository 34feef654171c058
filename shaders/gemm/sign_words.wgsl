//! The words of a sketch's signs. Four words hold the signs of four rows in 32 columns; a lane caches the last words.

var<private> signs_at: vec2<u32> = vec2<u32>(0xffffffffu);
var<private> signs: vec4<u32>;

// The words of the four rows that contain i, in the 32 columns that contain j.
fn sign_words(i: u32, j: u32, seed: vec2<u32>) -> vec4<u32> {
    let at = vec2<u32>(i / 4u, j / 32u);
    if any(at != signs_at) {
        signs_at = at;
        signs = philox(vec4<u32>(at, 0u, TAG), seed);
    }
    return signs;
}
