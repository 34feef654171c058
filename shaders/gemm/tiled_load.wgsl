//! Four elements of operand x along its outer axis, widened: `x_start(outer, extent, k)` says where they lie,
//! `x_vector(at, outer, extent)` are those there, and `x_ahead(at, outer, extent, k0)` those that lie k0 behind them
//! along k. Past `extent` of the outer axis the last are read again; k and k0 are within k. `X_AHEAD` says whether
//! `main` loads them a step ahead.

//#variant memory
// Operand x in device memory: vectors of four elements along its outer axis.
const X_AHEAD: bool = true;

// Where the vector from these indices on lies, in elements: its first, within the outer edge.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = extent - select(1u, 4u, X_STAGE == STAGE_VECTOR_OUTER);
    return matrices.x_offset + min(outer, last) * dims.x_outer + of_segment(k) * dims.x_k;
}

// The vector at `at`, four elements along the outer axis.
fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    if X_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_x(at));
    }
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    return vec4<f32>(
        vec4<f32>(load_x(at)).x,
        vec4<f32>(load_x(at + min(1u, beyond) * dims.x_outer)).x,
        vec4<f32>(load_x(at + min(2u, beyond) * dims.x_outer)).x,
        vec4<f32>(load_x(at + min(3u, beyond) * dims.x_outer)).x,
    );
}

// The one that k0 lies behind the vector at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0 * dims.x_k, outer, extent);
}

//#variant generated
// Operand x of a sketch: its entries are made from a seed where they are staged, and nothing
// of it is in memory but the table of the normal distribution. Its index along k takes the place of an address.
//#import philox
//#slot entries default words

const X_AHEAD: bool = false; // there is no memory to wait for

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    return entries(outer, at, vec2<u32>(dims.seed_low, dims.seed_high));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0, outer, extent);
}

fn table(i: u32) -> u32 {
    return x[i];
}

//#variant sign_half
// Operand B, half of which is signs: vectors of four elements along its outer axis, each
// element from the half that it lies in. Its index along k takes the place of an address.
//#import sign_half

const X_AHEAD: bool = false; // there is no memory to wait for

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    var elements: vec4<f32>;
    // NOTE: written out, this would be the code of the signs' words four times. Elements move up one by one, since an
    // index that is no literal would take them out of registers.
    for (var e = 0u; e < 4u; e++) {
        elements = vec4<f32>(elements.yzw, sign_half_b(min(outer + e, extent - 1u), at));
    }
    return elements;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0, outer, extent);
}

//#variant products
// Operand A of a layer's product: products of blades are summed where they are staged, and
// never lie in device memory. Past the outer edge the last elements are made again. The index along the segment takes
// the place of an address.
//#slot product_terms_of_a default plain
//#slot load x=y default element

const X_AHEAD: bool = false; // other workgroups hide its loads

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return of_segment(k);
}

// Elements of A at four places, side by side where they come by vectors.
fn four_a(at: vec4<u32>) -> vec4<f32> {
    if A_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_a(at.x));
    }
    let first = vec2<f32>(vec4<f32>(load_a(at.x)).x, vec4<f32>(load_a(at.y)).x);
    return vec4<f32>(first, vec4<f32>(load_a(at.z)).x, vec4<f32>(load_a(at.w)).x);
}

// And of the second operand.
fn four_y(at: vec4<u32>) -> vec4<f32> {
    if A_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_y(at.x));
    }
    let first = vec2<f32>(vec4<f32>(load_y(at.x)).x, vec4<f32>(load_y(at.y)).x);
    return vec4<f32>(first, vec4<f32>(load_y(at.z)).x, vec4<f32>(load_y(at.w)).x);
}

// Four elements along the outer axis.
fn x_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    let last = extent - select(1u, 4u, A_STAGE == STAGE_VECTOR_OUTER);
    let outers = min(min(outer, last) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    let a_from = dims.a_offset + outers * dims.a_outer + at * dims.a_k;
    let y_from = dims.y_offset + outers * dims.y_outer + at * dims.y_k;
    var elements = vec4<f32>();
    for (var i = segment.terms; i < segment.terms_end; i++) {
        let term = table[i];
        let left = four_a(a_from + a_blade(term)) * term_sign(term);
        elements = fma(left, four_y(y_from + y_blade(term)), elements);
    }
    return elements * gates_at(outers, vec4<u32>(at));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> vec4<f32> {
    return x_vector(at + k0, outer, extent);
}
