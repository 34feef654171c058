//! The reductions, a row each. To add one, add a row, and its state to `shaders/ops/reduction.wgsl` if no other has it.
//!
//! `reduction_rows!(write)` gives all rows to the macro `write`. A row has
//!
//! - the documentation, the variant of `ReduceFunction`, with the number of a call if it takes one and a value of it, and the name,
//! - what it takes: `reals`; `all` numbers; `sums` of all numbers, those of integers in i32; or `places`: indices along one axis,
//! - the result for no elements: none if there must be one,
//! - the approximate number of operations for an element,
//! - the state of reals, and of integers if it is another one: the variant of `shaders/ops/reduction.wgsl`, its WGSL type, its words
//!   in memory, where a vector of three takes four, and how elements are read,
//! - how the result is computed from the final state: a constant of `shaders/ops/reduce_dims.wgsl`, and a number in the shader's
//!   uniform, for n elements of a type: the bits of the divisor, or the mask that reverses the order,
//! - the documentation of the definition, and the definition of a row in f64: the value and its bound, or the index.

macro_rules! reduction_rows {
    ($write:ident) => {
        $write! { row n dtype:
            /// Sums of elements.
            ///
            /// # Shapes
            /// Any view of up to 6 axes, and any set of its axes: one (`1`), several (`[0, 2]`), or all (`..`). The result has the shape of
            /// `a` without these axes; [`reshape`](Tensor::reshape) inserts axes of extent 1 again. The sum over an empty axis is 0.
            /// # Errors
            /// [`Error::Shape`](crate::Error::Shape) if `a` lacks an axis, or one is given twice; [`Error::Limit`](crate::Error::Limit) if `a`
            /// has
            /// $2^{31}$ elements or more;
            /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the result does not fit.
            /// # Precision
            /// Reals are summed in f32, in an order that depends only on the layout and the device, then stored:
            /// $|s - \sum_{i} a_{i}| \le \gamma_{n} \sum_{i} |a_{i}|$, see [`reference::sum`](crate::reference::sum). In f16, a
            /// sum above 65,504 overflows to infinity: cast `a` to f32 first. Sums of i8 and i32 are i32, exact, and wrap beyond its range as
            /// [`i32::wrapping_add`] does.
            /// # Memory
            /// If there are too few results to occupy the device, 4 bytes for each partial sum while it runs. If `a` exceeds a binding, each
            /// window along the summed axes has its own partial sums: at most 256 for each result and window.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
            /// assert_eq!(tilewise::ops::sum(&a, 0)?.to_vec()?, [5.0, 7.0, 9.0]);
            /// assert_eq!(tilewise::ops::sum(&a, 1)?.to_vec()?, [6.0, 15.0]);
            /// assert_eq!(tilewise::ops::sum(&a, ..)?.to_vec()?, [21.0]);
            ///
            /// let counts = gpu.tensor(&[100i8; 4], [4])?;
            /// assert_eq!(tilewise::ops::sum(&counts, 0)?.to_vec()?, [400i32]);
            /// # Ok(())
            /// # }
            /// ```
            Sum: sum takes sums, nothing [Some(0.0)] flops [1.0]
                states [("sum", "f32", 1, Reals), ("integers", "i32", 1, Integers)] finish [0] number [0],
                /// Sums along the middle axis of a contiguous (outer, length, inner) tensor, within
                /// $\gamma_{n} \sum_{i} |a_{i}| + n 2^{-126}$ for length $n$.
                value [sum_of(row)];

            /// Means of elements.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The mean over an empty axis is NaN (0 / 0).
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// The sum of [`sum`](crate::ops::sum), divided by the number of elements, in f32: [`reference::mean`](crate::reference::mean). The sum must be
            /// in the range of f32, for f16 too.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let image = gpu.tensor(&[1.0f32, 10.0, 3.0, 30.0], [1, 2, 2])?; // height, width, channels
            /// assert_eq!(tilewise::ops::mean(&image, [0, 1])?.to_vec()?, [2.0, 20.0]);
            /// # Ok(())
            /// # }
            /// ```
            Mean: mean takes reals, nothing [Some(f64::NAN)] flops [1.0]
                states [("sum", "f32", 1, Reals)] finish [1] number [(n as f32).to_bits()],
                /// Means along the middle of three axes: sums $s$ within the tolerance $t$ of [`sum`](crate::reference::sum), divided by $n$, within
                /// $t / n + 4 u (|s| + t) / n + 2^{-126}$ with $u = 2^{-23}$. NaN for length 0.
                value [mean_of(row)];

            /// Products of elements.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The product over an empty axis is 1.
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// Multiplied in f32, in an order that depends only on the layout and the device, then stored:
            /// [`reference::prod`](crate::reference::prod). A partial product outside the range of f32 becomes infinite or 0.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2])?;
            /// assert_eq!(tilewise::ops::prod(&a, 1)?.to_vec()?, [2.0, 12.0]);
            /// # Ok(())
            /// # }
            /// ```
            Product: prod takes reals, nothing [Some(1.0)] flops [1.0]
                states [("product", "f32", 1, Reals)] finish [0] number [0],
                /// Products along the middle of three axes, within $\gamma_{n} |p| + 2^{-126}$ for length $n$, as long as no product of some of the
                /// elements is below $2^{-126}$ or above the largest f32.
                value [product_of(row)];

            /// Sums of squares.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum).
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// As [`sum`](crate::ops::sum), of squares that are rounded to f32: [`reference::sum_squares`](crate::reference::sum_squares). Squares
            /// below $2^{-126}$ may be flushed to 0, and squares above $2^{128}$ overflow to infinity: scale `a` first.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[3.0f32, -4.0, 5.0, 12.0], [2, 2])?;
            /// assert_eq!(tilewise::ops::sum_squares(&a, 1)?.to_vec()?, [25.0, 169.0]);
            /// # Ok(())
            /// # }
            /// ```
            SumSquares: sum_squares takes reals, nothing [Some(0.0)] flops [2.0]
                states [("squares", "f32", 1, Reals)] finish [0] number [0],
                /// Sums of squares along the middle of three axes, within $\gamma_{n + 1} \sum_{i} a_{i}^{2} + 2 n 2^{-126}$ for length
                /// $n$. Squares may be flushed to zero, too.
                value [squares_of(row)];

            /// Euclidean norms, $\sqrt{\sum_{i} a_{i}^{2}}$.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The norm over an empty axis is 0.
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// The root of [`sum_squares`](crate::ops::sum_squares) in f32, then stored: [`reference::norm`](crate::reference::norm). Squares below $2^{-126}$ may be
            /// flushed to 0, and squares above $2^{128}$ overflow to infinity, for f16 too.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let gradient = gpu.tensor(&[1.0f32, 2.0, 4.0, 10.0], [2, 2])?;
            /// assert_eq!(tilewise::ops::norm(&gradient, ..)?.to_vec()?, [11.0]);
            /// # Ok(())
            /// # }
            /// ```
            Norm: norm takes reals, nothing [Some(0.0)] flops [2.0]
                states [("squares", "f32", 1, Reals)] finish [2] number [0],
                /// Norms along the middle of three axes: the roots of sums $s$ that are within the tolerance $t$ of [`sum_squares`](crate::reference::sum_squares). With
                /// $u = 2^{-23}$ they are within $\sqrt{s} - \sqrt{\max(s - t, 0)} + 8 u \sqrt{s + t}$.
                value [norm_of(row)];

            /// Largest elements. The result is NaN if any element is NaN.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum), but the reduced axes must not be empty.
            /// # Errors
            /// As [`sum`](crate::ops::sum); [`Error::Shape`](crate::Error::Shape) if there are no elements along the axes.
            /// # Precision
            /// Exact. The largest of zeros of both signs is +0.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
            /// let found = tilewise::ops::max(&a, 1)?.to_vec()?;
            /// assert!(found[0] == 3.0 && found[1].is_nan());
            /// let b = gpu.tensor(&[3i8, -4, 5], [3])?;
            /// assert_eq!(tilewise::ops::max(&b, ..)?.to_vec()?, [5]);
            /// # Ok(())
            /// # }
            /// ```
            Max: max takes all, nothing [None] flops [1.0]
                states [("extreme", "vec3<u32>", 4, Bits)] finish [0] number [0],
                /// Largest elements along the middle of three axes, exact; NaN if any element is NaN, minus infinity for length 0.
                value [[row.iter().copied().fold(f64::NEG_INFINITY, larger), 0.0]];

            /// Smallest elements. The result is NaN if any element is NaN.
            ///
            /// # Shapes
            /// As [`max`](crate::ops::max).
            /// # Errors
            /// As [`max`](crate::ops::max).
            /// # Precision
            /// Exact. The smallest of zeros of both signs is -0.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[3i32, -4, 5, 6], [2, 2])?;
            /// assert_eq!(tilewise::ops::min(&a, 0)?.to_vec()?, [3, -4]);
            /// # Ok(())
            /// # }
            /// ```
            Min: min takes all, nothing [None] flops [1.0]
                states [("extreme", "vec3<u32>", 4, Bits)] finish [3] number [0],
                /// Smallest elements along the middle of three axes, exact; NaN if any element is NaN, infinity for length 0.
                value [[-row.iter().map(|x| -x).fold(f64::NEG_INFINITY, larger), 0.0]];

            /// Largest absolute values. The result is NaN if any element is NaN.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The result for no elements is 0.
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// Exact.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[3.0f32, -4.0, f32::NAN, f32::INFINITY], [2, 2])?;
            /// let found = tilewise::ops::max_abs(&a, 1)?.to_vec()?;
            /// assert!(found[0] == 4.0 && found[1].is_nan());
            /// # Ok(())
            /// # }
            /// ```
            MaxAbs: max_abs takes reals, nothing [Some(0.0)] flops [1.0]
                states [("extreme", "vec3<u32>", 4, Bits)] finish [4] number [0],
                /// Largest absolute values along the middle of three axes, exact; NaN if any element is NaN.
                value [[row.iter().map(|x| x.abs()).fold(0.0, larger), 0.0]];

            /// Sums of absolute values, $\sum_{i} |a_{i}|$: the norm $\ell_{1}$.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The result for no elements is 0.
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// As [`sum`](crate::ops::sum), of the absolute values: [`reference::sum_abs`](crate::reference::sum_abs).
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let weights = gpu.tensor(&[3.0f32, -4.0, 5.0, -12.0], [2, 2])?;
            /// assert_eq!(tilewise::ops::sum_abs(&weights, 1)?.to_vec()?, [7.0, 17.0]);
            /// # Ok(())
            /// # }
            /// ```
            SumAbs: sum_abs takes reals, nothing [Some(0.0)] flops [2.0]
                states [("magnitudes", "f32", 1, Reals)] finish [0] number [0],
                /// Sums of absolute values along the middle of three axes, within the tolerance of
                /// [`sum`](crate::reference::sum).
                value [sum_of(&row.iter().map(|x| x.abs()).collect::<Vec<_>>())];

            /// Indices of the largest elements along one axis. Of equal elements the first counts. If there is a NaN, it is the
            /// index of the first NaN.
            ///
            /// # Shapes
            /// Any view of 1 to 6 axes. The result has the shape of `a` without `axis`.
            /// # Errors
            /// As [`max`](crate::ops::max).
            /// # Precision
            /// Exact. Zeros of both signs are equal.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let scores = gpu.tensor(&[0.1f32, 0.7, 0.2, 0.5, 0.5, 0.0], [2, 3])?;
            /// assert_eq!(tilewise::ops::argmax(&scores, 1)?.to_vec()?, [1, 0]);
            /// # Ok(())
            /// # }
            /// ```
            ArgMax: argmax takes places, nothing [None] flops [1.0]
                states [("place", "vec2<u32>", 2, Bits)] finish [0] number [0],
                /// Indices of the largest elements along the middle of three axes: that of the first NaN, otherwise that of the first
                /// of equal elements.
                value [first_of_best(row, |x, y| x > y)];

            /// Indices of the smallest elements along one axis. Of equal elements the first counts. If there is a NaN, it is the
            /// index of the first NaN.
            ///
            /// # Shapes
            /// As [`argmax`](crate::ops::argmax).
            /// # Errors
            /// As [`argmax`](crate::ops::argmax).
            /// # Precision
            /// As [`argmax`](crate::ops::argmax).
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let distances = gpu.tensor(&[4.0f32, 1.0, 1.0, 9.0], [4])?;
            /// assert_eq!(tilewise::ops::argmin(&distances, 0)?.to_vec()?, [1]);
            /// # Ok(())
            /// # }
            /// ```
            ArgMin: argmin takes places, nothing [None] flops [1.0]
                states [("place", "vec2<u32>", 2, Bits)] finish [0] number [if dtype.is_real() { 0x8000_0000 } else { u32::MAX }],
                /// Indices of the smallest elements along the middle of three axes, with the same rule.
                value [first_of_best(row, |x, y| x < y)];

            /// Variances, $\frac{1}{n - c} \sum_{i} (a_{i} - \bar{a})^{2}$ for $n$ elements with the mean $\bar{a}$. The correction $c$ is 0
            /// for the variance of these elements. With 1, the result is an unbiased estimate of the variance of a population from this sample.
            ///
            /// # Shapes
            /// As [`sum`](crate::ops::sum). The result is NaN if there are no more elements than the correction.
            /// # Errors
            /// As [`sum`](crate::ops::sum).
            /// # Precision
            /// Computed in f32, then stored: [`reference::var`](crate::reference::var). Each element is read once. The kernel subtracts the
            /// first element from all others, and merges the means and squared distances of groups of elements (Chan, Golub and `LeVeque`). So
            /// the result is accurate even if the mean is large compared with the distances. Distances above $2^{64}$ overflow.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let a = gpu.tensor(&[1.0f32, 3.0, 5.0, 5.0], [2, 2])?;
            /// assert_eq!(tilewise::ops::var(&a, 1, 0)?.to_vec()?, [1.0, 0.0]);
            /// assert_eq!(tilewise::ops::var(&a, 1, 1)?.to_vec()?, [2.0, 0.0]);
            /// # Ok(())
            /// # }
            /// ```
            Variance { correction: 1 }: var takes reals, nothing [Some(f64::NAN)] flops [8.0]
                states [("moments", "vec3<f32>", 4, Reals)] finish [0] number [(n.saturating_sub(correction) as f32).to_bits()],
                /// Variances along the middle of three axes, with a correction $c$ of their length $n$. NaN if $n \le c$.
                ///
                /// The kernel subtracts the first element, $y_{i} = a_{i} - a_{0}$, and merges counts, means and sums of squared distances $M$ (Chan,
                /// Golub and `LeVeque`). Let $S = \sum_{i} y_{i}^{2}$ and $u = 2^{-23}$. A mean of $j$ elements is at most $\sqrt{S / j}$; each of
                /// the merges that led to it adds errors of a few $u$ of that, weighted with the share of the elements that it had merged, so the mean is
                /// off by at most $c_{1} u \sqrt{j S}$. It enters $M$ through terms $2 d\\,\delta d\\,w$, where $\sum w d^{2} \le M$ and $w$ is at most the
                /// smaller number of elements, so by Cauchy and Schwarz these are at most $c_{2} n u \sqrt{M S}$. The sum of the terms of $M$ has the
                /// relative error $\gamma_{c_{3} n}$. With $M \le S$, the variance is within $\gamma_{8 n}\\,S / (n - c) + n 2^{-125}$.
                value [variance_of(row, correction)];
        }
    };
}

pub(crate) use reduction_rows;
