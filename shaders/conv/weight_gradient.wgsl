//! The gradients of a convolution's weights: f32 sums over parts of the rows of Y, which another kernel adds up.
//!
//! shapes    X (batch, rows, columns, channels), G (batch, rows, columns, outputs), any strides -> parts (parts, outputs, kernel rows, kernel columns, channels of a group), f32
//! grid      one invocation per tap, four output channels, and STEP channels that each reads, of a part, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     pixels in the padding add nothing; output channels past the end are not stored: any extents >= 1

//#slot dims default immediate
//#import block
//#import place

//#param  set by ConvBackward::kernel
const LANES: u32 = 64u;
//#end
const QUADS: u32 = 1u; // groups of four channels of an invocation
const WIDTH: u32 = 4u * QUADS;

//#generated operands
// The operands. Plans generate what the slot `channels` uses.
//
//     fn load_x(at: u32) -> f32
//     fn x_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn grad_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     var<storage, read_write> parts: array<f32>;

//#slot channels default elements
//#slot weight_sums default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let unit = block_index(workgroup, grid) * LANES + local.x;
    let steps = dims.group_channels / STEP;
    let groups = (dims.outputs + 3u) / 4u;
    let taps = dims.taps.x * dims.taps.y;
    let step_index = unit / steps;
    let tap_index = step_index / groups;
    let part = tap_index / taps;
    if part >= dims.parts {
        return;
    }
    let c = (unit - step_index * steps) * STEP;
    let group = step_index - tap_index * groups;
    let tap = tap_index - part * taps;
    let r = tap / dims.taps.y;
    let s = tap - r * dims.taps.y;
    let channels = first_channels(group);
    var sums: weight_sums;
    let first = part * dims.rows;
    for (var line = first; line < min(first + dims.rows, dims.batch * dims.output.x); line++) {
        let image = line / dims.output.x;
        let p = line - image * dims.output.x;
        let row = place(p * dims.stride.x + r * dims.dilation.x, dims.before.x, dims.input.x);
        if row.is_inside {
            let x_base = dims.x.x + image * dims.x.y + row.at * dims.x.z;
            let grad_base = dims.grad.x + image * dims.grad.y + p * dims.grad.z;
            for (var q = 0u; q < dims.output.y; q++) {
                let column = place(q * dims.stride.y + s * dims.dilation.y, dims.before.y, dims.input.y);
                if column.is_inside {
                    let value = value_of(x_base + column.at * dims.x.w, channels, c);
                    sums = plus(sums, value, grad_quad(grad_base + q * dims.grad.w, group, dims.outputs));
                }
            }
        }
    }
    store_sums(part * dims.outputs * taps * dims.group_channels, group, tap, c, sums);
}
