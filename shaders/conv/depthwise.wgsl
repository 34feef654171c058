//! Convolves each channel with a kernel of its own, reading each row of a tile once, with f32 sums over the taps, and applies the epilogue.
//!
//! shapes    X (batch, rows, columns, channels), weight (channels, kernel rows, kernel columns, 1), any strides; bias, scale and shift (channels), a residual like the result -> Y (batch, rows, columns, channels), without gaps from the start of its binding
//! grid      one invocation per four channels of ROWS x COLUMNS pixels, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive channels
//! requires  nothing
//! edges     taps in the padding read a pixel of the image and count as 0; pixels and channels past the end are not stored: any extents >= 1

//#slot dims default immediate
//#import block
//#import place
//#slot pack_pair default f16
//#slot activation default none

//#param  set by DepthwiseTile::kernel
const LANES: u32 = 64u;
const ROWS: u32 = 14u; // pixels of an invocation, down
const COLUMNS: u32 = 4u; // and across
const TAPS_DOWN: u32 = 3u;
const TAPS_ACROSS: u32 = 3u;
const HOP_DOWN: u32 = 1u; // from one pixel to the next, in rows of X that are read
const HOP_ACROSS: u32 = 1u;
const GAP_DOWN: u32 = 1u; // from one tap to the next
const GAP_ACROSS: u32 = 1u;
const FRESH: u32 = 1u; // rows of X that the next row of pixels needs: HOP_DOWN, or fewer if there are gaps between the windows
const EVEN_DOWN: bool = false; // tiles have no rows past the end
const EVEN_ACROSS: bool = false;
const FIRST_INSIDE: u32 = 0u; // from this column of X on,
const END_INSIDE: u32 = 0u; // up to this one, those of every tile are inside of the image
//#end
const OPEN: u32 = (TAPS_DOWN - 1u) * GAP_DOWN / HOP_DOWN + 1u; // rows of pixels that a row of X may belong to
const WIDE: u32 = (COLUMNS - 1u) * HOP_ACROSS + (TAPS_ACROSS - 1u) * GAP_ACROSS + 1u; // columns of X for these pixels
const TAPS: u32 = TAPS_DOWN * TAPS_ACROSS;
const QUADS: u32 = 1u; // groups of four channels of an invocation
const WIDTH: u32 = 4u * QUADS;
alias sum = f32; // type of results before they are stored

// Bias, scale and shift of four channels.
struct ChannelTerms {
    bias: vec4<f32>,
    scale: vec4<f32>,
    shift: vec4<f32>,
}

//#generated operands
// The operands. Elements of X are read in quads of consecutive channels: `group` counts quads, and `length` elements. Plans generate
// what the slot `held_taps` uses: one of the functions of the weight.
//
//     fn x_quad(start: u32, group: u32, length: u32) -> vec4<f32>
//     fn load_quad_weight(at: u32, stride: u32, count: u32) -> vec4<f32>
//     fn quad_weight(at: u32) -> vec4<f32>
//     fn terms_of(group: u32) -> ChannelTerms
//     fn finished(image: u32, row: u32, column: u32, group: u32, terms: ChannelTerms, sums: vec4<f32>) -> vec4<f32>
//     fn store_y(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)

//#slot held_taps default elements

// Goes down ROWS rows of pixels. Several rows of sums are open at a time, so that a row of X is added to all of them.
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
    let image_base = dims.x.x + image * dims.x.y;
    let weights = held_weights(group);
    let terms = terms_of(group);
    let length = dims.outputs - 4u * group;
    var columns: array<u32, WIDE>;
    var are_inside: array<bool, WIDE>;
    //#unroll
    for (var j = 0u; j < WIDE; j++) {
        let column = place(first_column * dims.stride.y + j * dims.pace.y, dims.before.y, dims.input.y);
        columns[j] = column.at * dims.x.w + 4u * group * dims.along.x;
        are_inside[j] = (j >= FIRST_INSIDE && j < END_INSIDE) || column.is_inside;
    }
    // In each turn the sums of one row of pixels are complete, except for those above the first one, which are dropped.
    var sums: array<vec4<f32>, OPEN * COLUMNS>;
    for (var turn = 0u; turn < ROWS + OPEN - 1u; turn++) {
        //#unroll
        for (var i = 0u; i < FRESH; i++) {
            let row = place((first_row + turn) * dims.stride.x + i * dims.pace.x, dims.before.x, dims.input.x);
            let row_base = image_base + row.at * dims.x.z;
            var values: array<vec4<f32>, WIDE>;
            //#unroll
            for (var j = 0u; j < WIDE; j++) {
                let value = x_quad(row_base + columns[j], 0u, length);
                values[j] = select(vec4<f32>(0.0), value, row.is_inside && are_inside[j]);
            }
            //#unroll
            for (var e = 0u; e < OPEN; e++) {
                //#unroll
                for (var k = 0u; k < TAPS_DOWN; k++) {
                    //#unroll
                    if (OPEN - 1u - e) * HOP_DOWN + i == k * GAP_DOWN {
                        //#unroll
                        for (var t = 0u; t < COLUMNS; t++) {
                            //#unroll
                            for (var l = 0u; l < TAPS_ACROSS; l++) {
                                sums[e * COLUMNS + t] += values[t * HOP_ACROSS + l * GAP_ACROSS] * weights[k * TAPS_ACROSS + l];
                            }
                        }
                    }
                }
            }
        }
        if turn >= OPEN - 1u {
            let row = first_row + turn - (OPEN - 1u);
            let start = ((image * dims.output.x + row) * dims.output.y + first_column) * dims.outputs;
            //#unroll
            for (var t = 0u; t < COLUMNS; t++) {
                let column = first_column + t;
                if (EVEN_DOWN || row < dims.output.x) && (EVEN_ACROSS || column < dims.output.y) {
                    let v = finished(image, row, column, group, terms, sums[t]);
                    store_y(start + t * dims.outputs, group, length, array<vec4<f32>, QUADS>(v));
                }
            }
        }
        //#unroll
        for (var t = 0u; t < COLUMNS; t++) {
            //#unroll
            for (var e = 1u; e < OPEN; e++) {
                sums[(e - 1u) * COLUMNS + t] = sums[e * COLUMNS + t];
            }
            sums[(OPEN - 1u) * COLUMNS + t] = vec4<f32>(0.0);
        }
    }
}
