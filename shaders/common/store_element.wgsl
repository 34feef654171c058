//! Stores one element of C.

fn store_element(at: u32, value: sum) {
    c[at] = c_unit(value);
}
