//! A chunk of operand x, of the type of an iteration's sums: X_DEPTH vectors of four elements along its outer axis, consecutive
//! along k. `x_start(outer, extent, k)` returns the place of the chunk at these indices, `x_chunk(at, outer, extent)` the chunk
//! at a place, and `x_ahead(at, outer, extent, k0)` the chunk k0 further along k. Past `extent` of the outer axis the last
//! elements are read again; k and k0 are within k, but a square may extend past its end. `X_AHEAD` says whether `main` loads
//! chunks one iteration ahead.

//#variant memory
// A stored operand x.
const X_AHEAD: bool = true;

// The place of the chunk's first element, clamped to the outer edge.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = extent - select(1u, 4u, X_STAGE == STAGE_VECTOR_OUTER);
    return matrices.x_offset + min(outer, last) * dims.x_outer + k_in_segment(k) * dims.x_k;
}

// The chunk at `at`. A square is four vectors along k, of consecutive places of the outer axis, and is transposed. A vector may
// extend past the end of the operand: windows contain whole vectors.
fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    var elements: x_elements;
    if X_STAGE == STAGE_VECTOR_OUTER {
        elements[0] = vec4<iteration_sum>(vec4<f32>(load_x(at)));
        return elements;
    }
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    let v0 = vec4<iteration_sum>(vec4<f32>(load_x(at)));
    let v1 = vec4<iteration_sum>(vec4<f32>(load_x(at + min(1u, beyond) * dims.x_outer)));
    let v2 = vec4<iteration_sum>(vec4<f32>(load_x(at + min(2u, beyond) * dims.x_outer)));
    let v3 = vec4<iteration_sum>(vec4<f32>(load_x(at + min(3u, beyond) * dims.x_outer)));
    let square = transpose(mat4x4<iteration_sum>(v0, v1, v2, v3));
    //#unroll
    for (var j = 0u; j < X_DEPTH; j++) {
        elements[j] = square[j];
    }
    return elements;
}

// The chunk k0 further along k than the one at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0 * dims.x_k, outer, extent);
}

//#variant generated
// A generated operand x: its entries are computed from a seed while they are staged. Only the table of the normal distribution
// is stored. A place is the index along k, not an address.
//#import philox
//#slot seed default number
//#slot entries default words

const X_AHEAD: bool = false; // there is no load to wait for

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    return x_elements(vec4<iteration_sum>(entries(outer, at, seed())));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}

fn table(i: u32) -> u32 {
    return x[i];
}

//#variant sign_half
// Operand B with a sign half: vectors of four elements along its outer axis. Each element is loaded or generated, depending on
// its half. A place is the index along k, not an address.
//#import sign_half

const X_AHEAD: bool = false; // there is no load to wait for

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    var elements: vec4<f32>;
    // NOTE: unrolled, this would repeat the code of the signs four times. Elements are shifted in one by one, because an
    // index that is not a literal would move them out of registers.
    for (var e = 0u; e < 4u; e++) {
        elements = vec4<f32>(elements.yzw, sign_half_b(min(outer + e, extent - 1u), at));
    }
    return x_elements(vec4<iteration_sum>(elements));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}

//#variant products
// Operand A of a layer's product: while staging, the products of blades are summed. They are never stored in device memory.
// Past the outer edge the last elements are generated again. A place is the index along the segment, not an address.
//#slot product_terms_of_a default plain
//#slot load x=y default element

const X_AHEAD: bool = false; // other workgroups hide the latency of its loads

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k_in_segment(k);
}

// Elements of the left factor at four places, which are consecutive if it is loaded in vectors.
fn four_a(at: vec4<u32>) -> vec4<f32> {
    if A_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_a(at.x));
    }
    let first = vec2<f32>(vec4<f32>(load_a(at.x)).x, vec4<f32>(load_a(at.y)).x);
    return vec4<f32>(first, vec4<f32>(load_a(at.z)).x, vec4<f32>(load_a(at.w)).x);
}

// The same for the right factor.
fn four_y(at: vec4<u32>) -> vec4<f32> {
    if A_STAGE == STAGE_VECTOR_OUTER {
        return vec4<f32>(load_y(at.x));
    }
    let first = vec2<f32>(vec4<f32>(load_y(at.x)).x, vec4<f32>(load_y(at.y)).x);
    return vec4<f32>(first, vec4<f32>(load_y(at.z)).x, vec4<f32>(load_y(at.w)).x);
}

// Four elements along the outer axis.
fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
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
    return x_elements(vec4<iteration_sum>(elements * gates_at(outers, vec4<u32>(at))));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}

//#variant windows
// Operand A whose rows are windows of an image: elements, or squares of vectors of four channels. A place is the index along k,
// not an address.
//#param  set by windows::bind_tiled
const X_AHEAD: bool = true;
//#end

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

// One element of the window that is this row, or four.
fn window_values(row: u32, element: WindowElement) -> vec4<iteration_sum> {
    let place = window_place(row, element);
    return vec4<iteration_sum>(select(vec4<f32>(), vec4<f32>(load_x(place.at)), place.is_inside));
}

fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    let element = window_element(at);
    let v0 = window_values(outer, element);
    let v1 = window_values(outer + 1u, element);
    let v2 = window_values(outer + 2u, element);
    let v3 = window_values(outer + 3u, element);
    let square = transpose(mat4x4<iteration_sum>(v0, v1, v2, v3));
    var elements: x_elements;
    //#unroll
    for (var j = 0u; j < X_DEPTH; j++) {
        elements[j] = square[j];
    }
    return elements;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}

//#variant taps
// Operand B whose rows are taps and channels of windows: elements, or vectors of four along its outer axis. A place is the index
// along k, not an address.
//#param  set by windows::bind_tiled
const X_AHEAD: bool = true;
//#end

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    let row = tap_row(at);
    if X_STAGE == STAGE_VECTOR_OUTER {
        return x_elements(vec4<iteration_sum>(vec4<f32>(load_x(row + min(outer, extent - 4u)))));
    }
    let places = row + min(outer + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u)) * dims.x_outer;
    let first = vec2<f32>(vec4<f32>(load_x(places.x)).x, vec4<f32>(load_x(places.y)).x);
    let elements = vec4<f32>(first, vec4<f32>(load_x(places.z)).x, vec4<f32>(load_x(places.w)).x);
    return x_elements(vec4<iteration_sum>(elements));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}

//#variant window_rows
// Operand B whose rows are windows of an image: elements, or vectors of four channels. A place is the index along k, not an
// address. Past the outer edge the last elements are read again, or those of a tap that is clamped to the image.
//#param  set by windows::bind_tiled
const X_AHEAD: bool = true;
//#end

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

// One element of a window, or four.
fn row_values(window: Window, element: WindowElement) -> vec4<f32> {
    let place = row_place(window, element);
    return select(vec4<f32>(), vec4<f32>(load_x(place.at)), place.is_inside);
}

fn x_chunk(at: u32, outer: u32, extent: u32) -> x_elements {
    let window = window_row(at);
    if X_STAGE == STAGE_VECTOR_OUTER {
        return x_elements(vec4<iteration_sum>(row_values(window, window_element(min(outer, extent - 4u)))));
    }
    var element = window_element(min(outer, extent - 1u));
    var elements: vec4<f32>;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements[e] = row_values(window, element).x;
        element = next_window_element(element);
    }
    return x_elements(vec4<iteration_sum>(elements));
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> x_elements {
    return x_chunk(at + k0, outer, extent);
}
