//! Positions between the elements of an axis: `sample_of(index, sizes, more)` are the two elements next to that of an index of
//! the result. `sizes`: elements, indices of the result, and the distance of two of these as a fraction; `more`: the position of
//! index 0 in the same unit, as a number to add and one to subtract.

// An element, the next one, and the weight of the next one.
struct Sample {
    first: u32,
    second: u32,
    weight: f32,
}

fn sample_of(index: u32, sizes: vec4<u32>, more: vec4<u32>) -> Sample {
    // A position before the first element is the first element.
    let place = max(index * sizes.z + more.x, more.y) - more.y;
    let first = place / sizes.w;
    let is_last = first + 1u >= sizes.x;
    let weight = f32(place - first * sizes.w) / f32(sizes.w);
    return Sample(first, select(first + 1u, first, is_last), select(weight, 0.0, is_last || !LINEAR));
}
