//! Operand A of a layer's product, in place of `memory_x`: products of blades are summed where they are staged, and never
//! lie in device memory. Past the outer edge the last elements are made again. The index along the segment takes the place of an address.

//#import product_terms_of_a
//#import product_fours

fn a_start(outer: u32, extent: u32, k: u32) -> u32 {
    return of_segment(k);
}

// Four elements along the outer axis.
fn a_vector(at: u32, outer: u32, extent: u32) -> vec4<f32> {
    let last = extent - select(1u, 4u, A_STAGE == STAGE_VECTOR_OUTER);
    let outers = min(min(outer, last) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(extent - 1u));
    let a_from = dims.a_offset + outers * dims.a_outer + at * dims.a_k;
    let y_from = dims.residual_offset + outers * dims.residual_row + at * dims.residual_col;
    var elements = vec4<f32>();
    for (var i = segment.terms; i < segment.terms_end; i++) {
        let term = table[i];
        let left = four_a(a_from + a_blade(term)) * term_sign(term);
        elements = fma(left, four_y(y_from + y_blade(term)), elements);
    }
    return elements * gates_at(outers, vec4<u32>(at));
}
