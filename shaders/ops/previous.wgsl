//! The first `count` of four elements of C, `stride` apart, before the addition: `previous(at, stride, count)`.

//#variant none
// They count as 0.
fn previous(at: u32, stride: u32, count: u32) -> vec4<sum> {
    return vec4<sum>();
}

//#variant added
// What C has.
//#slot load x=c default element
//#slot load_quad x=c default reals

fn previous(at: u32, stride: u32, count: u32) -> vec4<sum> {
    return load_quad_c(at, stride, count);
}
