//! What `gather` and `scatter` share: the uniform, the offsets of a column, drawing the nonzeros of a line, and summing
//! rows. A line is a column or a row of the operator; its nonzeros are at positions. Columns run over all axes of X
//! other than the operator's, with batches one after another.
//!
//! `sum_rows(lane, column0, row0, rows, first, y_split, before, factor)` computes `rows` rows of Y from row0 on, in the
//! columns of this workgroup from column0 on. Row i is the sum of the rows of X in the list from ends[i] to ends[i +
//! 1], in this order. A list entry is twice the number of the row of X, counted from `first`, plus 1 if the row is
//! subtracted. `y_split` is the offset of the sums of this split in Y, in elements. If `before` is true, Y already
//! holds sums of earlier lines, and the new ones are added. The sums are multiplied by `factor` before they are stored.

//#import philox

struct Dims {
    lines: u32,
    positions: u32,
    nonzeros: u32,  // per line
    distinct: u32, // 1: positions of a line are distinct, 0: they are independent
    seed0: u32,
    seed1: u32,
    tag: u32, // last word of the Philox counter
    scale: f32,
    columns: u32,
    extent0: u32, // extents of the innermost axis of the columns, and of the next
    extent1: u32,
    x_offset: u32, // first element of X in its binding
    x_axis: u32,   // strides of X: along the operator's axis, and along the axes of the columns
    x_stride0: u32,
    x_stride1: u32,
    x_stride2: u32,
    y_axis: u32, // strides of Y
    y_stride0: u32,
    y_stride1: u32,
    y_stride2: u32,
    rows: u32,  // rows of Y of a workgroup: a power of two if they are positions
    width: u32, // columns of a workgroup
    split_lines: u32, // lines that a workgroup sums
    chunk: u32, // lines that it lists at once, if their nonzeros fit
    splits: u32,
    y_split: u32, // elements from the sums of one split to those of the next
    reserved0: u32,
    reserved1: u32,
}

// The offsets of a column's first element in X and in Y.
fn column_at(column: u32) -> vec2<u32> {
    let outer = column / dims.extent0;
    let i = vec3<u32>(column % dims.extent0, outer % dims.extent1, outer / dims.extent1);
    return vec2<u32>(
        dims.x_offset + i.x * dims.x_stride0 + i.y * dims.x_stride1 + i.z * dims.x_stride2,
        i.x * dims.y_stride0 + i.y * dims.y_stride1 + i.z * dims.y_stride2,
    );
}

// The nonzeros of the line that was drawn last, in the order in which they are drawn: the position, and in the lowest
// bit 1 for a negative sign. MOST is the largest number of nonzeros per line.
var<private> drawn: array<u32, MOST>;

// Draws the nonzeros of a line. `SparseLines::nonzeros` in `src/sketch/operator/sparse_lines.rs` does the same.
fn draw(line: u32) {
    var words = vec4<u32>();
    for (var t = 0u; t < MOST; t++) {
        if t >= dims.nonzeros {
            break;
        }
        if t % 4u == 0u {
            words = philox(vec4<u32>(line, t / 4u, 0u, dims.tag), vec2<u32>(dims.seed0, dims.seed1));
        }
        let word = words[t % 4u];
        var position: u32;
        if dims.distinct == 1u {
            // Floyd's algorithm: draw from the positions up to `last`; if that one is taken, take `last`.
            let last = dims.positions - dims.nonzeros + t;
            position = mul_high(word, last + 1u);
            var taken = false;
            for (var before = 0u; before < t; before++) {
                taken |= drawn[before] >> 1u == position;
            }
            position = select(position, last, taken);
        } else {
            position = mul_high(word, dims.positions);
        }
        drawn[t] = (position << 1u) | (word & 1u);
    }
}

//#variant elements
// Loads each column by itself.
//#slot load x=x default element

fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_split: u32, before: bool, factor: f32,
) {
    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH>;
        //#unroll
        for (var i = 0u; i < EACH; i++) {
            starts[i] = column_at(min(column + i * ACROSS, dims.columns - 1u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = y_split + (row0 + row) * dims.y_axis;
            var sums: array<f32, EACH>;
            if before {
                //#unroll
                for (var i = 0u; i < EACH; i++) {
                    if column + i * ACROSS < dims.columns { sums[i] = y[y_at + starts[i].y]; }
                }
            }
            let end = ends[row + 1u];
            for (var at = ends[row]; at < end; at++) {
                let entry = list[at];
                let sign = entry << 31u;
                let x_at = (first + (entry >> 1u)) * dims.x_axis;
                //#unroll
                for (var i = 0u; i < EACH; i++) {
                    sums[i] += bitcast<f32>(bitcast<u32>(load_x(starts[i].x + x_at)) ^ sign);
                }
            }
            //#unroll
            for (var i = 0u; i < EACH; i++) {
                if column + i * ACROSS < dims.columns { y[y_at + starts[i].y] = factor * sums[i]; }
            }
        }
    }
}

//#variant pairs
// Loads two neighbouring columns of X at once, as 64 bits.
fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_split: u32, before: bool, factor: f32,
) {
    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS * 2u; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH / 2u>;
        //#unroll
        for (var i = 0u; i < EACH / 2u; i++) {
            starts[i] = column_at(min(column + i * 2u * ACROSS, dims.columns - 2u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = y_split + (row0 + row) * dims.y_axis;
            var sums: array<vec2<f32>, EACH / 2u>;
            if before {
                //#unroll
                for (var i = 0u; i < EACH / 2u; i++) {
                    let at = y_at + starts[i].y;
                    if column + i * 2u * ACROSS < dims.columns { sums[i] = vec2<f32>(y[at], y[at + 1u]); }
                }
            }
            let end = ends[row + 1u];
            for (var at = ends[row]; at < end; at++) {
                let entry = list[at];
                let sign = vec2<u32>(entry << 31u);
                let x_at = (first + (entry >> 1u)) * dims.x_axis;
                //#unroll
                for (var i = 0u; i < EACH / 2u; i++) {
                    let pair = x[(starts[i].x + x_at) / 2u];
                    sums[i] += bitcast<vec2<f32>>(vec2<u32>(u32(pair), u32(pair >> 32u)) ^ sign);
                }
            }
            //#unroll
            for (var i = 0u; i < EACH / 2u; i++) {
                let at = y_at + starts[i].y;
                if column + i * 2u * ACROSS < dims.columns {
                    y[at] = factor * sums[i].x;
                    y[at + 1u] = factor * sums[i].y;
                }
            }
        }
    }
}
