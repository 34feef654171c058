//! Packs two elements as f16 where shaders know no f16. The built-in promises nothing for what f16 cannot hold
//! (SwiftShader makes NaN of it): overflow is infinity here, as where there is f16.

fn pack_pair(v: vec2<f32>) -> u32 {
    let bits = bitcast<vec2<u32>>(v);
    let magnitude = bits & vec2<u32>(0x7fffffffu);
    let finite = pack2x16float(clamp(v, vec2<f32>(-65504.0), vec2<f32>(65504.0)));
    let infinite_or_nan = select(vec2<u32>(0x7c00u), vec2<u32>(0x7e00u), magnitude > vec2<u32>(0x7f800000u));
    let special = ((bits >> vec2<u32>(16u)) & vec2<u32>(0x8000u)) | infinite_or_nan;
    // 65520 is the middle between the largest f16 and what would be the next.
    let half = select(vec2<u32>(finite & 0xffffu, finite >> 16u), special, magnitude >= vec2<u32>(0x477ff000u));
    return half.x | (half.y << 16u);
}
