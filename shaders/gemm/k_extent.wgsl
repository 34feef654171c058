//! How far k goes for the matrix of a part: as far as for every other. A statement of `main`.

    let k_extent = dims.k;
