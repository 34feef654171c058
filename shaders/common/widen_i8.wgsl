//! The bits of an i8 as those of the same i32: its sign repeated.

fn widen(bits: u32) -> u32 {
    return select(bits, bits | 0xffffff00u, bits >= 0x80u);
}
