//! Stores the result of an element of C, or the state of one part of it: `store_reduced(at, part, value)`.

//#variant result
// Stores the total of an element of C; there is one part.
//#slot save x=c default element

fn store_reduced(at: u32, part: u32, value: held) {
    save_c(at, total(value));
}

//#variant part
// Stores the state of a part. A second step joins the parts of an element, which are neighbours.
fn store_reduced(at: u32, part: u32, value: held) {
    c[at * dims.parts + part] = value;
}

//#variant place_in_window
// The same for indices, which count along the axis from `dims.start` on. They are inverted.
fn store_reduced(at: u32, part: u32, value: held) {
    c[at * dims.parts + part] = vec2<u32>(value.x, value.y - dims.start);
}
