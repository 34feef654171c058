//! The operands of a trial, and the comparison of its results.

use super::handle::Gpu;
use super::memory::Allocation;
use crate::layout::{DType, Element, Fill, Layout};
use crate::plan::{Access, Parameter, Tolerance, TrialRun, TrialValues};
use crate::{Error, Result};
use half::{bf16, f16};

/// The function that errors name.
pub(super) const OP: &str = "tune";
/// The values of an operand repeat after this many elements: a prime, so that rows differ.
const PERIOD: usize = 1_000_003;
/// The byte of elements that no candidate has written: NaN in all real types.
const POISON: u8 = 0xff;

/// The buffers of a run, in the order of a plan's parameters.
pub(super) fn upload(
    gpu: &Gpu,
    parameters: &[Parameter],
    run: &TrialRun,
    which: impl Fn(Access) -> bool,
) -> Result<Vec<Option<Allocation>>> {
    let buffer = |(at, to): (usize, &Parameter)| {
        if !which(to.access) {
            return Ok(None);
        }
        let values = run.values.get(at).filter(|_| to.access != Access::Write);
        gpu.upload(OP, &contents(to, values.copied(), at as u64)?).map(Some)
    };
    parameters.iter().enumerate().map(buffer).collect()
}

/// The bytes of an operand.
fn contents(to: &Parameter, values: Option<TrialValues>, seed: u64) -> Result<Vec<u8>> {
    let bytes = usize::try_from(to.new_bytes()).map_err(Error::device)?;
    let Some(values) = values else { return Ok(vec![POISON; bytes]) };
    let len = bytes / to.dtype.size();
    Ok(match to.dtype {
        DType::F32 => of::<f32>(values, len, seed),
        DType::F16 => of::<f16>(values, len, seed),
        DType::Bf16 => of::<bf16>(values, len, seed),
        DType::I8 => of::<i8>(values, len, seed),
        DType::I32 => of::<i32>(values, len, seed),
    })
}

fn of<T: Element>(values: TrialValues, len: usize, seed: u64) -> Vec<u8> {
    let period = len.min(PERIOD);
    let once: Vec<T> = match values {
        TrialValues::Positive if T::DTYPE.is_real() => {
            let signed = Fill::Uniform.values::<T>(period, seed);
            signed.into_iter().map(|x| T::from_f64(x.to_f64().abs())).collect()
        }
        TrialValues::Positive | TrialValues::Signed => Fill::Uniform.values(period, seed),
        TrialValues::Integers => Fill::Integers.values(period, seed),
        TrialValues::Each(number) => vec![T::from_f64(number.into()); period],
    };
    let once: &[u8] = bytemuck::cast_slice(&once);
    once.iter().copied().cycle().take(len * size_of::<T>()).collect()
}

/// Whether every element of a result is as near to the reference as the tolerance allows. Both are the bytes of a buffer whose
/// elements have this layout.
pub(super) fn is_near(
    (dtype, layout): (DType, &Layout),
    result: &[u8],
    reference: &[u8],
    tolerance: Tolerance,
) -> bool {
    let near = match dtype {
        DType::F32 => all_near::<f32>,
        DType::F16 => all_near::<f16>,
        DType::Bf16 => all_near::<bf16>,
        DType::I8 => all_near::<i8>,
        DType::I32 => all_near::<i32>,
    };
    near(layout, result, reference, tolerance)
}

fn all_near<T: Element>(layout: &Layout, result: &[u8], reference: &[u8], tolerance: Tolerance) -> bool {
    let at = |bytes: &[u8], place: usize| {
        let start = place * size_of::<T>();
        let element = bytes.get(start..start + size_of::<T>());
        element.map_or(f64::NAN, |bytes| bytemuck::pod_read_unaligned::<T>(bytes).to_f64())
    };
    (0..layout.len()).all(|index| {
        let place = place(layout, index);
        tolerance.allows(at(result, place), at(reference, place))
    })
}

/// The place of an element, counted row-major, in its buffer.
fn place(layout: &Layout, index: usize) -> usize {
    if layout.is_contiguous() {
        return layout.offset() + index;
    }
    let axes = layout.shape().iter().zip(layout.strides()).rev();
    let (_, place) = axes.fold((index, layout.offset()), |(index, place), (extent, stride)| {
        (index / extent, place + index % extent * stride)
    });
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_elements_of_the_layout_are_compared() {
        // Two columns of three rows, in the last two of each four places, from the second on.
        let layout = Layout::new("test", &[3, 2], &[4, 2], 1, 16).unwrap();
        let places: Vec<usize> = (0..6).map(|index| place(&layout, index)).collect();
        assert_eq!(places, [1, 3, 5, 7, 9, 11]);
        let right: Vec<f32> = (0u8..12).map(f32::from).collect();
        let near = |changed: &[f32]| {
            let bytes = |values: &[f32]| bytemuck::cast_slice(values).to_vec();
            let (changed, right) = (bytes(changed), bytes(&right));
            is_near((DType::F32, &layout), &changed, &right, Tolerance { relative: 0.0, absolute: 0.25 })
        };
        assert!(near(&right));
        for at in 0..12 {
            for (by, is_small) in [(0.25, true), (0.5, false), (f32::NAN, false)] {
                let mut changed = right.clone();
                changed[at] += by;
                assert_eq!(near(&changed), is_small || at % 2 == 0, "{by} at {at}");
            }
        }
        assert!(!near(&right[..11]), "a result that is cut short");
    }

    #[test]
    fn operands_have_their_values() {
        for dtype in DType::ALL {
            let layout = Layout::contiguous("test", &[1000]).unwrap();
            let to = Parameter { name: "a", dtype, layout, access: Access::Read };
            let of = |values| contents(&to, values, 1).unwrap();
            let size = dtype.size();
            assert_eq!(of(None), vec![POISON; 1000 * size]);
            let each = of(Some(TrialValues::Each(1)));
            assert!(each.chunks(size).all(|x| x == &each[..size]));
            let tolerance = Tolerance::default();
            assert!(!is_near((dtype, &layout), &of(Some(TrialValues::Integers)), &each, tolerance));
            let positive = of(Some(TrialValues::Positive));
            let within = Tolerance { relative: 0.5, absolute: 0.5 };
            assert_eq!(is_near((dtype, &layout), &positive, &each, within), dtype.is_real(), "{dtype}");
        }
        let many = super::of::<i32>(TrialValues::Signed, PERIOD + 10, 3);
        assert_eq!(many.len(), 4 * (PERIOD + 10));
        assert_eq!(many[..40], many[4 * PERIOD..]);
    }
}
