//! A U-Net of 880 million parameters, for a picture in and a picture out, by its shapes alone.

use crate::planned::{Images, Planned};
use crate::source::COLOURS;
use tilewise::{Activation, Result};

/// Height and width of a frame.
pub(crate) const FRAME: [usize; 2] = [768, 1280];
/// Height and width of the squares of a frame, each of which becomes one pixel of the first level.
pub(crate) const SQUARE: usize = 8;
/// Of each level: its channels, its residual blocks on the way down and on the way up, and the transformer blocks after each.
pub(crate) const LEVELS: [Level; 4] = [
    Level { channels: 192, blocks: 2, transformers: 0 },
    Level { channels: 384, blocks: 3, transformers: 0 },
    Level { channels: 768, blocks: 2, transformers: 3 },
    Level { channels: 1536, blocks: 2, transformers: 3 },
];
/// The dim of a head of attention.
const HEAD: usize = 64;

pub(crate) struct Level {
    pub(crate) channels: usize,
    pub(crate) blocks: usize,
    pub(crate) transformers: usize,
}

/// Plans a frame.
pub(crate) fn frame(planned: &mut Planned<'_>) -> Result<()> {
    let [first, .., last] = &LEVELS;
    let frame = planned.images([FRAME[0], FRAME[1], COLOURS]);
    let mut x = planned.block(&frame, first.channels, [SQUARE; 2], Activation::None, None)?;
    let mut kept = Vec::new();
    for (at, level) in LEVELS.iter().enumerate() {
        if at > 0 {
            x = planned.block(&x, level.channels, [3, 2], Activation::Silu, None)?;
        }
        for _ in 0..level.blocks {
            x = step(planned, x, level)?;
            kept.push(x.clone());
        }
    }
    x = step(planned, x, last)?;
    for level in LEVELS.iter().rev() {
        if level.channels < last.channels {
            let doubled = planned.doubled(&x)?;
            x = planned.block(&doubled, level.channels, [3, 1], Activation::Silu, None)?;
        }
        for _ in 0..level.blocks {
            if let Some(skipped) = kept.pop() {
                x = planned.joined(&x, &skipped)?;
            }
            x = step(planned, x, level)?;
        }
    }
    let squares = planned.block(&x, SQUARE * SQUARE * COLOURS, [3, 1], Activation::None, None)?;
    planned.shuffled(&squares, SQUARE).map(drop)
}

/// A residual block, and the level's transformer blocks.
fn step(planned: &mut Planned<'_>, x: Images, level: &Level) -> Result<Images> {
    let mut x = residual(planned, x, level.channels)?;
    for _ in 0..level.transformers {
        x = transformer(planned, x)?;
    }
    Ok(x)
}

/// Two convolutions of 3 x 3, each with batch norm and `SiLU` in its launch. The second one adds the input, or a convolution of 1 x 1 of
/// it if the channels differ.
fn residual(planned: &mut Planned<'_>, x: Images, channels: usize) -> Result<Images> {
    let inner = planned.block(&x, channels, [3, 1], Activation::Silu, None)?;
    let added = if x.shape[2] == channels {
        x
    } else {
        planned.block(&x, channels, [1; 2], Activation::None, None)?
    };
    planned.block(&inner, channels, [3, 1], Activation::Silu, Some(&added))
}

/// Attention of all pixels to all, then two layers for each pixel, each behind a layer norm.
fn transformer(planned: &mut Planned<'_>, x: Images) -> Result<Images> {
    let channels = x.shape[2];
    let qkv = planned.norm(&x)?;
    let qkv = planned.linear(&qkv, 3 * channels, Activation::None, None)?;
    let attended = planned.attention(&qkv, HEAD)?;
    drop(qkv);
    let x = planned.linear(&attended, channels, Activation::None, Some(&x))?;
    drop(attended);
    let normed = planned.norm(&x)?;
    let inner = planned.linear(&normed, 4 * channels, Activation::Gelu, None)?;
    planned.linear(&inner, channels, Activation::None, Some(&x))
}
