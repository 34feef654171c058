//! The operands of a trial: buffers that are allocated once, and filled again for each run.

use crate::gpu::handle::gpu::{Allocation, Gpu};
use crate::gpu::views::view::View;
use crate::layout::{DType, Element, F8E4M3, F8E5M2, Fill};
use crate::plan::{Access, Parameter, TrialRun, TrialValues};
use crate::{Error, Result};
use half::{bf16, f16};

/// The function that errors name.
pub(in crate::gpu) const OP: &str = "tune";
/// The values of an operand repeat after this many elements: a prime, so that rows differ.
const PERIOD: usize = 1_000_003;
/// The byte of elements that no candidate has written: NaN in all real types.
const POISON: u8 = 0xff;

/// The buffers of a trial: one for each input, and two for each output, for the results of the reference and of a candidate.
pub(in crate::gpu) struct TrialBuffers<'a> {
    gpu: &'a Gpu,
    parameters: &'a [Parameter],
    buffers: Vec<Allocation>,
    /// For each output the buffer of the reference's results.
    expected: Vec<Option<Allocation>>,
}

/// The owner of the results in an output buffer: the reference or a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum Of {
    Reference,
    Candidate,
}

impl<'a> TrialBuffers<'a> {
    /// Allocates all buffers.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if there is no room for them. This is detected before any data is
    /// generated on the host.
    pub(in crate::gpu) fn new(gpu: &'a Gpu, parameters: &'a [Parameter]) -> Result<Self> {
        let allocated = |to: &Parameter| gpu.allocate(OP, to.new_bytes());
        let second = |to: &Parameter| (to.access != Access::Read).then(|| allocated(to)).transpose();
        Ok(Self {
            gpu,
            parameters,
            buffers: parameters.iter().map(allocated).collect::<Result<_>>()?,
            expected: parameters.iter().map(second).collect::<Result<_>>()?,
        })
    }

    /// Fills the inputs with the values of a run.
    pub(in crate::gpu) fn fill_inputs(&self, run: &TrialRun) -> Result<()> {
        self.fill(run, |access| access == Access::Read, Of::Candidate)
    }

    /// Fills the outputs: those that are updated with the values of a run, the others with bytes that no result has.
    pub(in crate::gpu) fn fill_outputs(&self, run: &TrialRun, of: Of) -> Result<()> {
        self.fill(run, |access| access != Access::Read, of)
    }

    fn fill(&self, run: &TrialRun, which: impl Fn(Access) -> bool, of: Of) -> Result<()> {
        for (at, to) in self.parameters.iter().enumerate().filter(|(_, to)| which(to.access)) {
            let values = run.values.get(at).filter(|_| to.access != Access::Write).copied();
            self.buffer(at, of).fill(self.gpu, to.dtype, values, at as u64)?;
        }
        Ok(())
    }

    fn buffer(&self, at: usize, of: Of) -> &Allocation {
        match (&self.expected[at], of) {
            (Some(expected), Of::Reference) => expected,
            _ => &self.buffers[at],
        }
    }

    /// The operands of a call, with outputs that hold the results of the reference or of a candidate.
    pub(in crate::gpu) fn views(&self, of: Of) -> Vec<View<'_>> {
        let view = |(at, to): (usize, &Parameter)| View::new(self.buffer(at, of), to.layout, to.dtype);
        self.parameters.iter().enumerate().map(view).collect()
    }

    /// The outputs, each with the results of a candidate and of the reference.
    pub(in crate::gpu) fn outputs(&self) -> impl Iterator<Item = (&Parameter, [&Allocation; 2])> {
        let both = self.buffers.iter().zip(&self.expected);
        let outputs = self.parameters.iter().zip(both);
        outputs.filter_map(|(to, (found, expected))| Some((to, [found, expected.as_ref()?])))
    }
}

impl Allocation {
    /// Replaces all elements by these values. Without values, all bytes are those of unwritten elements.
    fn fill(&self, gpu: &Gpu, dtype: DType, values: Option<TrialValues>, seed: u64) -> Result<()> {
        let fill = match dtype {
            DType::F32 => fill_with::<f32>,
            DType::F16 => fill_with::<f16>,
            DType::Bf16 => fill_with::<bf16>,
            DType::I8 => fill_with::<i8>,
            DType::I32 => fill_with::<i32>,
            DType::F8E4M3 => fill_with::<F8E4M3>,
            DType::F8E5M2 => fill_with::<F8E5M2>,
        };
        fill(gpu, self, values, seed)
    }
}

fn fill_with<T: Element>(gpu: &Gpu, to: &Allocation, values: Option<TrialValues>, seed: u64) -> Result<()> {
    let len = usize::try_from(to.len()).map_err(Error::device)? / size_of::<T>();
    let once = match values {
        Some(values) => once(values, T::DTYPE, len.min(PERIOD), seed).into_iter().map(T::from_f64).collect(),
        None => vec![bytemuck::pod_read_unaligned(&vec![POISON; size_of::<T>()])],
    };
    gpu.overwrite_chunks(OP, to, |start, chunk: &mut [T]| {
        let mut at = usize::try_from(start % once.len() as u64).unwrap_or(0);
        for element in chunk {
            *element = once[at];
            at = if at + 1 == once.len() { 0 } else { at + 1 };
        }
    })
}

/// The values of an operand of this type before they repeat: at least one. The type represents them exactly, except for
/// fractions.
pub(in crate::gpu) fn once(values: TrialValues, dtype: DType, period: usize, seed: u64) -> Vec<f64> {
    let period = period.max(1) as u64;
    // Of the values, and of the places where they are.
    let (seed, of_places) = (2 * seed, 2 * seed + 1);
    let uniform = |i| Fill::Uniform.number(dtype, i, seed);
    // A number from 0 to n - 1.
    let below = |n: u32, i| {
        let random = Fill::Uniform.number(DType::F32, i, of_places);
        ((random + 1.0) / 2.0 * f64::from(n)).floor()
    };
    let there = |one_in: u32, i, number: f64| if below(one_in.max(1), i) < 1.0 { number } else { 0.0 };
    let value = |i: u64| match values {
        TrialValues::Positive if dtype.is_float() => uniform(i).abs(),
        TrialValues::Fraction(n) if dtype.is_float() => uniform(i).abs() / f64::from(n.max(1)),
        TrialValues::Positive | TrialValues::Fraction(_) | TrialValues::Signed => uniform(i),
        TrialValues::Integers => Fill::Integers.number(dtype, i, seed),
        TrialValues::Signs { one_in } => {
            let is_negative = Fill::Uniform.number(DType::F32, i, seed) < 0.0;
            there(one_in, i, if is_negative { -1.0 } else { 1.0 })
        }
        TrialValues::Spikes { one_in, height } => there(one_in, i, height.into()),
        TrialValues::Between(least, most) => {
            f64::from(least) + below(most.abs_diff(least).saturating_add(1), i)
        }
        TrialValues::Each(each) => each.into(),
    };
    let period = if matches!(values, TrialValues::Each(_)) { 1 } else { period };
    (0..period).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T: Element>(values: TrialValues) -> Vec<f64> {
        let rounded = |x| T::from_f64(x).to_f64();
        once(values, T::DTYPE, 1000, 3).into_iter().map(rounded).collect()
    }

    fn each_type(values: TrialValues, check: impl Fn(DType, &[f64])) {
        check(DType::F32, &of::<f32>(values));
        check(DType::F16, &of::<f16>(values));
        check(DType::Bf16, &of::<bf16>(values));
        check(DType::I8, &of::<i8>(values));
        check(DType::I32, &of::<i32>(values));
    }

    #[test]
    fn operands_have_their_values() {
        let share =
            |of: &[f64], is: fn(f64) -> bool| of.iter().filter(|&&x| is(x)).count() as f64 / of.len() as f64;
        each_type(TrialValues::Each(1), |_, of| assert_eq!(of, [1.0]));
        each_type(TrialValues::Integers, |_, of| {
            assert!(of.iter().all(|x| x.fract() == 0.0 && x.abs() <= 3.0));
            assert!(share(of, |x| x == 0.0) < 0.25);
        });
        each_type(TrialValues::Signs { one_in: 10 }, |dtype, of| {
            assert!(of.iter().all(|&x| x == 0.0 || x.abs() == 1.0), "{dtype}");
            for sign in [share(of, |x| x > 0.0), share(of, |x| x < 0.0)] {
                assert!((0.02..0.08).contains(&sign), "{dtype}: {sign}");
            }
        });
        each_type(TrialValues::Spikes { one_in: 4, height: 64 }, |dtype, of| {
            assert!(of.iter().all(|&x| x == 0.0 || x == 64.0), "{dtype}");
            let there = share(of, |x| x != 0.0);
            assert!((0.2..0.3).contains(&there), "{dtype}: {there}");
        });
        each_type(TrialValues::Between(0, 1), |dtype, of| {
            assert!((0.4..0.6).contains(&share(of, |x| x == 1.0)), "{dtype}");
            assert!(of.iter().all(|&x| x == 0.0 || x == 1.0), "{dtype}");
        });
        let between = of::<i32>(TrialValues::Between(5, 7));
        assert!(
            (5..=7).all(|n| between.contains(&f64::from(n)))
                && between.iter().all(|x| (5.0..=7.0).contains(x))
        );
        each_type(TrialValues::Positive, |dtype, of| {
            assert_eq!(of.iter().all(|&x| (0.0..=1.0).contains(&x)), dtype.is_float(), "{dtype}");
        });
        assert!(of::<f32>(TrialValues::Fraction(8)).iter().all(|&x| (0.0..=0.125).contains(&x)));
        each_type(TrialValues::Signed, |dtype, of| {
            assert!((0.4..0.6).contains(&share(of, |x| x < 0.0)), "{dtype}");
        });
    }
}
