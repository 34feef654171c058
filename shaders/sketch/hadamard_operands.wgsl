//! The operands of a pass, at the bindings from 0 on: `load_a(at)` reads an element of the input, and `c` is the
//! output.

//#variant apart
// A pass from one tensor to another.
//#param  set by HadamardPass::kernel
alias a_unit = f32;
//#end
@group(0) @binding(0) var<storage, read> a: array<a_unit>;
@group(0) @binding(1) var<storage, read_write> c: array<f32>;

//#slot load x=a default element

//#variant in_place
// A pass in place: each workgroup reads only elements that it alone writes.
@group(0) @binding(0) var<storage, read_write> c: array<f32>;

fn load_a(at: u32) -> f32 {
    return c[at];
}
