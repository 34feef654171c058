//! Random operators with the seed in a tensor.

use crate::Result;
use crate::error::{Named, call};
use crate::gemm::SeedSource;
use crate::layout::Real;
use crate::plan::Plan;
use crate::sketch::operator::axis::matrix_axis;
use crate::sketch::operator::{Applied, Direction, Sketch, SketchKind};
use crate::tensor::Tensor;

/// A random operator with its seed in a tensor on the device: see [`Sketch::seeded_by`].
///
/// Each launch reads the tensor's current seed. The results have the bits of the [`Sketch`] with that seed. Clones share the
/// tensor.
#[derive(Clone, Debug)]
pub struct SeededSketch {
    /// The kind, the shape and the scaling. Its own seed is not used.
    like: Sketch,
    seed: Tensor<i32>,
}

impl Sketch {
    /// The operator of the same kind, shape and scaling, with the seed in a tensor: its low and its high word, from
    /// [`seed_words`](Self::seed_words). The seed of `self` is not used.
    ///
    /// Kernels read the seed when they run. So each run of a [`Replay`](crate::Replay) can use another seed: list the tensor
    /// among the inputs of the capture, and write the words before each run.
    ///
    /// # Shapes
    /// `seed` (2), any stride. The operator holds a clone of it.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if `seed` has another shape; [`Error::Limit`](crate::Error::Limit) if its stride is $2^{31}$ or more.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::Fill;
    /// use tilewise::sketch::{Sketch, SketchKind};
    ///
    /// let sketch = |seed| Sketch::new(SketchKind::CountSketch, [8, 100], seed);
    /// let x = gpu.random::<f32>([100, 3], Fill::Uniform, 1)?;
    /// let seed = gpu.tensor(&Sketch::seed_words(0), [2])?;
    /// let s = sketch(0)?.seeded_by(&seed)?;
    /// let mut step = gpu.capture(&[seed.view()], || s.left(&x))?;
    ///
    /// for n in [7, 8, u64::MAX] {
    ///     step.write(0, &Sketch::seed_words(n))?;
    ///     let y = step.run(&[seed.view()])?.to_vec()?;
    ///     assert_eq!(y, sketch(n)?.left(&x)?.to_vec()?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn seeded_by(&self, seed: &Tensor<i32>) -> Result<SeededSketch> {
        call("Sketch::seeded_by", || {
            SeedSource::tensor(seed.layout())?;
            Ok(SeededSketch { like: *self, seed: seed.clone() })
        })
    }
}

impl SeededSketch {
    /// The kind.
    #[must_use]
    pub fn kind(&self) -> SketchKind {
        self.like.kind()
    }

    /// Rows d and columns n.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        self.like.shape()
    }

    /// Applies $S$ along an axis, like [`Sketch::apply`]: each line of n elements becomes a line of d.
    ///
    /// # Shapes
    /// `x` of up to 6 axes, any strides, extent n along `axis` -> the same shape with extent d, in f32.
    /// # Errors
    /// As for [`Sketch::apply`]; also [`Error::Gpu`](crate::Error::Gpu) if `x` and the seed are on different devices, and [`Error::Device`](crate::Error::Device) if
    /// the seed was never computed, because a launch failed.
    /// # Precision
    /// As for [`Sketch::apply`].
    pub fn apply<T: Real>(&self, x: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.applied().along(Direction::Forward, x, axis).named("SeededSketch::apply")
    }

    /// Applies $S^T$ along an axis: each line of d elements becomes a line of n.
    ///
    /// # Shapes
    /// As for [`apply`](Self::apply), with n and d exchanged.
    /// # Errors
    /// As for [`apply`](Self::apply).
    /// # Precision
    /// As for [`apply`](Self::apply).
    pub fn adjoint<T: Real>(&self, y: &Tensor<T>, axis: usize) -> Result<Tensor<f32>> {
        self.applied().along(Direction::Adjoint, y, axis).named("SeededSketch::adjoint")
    }

    /// The product $SX$: applies the operator along the last axis but one.
    ///
    /// # Shapes
    /// (..., n, m) -> (..., d, m)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn left<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("SeededSketch::left", || self.apply(x, matrix_axis(x, 2)?))
    }

    /// The product $XS^T$: applies the operator along the last axis.
    ///
    /// # Shapes
    /// (..., m, n) -> (..., m, d)
    /// # Errors
    /// As for [`apply`](Self::apply).
    pub fn right<T: Real>(&self, x: &Tensor<T>) -> Result<Tensor<f32>> {
        call("SeededSketch::right", || self.apply(x, matrix_axis(x, 1)?))
    }

    /// The plan that applies the operator, or its transpose, along an axis of `x`.
    ///
    /// # Errors
    /// As for [`apply`](Self::apply); also [`Error::Shape`](crate::Error::Shape) if the result is empty, because nothing is launched then.
    pub fn plan<T: Real>(&self, direction: Direction, x: &Tensor<T>, axis: usize) -> Result<Plan> {
        self.applied().plan(direction, x, axis).named("SeededSketch::plan")
    }

    fn applied(&self) -> Applied<'_> {
        Applied { sketch: &self.like, seed: Some(&self.seed) }
    }
}
