//! A sparse operator as it is applied: the sizes, in elements, where columns lie, and the nonzeros of a line. A line of
//! the operator has nonzeros at places: lines are added to places, or places to lines. Columns are what is beside the
//! operator's axis, those of all batches in a row.
//!
//! Sums the rows of Y that a workgroup makes, `rows` of them from row0 on, in its columns from column0 on: `sum_rows(lane,
//! column0, row0, rows, first, y_part, before, factor)`. Row i is the sum of the rows of X that the list names between
//! ends[i] and ends[i + 1], in this order: an entry is twice the number of a row from `first` on, plus 1 where it is taken
//! away. `y_part` is where the sums of this part of the lines begin in Y, in elements; `before` says that they hold what
//! came before in their row, to which is added; and what is stored is the sum times `factor`.

//#import philox

struct Dims {
    lines: u32,
    places: u32,
    nonzeros: u32,  // of a line
    different: u32, // 1: at different places, 0: at any
    seed0: u32,
    seed1: u32,
    tag: u32, // the last word of the counter
    scale: f32,
    columns: u32,
    extent0: u32, // of the innermost axis of the columns, and of the next
    extent1: u32,
    x_offset: u32, // first element of X in its binding
    x_axis: u32,   // strides of X: along the operator's axis, and along those of the columns
    x_stride0: u32,
    x_stride1: u32,
    x_stride2: u32,
    y_axis: u32, // of Y
    y_stride0: u32,
    y_stride1: u32,
    y_stride2: u32,
    rows: u32,  // of Y that a workgroup makes: a power of two where they are places
    width: u32, // columns of a workgroup
    part: u32,  // lines that a workgroup sums
    chunk: u32, // lines that it takes at once, if their nonzeros fit
    parts: u32,
    y_part: u32, // elements from the sums of a part to those of the next
    reserved0: u32,
    reserved1: u32,
}

// The first elements of a column, in X and in Y.
fn column_at(column: u32) -> vec2<u32> {
    let outer = column / dims.extent0;
    let i = vec3<u32>(column % dims.extent0, outer % dims.extent1, outer / dims.extent1);
    return vec2<u32>(
        dims.x_offset + i.x * dims.x_stride0 + i.y * dims.x_stride1 + i.z * dims.x_stride2,
        i.x * dims.y_stride0 + i.y * dims.y_stride1 + i.z * dims.y_stride2,
    );
}

// The nonzeros of the line that was drawn last, in the order in which they are drawn: the place, and in the lowest bit
// whether it is -1. MOST is how many a line may have.
var<private> drawn: array<u32, MOST>;

// Draws the nonzeros of a line: `Sparse::line` in `src/sketch/operator.rs` is the same.
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
        var place: u32;
        if dims.different == 1u {
            // Floyd: of the first so many places; one that is taken already gives way to the last of them.
            let last = dims.places - dims.nonzeros + t;
            place = mul_high(word, last + 1u);
            var taken = false;
            for (var before = 0u; before < t; before++) {
                taken |= drawn[before] >> 1u == place;
            }
            place = select(place, last, taken);
        } else {
            place = mul_high(word, dims.places);
        }
        drawn[t] = (place << 1u) | (word & 1u);
    }
}

//#variant elements
// One column after another, each loaded by itself.
//#slot load x=x default element

fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_part: u32, before: bool, factor: f32,
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
            let y_at = y_part + (row0 + row) * dims.y_axis;
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
// Columns that lie side by side in pairs: 64 bits of X, which are loaded at once.
fn sum_rows(
    lane: u32, column0: u32, row0: u32, rows: u32, first: u32, y_part: u32, before: bool, factor: f32,
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
            let y_at = y_part + (row0 + row) * dims.y_axis;
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
