//! A sketched convolution: its factors, sizes and forward pass.

use crate::conv::{ConvOptions, conv2d};
use crate::error::call;
use crate::gemm::Gemm;
use crate::layout::Real;
use crate::ops::training::{ParameterMut, Parameters};
use crate::tensor::Tensor;
use crate::{Error, Precision, Result};

/// The name of the layer in errors.
pub(super) const OP: &str = "SkConv2d";

/// A sketched convolution with $2T$ terms of rank R (Panther's `SKConv2d`), of images with channels last:
/// $$y = \frac{1}{2T} \sum_{l} (x \ast S_{l})\\,U_{l} + b$$
///
/// The kernels S of all terms make one convolution to $2TR$ hidden channels, and the factors U, which are frozen, map these to the
/// outputs: two launches. S and b are trained.
///
/// A layer has $2TR(hwc + o)$ parameters for a kernel of $h \times w$ taps, $c$ channels and $o$ outputs; the dense kernel has $hwc \cdot
/// o$. Time is saved in the same proportion. The layer cannot represent the part of the kernel, as a matrix (outputs, taps and channels),
/// beyond rank 2TR; `fit` of the builder gives the best approximation of that rank.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::Fill;
/// use tilewise::sketch::SkConv2d;
///
/// // By default 3 x 3 taps, padding 1, 6 terms and rank 8, as in Panther.
/// let layer = SkConv2d::<f32>::builder().terms(1).random(&gpu, [32, 48])?;
/// let x = gpu.random::<f32>([2, 8, 8, 32], Fill::Normal, 1)?;
/// let launches = gpu.stats().launches;
/// let y = layer.forward(&x)?;
/// assert_eq!((y.shape(), gpu.stats().launches - launches), ([2, 8, 8, 48].as_slice(), 2));
/// assert_eq!((layer.params(), layer.dense_params()), (16 * (9 * 32 + 48), 9 * 32 * 48));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkConv2d<T: Real> {
    /// (2TR, height, width, channels)
    pub(super) kernels: Tensor<T>,
    /// (2T, R, outputs), contiguous
    pub(super) frozen: Tensor<T>,
    pub(super) bias: Option<Tensor<T>>,
    pub(super) options: ConvOptions,
}

impl<T: Real> SkConv2d<T> {
    /// A layer from its factors, which it shares.
    ///
    /// # Shapes
    /// `s` (2TR, height, width, channels), which Panther stores as (2TR, channels, height, width); `u` (2T, R, outputs), `bias` (outputs).
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match or have no elements; [`Error::Input`] if there are several groups; [`Error::Gpu`] if
    /// the factors are on different devices; [`Error::OutOfMemory`] if a copy of `u` does not fit.
    pub fn from_factors(
        s: &Tensor<T>,
        u: &Tensor<T>,
        bias: Option<&Tensor<T>>,
        options: ConvOptions,
    ) -> Result<Self> {
        call("SkConv2d::from_factors", || {
            s.same_gpu(OP, u)?;
            let (&[inner, ..], &[terms, rank, outputs]) = (s.shape(), u.shape()) else {
                return Err(Error::shapes(OP, FACTORS, s.shape(), u.shape()));
            };
            let fits = s.shape().len() == 4 && terms.checked_mul(rank) == Some(inner);
            if !fits || terms % 2 == 1 || s.shape().contains(&0) || outputs == 0 {
                return Err(Error::shapes(OP, FACTORS, s.shape(), u.shape()));
            }
            if let Some(bias) = bias {
                s.same_gpu(OP, bias)?;
                if bias.shape() != [outputs] {
                    let rule = "the bias must have an element for each output channel";
                    return Err(Error::shapes(OP, rule, bias.shape(), u.shape()));
                }
            }
            check_groups(&options)?;
            Ok(Self { kernels: s.clone(), frozen: u.contiguous()?, bias: bias.cloned(), options })
        })
    }

    /// The result of the layer, in two launches. The second one adds the bias.
    ///
    /// # Shapes
    /// `x` (batch, height, width, channels) -> (batch, height, width, outputs), as [`conv2d`].
    /// # Errors
    /// As [`conv2d`].
    /// # Precision
    /// Both launches sum in f32, and the hidden channels are rounded to `T`. With the absolute values of all factors, the error is at
    /// most $(\gamma_{hwc} + \gamma_{2TR} + u)\\,(|x| \ast |S|)\\,|U| / 2T$ before the bias, where u is the unit roundoff of `T`.
    pub fn forward(&self, x: &Tensor<T>) -> Result<Tensor<T>> {
        call("SkConv2d::forward", || {
            let hidden = conv2d(x, &self.kernels, None, &self.options)?;
            let (rows, frozen) = (hidden.as_matrix()?, self.frozen_matrix()?);
            let product = Gemm::new(&rows, &frozen).out::<T>().alpha(self.scale());
            let y = match &self.bias {
                Some(bias) => product.bias(bias).run()?,
                None => product.run()?,
            };
            y.reshape([&hidden.shape()[..3], &[self.outputs()]].concat())
        })
    }

    /// The dense weight (outputs, height, width, channels) that the layer represents, in f32.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] or [`Error::Limit`] if it does not fit.
    pub fn to_weight(&self) -> Result<Tensor<f32>> {
        call("SkConv2d::to_weight", || {
            let &[inner, height, width, channels] = self.kernels.shape() else { return Err(broken()) };
            let taps = self.kernels.contiguous()?.reshape([inner, height * width * channels])?;
            let frozen = self.frozen_matrix()?.t();
            let product = Gemm::new(&frozen, &taps).alpha(self.scale()).precision(Precision::Strict);
            product.run()?.reshape([self.outputs(), height, width, channels])
        })
    }

    /// The layer with its factors and its bias in another type.
    ///
    /// # Errors
    /// As [`Tensor::cast`].
    /// # Precision
    /// As [`Tensor::cast`].
    pub fn cast<P: Real>(&self) -> Result<SkConv2d<P>> {
        call("SkConv2d::cast", || {
            let bias = self.bias.as_ref().map(Tensor::cast).transpose()?;
            let (kernels, frozen) = (self.kernels.cast()?, self.frozen.cast()?);
            Ok(SkConv2d { kernels, frozen, bias, options: self.options })
        })
    }

    /// Number of terms T; there are $2T$ kernels.
    #[must_use]
    pub fn terms(&self) -> usize {
        self.frozen.shape()[0] / 2
    }

    /// Rank R of each term.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.frozen.shape()[1]
    }

    /// Channels of the result.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.frozen.shape()[2]
    }

    /// The bias (outputs), if there is one.
    #[must_use]
    pub fn bias(&self) -> Option<&Tensor<T>> {
        self.bias.as_ref()
    }

    /// Entries of the factors S and U. [`dense_params`](Self::dense_params) counts those of the dense kernel.
    #[must_use]
    pub fn params(&self) -> usize {
        self.kernels.len() + self.frozen.len()
    }

    /// Entries of the dense kernel.
    #[must_use]
    pub fn dense_params(&self) -> usize {
        self.kernels.shape()[1..].iter().product::<usize>() * self.outputs()
    }

    /// U as a matrix (2TR, outputs).
    pub(super) fn frozen_matrix(&self) -> Result<Tensor<T>> {
        self.frozen.reshape([self.kernels.shape()[0], self.outputs()])
    }

    /// One over the number of terms, $1 / 2T$.
    #[expect(clippy::cast_possible_truncation, reason = "the factor is rounded once")]
    pub(super) fn scale(&self) -> f32 {
        (1.0 / self.frozen.shape()[0] as f64) as f32
    }
}

/// The shapes of the factors.
const FACTORS: &str = "S must be (2TR, height, width, channels), and U (2T, R, outputs)";

/// Checks that there is one group.
pub(super) fn check_groups(options: &ConvOptions) -> Result<()> {
    if options.groups == 1 {
        return Ok(());
    }
    let why = "a sketched convolution has one group, because its factors U mix all channels";
    Err(Error::input(format!("{OP}: the number of groups"), why))
}

/// NOTE: S has four axes since the layer was built, so this is a bug of this crate.
fn broken() -> Error {
    Error::device("SkConv2d: S does not have four axes")
}

/// `S1s` (2TR, height, width, channels), and `bias` (outputs) if there is one. U is listed too, as `U1s` (2T, R, outputs), because a file
/// must store it. It is frozen.
impl<T: Real> Parameters<T> for SkConv2d<T> {
    fn parameters(&self) -> Vec<(String, &Tensor<T>)> {
        let bias = self.bias.as_ref().map(|bias| ("bias".into(), bias));
        [("S1s".into(), &self.kernels), ("U1s".into(), &self.frozen)].into_iter().chain(bias).collect()
    }

    fn parameters_mut(&mut self) -> Vec<(String, ParameterMut<'_, T>)> {
        let bias = self.bias.as_mut().map(|bias| ("bias".into(), ParameterMut::new(bias)));
        [("S1s".into(), ParameterMut::new(&mut self.kernels))].into_iter().chain(bias).collect()
    }
}
