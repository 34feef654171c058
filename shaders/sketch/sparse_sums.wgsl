//! Sums the rows of Y that a workgroup makes, `rows` of them from row0 on, in its columns from column0 on: `sum_rows(lane,
//! column0, row0, rows, first, y_part, before, factor)`. Row i is the sum of the rows of X that the list names between
//! ends[i] and ends[i + 1], in this order: an entry is twice the number of a row from `first` on, plus 1 where it is taken
//! away. `y_part` is where the sums of this part of the lines begin in Y, in elements; `before` says that they hold what
//! came before in their row, to which is added; and what is stored is the sum times `factor`.

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
