//! The sizes of adding values to the slots of sorted pairs. An index names a slot: a row of a table, a position along an axis,
//! or an element. A slot has `columns` elements. C's axes are ordered so that those within a slot are innermost.

//#import places

// Pairs of a chunk. The sum of a slot's pairs in the chunk in which they begin, and those of later chunks, are added.
const CHUNK: u32 = 512u;

// The pairs, two words each: the slot, and the offset of its first value. After them comes the first pair of each slot.
fn value_place(pair: u32) -> u32 {
    return sorted[2u * pair + 1u];
}

fn slot_of(pair: u32) -> u32 {
    return sorted[2u * pair];
}

fn start(slot: u32) -> u32 {
    return sorted[2u * dims.count + slot];
}
