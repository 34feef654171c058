//! Copies of texels between a texture of the application and a buffer.

/// A copy between a rectangle of a texture's texels and the start of a buffer.
#[derive(Debug)]
pub(crate) struct TexelCopy {
    pub(crate) direction: TexelDirection,
    pub(crate) texture: wgpu::Texture,
    pub(crate) mip_level: u32,
    /// The first texel, and the layer.
    pub(crate) origin: [u32; 3],
    /// Width and height.
    pub(crate) size: [u32; 2],
    /// Bytes from a row to the next in the buffer: a multiple of [`wgpu::COPY_BYTES_PER_ROW_ALIGNMENT`].
    pub(crate) bytes_per_row: u32,
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TexelDirection {
    FromTexture,
    ToTexture,
}

impl TexelCopy {
    pub(in crate::gpu) fn encode(&self, buffer: &wgpu::Buffer, encoder: &mut wgpu::CommandEncoder) {
        let ([x, y, z], [width, height]) = (self.origin, self.size);
        let of_texture = wgpu::TexelCopyTextureInfo {
            texture: &self.texture,
            mip_level: self.mip_level,
            origin: wgpu::Origin3d { x, y, z },
            aspect: wgpu::TextureAspect::All,
        };
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(self.bytes_per_row),
            rows_per_image: Some(height),
        };
        let of_buffer = wgpu::TexelCopyBufferInfo { buffer, layout };
        let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
        match self.direction {
            TexelDirection::FromTexture => encoder.copy_texture_to_buffer(of_texture, of_buffer, size),
            TexelDirection::ToTexture => encoder.copy_buffer_to_texture(of_buffer, of_texture, size),
        }
    }

    /// Name of the copy, for errors.
    pub(in crate::gpu) fn name(&self) -> &'static str {
        match self.direction {
            TexelDirection::FromTexture => "a copy from a texture",
            TexelDirection::ToTexture => "a copy to a texture",
        }
    }
}
