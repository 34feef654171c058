//! The sizes of an image: a buffer of texels, row by row, and a tensor (height, width, channels).

struct Dims {
    units: u32,          // invocations
    row_units: u32,      // `read_image`: invocations for a run; `write_image`: words of a row of texels
    run: u32,            // elements of C that are neighbours in memory
    width: u32,          // texels of a row
    channels: u32,       // of the tensor
    texel_row: u32,      // words from a row of texels to the next
    offset: u32,         // the tensor's first element in its binding
    row_stride: u32,     // the tensor's strides, in elements
    pixel_stride: u32,
    channel_stride: u32,
    scale: f32,          // the tensor holds scale * colour + shift; `write_image` has 1 / scale
    shift: f32,
}

// The place in the tensor of a channel of a texel.
fn element_at(row: u32, pixel: u32, channel: u32) -> u32 {
    return dims.offset + row * dims.row_stride + pixel * dims.pixel_stride + channel * dims.channel_stride;
}
