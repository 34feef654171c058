//! Rows of Y from row0 on, each the sum of the rows of X that its list names from `first` on, with signs and in the
//! list's order. `before`: Y holds the sums of what came before. Statements of `main`.

    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH>;
        //#unroll
        for (var i = 0u; i < EACH; i++) {
            starts[i] = column_at(min(column + i * ACROSS, dims.columns - 1u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = part * dims.y_part + (row0 + row) * dims.y_axis;
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
