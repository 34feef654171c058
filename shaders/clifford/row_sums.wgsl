//! What lanes add to the sums of their row.

let x0 = load_x(dims.x.w + at_row * dims.x.y + feature * dims.x.z);
own[0] += select(0.0, x0 * x0, is_mine);
kept[u * KEPT + 0u] = x0;
