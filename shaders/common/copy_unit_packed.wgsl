//! Copies one pair of f16 elements where shaders know no f16. The half behind an odd end is padding.

fn units() -> u32 {
    return (dims.count + 1u) / 2u;
}

fn copy_unit(unit: u32) {
    let at = 2u * unit;
    var pair = vec2<f32>(element(at), 0.0);
    if at + 1u < dims.count {
        pair.y = element(at + 1u);
    }
    c[unit] = pack_pair(pair);
}
