//! The words of a sketch's signs: four of them hold those of four rows in 32 columns, so a lane keeps the last it has made.

var<private> signs_at: vec2<u32> = vec2<u32>(0xffffffffu);
var<private> signs: vec4<u32>;

// Of the rows around i, in the columns around j.
fn sign_words(i: u32, j: u32, seed: vec2<u32>) -> vec4<u32> {
    let at = vec2<u32>(i / 4u, j / 32u);
    if any(at != signs_at) {
        signs_at = at;
        signs = philox(vec4<u32>(at, 0u, TAG), seed);
    }
    return signs;
}
