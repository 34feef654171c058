//! The terms of a vector of 16 bytes of a row: `row_term` of the slot `row_terms`, from the quads that `row_quad` loads.

//#param  set by AxisProblem::kernel
const QUADS: u32 = 1u; // of a vector
//#end
const WIDTH: u32 = 4u * QUADS;

fn row_term(start: u32, group: u32, length: u32) -> held {
    var own = held(0);
    //#unroll
    for (var k = 0u; k < QUADS; k++) {
        let is_within = vec4<u32>(0u, 1u, 2u, 3u) + 4u * k < vec4<u32>(length - group * WIDTH);
        let v = select(vec4<element>(), row_quad((start / WIDTH + group) * QUADS + k), is_within);
        let low = joined(term_of(v.x), term_of(v.y));
        own = joined(own, joined(low, joined(term_of(v.z), term_of(v.w))));
    }
    return own;
}
