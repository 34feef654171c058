//! Copies of texels between a texture of the application and a storage.

use super::storage::Storage;
use std::sync::Arc;

/// A rectangle of a texture's texels.
#[derive(Clone, Debug)]
pub(crate) struct Texels {
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

/// A copy between texels and the start of a storage.
pub(super) struct TexelCopy {
    pub(super) texels: Texels,
    pub(super) storage: Arc<Storage>,
    pub(super) direction: TexelDirection,
}

impl TexelCopy {
    pub(super) fn encode(&self, encoder: &mut wgpu::CommandEncoder) {
        let Texels { texture, mip_level, origin: [x, y, z], size: [width, height], bytes_per_row } =
            &self.texels;
        let of_texture = wgpu::TexelCopyTextureInfo {
            texture,
            mip_level: *mip_level,
            origin: wgpu::Origin3d { x: *x, y: *y, z: *z },
            aspect: wgpu::TextureAspect::All,
        };
        let of_buffer = wgpu::TexelCopyBufferInfo {
            buffer: &self.storage.buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(*bytes_per_row),
                rows_per_image: Some(*height),
            },
        };
        let size = wgpu::Extent3d { width: *width, height: *height, depth_or_array_layers: 1 };
        match self.direction {
            TexelDirection::FromTexture => encoder.copy_texture_to_buffer(of_texture, of_buffer, size),
            TexelDirection::ToTexture => encoder.copy_buffer_to_texture(of_buffer, of_texture, size),
        }
    }

    /// Name of the copy, for errors.
    pub(super) fn name(&self) -> &'static str {
        match self.direction {
            TexelDirection::FromTexture => "a copy from a texture",
            TexelDirection::ToTexture => "a copy to a texture",
        }
    }
}
