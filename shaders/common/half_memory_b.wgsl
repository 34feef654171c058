//! Operand B, half of which is signs, in place of `memory_x`: vectors of four elements along its outer axis, each element
//! from the half that it lies in. Its index along k takes the place of an address.

//#import half_b

fn b_start(outer: u32, extent: u32, k: u32) -> u32 {
    return k;
}

fn b_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    var elements: vec4<f32>;
    // NOTE: written out, this would be the code of the signs' words four times. Elements move up one by one, since an
    // index that is no literal would take them out of registers.
    for (var e = 0u; e < 4u; e++) {
        elements = vec4<f32>(elements.yzw, half_b(min(outer + e, extent - 1u), at));
    }
    return elements;
}
