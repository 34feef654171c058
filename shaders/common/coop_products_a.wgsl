//! Units of operand A of a layer's product, in place of `coop_load_x`: products of blades are summed in f32 where they are staged,
//! and never lie in device memory. Past the outer edge the last elements are made again.

//#import product_terms_of_a
//#import product_eights

// The unit from these indices on, zero past the end of the segment.
fn edge_a(outer: u32, extent: u32, k: u32) -> Unit {
    if k >= matrices.k_end {
        return Unit();
    }
    let steps = array<vec4<u32>, 2>(vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>(4u, 5u, 6u, 7u));
    let last_k = dims.bias_col - 1u;
    // NOTE: by units no more than the first place counts, and what lies past the edge is part of the last unit.
    let last = select(extent - 1u, (extent - 1u) / 8u * 8u, A_OUTER == 1u);
    let first = min(outer, last);
    let outer_low = min(first + steps[0] * A_OUTER, vec4<u32>(extent - 1u));
    let outer_high = min(first + steps[1] * A_OUTER, vec4<u32>(extent - 1u));
    let k_low = min(of_segment(k) + steps[0] * (1u - A_OUTER), vec4<u32>(last_k));
    let k_high = min(of_segment(k) + steps[1] * (1u - A_OUTER), vec4<u32>(last_k));
    let a_low = dims.a_offset + outer_low * dims.a_outer + k_low * dims.a_k;
    let a_high = dims.a_offset + outer_high * dims.a_outer + k_high * dims.a_k;
    let y_low = dims.residual_offset + outer_low * dims.residual_row + k_low * dims.residual_col;
    let y_high = dims.residual_offset + outer_high * dims.residual_row + k_high * dims.residual_col;
    var low = vec4<f32>();
    var high = vec4<f32>();
    for (var i = segment.terms; i < segment.terms_end; i++) {
        let term = table[i];
        let left = eight_a(a_low + a_blade(term), a_high + a_blade(term));
        let right = eight_y(y_low + y_blade(term), y_high + y_blade(term));
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
