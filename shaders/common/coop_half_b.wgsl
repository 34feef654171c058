//! Units of operand B, half of which is signs, in place of `coop_load_x`: each element from the half that it lies in. Past
//! the outer edge the last element is read again, which no sum that is stored has a part in. The index along k takes
//! the place of an address.

//#import half_b

fn load_b(at: u32) -> f16 {
    return b[at];
}

fn b_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn b_element(outer: u32, extent: u32, k: u32) -> f16 {
    if k >= matrices.k_end {
        return 0h;
    }
    return half_b(min(outer, extent - 1u), k);
}

// The unit from these indices on, zero past the end of k.
fn edge_b(outer: u32, extent: u32, k: u32) -> Unit {
    var elements: Unit;
    // NOTE: written out, this would be the code of the signs' words eight times. Elements move up one by one, since an
    // index that is no literal would take them out of registers.
    for (var e = 0u; e < 8u; e++) {
        let element = b_element(outer + e * B_OUTER, extent, k + e * (1u - B_OUTER));
        elements = Unit(vec4<f16>(elements.x.yzw, elements.y.x), vec4<f16>(elements.y.yzw, element));
    }
    return elements;
}
