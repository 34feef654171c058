//! What a convolution is compared with: exact sums of small integers, and the definition in f64.

use super::shape::Shape;
use crate::rows::Checked;
use crate::side::Check;
use std::marker::PhantomData;
use tilewise::conv::{ConvGeometry, ConvOptions, Padding};
use tilewise::gemm::Accumulator;
use tilewise::reference::{ConvEpilogueReference, ConvReference, Definition as Exact, sum_tolerance};
use tilewise::{DType, Element, Fill, Layout, Real};

/// Up to this integer f16 holds every one, so that sums are exact in any order and in any type.
const LARGEST: usize = 2048;

/// Images and a weight of one convolution, on the host.
pub(crate) struct Operands<T> {
    pub(crate) x: Vec<T>,
    pub(crate) weight: Vec<T>,
}

/// The results of two sets of operands.
pub(crate) struct Definition<T> {
    /// Small integers: a wrong index or a result that was not written gives another integer.
    pub(crate) integers: Operands<T>,
    integer_results: Vec<f32>,
    /// Uniform in [-1, 1): what is timed.
    pub(crate) uniform: Operands<T>,
    uniform_results: Exact,
    /// Bounds of sums in f16, where the operands are f16.
    in_f16: Option<Vec<f64>>,
    dtype: PhantomData<T>,
}

/// The library's options of a convolution.
pub(crate) fn options(shape: &Shape) -> ConvOptions {
    let padding = Padding::Explicit([[shape.padding; 2]; 2]);
    ConvOptions::new().stride([shape.stride; 2]).padding(padding).groups(shape.groups)
}

impl<T: Real> Definition<T> {
    /// Of this convolution.
    pub(crate) fn new(shape: &Shape) -> tilewise::Result<Self> {
        let [x, weight] =
            [shape.x(), shape.weight()].map(|extents| Layout::contiguous("convolution", &extents));
        let geometry = ConvGeometry::new("convolution", &x?, &weight?, &options(shape))?;
        let reference = ConvReference { geometry };
        let epilogue = ConvEpilogueReference::default();
        let integers = integers(shape);
        let exact = reference.forward(&integers.x, &integers.weight, &epilogue).value;
        let [x, weight] = [(shape.x(), 1), (shape.weight(), 2)]
            .map(|(extents, seed)| Fill::Uniform.values::<T>(extents.iter().product(), seed));
        let uniform = Operands { x, weight };
        let uniform_results = reference.forward(&uniform.x, &uniform.weight, &epilogue);
        let in_f16 = (T::DTYPE == DType::F16).then(|| {
            let absolute = |of: &[T]| of.iter().map(|x| T::from_f64(x.to_f64().abs())).collect::<Vec<_>>();
            let magnitudes = reference.forward(&absolute(&uniform.x), &absolute(&uniform.weight), &epilogue);
            let bound = |&magnitude: &f64| sum_tolerance(shape.terms(), magnitude, Accumulator::F16);
            magnitudes.value.iter().map(bound).collect()
        });
        Ok(Self {
            integers,
            integer_results: exact.into_iter().map(f32::from_f64).collect(),
            uniform,
            uniform_results,
            in_f16,
            dtype: PhantomData,
        })
    }

    /// An error unless the results of the integers are exact.
    pub(crate) fn check_integers(&self, y: &[f32]) -> Result<(), String> {
        if y.len() != self.integer_results.len() {
            return Err(format!("the result has {} elements, not {}", y.len(), self.integer_results.len()));
        }
        // NOTE: a NaN is not equal to anything, so it counts as wrong.
        let wrong = y.iter().zip(&self.integer_results).filter(|(got, want)| got != want).count();
        if wrong == 0 {
            return Ok(());
        }
        Err(format!("the result is wrong: {wrong} of {} sums of small integers", y.len()))
    }
}

impl<T: Real> Check for Definition<T> {
    fn check(&self, y: &[f32]) -> Result<Checked, String> {
        let Exact { value, tolerance } = &self.uniform_results;
        if y.len() != value.len() {
            return Err(format!("the result has {} elements, not {}", y.len(), value.len()));
        }
        let stored: Vec<T> = y.iter().map(|&y| T::from_f64(y.into())).collect();
        let compared = self.uniform_results.compare(&stored);
        let mut sums = "f32";
        if !compared.ok() {
            sums = "f16";
            let wider = |bounds: &Vec<f64>| {
                let tolerance = tolerance.iter().zip(bounds).map(|(a, b)| a.max(*b)).collect();
                Exact { value: value.clone(), tolerance }.compare(&stored).ok()
            };
            if !self.in_f16.as_ref().is_some_and(wider) {
                return Err(format!(
                    "the result is wrong: its largest error is {:.2e}, {:.1} times the bound",
                    compared.max_abs_err, compared.bound_ratio
                ));
            }
        }
        Ok(Checked {
            check: format!("full; integers exact; sums within the bound of {sums}"),
            max_abs_err: compared.max_abs_err,
            bound_ratio: compared.bound_ratio,
        })
    }
}

/// Images of -1, 0 and 1, and weights of which so few are -1 or 1, and all others 0, that no partial sum exceeds [`LARGEST`].
fn integers<T: Real>(shape: &Shape) -> Operands<T> {
    let values = |extents: [usize; 4], seed| Fill::Integers.values::<f32>(extents.iter().product(), seed);
    let sign = |x: f32| T::from_f64(if x == 0.0 { 0.0 } else { f64::from(x.signum()) });
    let x = values(shape.x(), 3).into_iter().map(sign).collect();
    let weight: Vec<T> = values(shape.weight(), 4)
        .into_iter()
        .map(|w| if w.abs() > 2.5 { sign(w) } else { T::from_f64(0.0) })
        .collect();
    let most = weight.chunks(shape.terms()).map(|of| of.iter().filter(|w| w.to_f64() != 0.0).count()).max();
    assert!(most.is_some_and(|most| most <= LARGEST), "sums of {shape} are exact in f16");
    Operands { x, weight }
}

#[cfg(test)]
mod tests {
    use super::super::shape;
    use super::*;
    use tilewise::f16;

    fn small() -> Shape {
        Shape {
            name: "small".into(),
            batch: 2,
            height: 5,
            width: 4,
            channels: 3,
            outputs: 6,
            kernel: 3,
            stride: 2,
            padding: 1,
            groups: 1,
        }
    }

    /// The definition in f32, written once more.
    fn convolved<T: Real>(shape: &Shape, of: &Operands<T>) -> Vec<f32> {
        let [batch, height, width, outputs] = shape.y();
        let mut y = Vec::new();
        for at in 0..batch * height * width * outputs {
            let (n, p, q, o) = (
                at / outputs / width / height,
                at / outputs / width % height,
                at / outputs % width,
                at % outputs,
            );
            let mut sum = 0.0;
            for tap in 0..shape.kernel * shape.kernel {
                let row = (p * shape.stride + tap / shape.kernel).checked_sub(shape.padding);
                let column = (q * shape.stride + tap % shape.kernel).checked_sub(shape.padding);
                let (Some(row), Some(column)) = (row, column) else { continue };
                if row >= shape.height || column >= shape.width {
                    continue;
                }
                for c in 0..shape.channels {
                    let x = ((n * shape.height + row) * shape.width + column) * shape.channels + c;
                    let w = (o * shape.kernel * shape.kernel + tap) * shape.channels + c;
                    sum += of.x[x].to_f64() * of.weight[w].to_f64();
                }
            }
            y.push(f32::from_f64(T::from_f64(sum).to_f64()));
        }
        y
    }

    #[test]
    fn a_right_result_passes_and_a_wrong_one_does_not() -> Result<(), String> {
        let shape = small();
        let definition = Definition::<f32>::new(&shape).map_err(|error| error.to_string())?;
        let mut integers = convolved(&shape, &definition.integers);
        definition.check_integers(&integers)?;
        integers[7] = f32::NAN;
        let wrong = definition.check_integers(&integers);
        assert_eq!(wrong, Err("the result is wrong: 1 of 72 sums of small integers".into()));
        let mut y = convolved(&shape, &definition.uniform);
        assert!(definition.check(&y)?.check.ends_with("f32"));
        y[0] += 1e-3;
        assert!(definition.check(&y).is_err_and(|why| why.starts_with("the result is wrong: its largest")));
        assert!(definition.check(&y[1..]).is_err() && definition.check_integers(&y[1..]).is_err());
        Ok(())
    }

    #[test]
    fn sums_in_f16_are_told_from_sums_in_f32() -> Result<(), String> {
        let shape = small();
        let definition = Definition::<f16>::new(&shape).map_err(|error| error.to_string())?;
        definition.check_integers(&convolved(&shape, &definition.integers))?;
        let mut y = convolved(&shape, &definition.uniform);
        assert!(definition.check(&y)?.check.ends_with("f32"));
        y.iter_mut().for_each(|y| *y += 0.01);
        assert!(definition.check(&y)?.check.ends_with("f16"));
        y.iter_mut().for_each(|y| *y += 10.0);
        assert!(definition.check(&y).is_err());
        Ok(())
    }

    #[test]
    fn integers_of_every_listed_convolution_are_exact() {
        for shape in shape::all() {
            let Operands { x, weight } = integers::<f16>(&shape);
            assert!(x.iter().chain(&weight).any(|value| value.to_f64() < 0.0), "{shape}");
        }
    }
}
