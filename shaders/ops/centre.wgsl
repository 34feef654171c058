//! The mean of values that may be far from 0, as one of them plus a distance from it. This stays accurate if the mean is large
//! compared with the deviation. It is subtracted in two parts.

// The element from which distances are taken: the nearest to 0 of the row's first four (or fewer) elements, which is no
// outlier.
fn origin_of(v: vec4<f32>, left: u32) -> f32 {
    if left < 4u {
        return v.x;
    }
    let first = select(v.x, v.y, abs(v.y) < abs(v.x));
    let second = select(v.z, v.w, abs(v.w) < abs(v.z));
    return select(first, second, abs(second) < abs(first));
}

// The parts of the mean `origin + off`. If the sum is nearer to 0 than `off`, it is a single part, because its rounding
// error is then smaller.
fn centre_of(origin: f32, off: f32) -> vec2<f32> {
    let mean = origin + off;
    return select(vec2<f32>(mean, 0.0), vec2<f32>(origin, off), abs(off) < abs(mean));
}
