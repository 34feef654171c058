//! Four entries of a sketch from a word each, along a row: of columns j to j + 3.

//#import entry

fn entries(j: u32, i: u32, seed: vec2<u32>) -> vec4<f32> {
    var four: vec4<f32>;
    //#unroll
    for (var t = 0u; t < 4u; t++) {
        four[t] = entry(philox(vec4<u32>(i / 4u, j + t, 0u, TAG), seed)[i % 4u]);
    }
    return four;
}
