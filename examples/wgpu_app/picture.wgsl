// The picture: each pixel has the colour that the network gave it.

struct Frame {
    size: vec2<u32>,
    turn: vec2<f32>,
    phase: vec4<f32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> colours: array<f32>;

@vertex
fn vertex(@builtin(vertex_index) corner: u32) -> @builtin(position) vec4<f32> {
    // A triangle over the whole picture.
    return vec4<f32>(f32(corner & 1u) * 4.0 - 1.0, f32(corner >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn fragment(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let pixel = vec2<u32>(at.xy);
    let index = 3u * (pixel.y * frame.size.x + pixel.x);
    let colour = vec3<f32>(colours[index], colours[index + 1u], colours[index + 2u]);
    // Whole steps of a byte, so that storing the picture rounds nothing.
    return vec4<f32>(floor(255.0 * colour + 0.5) / 255.0, 1.0);
}
