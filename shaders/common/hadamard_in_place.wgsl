//! A pass in place: a workgroup reads what it alone writes.

@group(0) @binding(0) var<storage, read_write> c: array<a_unit>;

fn load_a(at: u32) -> f32 {
    return c[at];
}
