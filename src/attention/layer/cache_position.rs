//! The position of a cache in a tensor, so that one captured step serves every position.

use crate::gpu::{Claim, Cursor, Gpu};
use crate::layout::Real;
use crate::ops::copy::copy_filling;
use crate::ops::{add_assign, copy_into};
use crate::tensor::Tensor;
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

pub(super) const OP: &str = "KeyValueCache";

/// The position of a cache in a tensor.
#[derive(Debug)]
pub(super) struct CachePosition {
    /// The number of positions that are filled, (1).
    pub(super) at: Tensor<i32>,
    /// The number by which one step advances it, and the tensor that contains this number.
    step: (usize, Tensor<i32>),
    pub(super) cursor: Arc<Cursor>,
}

impl CachePosition {
    pub(super) fn new(gpu: &Gpu, capacity: usize) -> Result<Self> {
        let allowed = i32::MAX.unsigned_abs().into();
        Error::check_limit(OP, "the number of positions", capacity as u64, allowed)?;
        let at = gpu.zeros([1])?;
        let cursor = gpu.cursor(&at.view(), capacity);
        Ok(Self { at, step: (1, gpu.constant_tensor(1)?), cursor })
    }

    pub(super) fn len(&self) -> usize {
        self.cursor.len()
    }

    pub(super) fn truncate(&self, len: usize) {
        self.cursor.truncate(len);
    }

    /// The positions that are filled when the next work begins; in a capture, only those that the capture itself has
    /// filled.
    pub(super) fn known(&self) -> usize {
        self.at.gpu().captured_advance(&self.cursor).unwrap_or_else(|| self.len())
    }

    /// Claims the position for a step that fills `new`.
    pub(super) fn claim(&self, new: usize) -> Result<Claim> {
        self.at.gpu().claim(OP, &self.cursor, &self.at.view(), new)
    }

    /// Copies `new` positions after the filled ones, and advances the position. A step has claimed them, or the runs of a
    /// capture will.
    pub(super) fn fill<T: Real>(&mut self, parts: [(&Tensor<T>, &Tensor<T>); 2], new: usize) -> Result<()> {
        if self.step.0 != new {
            let step = i32::try_from(new).unwrap_or(i32::MAX);
            self.step = (new, self.at.gpu().constant_tensor(step)?);
        }
        let gpu = self.at.gpu();
        if gpu.is_capturing() {
            for (part, whole) in parts {
                copy_filling(part, whole, 2, (&self.cursor, &self.at))?;
            }
        } else {
            fill_at(parts, self.cursor.filled())?;
        }
        add_assign(&mut self.at.writable_view(), &self.step.1)?;
        gpu.capture_advance(&self.cursor, new);
        Ok(())
    }

    /// The tensor, which has the host's number before what is recorded next.
    pub(super) fn tensor(&self) -> Result<&Tensor<i32>> {
        if !self.at.gpu().is_capturing() {
            self.claim(0)?.commit();
        }
        Ok(&self.at)
    }
}

/// Copies keys and values to these positions.
pub(super) fn fill_at<T: Real>(parts: [(&Tensor<T>, &Tensor<T>); 2], place: Range<usize>) -> Result<()> {
    for (part, whole) in parts {
        copy_into(part, &mut whole.slice(2, place.clone())?.writable_view())?;
    }
    Ok(())
}
