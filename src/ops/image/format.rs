//! The formats of textures that tensors are read from and written to.

/// Format of a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelFormat {
    /// Four bytes, each a fraction of 255.
    Rgba8Unorm,
    /// One f32.
    R32Float,
    /// Four f16.
    Rgba16Float,
}

impl TexelFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Rgba8Unorm, Self::R32Float, Self::Rgba16Float];

    /// The format of this wgpu name, if it is one of these.
    #[must_use]
    pub fn of(format: wgpu::TextureFormat) -> Option<Self> {
        match format {
            wgpu::TextureFormat::Rgba8Unorm => Some(Self::Rgba8Unorm),
            wgpu::TextureFormat::R32Float => Some(Self::R32Float),
            wgpu::TextureFormat::Rgba16Float => Some(Self::Rgba16Float),
            _ => None,
        }
    }

    /// Number of channels.
    #[must_use]
    pub fn channels(self) -> usize {
        match self {
            Self::R32Float => 1,
            Self::Rgba8Unorm | Self::Rgba16Float => 4,
        }
    }

    /// Size of a texel in words of 4 bytes.
    #[must_use]
    pub fn words(self) -> usize {
        match self {
            Self::Rgba8Unorm | Self::R32Float => 1,
            Self::Rgba16Float => 2,
        }
    }

    /// Whether a tensor may have this number of channels: alpha may be missing.
    pub(super) fn takes(self, channels: usize) -> bool {
        channels == self.channels() || (self.channels() == 4 && channels == 3)
    }

    /// The shader's constant for the format.
    pub(super) fn constant(self) -> &'static str {
        match self {
            Self::Rgba8Unorm => "RGBA8UNORM",
            Self::R32Float => "R32FLOAT",
            Self::Rgba16Float => "RGBA16FLOAT",
        }
    }
}
