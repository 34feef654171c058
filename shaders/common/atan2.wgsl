//! The angle of four points (x, y), within 8 ulp of its definition; zeros and infinities have the angles that IEEE 754 gives them.
//#import math

fn atan2_of(y: vec4<f32>, x: vec4<f32>) -> vec4<f32> {
    // The angle to the nearer axis is atan(a / b) in the first octant.
    let x_bits = bitcast<vec4<u32>>(x);
    let y_bits = bitcast<vec4<u32>>(y);
    let x_size = x_bits & vec4<u32>(0x7fffffffu);
    let y_size = y_bits & vec4<u32>(0x7fffffffu);
    let is_steep = y_size > x_size;
    let least = min(x_size, y_size);
    let most = max(x_size, y_size);
    // Scaled, so that nothing overflows, and that a and b are normal numbers: below 2^-125 bits are multiples of 2^-149.
    var scale = select(vec4<f32>(1.0), vec4<f32>(0.0625), most > vec4<u32>(0x7d800000u)); // 2^124
    scale = select(scale, vec4<f32>(1.8446744e19), most < vec4<u32>(0x5d800000u)); // 2^64 below 2^60
    let unit = 2.5849394e-26; // 2^-85
    let limit = vec4<u32>(0x1000000u);
    let is_lifted = (least < limit) & (most < vec4<u32>(0x5d800000u));
    var a = select(bitcast<vec4<f32>>(least) * scale, vec4<f32>(least) * unit, is_lifted);
    var b = select(bitcast<vec4<f32>>(most) * scale, vec4<f32>(most) * unit, most < limit);
    // Two infinities are at the same distance; otherwise one is an axis, as is what two zeros have.
    let is_infinite = most == vec4<u32>(0x7f800000u);
    let is_axis = ((least != most) & is_infinite) | (most == vec4<u32>(0u));
    a = select(a, vec4<f32>(1.0), is_infinite);
    b = select(b, vec4<f32>(1.0), is_infinite | is_axis);
    a = select(a, vec4<f32>(0.0), is_axis);
    // Beyond pi / 8, it is pi / 4 + atan((a - b) / (a + b)).
    let is_far = a > 0.414213562 * b;
    let q = select(a, a - b, is_far) / select(b, a + b, is_far);
    let square = q * q;
    var p = vec4<f32>(8.05374449e-2);
    p = fma(p, square, vec4<f32>(-0.138776856));
    p = fma(p, square, vec4<f32>(0.199777106));
    p = fma(p, square, vec4<f32>(-0.333329492));
    var angle = fma(p, square * q, q);
    angle = select(angle, 0.785398163 + angle, is_far);
    angle = select(angle, 1.57079633 - angle, is_steep);
    angle = select(angle, 3.14159265 - angle, (x_bits & vec4<u32>(0x80000000u)) != vec4<u32>(0u));
    let signed = bitcast<vec4<f32>>(bitcast<vec4<u32>>(angle) | (y_bits & vec4<u32>(0x80000000u)));
    return keep_nan(x, keep_nan(y, signed));
}
