//! Eight elements of operand x along an axis, a `Unit`. `x_start(outer, extent, k)` returns the place of the unit at these
//! indices, `x_ahead(at, outer, extent, k0)` the unit k0 further along k, and `edge_x(outer, extent, k)` the unit at these
//! indices with zeros past the end of k. Past `extent` of the outer axis, elements may have any value. `X_AHEAD` says whether
//! `main` loads units one iteration ahead.

//#variant units
// Units of operand x from memory, 16 bytes per load. Past the outer edge the last unit or row is read again. It never
// contributes to a stored sum, so blocks at the edge run the same loop as others.
const X_AHEAD: bool = true;

// The place of the unit at these indices, in units.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    let last = (extent - 1u) / 8u * 8u * X_OUTER + (extent - 1u) * (1u - X_OUTER);
    return (matrices.x_offset + min(outer, last) * dims.x_outer + k_in_segment(k) * dims.x_k) / 8u;
}

// The unit k0 further along k than the one at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    return x[at + k0 * dims.x_k / 8u];
}

// The unit at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    let places = vec4<u32>(0u, 1u, 2u, 3u);
    let elements = x[x_start(outer, extent, k)];
    let count = vec4<u32>((matrices.k_end - k) * (1u - X_OUTER) + 8u * X_OUTER);
    return Unit(
        select(vec4<f16>(), elements.x, places < count),
        select(vec4<f16>(), elements.y, places + 4u < count),
    );
}

//#variant elements
// Units of operand x from memory, element by element: any strides and offset. Past the outer edge the last element is read
// again, which never contributes to a stored sum.
const X_AHEAD: bool = true;

// The place of the unit's first element, clamped to the outer edge.
fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return matrices.x_offset + min(outer, extent - 1u) * dims.x_outer + k_in_segment(k) * dims.x_k;
}

// The unit k0 further along k than the one at `at`.
fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let first = at + k0 * dims.x_k;
    let beyond = extent - 1u - min(outer, extent - 1u); // elements to the outer edge
    var elements: Unit;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = x[first + min(e, beyond) * dims.x_outer * X_OUTER + e * dims.x_k * (1u - X_OUTER)];
        elements.y[e] =
            x[first + min(e + 4u, beyond) * dims.x_outer * X_OUTER + (e + 4u) * dims.x_k * (1u - X_OUTER)];
    }
    return elements;
}

fn x_element(outer: u32, extent: u32, k: u32) -> f16 {
    if k >= matrices.k_end {
        return 0h;
    }
    return x[x_start(outer, extent, k)];
}

// The unit at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    var elements: Unit;
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = x_element(outer + e * X_OUTER, extent, k + e * (1u - X_OUTER));
        elements.y[e] = x_element(outer + (e + 4u) * X_OUTER, extent, k + (e + 4u) * (1u - X_OUTER));
    }
    return elements;
}

//#variant sign_half
// Units of operand B with a sign half: each element is loaded or generated, depending on its half. Past the outer edge the
// last element is used again, which never contributes to a stored sum. A place is the index along k, not an address.
//#import sign_half

fn load_x(at: u32) -> f16 {
    return b[at];
}

const X_AHEAD: bool = false; // there is no load to wait for

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    return edge_x(outer, extent, at + k0);
}

fn x_element(outer: u32, extent: u32, k: u32) -> f16 {
    if k >= matrices.k_end {
        return 0h;
    }
    return sign_half_b(min(outer, extent - 1u), k);
}

// The unit at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    var elements: Unit;
    // NOTE: unrolled, this would repeat the code of the signs eight times. Elements are shifted in one by one, because an
    // index that is not a literal would move them out of registers.
    for (var e = 0u; e < 8u; e++) {
        let element = x_element(outer + e * B_OUTER, extent, k + e * (1u - B_OUTER));
        elements = Unit(vec4<f16>(elements.x.yzw, elements.y.x), vec4<f16>(elements.y.yzw, element));
    }
    return elements;
}

//#variant products
// Units of operand A of a layer's product: while staging, the products of blades are summed in f32. They are never stored in
// device memory. Past the outer edge the last elements are generated again.
//#slot product_terms_of_a default plain

struct Eight {
    low: vec4<f32>,
    high: vec4<f32>,
}

//#slot load_eight x=a default places
//#slot load_eight x=y default places

const X_AHEAD: bool = false; // other workgroups hide the latency of its loads

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    return edge_x(outer, extent, at + k0);
}

// The unit at these indices, with zeros past the end of the segment.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    let steps = array<vec4<u32>, 2>(vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(4u, 5u, 6u, 7u));
    let last_k = dims.segment_length - 1u;
    // NOTE: with units only the first place is used, and elements past the edge are part of the last unit.
    let last = select(extent - 1u, (extent - 1u) / 8u * 8u, A_OUTER == 1u);
    let first = min(outer, last);
    let outer_low = min(first + steps[0] * A_OUTER, vec4<u32>(extent - 1u));
    let outer_high = min(first + steps[1] * A_OUTER, vec4<u32>(extent - 1u));
    let k_low = min(k_in_segment(k) + steps[0] * (1u - A_OUTER), vec4<u32>(last_k));
    let k_high = min(k_in_segment(k) + steps[1] * (1u - A_OUTER), vec4<u32>(last_k));
    let a_low = dims.a_offset + outer_low * dims.a_outer + k_low * dims.a_k;
    let a_high = dims.a_offset + outer_high * dims.a_outer + k_high * dims.a_k;
    let y_low = dims.y_offset + outer_low * dims.y_outer + k_low * dims.y_k;
    let y_high = dims.y_offset + outer_high * dims.y_outer + k_high * dims.y_k;
    var low = vec4<f32>();
    var high = vec4<f32>();
    for (var i = segment.terms; i < segment.terms_end; i++) {
        let term = table[i];
        let left = load_eight_a(a_low + a_blade(term), a_high + a_blade(term));
        let right = load_eight_y(y_low + y_blade(term), y_high + y_blade(term));
        low = fma(left.low * term_sign(term), right.low, low);
        high = fma(left.high * term_sign(term), right.high, high);
    }
    low *= gates_at(outer_low, k_low);
    high *= gates_at(outer_high, k_high);
    let count = vec4<u32>((matrices.k_end - k) * (1u - A_OUTER) + 8u * A_OUTER);
    return Unit(
        select(vec4<f16>(), vec4<f16>(low), steps[0] < count),
        select(vec4<f16>(), vec4<f16>(high), steps[1] < count),
    );
}

//#variant window_units
// Units of operand A whose rows are windows of an image: eight channels. A place is the index along k, not an address.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let place = window_place(outer, window_element(at + k0));
    let unit = x[place.at / 8u];
    return Unit(
        select(vec4<f16>(), unit.x, place.is_inside),
        select(vec4<f16>(), unit.y, place.is_inside),
    );
}

// A window consists of whole units.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    return x_ahead(k, outer, extent, 0u);
}

//#variant window_elements
// The same element by element, of any number of channels.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn window_value(row: u32, element: WindowElement) -> f16 {
    let place = window_place(row, element);
    return select(0h, x[place.at], place.is_inside);
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    var element = window_element(at + k0);
    var elements: Unit;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = window_value(outer, element);
        element = next_window_element(element);
    }
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.y[e] = window_value(outer, element);
        element = next_window_element(element);
    }
    return elements;
}

// The unit at these indices, with zeros past the end of k.
fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    let places = vec4<u32>(0u, 1u, 2u, 3u);
    let elements = x_ahead(k, outer, extent, 0u);
    let count = vec4<u32>(matrices.k_end - k);
    return Unit(
        select(vec4<f16>(), elements.x, places < count),
        select(vec4<f16>(), elements.y, places + 4u < count),
    );
}

//#variant tap_units
// Units of operand B along its outer axis, whose rows are taps and channels of windows. A place is the index along k, not an address.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    return x[(tap_row(at + k0) + min(outer, (extent - 1u) / 8u * 8u)) / 8u];
}

fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    return x_ahead(k, outer, extent, 0u);
}

//#variant tap_elements
// The same element by element.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let row = tap_row(at + k0);
    var elements: Unit;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = x[row + min(outer + e, extent - 1u) * dims.x_outer];
        elements.y[e] = x[row + min(outer + e + 4u, extent - 1u) * dims.x_outer];
    }
    return elements;
}

fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    return x_ahead(k, outer, extent, 0u);
}

//#variant window_row_units
// Units of operand B whose rows are windows of an image: eight channels. A place is the index along k, not an address.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let place = row_place(window_row(at + k0), window_element(min(outer, extent - 8u)));
    let unit = x[place.at / 8u];
    return Unit(
        select(vec4<f16>(), unit.x, place.is_inside),
        select(vec4<f16>(), unit.y, place.is_inside),
    );
}

fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    return x_ahead(k, outer, extent, 0u);
}

//#variant window_row_elements
// The same element by element, of any number of channels. Past the outer edge, taps are clamped to the image.
const X_AHEAD: bool = true;

fn x_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn row_value(window: Window, element: WindowElement) -> f16 {
    let place = row_place(window, element);
    return select(0h, x[place.at], place.is_inside);
}

fn x_ahead(at: u32, outer: u32, extent: u32, k0: u32) -> Unit {
    let window = window_row(at + k0);
    var element = window_element(min(outer, extent - 1u));
    var elements: Unit;
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.x[e] = row_value(window, element);
        element = next_window_element(element);
    }
    //#unroll
    for (var e = 0u; e < 4u; e++) {
        elements.y[e] = row_value(window, element);
        element = next_window_element(element);
    }
    return elements;
}

fn edge_x(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    return x_ahead(k, outer, extent, 0u);
}
