//! The comparison of a candidate's results with those of the reference.

use super::trial_operands::OP;
use crate::Result;
use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::layout::{DType, Element, F8E4M3, F8E5M2, Layout};
use crate::plan::Tolerance;
use half::{bf16, f16};

/// Bytes that are compared at once, so that results of any size take little memory of the host.
const CHUNK: u64 = 8 << 20;

/// An output whose results are compared.
pub(in crate::gpu) struct Output<'a> {
    dtype: DType,
    layout: &'a Layout,
    tolerance: Tolerance,
    /// For each element position of the buffer, whether it belongs to the layout. None if the elements are contiguous.
    places: Option<Vec<u64>>,
}

impl<'a> Output<'a> {
    pub(in crate::gpu) fn new((dtype, layout): (DType, &'a Layout), tolerance: Tolerance) -> Self {
        let places = (!layout.is_contiguous()).then(|| places(layout));
        Self { dtype, layout, tolerance, places }
    }

    /// Whether every element of a candidate's result is within the tolerance of the reference, and all other bytes, which
    /// must not be written, are the same in both buffers.
    pub(in crate::gpu) fn is_near(&self, gpu: &Gpu, [found, expected]: [&Allocation; 2]) -> Result<bool> {
        let mut start = 0;
        while start < found.len() {
            let bytes = start..found.len().min(start + CHUNK);
            let expected = gpu.start_read_blocking(expected, bytes.clone())?.wait(OP, <[u8]>::to_vec)?;
            let found = gpu.start_read_blocking(found, bytes.clone())?;
            if !found.wait(OP, |found| self.are_near(start, found, &expected))? {
                return Ok(false);
            }
            start = bytes.end;
        }
        Ok(true)
    }

    /// The same of the bytes from `start` on.
    fn are_near(&self, start: u64, found: &[u8], expected: &[u8]) -> bool {
        let near = match self.dtype {
            DType::F32 => Self::all_near::<f32>,
            DType::F16 => Self::all_near::<f16>,
            DType::Bf16 => Self::all_near::<bf16>,
            DType::I8 => Self::all_near::<i8>,
            DType::I32 => Self::all_near::<i32>,
            DType::F8E4M3 => Self::all_near::<F8E4M3>,
            DType::F8E5M2 => Self::all_near::<F8E5M2>,
        };
        found.len() == expected.len() && near(self, start, found, expected)
    }

    fn all_near<T: Element>(&self, start: u64, found: &[u8], expected: &[u8]) -> bool {
        let first = start / size_of::<T>() as u64;
        let value = |bytes: &[u8]| bytemuck::pod_read_unaligned::<T>(bytes).to_f64();
        let pairs = found.chunks_exact(size_of::<T>()).zip(expected.chunks_exact(size_of::<T>()));
        (first..).zip(pairs).all(|(place, (found, expected))| {
            if self.has(place) {
                self.tolerance.allows(value(found), value(expected))
            } else {
                found == expected
            }
        })
    }

    /// Whether an element of the layout is at this place of the buffer.
    fn has(&self, place: u64) -> bool {
        let Some(places) = &self.places else {
            let first = self.layout.offset() as u64;
            return (first..first + self.layout.len() as u64).contains(&place);
        };
        let word = usize::try_from(place / 64).ok().and_then(|at| places.get(at));
        word.is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// The places of a layout's elements, a bit for each.
fn places(layout: &Layout) -> Vec<u64> {
    let mut places = vec![0; layout.span().end.div_ceil(64)];
    for index in 0..layout.len() {
        let axes = layout.shape().iter().zip(layout.strides()).rev();
        let (_, place) = axes.fold((index, layout.offset()), |(index, place), (extent, stride)| {
            (index / extent, place + index % extent * stride)
        });
        places[place / 64] |= 1 << (place % 64);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(values: &[f32]) -> Vec<u8> {
        bytemuck::cast_slice(values).to_vec()
    }

    #[test]
    fn elements_may_be_a_little_off_and_all_else_must_stay() {
        // Two columns of three rows, in the last two of each four places, from the second on.
        let gaps = Layout::new("test", &[3, 2], &[4, 2], 1, 16).unwrap();
        // Ten elements, from the second place on.
        let row = Layout::new("test", &[10], &[1], 1, 16).unwrap();
        let right: Vec<f32> = (0u8..12).map(f32::from).collect();
        for (layout, elements) in [(gaps, vec![1, 3, 5, 7, 9, 11]), (row, (1..11).collect())] {
            let tolerance = Tolerance { relative: 0.0, absolute: 0.25 };
            let output = Output::new((DType::F32, &layout), tolerance);
            assert!(output.are_near(0, &bytes(&right), &bytes(&right)));
            for at in 0..12 {
                for (by, is_small) in [(0.25, true), (0.5, false), (f32::NAN, false)] {
                    let mut changed = right.clone();
                    changed[at] += by;
                    let is_near = output.are_near(0, &bytes(&changed), &bytes(&right));
                    assert_eq!(is_near, is_small && elements.contains(&at), "{by} at {at} of {layout:?}");
                    // The same in a later chunk of a buffer.
                    let (part, whole) = (bytes(&changed)[16..].to_vec(), bytes(&right)[16..].to_vec());
                    assert_eq!(output.are_near(16, &part, &whole), is_near || at < 4);
                }
            }
            assert!(!output.are_near(0, &bytes(&right[..11]), &bytes(&right)), "a result that is cut short");
        }
    }

    #[test]
    fn bytes_that_nobody_has_written_are_the_same() {
        let layout = Layout::new("test", &[2], &[2], 0, 4).unwrap();
        let output = Output::new((DType::F32, &layout), Tolerance::default());
        let expected = bytes(&[1.0, f32::NAN, 2.0]);
        assert!(output.are_near(0, &expected, &expected));
        assert!(!output.are_near(0, &bytes(&[1.0, 7.0, 2.0]), &expected), "a gap was written");
        assert!(!output.are_near(0, &bytes(&[f32::NAN, f32::NAN, 2.0]), &expected), "an element was not");
    }
}
