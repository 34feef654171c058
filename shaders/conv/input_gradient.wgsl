//! The gradient of a convolution's images, which is also a transposed convolution: f32 sums over the taps that read a pixel, and no others.
//!
//! shapes    G (batch, rows, columns, outputs), weight (outputs, kernel rows, kernel columns, channels of a group), any strides; bias (channels) -> GX (batch, rows, columns, channels), without gaps from the start of its binding
//! grid      one invocation per four channels of COLUMNS pixels, which are a stride apart, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     taps beyond G read a pixel of it and count as 0; pixels and channels past the end are not stored: any extents >= 1

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by ConvBackward::kernel
const LANES: u32 = 64u;
const COLUMNS: u32 = 4u; // pixels of an invocation
//#end
const QUADS: u32 = 1u; // groups of four channels of an invocation
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

//#generated operands
// The operands. Plans generate what the slot `gradient_taps` uses.
//
//     fn load_grad(at: u32) -> f32
//     fn grad_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn load_weight(at: u32) -> f32
//     fn weight_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn bias_of(group: u32) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#slot gradient_taps default elements

// The first tap that reads an index of the padded image, or the number of taps if none does. Those of every `step` taps from it
// on read the index, too.
fn first_tap(padded: u32, taps: u32, step: u32, dilation: u32, stride: u32) -> u32 {
    for (var tap = 0u; tap < min(taps, step); tap++) {
        if tap * dilation % stride == padded % stride {
            return tap;
        }
    }
    return taps;
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let unit = block_index(workgroup, grid) * LANES + local.x;
    let groups = (dims.channels + 3u) / 4u;
    // Columns that differ in their taps, and for each of them invocations in a row.
    let phases = min(dims.stride.y, dims.input.y);
    let across = ((dims.input.y + dims.stride.y - 1u) / dims.stride.y + COLUMNS - 1u) / COLUMNS;
    let tile = unit / groups;
    let line = tile / (across * phases);
    let image = line / dims.input.x;
    if image >= dims.batch {
        return;
    }
    let group = unit - tile * groups;
    let row = line - image * dims.input.x;
    let in_row = tile - line * (across * phases);
    let first_column = in_row % phases + in_row / phases * COLUMNS * dims.stride.y;
    let outputs = first_outputs(group);
    let image_base = dims.grad.x + image * dims.grad.y;
    let padded_row = row + dims.before.x;
    let padded_column = first_column + dims.before.y;
    let first_down = first_tap(padded_row, dims.taps.x, dims.step.x, dims.dilation.x, dims.stride.x);
    let first_across = first_tap(padded_column, dims.taps.y, dims.step.y, dims.dilation.y, dims.stride.y);
    var sums: array<vec4<f32>, COLUMNS>;
    for (var r = first_down; r < dims.taps.x; r += dims.step.x) {
        let p = (i32(padded_row) - i32(r * dims.dilation.x)) / i32(dims.stride.x);
        if p >= 0 && p < i32(dims.output.x) {
            for (var s = first_across; s < dims.taps.y; s += dims.step.y) {
                let first = (i32(padded_column) - i32(s * dims.dilation.y)) / i32(dims.stride.y);
                for (var c = 0u; c < dims.group_outputs; c += STEP) {
                    let weights = weights_of(group, outputs, dims.weight.x + r * dims.weight.z + s * dims.weight.w, c);
                    //#unroll
                    for (var t = 0u; t < COLUMNS; t++) {
                        let q = first + i32(t);
                        let at = u32(clamp(q, 0, i32(dims.output.y) - 1));
                        let value = value_of(image_base + u32(p) * dims.grad.z + at * dims.grad.w, outputs, c);
                        sums[t] += select(vec4<f32>(0.0), weights * value, q == i32(at));
                    }
                }
            }
        }
    }
    let bias = bias_of(group);
    //#unroll
    for (var t = 0u; t < COLUMNS; t++) {
        let column = first_column + t * dims.stride.y;
        if column < dims.input.y {
            let pixel = (image * dims.input.x + row) * dims.input.y + column;
            store_y(pixel * dims.channels, group, dims.channels - 4u * group, array<vec4<f32>, QUADS>(sums[t] + bias));
        }
    }
}
