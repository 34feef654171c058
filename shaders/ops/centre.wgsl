//! The mean of values that may be far from 0, as one of them and a distance from it, which loses nothing to a mean that is large
//! compared with the deviation. It is subtracted in two parts.

// The element of a row from whose first four, or fewer, distances are taken: the nearest to 0, which is no outlier.
fn origin_of(v: vec4<f32>, left: u32) -> f32 {
    if left < 4u {
        return v.x;
    }
    let first = select(v.x, v.y, abs(v.y) < abs(v.x));
    let second = select(v.z, v.w, abs(v.w) < abs(v.z));
    return select(first, second, abs(second) < abs(first));
}

// The parts of the mean `origin + off`. The sum is one part if it is nearer to 0 than `off` is: it then loses less.
fn centre_of(origin: f32, off: f32) -> vec2<f32> {
    let mean = origin + off;
    return select(vec2<f32>(mean, 0.0), vec2<f32>(origin, off), abs(off) < abs(mean));
}
