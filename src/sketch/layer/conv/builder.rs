//! The options of a sketched convolution, and random layers.

use super::sk_conv2d::{OP, SkConv2d, check_groups};
use crate::conv::{ConvOptions, Padding};
use crate::error::call;
use crate::layout::{Element, Real};
use crate::ops;
use crate::sketch::layer::builder::SkLinearBuilder;
use crate::sketch::layer::frozen::signs_of_u1;
use crate::tensor::Tensor;
use crate::{Gpu, Result};

/// Builds sketched convolutions, with options.
#[derive(Clone, Debug)]
#[must_use = "a layer is built by `random`, `panther`, `fit` or `fit_to`"]
pub struct SkConv2dBuilder<T: Real> {
    /// Of the kernel as a matrix: terms, rank, seed, and whether a layer must save parameters.
    pub(super) matrix: SkLinearBuilder<T>,
    kernel: [usize; 2],
    options: ConvOptions,
}

/// A sketched convolution that was built from a dense one, and its errors.
#[derive(Clone, Debug)]
pub struct FittedConv<T: Real> {
    /// The layer.
    pub layer: SkConv2d<T>,
    /// $\\|W - W'\\|\_F / \\|W\\|\_F$, where W' is the weight that the stored layer represents; 0 for a weight of zeros.
    pub weight_rel_error: f64,
    /// $\\|y - y'\\|\_F / \\|y\\|\_F$ of the results without bias, for the images to which the layer was fitted, if it was.
    pub output_rel_error: Option<f64>,
}

impl<T: Real> SkConv2d<T> {
    /// A builder with the defaults of Panther: a kernel of $3 \times 3$ taps, padding 1, stride 1, 6 terms, rank 8.
    pub fn builder() -> SkConv2dBuilder<T> {
        let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
        SkConv2dBuilder { matrix: SkLinearBuilder::new(6, 8), kernel: [3, 3], options }
    }
}

impl<T: Real> SkConv2dBuilder<T> {
    /// The number of terms T: the layer has $2T$ kernels of rank R.
    pub fn terms(mut self, terms: usize) -> Self {
        self.matrix.terms = terms;
        self
    }

    /// The rank R of each term.
    pub fn rank(mut self, rank: usize) -> Self {
        self.matrix.rank = rank;
        self
    }

    /// Rows and columns of the kernel of a random layer.
    pub fn kernel(self, kernel: [usize; 2]) -> Self {
        Self { kernel, ..self }
    }

    /// Stride, dilation and padding of a random layer. There is one group.
    pub fn options(self, options: ConvOptions) -> Self {
        Self { options, ..self }
    }

    /// The seed of all random entries, 0 by default.
    pub fn seed(self, seed: u64) -> Self {
        Self { matrix: self.matrix.seed(seed), ..self }
    }

    /// Builds the layer even if it does not have fewer parameters than the dense kernel.
    pub fn allow_larger(self) -> Self {
        Self { matrix: self.matrix.allow_larger(), ..self }
    }

    /// A random layer to be trained: U is signs divided by $\sqrt R$, S is uniform. The variance of the outputs is that of a new
    /// [`Conv2d`](crate::conv::Conv2d). The bias is uniform in $\pm 1 / \sqrt{n}$, where an output of the dense kernel sums $n$ products.
    ///
    /// # Shapes
    /// `features` are the channels of the images and of the result.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if a number is 0, or the rank is more than the outputs or the elements of an output's kernel; [`Error::Input`](crate::Error::Input) if
    /// the layer would not have fewer parameters than the dense kernel, or there are several groups; [`Error::OutOfMemory`](crate::Error::OutOfMemory) if the layer
    /// does not fit.
    pub fn random(&self, gpu: &Gpu, features: [usize; 2]) -> Result<SkConv2d<T>> {
        call("SkConv2d::random", || {
            let ([channels, outputs], [height, width]) = (features, self.kernel);
            let window = height.saturating_mul(width).saturating_mul(channels);
            self.matrix.check([window, outputs])?;
            check_groups(&self.options)?;
            let terms = 2 * self.matrix.terms;
            // Each hidden channel has variance |x|^2 s^2. The mean over 2T terms of sums of R of them, divided by R, has 1/2T of that.
            let bound = (terms as f64 / window as f64).sqrt();
            let [of_s, of_bias] = [1, 2].map(|part| self.matrix.seed.wrapping_mul(4).wrapping_add(part));
            let kernels = gpu.uniform(OP, &[self.inner(), height, width, channels], bound, of_s)?;
            let bias = gpu.uniform(OP, &[outputs], 1.0 / (window as f64).sqrt(), of_bias)?;
            let frozen = self.signs(gpu, outputs)?.cast()?;
            Ok(SkConv2d { kernels, frozen, bias: Some(bias), options: self.options })
        })
    }

    /// U: signs divided by the root of the rank, (2T, R, outputs).
    pub(super) fn signs(&self, gpu: &Gpu, outputs: usize) -> Result<Tensor<f32>> {
        let signs = signs_of_u1(self.matrix.seed, self.inner(), outputs)?.to_tensor(gpu)?;
        let scale = gpu.constant_tensor(f32::from_f64(1.0 / (self.matrix.rank as f64).sqrt()))?;
        ops::mul(&signs, &scale)?.reshape([2 * self.matrix.terms, self.matrix.rank, outputs])
    }

    /// 2TR, the number of hidden channels. It was checked.
    pub(super) fn inner(&self) -> usize {
        2 * self.matrix.terms * self.matrix.rank
    }
}
