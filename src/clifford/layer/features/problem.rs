//! A function of multivectors with parameters for each feature: the checked problem, as plain data.

use crate::clifford::algebra::blades::Blades;
use crate::kernel::shader_dims;
use crate::layout::{DType, Layout, dim, known};
use crate::{Error, Result};

/// A function of multivectors with parameters for each feature. $q_{g}$ is $\langle \tilde x x \rangle_{0}$ of grade g
/// alone. $\\|x\\|\_{g} = (q_{g}^2 + 10^{-16})^{1/4}$ is a norm that is smooth at 0, and $\\|x\\|$ is the norm of all grades
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeatureFunction {
    /// Each grade divided by $\sigma(a_{g}) (\\|x\\|\_{g} - 1) + 1 + 10^{-6}$, a number between 1 and its norm.
    Normalization,
    /// $a\\,x$ divided by the mean of $\\|x\\|$ over the features of a row plus $10^{-6}$.
    LayerNorm,
    /// Each grade multiplied by $\sigma(a_{g} v_{g} + b_{g})$. $v_{0}$ is the scalar part, the other $v_{g}$ are
    /// $q_{g}$.
    Silu,
}

impl FeatureFunction {
    /// Every function.
    pub const ALL: [Self; 3] = [Self::Normalization, Self::LayerNorm, Self::Silu];

    /// The name in errors and plans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normalization => "normalization of multivectors",
            Self::LayerNorm => "layer norm of multivectors",
            Self::Silu => "silu of multivectors",
        }
    }

    /// Numbers per feature in each parameter: one for each grade, or one.
    #[must_use]
    pub fn parts(self, blades: &Blades) -> usize {
        match self {
            Self::Normalization | Self::Silu => blades.signature().dimension() + 1,
            Self::LayerNorm => 1,
        }
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(self) -> usize {
        if self == Self::Silu { 2 } else { 1 }
    }

    pub(super) fn has_row_mean(self) -> bool {
        self == Self::LayerNorm
    }
}

/// Whether a function or its gradients are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The function.
    Forward,
    /// Its gradients.
    Backward,
}

shader_dims! {
    /// The uniform of `shaders/clifford/features.wgsl` and `shaders/clifford/mean.wgsl`, in elements.
    pub struct FeaturesDims {
        /// X: strides of the blade, row and feature axes; first element in its binding
        x: [u32; 4],
        /// G: likewise
        g: [u32; 4],
        /// A: strides of the feature and part axes; first element
        a: [u32; 4],
        /// B: likewise
        b: [u32; 4],
        rows: u32,
        features: u32,
        /// rows per invocation
        strip: u32,
        /// invocations; for functions with a row mean, rows
        units: u32,
    }
}

/// Number of invocations of a backward pass, if there are enough positions. Each sums over a strip of rows. The number
/// is the same for every device, and so are the strips.
const INVOCATIONS: usize = 1 << 14;
/// Rows of the longest strip.
const MAX_STRIP_ROWS: usize = 256;

/// A function of multivectors that has parameters for each feature, checked: shapes match, and every size is below
/// $2^{31}$. Layouts are relative to their windows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeaturesProblem {
    pub(super) function: FeatureFunction,
    /// The blades of operand and result.
    pub(super) blades: Blades,
    /// The operand (blade, row, feature).
    pub(super) x: Layout,
    /// The gradient of the result, if gradients are computed.
    pub(super) g: Option<Layout>,
    /// The parameters (feature, part).
    pub(super) parameters: Vec<Layout>,
    /// The element type of operands and parameters.
    pub(super) dtype: DType,
}

impl FeaturesProblem {
    /// `function` of `x` (blade, row, feature), with parameters (feature, part). With the gradient `g` of the result,
    /// which has the shape of `x`, the gradients of the function.
    ///
    /// # Errors
    /// [`Error::Shape`] if the parameters have other features than `x`; [`Error::Limit`] if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If `x` does not have three axes, its first axis is not `blades`, or the number of parameters is not the
    /// function's.
    pub fn new(
        function: FeatureFunction,
        blades: &Blades,
        x: &Layout,
        g: Option<&Layout>,
        parameters: &[&Layout],
        dtype: DType,
    ) -> Result<Self> {
        let op = function.name();
        let &[axis, _, features] = x.shape() else { panic!("{op} of {x:?}") };
        assert_eq!((axis, parameters.len()), (blades.len(), function.parameters()), "{op}");
        let needed = [features, function.parts(blades)];
        if let Some(wrong) = parameters.iter().find(|parameter| parameter.shape() != needed) {
            let rule = "the parameters must be (features, parts), with the features of the operand";
            return Err(Error::shapes(op, rule, wrong.shape(), &needed));
        }
        let own = |of: &Layout| {
            // Strides along axes of one index stay as they are.
            let of = of.at(of.strides(), of.offset_in_window(dtype) as usize);
            for size in of.shape().iter().chain(of.strides()).copied().chain([of.len(), of.span().len()]) {
                dim(op, size)?;
            }
            Ok(of)
        };
        Ok(Self {
            function,
            blades: blades.clone(),
            x: own(x)?,
            g: g.map(own).transpose()?,
            parameters: parameters.iter().copied().map(own).collect::<Result<_>>()?,
            dtype,
        })
    }

    /// Whether the function or its gradients are computed.
    pub(super) fn pass(&self) -> Pass {
        if self.g.is_some() { Pass::Backward } else { Pass::Forward }
    }

    /// Blades, rows and features.
    pub(super) fn shape(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.x.shape()[axis])
    }

    /// The rows that an invocation sums over.
    fn strip(&self) -> usize {
        let [_, rows, features] = self.shape();
        match self.pass() {
            Pass::Forward => 1,
            Pass::Backward => (rows * features).div_ceil(INVOCATIONS).clamp(1, MAX_STRIP_ROWS),
        }
    }

    /// The shape of the partial sums of the parameters' gradients, (strips, features, parts of all parameters).
    pub(super) fn sums(&self) -> [usize; 3] {
        let [_, rows, features] = self.shape();
        let strips = if self.function.has_row_mean() { rows } else { rows.div_ceil(self.strip()) };
        [strips, features, self.function.parameters() * self.function.parts(&self.blades)]
    }

    /// The shader's uniform.
    #[must_use]
    pub fn dims(&self) -> FeaturesDims {
        let places = |of: Option<&Layout>| {
            let mut places = [0; 4];
            if let Some(of) = of {
                (0..of.rank()).for_each(|axis| places[axis] = known(of.strides()[axis]));
                places[of.rank()] = of.offset_in_window(self.dtype);
            }
            places
        };
        let ([_, rows, features], [strips, ..]) = (self.shape(), self.sums());
        FeaturesDims {
            x: places(Some(&self.x)),
            g: places(self.g.as_ref()),
            a: places(self.parameters.first()),
            b: places(self.parameters.get(1)),
            rows: known(rows),
            features: known(features),
            strip: known(self.strip()),
            units: known(if self.function.has_row_mean() { rows } else { strips * features }),
        }
    }
}

impl std::fmt::Display for FeaturesProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gradients = if self.pass() == Pass::Backward { ", gradients" } else { "" };
        write!(f, "{}{gradients}, {:?}", self.function.name(), self.blades)
    }
}
