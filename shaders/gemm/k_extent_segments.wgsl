//! How far k goes for the matrix of a part: it has as many segments as the table says. A statement of `main`.

    let k_extent = (table[part % dims.batches + 1u] - table[part % dims.batches]) / 3u * dims.bias_row;
