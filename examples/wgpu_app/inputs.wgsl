// The network's inputs, for each pixel: where it is on a plane that turns with time, and the time.

struct Frame {
    size: vec2<u32>,
    turn: vec2<f32>,  // cosine and sine of the plane's angle
    phase: vec4<f32>, // the time: cosines and sines
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read_write> inputs: array<vec4<u32>>;

override is_f16: bool;
override zoom: f32;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) pixel: vec3<u32>) {
    if any(pixel.xy >= frame.size) {
        return;
    }
    let size = vec2<f32>(frame.size);
    let plane = zoom * (2.0 * vec2<f32>(pixel.xy) + 1.0 - size) / size.y;
    let x = frame.turn.x * plane.x - frame.turn.y * plane.y;
    let y = frame.turn.y * plane.x + frame.turn.x * plane.y;
    let at = vec4<f32>(x, y, sqrt(x * x + y * y), 0.4 * (x * x - y * y));
    let index = pixel.y * frame.size.x + pixel.x;
    if is_f16 {
        inputs[index] = vec4<u32>(
            pack2x16float(at.xy),
            pack2x16float(at.zw),
            pack2x16float(frame.phase.xy),
            pack2x16float(frame.phase.zw),
        );
    } else {
        inputs[2u * index] = bitcast<vec4<u32>>(at);
        inputs[2u * index + 1u] = bitcast<vec4<u32>>(frame.phase);
    }
}
