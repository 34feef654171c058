//! The pixels that a tap reads.

// An index of the padded image: the index in the image, or one next to it in the padding.
struct Place {
    at: u32,
    is_inside: bool,
}

fn place(padded: u32, before: u32, extent: u32) -> Place {
    let at = max(padded, before) - before;
    return Place(min(at, extent - 1u), padded >= before && at < extent);
}
