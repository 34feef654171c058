//! Counter-based random words: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). `layout/random/philox.rs` computes the same.

// The upper word of a product.
fn mul_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

fn philox(counter: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
    var c = counter;
    var key = seed;
    //#unroll
    for (var round = 0u; round < 10u; round++) {
        let high = vec2<u32>(mul_high(c.x, 0xd2511f53u), mul_high(c.z, 0xcd9e8d57u));
        c = vec4<u32>(high.y ^ c.y ^ key.x, c.z * 0xcd9e8d57u, high.x ^ c.w ^ key.y, c.x * 0xd2511f53u); // wraps: Philox
        key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u); // wraps: Philox
    }
    return c;
}
