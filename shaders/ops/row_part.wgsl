//! The row that an invocation works on, and its part of it; rows past the end are empty. Statements of `main`.

    let row = block_index(workgroup, grid) * (LANES / dims.lanes) + lane / dims.lanes;
    let part = lane % dims.lanes;
    let at = row_at(min(row, dims.rows - 1u));
    let length = select(0u, dims.length, row < dims.rows);
