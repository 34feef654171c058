//! The signs of the rows of a workgroup. All its lanes call `make_signs(row0, low0, lane)`, which may have a barrier: row0
//! is the first row of the workgroup's first set, and low0 how far the first lane's are behind those of the set. Behind it
//! `sign_word(row)` has the signs of the 32 rows around one: row % 32 is the bit's place, and 1 is minus.

//#variant made
// Made once, 128 to a vector, as each serves many columns.
//#import philox

//#param  set by HadamardPass::kernel
const SLOTS: u32 = 1u; // vectors that there are
const SPAN: u32 = 0u;  // for each row of a set, if these are at least 128 apart; else (0) they are those of all neighbours
//#end
const APART: u32 = max(SPAN, 1u);

var<workgroup> signs: array<vec4<u32>, SLOTS>;
// The vectors before the first: of all rows, or of those between two of a set.
var<private> signs_from: u32;

// The vector of a row.
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

fn make_signs(row0: u32, low0: u32, lane: u32) {
    signs_from = select(low0, row0, SPAN == 0u) / 128u;
    for (var slot = lane; slot < SLOTS; slot += LANES) {
        var at = signs_from + slot;
        if SPAN > 0u {
            at = (row0 + ((slot / APART) << dims.low_bits)) / 128u + signs_from + slot % APART;
        }
        signs[slot] = philox(vec4<u32>(at, 0u, 0u, dims.tag), vec2<u32>(dims.seed_low, dims.seed_high));
    }
    workgroupBarrier();
}

//#variant none
// A pass that neither begins nor ends with signs: nothing asks for one.
fn make_signs(row0: u32, low0: u32, lane: u32) {
}
