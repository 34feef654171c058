//! Which elements a norm normalises together, and the shapes that follow.

use crate::kernel::slice_along;
use crate::layout::Element;
use crate::ops::norm::rows::problem::NormKind;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// The name in errors, which calls replace by their own.
pub(super) const OP: &str = "norm";

/// Which elements are normalised together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormUnits {
    /// This number of last axes as one.
    Rows(NormKind, usize),
    /// The elements of a group of channels, for each index of the first axis. There are this many groups.
    Groups(usize),
    /// The elements of each channel, for each index of the first axis.
    Instances,
    /// All elements of each channel.
    Batch,
}

/// The shapes that an operand asks of the others.
pub(super) struct NormShapes<'x> {
    pub(super) weights: &'x [usize],
    pub(super) statistics: Vec<usize>,
    /// Groups of channels.
    pub(super) groups: usize,
}

impl NormUnits {
    pub(super) fn shapes(self, shape: &[usize]) -> Result<NormShapes<'_>> {
        let is_batch = self == Self::Batch;
        let groups = match self {
            Self::Rows(_, axes) => {
                if axes == 0 || axes > shape.len() {
                    let rule = "the number of normalised axes must be from 1 to the operand's number of axes";
                    return Err(Error::shapes(OP, rule, shape, &[axes]));
                }
                let (rows, weights) = shape.split_at(shape.len() - axes);
                if weights.contains(&0) {
                    return Err(Error::shape(OP, "the normalised axes must not be empty", shape));
                }
                return Ok(NormShapes { weights, statistics: rows.to_vec(), groups: 1 });
            }
            Self::Groups(groups) => Some(groups),
            Self::Instances | Self::Batch => None,
        };
        let Some(&channels) = shape.last().filter(|_| is_batch || shape.len() >= 2) else {
            let rule = "the operand must have channels as its last axis, and before them rows";
            return Err(Error::shape(OP, rule, shape));
        };
        let groups = groups.unwrap_or(channels.max(1));
        if groups == 0 || !channels.is_multiple_of(groups) {
            let rule = "the number of groups must divide the channels, the last axis";
            return Err(Error::shapes(OP, rule, shape, &[groups]));
        }
        // A batch without rows has an empty result.
        if channels == 0 || !is_batch && shape[1..].contains(&0) {
            return Err(Error::shape(OP, "the normalised axes must not be empty", shape));
        }
        let statistics = if is_batch { vec![groups] } else { vec![shape[0], groups] };
        Ok(NormShapes { weights: &shape[shape.len() - 1..], statistics, groups })
    }

    /// What gamma and beta must have, and what statistics must have.
    pub(super) fn rules(self) -> [&'static str; 2] {
        let channels = "as many elements as there are channels";
        match self {
            Self::Rows(..) => {
                ["the shape of the normalised axes", "the shape of the rows, as the forward pass returned it"]
            }
            Self::Groups(_) | Self::Instances => [
                channels,
                "numbers for the groups of each position of the first axis, as the forward pass returned them",
            ],
            Self::Batch => [channels, "a number for each channel, the last axis of the operand"],
        }
    }

    /// The operand with its normalised axes as one, or as (outer, inner, channels).
    pub(super) fn planes<T: Element>(self, x: &Tensor<T>) -> Result<Tensor<T>> {
        let rank = x.shape().len();
        match self {
            Self::Rows(_, axes) => x.joined(rank - axes..rank),
            Self::Batch => x.joined(0..rank - 1)?.unsqueeze(0),
            Self::Groups(_) | Self::Instances => x.joined(1..rank - 1),
        }
    }

    /// The error with the axis to slice along: of rows the first normalised one; of channels the first axis (a single index is
    /// computed in windows), or the channels.
    pub(super) fn sliced(self, error: Error, shape: &[usize]) -> Error {
        let axis = match self {
            Self::Rows(_, axes) => shape.len() - axes,
            Self::Groups(_) | Self::Instances if shape[0] > 1 => 0,
            Self::Groups(_) | Self::Instances | Self::Batch => shape.len() - 1,
        };
        slice_along(error, axis)
    }
}
