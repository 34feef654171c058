//! The signs of the rows of a workgroup. All lanes call `generate_signs(row0, low0, lane)`, which may have a barrier.
//! row0 is the first row of the workgroup's first set without its low bits; low0 is these low bits for the first lane.
//! Afterwards `sign_word(row)` returns the signs of the 32 rows around `row`: bit row % 32 is 1 for a negative sign.

//#variant generated
// Generated once per workgroup, 128 signs to a vector, because each sign serves many columns.
//#import philox

//#param  set by HadamardPass::kernel
const SLOTS: u32 = 1u; // number of vectors
const SPAN: u32 = 0u;  // vectors per row of a set if these are at least 128 apart; else 0: consecutive rows
//#end
const APART: u32 = max(SPAN, 1u);

var<workgroup> signs: array<vec4<u32>, SLOTS>;
// Number of vectors before the first one: counted over all rows, or between two rows of a set.
var<private> signs_from: u32;

// The slot of a row's vector.
fn slot_of(row: u32) -> u32 {
    if SPAN == 0u {
        return row / 128u - signs_from;
    }
    let low = row & ((1u << dims.low_bits) - 1u);
    return (row >> dims.low_bits) % ROWS * APART + low / 128u - signs_from;
}

fn sign_word(row: u32) -> u32 {
    return signs[slot_of(row)][row / 32u % 4u];
}

fn generate_signs(row0: u32, low0: u32, lane: u32) {
    signs_from = select(low0, row0, SPAN == 0u) / 128u;
    for (var slot = lane; slot < SLOTS; slot += LANES) {
        var at = signs_from + slot;
        if SPAN > 0u {
            at = (row0 + ((slot / APART) << dims.low_bits)) / 128u + signs_from + slot % APART;
        }
        signs[slot] = philox(vec4<u32>(at, 0u, 0u, dims.tag), seed());
    }
    workgroupBarrier();
}

//#variant none
// A pass without signs: nothing reads them.
fn generate_signs(row0: u32, low0: u32, lane: u32) {
}
