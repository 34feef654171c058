//! Convolves images that are stored channels last, with f32 sums over the taps and the channels of a group, and applies the epilogue.
//!
//! shapes    X (batch, rows, columns, channels), weight (outputs, kernel rows, kernel columns, channels of a group), any strides; bias, scale and shift (outputs), a residual like the result -> Y (batch, rows, columns, outputs), without gaps from the start of its binding
//! grid      one invocation per four output channels of ROWS x COLUMNS pixels, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     taps in the padding read a pixel of the image and count as 0; pixels and channels past the end are not stored: any extents >= 1

//#slot dims default immediate
//#import block
//#import place
//#slot pack_pair default f16
//#slot activation default none

//#param  set by ConvTile::kernel
const LANES: u32 = 64u;
const ROWS: u32 = 1u; // pixels of an invocation, down
const COLUMNS: u32 = 4u; // and across
const TAPS_DOWN: u32 = 1u; // taps whose weights an invocation holds; others follow in turn
const TAPS_ACROSS: u32 = 1u;
const HOP_DOWN: u32 = 1u; // from one pixel to the next, in rows of X that are read
const HOP_ACROSS: u32 = 1u;
const GAP_DOWN: u32 = 1u; // from one tap to the next
const GAP_ACROSS: u32 = 1u;
//#end
const HIGH: u32 = (ROWS - 1u) * HOP_DOWN + (TAPS_DOWN - 1u) * GAP_DOWN + 1u; // rows of X for these pixels and taps
const WIDE: u32 = (COLUMNS - 1u) * HOP_ACROSS + (TAPS_ACROSS - 1u) * GAP_ACROSS + 1u;
const QUADS: u32 = 1u; // groups of four channels of an invocation
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

// Bias, scale and shift of four output channels.
struct ChannelTerms {
    bias: vec4<f32>,
    scale: vec4<f32>,
    shift: vec4<f32>,
}

//#generated operands
// The operands. Elements of X and the weight are read one by one, or in quads of consecutive channels: `group` counts quads, and
// `length` elements. Plans generate what the slots `channels` and `taps` use.
//
//     fn load_x(at: u32) -> f32
//     fn x_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn load_weight(at: u32) -> f32
//     fn weight_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn terms_of(group: u32) -> ChannelTerms
//     fn finished(image: u32, row: u32, column: u32, group: u32, terms: ChannelTerms, sums: vec4<f32>) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#slot channels default elements
//#slot taps default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let unit = block_index(workgroup, grid) * LANES + local.x;
    let groups = (dims.outputs + 3u) / 4u;
    let across = (dims.output.y + COLUMNS - 1u) / COLUMNS;
    let down = (dims.output.x + ROWS - 1u) / ROWS;
    let tile = unit / groups;
    let line = tile / across;
    let image = line / down;
    if image >= dims.batch {
        return;
    }
    let group = unit - tile * groups;
    let first_row = (line - image * down) * ROWS;
    let first_column = (tile - line * across) * COLUMNS;
    let channels = first_channels(group);
    let image_base = dims.x.x + image * dims.x.y;
    var sums: array<vec4<f32>, ROWS * COLUMNS>;
    for (var r = 0u; r < dims.taps.x; r += TAPS_DOWN) {
        for (var s = 0u; s < dims.taps.y; s += TAPS_ACROSS) {
            for (var c = 0u; c < dims.group_channels; c += STEP) {
                var weights: array<tap_weights, TAPS_DOWN * TAPS_ACROSS>;
                //#unroll
                for (var k = 0u; k < TAPS_DOWN; k++) {
                    //#unroll
                    for (var l = 0u; l < TAPS_ACROSS; l++) {
                        weights[k * TAPS_ACROSS + l] = weights_of(group, dims.weight.x + (r + k) * dims.weight.z + (s + l) * dims.weight.w, c);
                    }
                }
                //#unroll
                for (var i = 0u; i < HIGH; i++) {
                    let row = place(first_row * dims.stride.x + r * dims.dilation.x + i * dims.pace.x, dims.before.x, dims.input.x);
                    var values: array<vec4<f32>, WIDE>;
                    //#unroll
                    for (var j = 0u; j < WIDE; j++) {
                        let column = place(first_column * dims.stride.y + s * dims.dilation.y + j * dims.pace.y, dims.before.y, dims.input.y);
                        let value = value_of(image_base + row.at * dims.x.z + column.at * dims.x.w, channels, c);
                        values[j] = select(vec4<f32>(0.0), value, row.is_inside && column.is_inside);
                    }
                    //#unroll
                    for (var u = 0u; u < ROWS; u++) {
                        //#unroll
                        for (var k = 0u; k < TAPS_DOWN; k++) {
                            //#unroll
                            if u * HOP_DOWN + k * GAP_DOWN == i {
                                //#unroll
                                for (var t = 0u; t < COLUMNS; t++) {
                                    //#unroll
                                    for (var l = 0u; l < TAPS_ACROSS; l++) {
                                        sums[u * COLUMNS + t] += values[t * HOP_ACROSS + l * GAP_ACROSS] * weights[k * TAPS_ACROSS + l];
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    let terms = terms_of(group);
    //#unroll
    for (var u = 0u; u < ROWS; u++) {
        //#unroll
        for (var t = 0u; t < COLUMNS; t++) {
            let row = first_row + u;
            let column = first_column + t;
            if row < dims.output.x && column < dims.output.y {
                let pixel = (image * dims.output.x + row) * dims.output.y + column;
                let v = finished(image, row, column, group, terms, sums[u * COLUMNS + t]);
                store_y(pixel * dims.outputs, group, dims.outputs - 4u * group, array<vec4<f32>, QUADS>(v));
            }
        }
    }
}
