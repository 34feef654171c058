//! Operand A as sums of products of blades. The left factor has A's binding, the right factor y the binding after the table of
//! terms. A term holds the blades of both factors, 8 bits each, and in the highest bit whether it is subtracted. Sums are
//! multiplied by gates: `gates_at(outer, k)` returns those at four places of a plane.

//#param  set by Segments::bind
alias y_unit = f32;
//#end

@group(0) @binding(4) var<storage, read> y: array<y_unit>;

// The offsets of a term's blades in the left and in the right factor.
fn a_blade(term: u32) -> u32 {
    return (term & 255u) * dims.a_plane;
}

fn y_blade(term: u32) -> u32 {
    return ((term >> 8u) & 255u) * dims.y_plane;
}

fn term_sign(term: u32) -> f32 {
    return select(1.0, -1.0, (term >> 31u) == 1u);
}

//#variant plain
// No gates.
fn gates_at(outer: vec4<u32>, k: vec4<u32>) -> vec4<f32> {
    return vec4<f32>(1.0);
}

//#variant gated
// The gates of a plane.
@group(0) @binding(5) var<storage, read> gates: array<f32>;

fn gates_at(outer: vec4<u32>, k: vec4<u32>) -> vec4<f32> {
    let at = outer * dims.gates_outer + k * dims.gates_k;
    return vec4<f32>(gates[at.x], gates[at.y], gates[at.z], gates[at.w]);
}
