//! A cross-entropy with four storage bindings per kernel: one buffer holds copies of all inputs besides logits and targets, another
//! receives the losses and the logarithms, and a separate launch computes the gradient.

use super::kernel::Form;
use super::problem::{CrossEntropyDims, CrossEntropyProblem, OP};
use super::step::Regions;
use crate::Result;
use crate::layout::{DType, Layout, WINDOW_ALIGNMENT, dim};
use crate::ops::copy::problem::CopyProblem;
use crate::plan::{Draft, Problem, Region};

/// The offset of each part of a buffer is a multiple of this number, so that a binding can begin there.
const PART: usize = 64;
const _: () = assert!((PART * size_of::<f32>()) as u64 == WINDOW_ALIGNMENT, "a window");

impl CrossEntropyProblem {
    /// Steps that compute the losses of the rows, their logarithms and the gradient. Returns the losses.
    pub(super) fn with_few_bindings(
        &self,
        draft: &mut Draft<'_>,
        regions: &Regions,
        dims: CrossEntropyDims,
    ) -> Result<Region> {
        let [_, rows] = self.sizes();
        let (numbers, dims) = joined(draft, regions, dims)?;
        let log_sums = rows.next_multiple_of(PART);
        let results = draft.temporary(&[log_sums + rows], DType::F32)?;
        let dims = CrossEntropyDims { log_sums_offset: dim(OP, log_sums)?, ..dims };
        let operands = [regions.logits, regions.targets, numbers];
        self.step(draft, Form::Losses, &operands, &[results], &dims)?;
        if let Some(gradient) = regions.gradient {
            self.step(draft, Form::Gradient, &operands, &[gradient], &dims)?;
        }
        copy(draft, part_of(results, &regions.log_sums, log_sums)?, regions.log_sums)?;
        let losses = part_of(results, &regions.log_sums, 0)?;
        if !self.is_reduced() {
            copy(draft, losses, regions.loss)?;
        }
        Ok(losses)
    }
}

/// The weights, the gradients with respect to the losses and the sum of the targets' weights in one buffer, and the dims with their
/// offsets.
fn joined(
    draft: &mut Draft<'_>,
    regions: &Regions,
    dims: CrossEntropyDims,
) -> Result<(Region, CrossEntropyDims)> {
    let parts = [regions.weight, regions.upstream, regions.counted].map(|part| part.unwrap_or(regions.one));
    if regions.weight.is_none() && regions.upstream.is_none() && regions.counted.is_none() {
        return Ok((regions.one, dims)); // all of them are 1
    }
    let mut places = [0; 3];
    let mut len = 0;
    for (place, part) in places.iter_mut().zip(&parts) {
        *place = len;
        len = (len + part.layout.len()).next_multiple_of(PART);
    }
    let numbers = draft.temporary(&[len], DType::F32)?;
    for (&place, &part) in places.iter().zip(&parts) {
        copy(draft, part, part_of(numbers, &part, place)?)?;
    }
    let [weight_offset, g_offset, counted_offset] = places.map(|place| dim(OP, place));
    let dims = CrossEntropyDims {
        weight_offset: weight_offset?,
        weight_stride: u32::from(regions.weight.is_some()),
        g_offset: g_offset?,
        counted_offset: counted_offset?,
        ..dims
    };
    Ok((numbers, dims))
}

/// A contiguous part of a buffer, as long as another region.
fn part_of(whole: Region, like: &Region, place: usize) -> Result<Region> {
    let shape = like.layout.shape();
    let dense = Layout::contiguous(OP, shape)?;
    Ok(whole.with_layout(Layout::new(OP, shape, dense.strides(), place, usize::MAX)?))
}

/// Adds a step that copies numbers.
fn copy(draft: &mut Draft<'_>, from: Region, to: Region) -> Result<()> {
    let problem = CopyProblem::new(&from.layout, &to.layout, DType::F32)?;
    draft.call(problem.plan(draft.caps())?, &[to, from], &[])
}
