//! Applies a sparse operator whose lines are rows of Y: each is the signed sum of the rows of X at its nonzeros.
//!
//! shapes    X (positions, columns) -> Y (lines, columns), any strides; f32 sums, in the order of drawing
//! grid      ceil(columns / width) tiles of columns x ceil(lines / rows) ranges of lines
//! subgroup  not used; ACROSS lanes run along columns, LANES / ACROSS along lines
//! requires  LANES invocations; LIST nonzeros in shared memory
//! edges     lanes past the last column read it again and do not store: any lines, positions, columns >= 1

//#slot dims default immediate
//#import block

//#param  set by Tile::kernel; these defaults are a legal tile
alias x_unit = f32;
const LANES: u32 = 64u;
const ACROSS: u32 = 64u; // lanes along columns
const EACH: u32 = 4u;    // columns of a lane
const LIST: u32 = 2048u; // nonzeros of all lines of a workgroup
//#end
const_assert LANES % ACROSS == 0u && LIST >= 64u; // a line has at most 64 nonzeros

const ROWS: u32 = 256u; // largest number of rows of Y in a workgroup

@group(0) @binding(0) var<storage, read> x: array<x_unit>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

var<workgroup> list: array<u32, LIST>;
var<workgroup> ends: array<u32, ROWS + 1u>; // where the entries of each row end in the list, after a leading 0

//#slot sparse default elements

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let tiles = (dims.columns + dims.width - 1u) / dims.width;
    let ranges = (dims.lines + dims.rows - 1u) / dims.rows;
    let index = block_index(workgroup, grid);
    if index >= tiles * ranges {
        return;
    }
    let column0 = index % tiles * dims.width;
    let row0 = index / tiles * dims.rows;
    let rows = min(dims.rows, dims.lines - row0);

    for (var row = lane; row < rows; row += LANES) {
        var drawn = Drawn();
        for (var t = 0u; t < dims.nonzeros; t += 4u) {
            drawn = draw(row0 + row, t, drawn.moved);
            let at = row * dims.nonzeros + t;
            //#unroll
            for (var i = 0u; i < 4u; i++) {
                if t + i < dims.nonzeros { list[at + i] = drawn.nonzeros[i]; }
            }
        }
    }
    for (var row = lane; row <= rows; row += LANES) {
        ends[row] = row * dims.nonzeros;
    }
    workgroupBarrier();
    sum_rows(lane, column0, row0, rows, 0u, 0u, false, dims.scale);
}
