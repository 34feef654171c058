//! The place of a vector of C: `place_of(vector)` has the indices of its first element in C and the operands, and
//! `left_from(vector)` is the number of elements from there to the end of its row. Vectors are counted over all rows.

//#variant only_row
// The tensor is one row.
fn place_of(vector: u32) -> Place {
    return place_in_first(vector * WIDTH);
}

fn left_from(vector: u32) -> u32 {
    return dims.axes.axis0.x - vector * WIDTH;
}

//#variant rows
// Rows along several axes.
fn place_of(vector: u32) -> Place {
    return place_at(vector / dims.units, vector % dims.units * WIDTH);
}

fn left_from(vector: u32) -> u32 {
    return dims.axes.axis0.x - vector % dims.units * WIDTH;
}
