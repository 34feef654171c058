//! How kernels read the channels of images and weights: one by one, or in quads.

use super::geometry::ConvGeometry;
use crate::kernel::Kernel;
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;

/// How an output channel reads channels: the variants of the slots `channels`, `taps`, `gradient_taps` and `weight_sums`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelReads {
    /// Any groups, element by element.
    Elements,
    /// The channel of its number.
    Depthwise,
    /// In quads.
    Quads,
}

impl ChannelReads {
    pub(super) fn of(geometry: &ConvGeometry<3>) -> Self {
        let groups = [geometry.group_channels(), geometry.group_outputs()];
        match groups {
            [1, 1] => Self::Depthwise,
            _ if groups.iter().all(|of| of.is_multiple_of(4)) => Self::Quads,
            _ => Self::Elements,
        }
    }

    /// Fills these slots, whose default is [`Elements`](Self::Elements). An invocation has four channels of one side; `side` is how
    /// many a group has there.
    pub(super) fn bind(
        self,
        kernel: Kernel,
        slots: &[&'static str],
        geometry: &ConvGeometry<3>,
        side: usize,
    ) -> Kernel {
        let variant = match self {
            Self::Elements => {
                return kernel.param("ONE_GROUP", geometry.groups == 1 || side.is_multiple_of(4));
            }
            Self::Depthwise => "depthwise",
            Self::Quads => "quads",
        };
        slots.iter().fold(kernel, |kernel, slot| kernel.slot(slot, variant))
    }

    /// Reads an operand whose channels are `step` apart; `along` is the field of the uniform that holds this number.
    pub(super) fn read(
        self,
        to: &mut Writer,
        name: &'static str,
        (step, along): (u32, &str),
        places: [u32; 4],
        channels: u32,
    ) {
        match self {
            Self::Elements => {
                to.moves = Moves::Elements;
                to.read(name);
            }
            Self::Depthwise | Self::Quads => {
                to.moves = moves(step, places, channels);
                to.read(name);
                quads(to, name, along);
            }
        }
    }
}

/// Reads an operand in quads of channels, which are words of two if they are neighbours and have 16 bits.
pub(super) fn read_quads(
    to: &mut Writer,
    name: &'static str,
    (step, along): (u32, &str),
    places: [u32; 4],
    channels: u32,
) {
    to.moves = moves(step, places, channels);
    to.read_words(name);
    quads(to, name, along);
}

/// As [`ChannelReads::read`], of a weight: the only channel of a depthwise kernel is not in a quad.
pub(super) fn read_weight(
    reads: ChannelReads,
    to: &mut Writer,
    (step, along): (u32, &str),
    places: [u32; 4],
    channels: u32,
) {
    let of_weight = if reads == ChannelReads::Depthwise { ChannelReads::Elements } else { reads };
    of_weight.read(to, "weight", (step, along), places, channels);
}

/// The function that loads a quad of an operand's channels, `along` apart.
pub(super) fn quads(to: &mut Writer, name: &str, along: &str) {
    let value = to.loaded(name, "start", along);
    let head = format!("{name}_quad(start: u32, group: u32, length: u32) -> vec4<f32>");
    to.function(&head, &format!("    let k = 0u;\n    return {value};\n"));
}

/// How a kernel moves the channels of an operand: in quads if there are whole ones, which are neighbours and begin at multiples
/// of four elements.
pub(super) fn moves(along: u32, places: [u32; 4], channels: u32) -> Moves {
    let has_quads = places.iter().chain([&channels]).all(|of| of.is_multiple_of(4));
    if along == 1 && has_quads { Moves::Vectors } else { Moves::Elements }
}
