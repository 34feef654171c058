//! Which elements are finite: `is_finite(x)`, for eight elements `are_finite(elements)`, and `only_finite(elements)`, with zeros in place of the others.

// Eight f16 elements along a head dim, 16 bytes.
struct Unit {
    x: vec4<f16>,
    y: vec4<f16>,
}

// Compilers may assume that there is no NaN and no infinity, so this tests bits.
fn is_finite(x: vec4<f16>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(vec4<f32>(x)) & vec4<u32>(0x7f800000u)) < vec4<u32>(0x7f800000u);
}

fn are_finite(elements: Unit) -> bool {
    return all(is_finite(elements.x)) && all(is_finite(elements.y));
}

fn only_finite(elements: Unit) -> Unit {
    return Unit(
        select(vec4<f16>(), elements.x, is_finite(elements.x)),
        select(vec4<f16>(), elements.y, is_finite(elements.y)),
    );
}
