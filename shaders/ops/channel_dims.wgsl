//! The sizes of a norm of channels, in elements: A is (outer, inner, channels). `dims.of_group` channels are a group; the elements
//! of a group with one outer index are a unit, which is normalised together. The rows of one outer index are cut into chunks.

// The work of a workgroup: rows `first` to `end` of an outer index, and LANES / dims.lanes of them at a time. An invocation has a
// group of WIDTH channels. Past the last block, `outer` is dims.outer or more.
struct Part {
    outer: u32,
    chunk: u32,
    first: u32,
    end: u32,
    group: u32,
}

fn part_of(block: u32, lane: u32) -> Part {
    let across = ((dims.channels + WIDTH - 1u) / WIDTH + dims.lanes - 1u) / dims.lanes;
    let chunk = block / across;
    var part: Part;
    part.outer = chunk / dims.chunks;
    part.chunk = chunk % dims.chunks;
    part.first = min(part.chunk * dims.each, dims.inner);
    part.end = min(part.first + dims.each, dims.inner);
    part.group = (block - chunk * across) * dims.lanes + lane % dims.lanes;
    return part;
}
