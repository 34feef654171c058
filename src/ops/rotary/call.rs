//! The table of angles, and what it rotates.

use super::pairs::{RotaryPairs, RotaryPass};
use super::problem::{RotaryProblem, RotaryTable, check_position, check_rotary_dims};
use crate::error::{Named, call};
use crate::gpu::Gpu;
use crate::layout::{Element, Real, dim};
use crate::plan::Scalar;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Rotary position embeddings: a table of angles, on a device.
///
/// Pair $i$ of a row at position $p$ is rotated by the angle $\theta = p\\,b^{-2i/d}$, where $d$ is the number of rotary dims and
/// $b$ the base: $(x, y)$ becomes $(x \cos\theta - y \sin\theta,\ y \cos\theta + x \sin\theta)$. Elements after the rotary dims
/// are kept. The scalar product of a rotated query and a rotated key depends on the distance of their positions only.
///
/// The cosines and sines are computed once, on the host, in f64, and uploaded as f32. So they are accurate for large positions,
/// where angles in f32 would have no fraction left. Create the table before a [`capture`](Gpu::capture), because its closure
/// cannot upload.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::{Fill, ops::{Rotary, RotaryPairs}};
///
/// let (length, heads, dim) = (10, 4, 64);
/// let rotary = Rotary::new(&gpu, RotaryPairs::Halves, dim, 10_000.0, 4096)?;
/// // The queries of a projection, (batch, length, heads, dim), as attention takes them: a view.
/// let queries = gpu.random::<f32>([2, length, heads, dim], Fill::Uniform, 1)?;
/// let q = rotary.apply(&queries.permute(&[0, 2, 1, 3])?, 0)?;
/// assert_eq!(q.shape(), [2, heads, length, dim]);
/// assert!(q.permute(&[0, 2, 1, 3])?.layout().is_contiguous()); // in memory as the queries are
///
/// // The next token, after ten in a cache.
/// let token = gpu.random::<f32>([2, heads, 1, dim], Fill::Uniform, 2)?;
/// assert_eq!(rotary.apply(&token, length)?.shape(), [2, heads, 1, dim]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rotary {
    of: RotaryTable,
    /// (2, positions, pairs): the cosines, then the sines.
    table: Tensor<f32>,
    cos: Tensor<f32>,
    sin: Tensor<f32>,
}

/// The position of the table from which rows are rotated.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    Number(usize),
    /// The one element of a tensor.
    Tensor(&'a Tensor<i32>),
}

impl Start<'_> {
    /// The number, if the host knows it.
    fn number(self) -> Option<usize> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

/// The positions of a table.
#[derive(Clone, Copy)]
enum TablePositions<'a> {
    /// From 0 on.
    Count(usize),
    Given(&'a [usize]),
}

impl TablePositions<'_> {
    fn len(self) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Given(positions) => positions.len(),
        }
    }

    fn at(self, row: usize) -> usize {
        match self {
            Self::Count(_) => row,
            Self::Given(positions) => positions[row],
        }
    }

    fn largest(self) -> usize {
        match self {
            Self::Count(count) => count.saturating_sub(1),
            Self::Given(positions) => positions.iter().copied().max().unwrap_or(0),
        }
    }
}

impl Rotary {
    /// A table for the positions 0 to `positions` - 1, of `rotary_dims` elements of each row. The base is 10,000 in most models.
    ///
    /// # Shapes
    /// The table has (positions, `rotary_dims` / 2) angles: `positions * rotary_dims` numbers of f32.
    /// # Errors
    /// [`Error::Input`] if the rotary dims are odd or none, if the base is not finite or not above 0, or so small that an angle is
    /// not finite, or in the closure of [`capture`](Gpu::capture); [`Error::Limit`] and [`Error::OutOfMemory`] if the table does not
    /// fit.
    /// # Precision
    /// The error of an angle $\theta$ is at most $2^{-53} (4 + |\ln b|)\\,\theta$. Its cosine and sine have the same error, and are
    /// rounded to f32 (a relative error of $2^{-24}$). With base 10,000 and positions below $2^{25}$, the error of the angle is
    /// also less than $2^{-24}$.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::ops::{Rotary, RotaryPairs};
    ///
    /// let rotary = Rotary::new(&gpu, RotaryPairs::Interleaved, 2, 10_000.0, 3)?;
    /// let x = gpu.tensor(&[1.0f32, 0.0, 1.0, 0.0, 1.0, 0.0], [3, 2])?; // at the angles 0, 1 and 2
    /// let y = rotary.apply(&x, 0)?.to_vec()?;
    /// let circle = [0.0f32, 1.0, 2.0].map(|angle| [angle.cos(), angle.sin()]);
    /// assert!(y.iter().zip(circle.as_flattened()).all(|(y, to)| (y - to).abs() < 1e-6));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(
        gpu: &Gpu,
        pairs: RotaryPairs,
        rotary_dims: usize,
        base: f64,
        positions: usize,
    ) -> Result<Self> {
        Self::of("Rotary::new", gpu, pairs, (rotary_dims, base), TablePositions::Count(positions))
    }

    /// As [`new`](Self::new), for these positions, in any order: row `i` of the table is for `positions[i]`. For example, the
    /// positions of a cache may begin at 1,000, and packed sequences begin again at 0.
    ///
    /// # Shapes
    /// As [`new`](Self::new), with as many rows as there are positions.
    /// # Errors
    /// As [`new`](Self::new).
    /// # Precision
    /// As [`new`](Self::new). Positions from $2^{53}$ on are rounded to f64.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::ops::{Rotary, RotaryPairs};
    ///
    /// let all = Rotary::new(&gpu, RotaryPairs::Halves, 8, 10_000.0, 100)?;
    /// let two = Rotary::at_positions(&gpu, RotaryPairs::Halves, 8, 10_000.0, &[98, 99])?;
    /// let x = gpu.tensor(&[0.5f32; 16], [2, 8])?;
    /// assert_eq!(two.apply(&x, 0)?.to_vec()?, all.apply(&x, 98)?.to_vec()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn at_positions(
        gpu: &Gpu,
        pairs: RotaryPairs,
        rotary_dims: usize,
        base: f64,
        positions: &[usize],
    ) -> Result<Self> {
        let op = "Rotary::at_positions";
        Self::of(op, gpu, pairs, (rotary_dims, base), TablePositions::Given(positions))
    }

    fn of(
        op: &'static str,
        gpu: &Gpu,
        pairs: RotaryPairs,
        (rotary_dims, base): (usize, f64),
        positions: TablePositions<'_>,
    ) -> Result<Self> {
        call(op, || {
            check_rotary_dims(op, rotary_dims)?;
            check_base(op, rotary_dims, base, positions.largest())?;
            let of = RotaryTable { pairs, rotary_dims, positions: positions.len() };
            let layout = of.layout(op)?;
            dim(op, layout.len())?;
            let (rows, pairs) = (of.positions, rotary_dims / 2);
            let mut frequencies = Vec::new();
            let table = gpu.filled(op, layout.shape(), |first, numbers| {
                // NOTE: computed only now, after the memory for the table was allocated.
                if frequencies.is_empty() {
                    frequencies.extend((0..pairs).map(|pair| frequency(base, pair, rotary_dims)));
                }
                let first = usize::try_from(first).unwrap_or(usize::MAX);
                for (at, number) in (first..).zip(numbers) {
                    let angle = positions.at(at / pairs % rows) as f64 * frequencies[at % pairs];
                    *number = f32::from_f64(if at < rows * pairs { angle.cos() } else { angle.sin() });
                }
            })?;
            let half = |at: usize| table.slice(0, at..=at)?.squeeze(0);
            Ok(Self { of, cos: half(0)?, sin: half(1)?, table })
        })
    }

    /// Rotates rows: row $i$ by the angles of row `start` $+\ i$ of the table.
    ///
    /// One launch, which reads and writes each element once. In a [`Replay`](crate::Replay) the start is that of the capture;
    /// [`apply_at`](Self::apply_at) reads it from a tensor.
    ///
    /// # Shapes
    /// x is (.., length, dim), of 2 to 6 axes and any strides, with dim at least as large as the rotary dims. The result has the
    /// same shape. In memory it has no gaps; the last axis is innermost, and the others have the order of x's strides. So for a
    /// view (batch, heads, length, dim) of a tensor (batch, length, heads, dim), the result is the same kind of view, and no later
    /// copy is needed. If x repeats elements along an axis (stride 0), the result is row-major.
    /// # Errors
    /// [`Error::Shape`] if x has fewer axes than two, or its rows fewer elements than the rotary dims; [`Error::Input`] if the
    /// table ends before `start` + length; [`Error::Gpu`] if x is on another device; [`Error::Limit`] and [`Error::OutOfMemory`] as
    /// [`softmax`](crate::ops::softmax()).
    /// # Precision
    /// Computed in f32, then stored. Two products and a sum, with factors of the table: the first of a pair $(a, b)$ is within
    /// $3u\\,(|a \cos\theta| + |b \sin\theta|)$ with $u = 2^{-23}$, see [`reference::rotary`](crate::reference::rotary). Elements
    /// after the rotary dims are copied exactly, except that a device may store f16 below $2^{-14}$ as 0. NaN and infinities
    /// affect only their own pair.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, ops::{Rotary, RotaryPairs}, reference};
    ///
    /// let x = gpu.random::<f32>([3, 7, 80], Fill::Uniform, 1)?;
    /// let y = Rotary::new(&gpu, RotaryPairs::Halves, 32, 10_000.0, 7)?.apply(&x, 0)?;
    /// let angles = reference::rotary_angles(32, 10_000.0, &[0, 1, 2, 3, 4, 5, 6]);
    /// let want = reference::rotary(&x.to_vec()?, [3, 7, 80], RotaryPairs::Halves, &angles);
    /// assert!(want.compare(&y.to_vec()?).ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn apply<T: Real>(&self, x: &Tensor<T>, start: usize) -> Result<Tensor<T>> {
        self.run(RotaryPass::Forward, x, Start::Number(start))
    }

    /// As [`apply`](Self::apply), but the first row of the table is read from a tensor, on the device. So each run of a
    /// [`Replay`](crate::Replay) may use another row. If the number is negative or the table ends too early, the nearest
    /// possible row is taken. This is no error, because the host does not know the number.
    ///
    /// # Shapes
    /// As [`apply`](Self::apply); `at` has one element, and any number of axes.
    /// # Errors
    /// As [`apply`](Self::apply) with a start of 0; [`Error::Shape`] if `at` has more or fewer elements than one.
    /// # Precision
    /// As [`apply`](Self::apply): the same bits.
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, ops::{Rotary, RotaryPairs}};
    ///
    /// let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 16, 10_000.0, 20)?;
    /// let x = gpu.random::<f32>([1, 16], Fill::Uniform, 1)?;
    /// let at = gpu.tensor(&[7], [1])?;
    /// assert_eq!(rotary.apply_at(&x, &at)?.to_vec()?, rotary.apply(&x, 7)?.to_vec()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn apply_at<T: Real>(&self, x: &Tensor<T>, at: &Tensor<i32>) -> Result<Tensor<T>> {
        self.run(RotaryPass::Forward, x, Start::Tensor(at)).named("Rotary::apply_at")
    }

    /// The gradient of [`apply`](Self::apply) with respect to x, from that of its result: the rotation by the negative angles.
    ///
    /// One launch.
    ///
    /// # Shapes
    /// As [`apply`](Self::apply), with `grad` in place of x.
    /// # Errors
    /// As [`apply`](Self::apply).
    /// # Precision
    /// As [`apply`](Self::apply): [`reference::rotary_backward`](crate::reference::rotary_backward).
    /// ```
    /// # fn main() -> tilewise::Result<()> {
    /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
    /// use tilewise::{Fill, ops::{Rotary, RotaryPairs}};
    ///
    /// let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 16, 10_000.0, 20)?;
    /// let x = gpu.random::<f32>([20, 16], Fill::Uniform, 1)?;
    /// let back = rotary.backward(&rotary.apply(&x, 0)?, 0)?; // a rotation is undone by its transpose
    /// assert!(back.to_vec()?.iter().zip(x.to_vec()?).all(|(a, b)| (a - b).abs() < 1e-6));
    /// # Ok(())
    /// # }
    /// ```
    pub fn backward<T: Real>(&self, grad: &Tensor<T>, start: usize) -> Result<Tensor<T>> {
        self.run(RotaryPass::Backward, grad, Start::Number(start))
    }

    /// The gradient of [`apply_at`](Self::apply_at) with respect to x, as [`backward`](Self::backward).
    ///
    /// # Shapes
    /// As [`apply_at`](Self::apply_at), with `grad` in place of x.
    /// # Errors
    /// As [`apply_at`](Self::apply_at).
    /// # Precision
    /// As [`backward`](Self::backward): the same bits.
    pub fn backward_at<T: Real>(&self, grad: &Tensor<T>, at: &Tensor<i32>) -> Result<Tensor<T>> {
        self.run(RotaryPass::Backward, grad, Start::Tensor(at)).named("Rotary::backward_at")
    }

    /// Rotates, from this position of the table on.
    pub(crate) fn run<T: Real>(
        &self,
        pass: RotaryPass,
        x: &Tensor<T>,
        start: Start<'_>,
    ) -> Result<Tensor<T>> {
        let op = pass.op();
        call(op, || {
            self.of.check(op, x.layout(), start.number().unwrap_or(0))?;
            let gpu = x.same_gpu(op, &self.table)?;
            if let Start::Tensor(at) = start {
                x.same_gpu(op, at)?;
                check_position(op, at.layout())?;
            }
            if x.is_empty() {
                return gpu.empty(x.shape());
            }
            let problem = RotaryProblem::new(pass, self.of, x.layout(), T::DTYPE)?;
            let mut operands = vec![x.view(), self.table.view()];
            let (problem, scalars) = match start {
                Start::Number(start) => (problem, vec![Scalar::U32(dim(op, start)?)]),
                Start::Tensor(at) => {
                    operands.push(at.view());
                    (problem.at_position(at.layout())?, vec![])
                }
            };
            let order = RotaryProblem::memory_order(x.layout());
            let extents: Vec<usize> = order.iter().map(|&axis| x.shape()[axis]).collect();
            let mut places = vec![0; order.len()];
            order.iter().enumerate().for_each(|(place, &axis)| places[axis] = place);
            Tensor::computed(gpu, &problem, &operands, &scalars, extents)?.permute(&places)
        })
    }

    /// Which elements of a row form a pair.
    #[must_use]
    pub fn pairs(&self) -> RotaryPairs {
        self.of.pairs
    }

    /// The number of elements of a row that are rotated.
    #[must_use]
    pub fn rotary_dims(&self) -> usize {
        self.of.rotary_dims
    }

    /// The number of positions in the table.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.of.positions
    }

    /// The cosines of the angles: (positions, `rotary_dims` / 2).
    #[must_use]
    pub fn cosines(&self) -> &Tensor<f32> {
        &self.cos
    }

    /// Their sines.
    #[must_use]
    pub fn sines(&self) -> &Tensor<f32> {
        &self.sin
    }
}

/// The increment of a pair's angle from one position to the next.
fn frequency(base: f64, pair: usize, rotary_dims: usize) -> f64 {
    base.powf(-((2 * pair) as f64) / rotary_dims as f64)
}

/// Checks that all angles up to this position are finite.
fn check_base(op: &'static str, rotary_dims: usize, base: f64, largest: usize) -> Result<()> {
    let wrong = |why: String| Err(Error::input(format!("{op}: the base"), why));
    if !(base.is_finite() && base > 0.0) {
        return wrong(format!("it must be finite and above 0, not {base}"));
    }
    // Frequencies increase or decrease with the pair, so the first or the last is the largest.
    let is_finite = |pair| (largest as f64 * frequency(base, pair, rotary_dims)).is_finite();
    if is_finite(0) && is_finite(rotary_dims / 2 - 1) {
        return Ok(());
    }
    wrong(format!("with {base:e}, position {largest} has an angle that is not finite"))
}
