//! [`Pixels`]: which texels of a texture are read or written, and how their colours are scaled.

use super::format::TexelFormat;
use crate::gpu::{TexelCopy, TexelDirection};
use crate::{Error, Result};

/// The texels of a texture that are read or written, and the scale of the elements. The default: all texels of the first
/// mip level and layer, all channels, colours without scaling.
///
/// Reading computes the element `scale * colour + shift`; writing computes the colour `(element - shift) / scale`. So the
/// same options serve both directions. Colours of rgba8unorm are fractions from 0 to 1; those of r32float and rgba16float are
/// the numbers of the texture.
///
/// ```
/// use tilewise::ops::Pixels;
///
/// let bytes = Pixels { scale: 255.0, ..Pixels::default() }; // rgba8unorm as numbers from 0 to 255
/// let signed = Pixels { scale: 2.0, shift: -1.0, ..Pixels::default() }; // from -1 to 1
/// let part = Pixels { origin: [64, 32], size: Some([128, 128]), ..Pixels::default() };
/// # let _ = (bytes, signed, part);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pixels {
    /// Factor of the colours: finite, and neither 0 nor subnormal.
    pub scale: f32,
    /// The number that is added to the scaled colours: finite.
    pub shift: f32,
    /// Number of channels of the new tensor of [`Tensor::from_texture`](crate::Tensor::from_texture): None for all channels
    /// of the texture, or 3 for red, green and blue. Other calls take the number from their tensor.
    pub channels: Option<usize>,
    /// The first texel: x and y, from the top left.
    pub origin: [u32; 2],
    /// Width and height in texels: None for all texels from `origin` on.
    pub size: Option<[u32; 2]>,
    /// The mip level.
    pub mip_level: u32,
    /// The layer of an array of textures.
    pub layer: u32,
}

impl Default for Pixels {
    fn default() -> Self {
        Self { scale: 1.0, shift: 0.0, channels: None, origin: [0, 0], size: None, mip_level: 0, layer: 0 }
    }
}

impl Pixels {
    /// Whether elements are the colours without scale and shift.
    pub(super) fn is_plain(&self) -> bool {
        self.scale == 1.0 && self.shift == 0.0
    }

    /// Width and height of the texels, and their format.
    ///
    /// # Errors
    /// [`Error::Input`] if the texture has no such texels, or cannot be copied in this direction.
    pub(super) fn check(
        &self,
        op: &'static str,
        texture: &wgpu::Texture,
        direction: TexelDirection,
    ) -> Result<(TexelFormat, [u32; 2])> {
        let wrong = |why: String| Error::input(format!("{op}: the texture"), why);
        let format = TexelFormat::of(texture.format()).ok_or_else(|| {
            wrong(format!(
                "its format is {:?}, but tensors are read from and written to Rgba8Unorm, R32Float and Rgba16Float; draw \
                 it to a texture of one of these",
                texture.format()
            ))
        })?;
        if texture.dimension() != wgpu::TextureDimension::D2 {
            return Err(wrong(format!("its dimension is {:?}, but it must be D2", texture.dimension())));
        }
        if texture.sample_count() != 1 {
            return Err(wrong(format!(
                "it has {} samples, but it must have 1; resolve it in a render pass (`resolve_target`)",
                texture.sample_count()
            )));
        }
        let (needed, name) = match direction {
            TexelDirection::FromTexture => (wgpu::TextureUsages::COPY_SRC, "COPY_SRC"),
            TexelDirection::ToTexture => (wgpu::TextureUsages::COPY_DST, "COPY_DST"),
        };
        if !texture.usage().contains(needed) {
            return Err(wrong(format!("it lacks `TextureUsages::{name}`; create it with this usage")));
        }
        for (what, at, count) in [
            ("mip level", self.mip_level, texture.mip_level_count()),
            ("layer", self.layer, texture.depth_or_array_layers()),
        ] {
            if at >= count {
                return Err(Error::input(
                    format!("{op}: the {what} of the texture"),
                    format!("there is no {what} {at}: the texture has {count}, counted from 0"),
                ));
            }
        }
        for (name, value) in [("scale", self.scale), ("shift", self.shift)] {
            let is_allowed = if name == "scale" { value.is_normal() } else { value.is_finite() };
            if !is_allowed {
                let rule = if name == "scale" { "finite, and neither 0 nor subnormal" } else { "finite" };
                return Err(Error::input(
                    format!("{op}: the {name}"),
                    format!("it must be {rule}, not {value}"),
                ));
            }
        }
        let level = [texture.width(), texture.height()].map(|whole| (whole >> self.mip_level).max(1));
        let mut size = [0; 2];
        for axis in 0..2 {
            let left = level[axis].saturating_sub(self.origin[axis]);
            size[axis] = self.size.map_or(left, |size| size[axis]);
            if size[axis] == 0 || size[axis] > left {
                let why = format!(
                    "{:?} texels from {:?} on are none, or not all in mip level {}, which has {level:?}",
                    self.size.unwrap_or([left; 2]),
                    self.origin,
                    self.mip_level
                );
                return Err(Error::input(format!("{op}: the size in texels"), why));
            }
        }
        Ok((format, size))
    }

    /// The copy of these texels.
    pub(super) fn copy(
        &self,
        direction: TexelDirection,
        texture: &wgpu::Texture,
        size: [u32; 2],
        bytes_per_row: u32,
    ) -> TexelCopy {
        let [x, y] = self.origin;
        TexelCopy {
            direction,
            texture: texture.clone(),
            mip_level: self.mip_level,
            origin: [x, y, self.layer],
            size,
            bytes_per_row,
        }
    }
}
