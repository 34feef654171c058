//! The results of a step of a cumulative sum. `sum_before(at, part)` is the sum of the earlier parts of a row, whose sums begin at
//! `at` in M; `emit_group` stores sums, like `store_group`, and `emit_total(at, part, value)` the sum of a part.

//#variant whole
// A whole row, which is one part.
//#slot row_store default strided

fn sum_before(at: u32, part: u32) -> f32 {
    return 0.0;
}

fn emit_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    store_group(start, stride, group, count, v);
}

fn emit_total(at: u32, part: u32, value: f32) {}

//#variant rest
// A part of a row, after the sums of the earlier parts.
@group(0) @binding(2) var<storage, read> m: array<f32>;
//#slot row_store default strided

fn sum_before(at: u32, part: u32) -> f32 {
    if part == 0u {
        return 0.0;
    }
    return m[at + part - 1u];
}

fn emit_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {
    store_group(start, stride, group, count, v);
}

fn emit_total(at: u32, part: u32, value: f32) {}

//#variant totals
// Only the sum of a part; C is M.
fn sum_before(at: u32, part: u32) -> f32 {
    return 0.0;
}

fn emit_group(start: u32, stride: u32, group: u32, count: u32, v: array<vec4<sum>, QUADS>) {}

fn emit_total(at: u32, part: u32, value: f32) {
    c[at + part] = value;
}
