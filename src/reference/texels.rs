//! Colours of texels, by definition.

use super::elements::{Definition, NORMAL, U};
use crate::layout::Element;
use crate::ops::TexelFormat;
use half::f16;

/// The colours of texels that follow each other without gaps, channel by channel, as elements $s c + t$ with scale $s$ and
/// shift $t$. A byte of rgba8unorm is $c = b / 255$. If $s = 1$ and $t = 0$ the tolerance is that of the rounding of $c$ to f32;
/// otherwise it is $u (2 |s c| + |s c + t|) + 2^{-126} (2 + |s|)$ with $u = 2^{-23}$.
///
/// # Panics
/// If the bytes are not whole texels.
#[must_use]
pub fn from_texels(format: TexelFormat, texels: &[u8], scale: f64, shift: f64) -> Definition {
    assert!(texels.len().is_multiple_of(4), "the bytes must be whole texels");
    let colours: Vec<f64> = match format {
        TexelFormat::Rgba8Unorm => texels.iter().map(|&byte| f64::from(byte) / 255.0).collect(),
        TexelFormat::R32Float => {
            bytemuck::pod_collect_to_vec::<u8, f32>(texels).into_iter().map(f64::from).collect()
        }
        TexelFormat::Rgba16Float => {
            bytemuck::pod_collect_to_vec::<u8, f16>(texels).into_iter().map(f64::from).collect()
        }
    };
    let is_plain = scale == 1.0 && shift == 0.0;
    Definition::of(colours.into_iter().map(|colour| {
        let value = scale * colour + shift;
        let computed = U * (2.0 * (scale * colour).abs() + value.abs()) + NORMAL * (2.0 + scale.abs());
        [value, if is_plain { U / 2.0 * colour.abs() } else { computed }]
    }))
}

/// The texels of these colours, channel by channel: rgba8unorm takes the integer nearest to 255 times the colour between 0 and
/// 1, ties to even, and 0 for NaN; the other formats round to nearest, ties to even.
#[must_use]
pub fn to_texels(format: TexelFormat, colours: &[f64]) -> Vec<u8> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number from 0 to 255, or the rounding that the format defines; NaN becomes 0"
    )]
    let of = |&colour: &f64| match format {
        TexelFormat::Rgba8Unorm => vec![(colour.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8],
        TexelFormat::R32Float => (colour as f32).to_ne_bytes().to_vec(),
        TexelFormat::Rgba16Float => <f16 as Element>::from_f64(colour).to_ne_bytes().to_vec(),
    };
    colours.iter().flat_map(of).collect()
}
