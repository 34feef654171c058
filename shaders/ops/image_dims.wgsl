//! The sizes of an image: a buffer of texels, row by row, and a tensor (height, width, channels).

// The place in the tensor of a channel of a texel.
fn element_at(row: u32, pixel: u32, channel: u32) -> u32 {
    return dims.offset + row * dims.row_stride + pixel * dims.pixel_stride + channel * dims.channel_stride;
}
