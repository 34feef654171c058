//! As `sparse_sums`, of columns that lie side by side in pairs: 64 bits of X, which are loaded at once. Statements of
//! `main`.

    let columns = min(column0 + dims.width, dims.columns);
    let row_lane = select(lane / ACROSS, 0u, ACROSS == LANES);
    for (var column = column0 + lane % ACROSS * 2u; column < columns; column += ACROSS * EACH) {
        var starts: array<vec2<u32>, EACH / 2u>;
        //#unroll
        for (var i = 0u; i < EACH / 2u; i++) {
            starts[i] = column_at(min(column + i * 2u * ACROSS, dims.columns - 2u));
        }
        for (var row = row_lane; row < rows; row += LANES / ACROSS) {
            let y_at = part * dims.y_part + (row0 + row) * dims.y_axis;
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
