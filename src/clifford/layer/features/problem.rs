//! A function of multivectors that has parameters for each feature, checked: what to compute, as plain data.

use crate::clifford::Blades;
use crate::layout::{DType, Layout, dim};
use crate::{Error, Result};

/// A function of multivectors that has parameters for each feature. $q_{g}$ is $\langle \tilde x x \rangle_{0}$ of grade g
/// alone, $\|x\|_{g} = (q_{g}^2 + 10^{-16})^{1/4}$ a norm that is smooth at 0, and $\|x\|$ that of all grades together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeatureFunction {
    /// Each grade over $\sigma(a_{g}) (\|x\|_{g} - 1) + 1 + 10^{-6}$: between itself and itself over its norm.
    Normalization,
    /// $a\,x$ over the mean of $\|x\|$ of a row's features plus $10^{-6}$.
    LayerNorm,
    /// Each grade times $\sigma(a_{g} v_{g} + b_{g})$ with the scalar part for $v_{0}$, $q_{g}$ for $v_{g}$.
    Silu,
}

impl FeatureFunction {
    /// Every function.
    pub const ALL: [Self; 3] = [Self::Normalization, Self::LayerNorm, Self::Silu];

    /// The name that errors and plans have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normalization => "normalization of multivectors",
            Self::LayerNorm => "layer norm of multivectors",
            Self::Silu => "silu of multivectors",
        }
    }

    /// Numbers that a feature has of each parameter: one for each grade, or one.
    #[must_use]
    pub fn parts(self, blades: &Blades) -> usize {
        match self {
            Self::Normalization | Self::Silu => blades.signature().dimension() + 1,
            Self::LayerNorm => 1,
        }
    }

    /// Parameters.
    #[must_use]
    pub fn parameters(self) -> usize {
        if self == Self::Silu { 2 } else { 1 }
    }

    pub(super) fn is_by_rows(self) -> bool {
        self == Self::LayerNorm
    }
}

/// Whether a function is computed, or what it hands back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// The function.
    Forward,
    /// Its gradients.
    Backward,
}

/// The uniform of `shaders/clifford/features.wgsl` and `shaders/clifford/mean.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct FeaturesDims {
    pub x: [u32; 4],
    pub g: [u32; 4],
    pub a: [u32; 4],
    pub b: [u32; 4],
    pub rows: u32,
    pub features: u32,
    pub strip: u32,
    pub units: u32,
}

/// Invocations that gradients are made with, where there are positions for as many: each sums over a strip of rows. They are
/// this family's own tuning and no device's: a problem's strips, and so the order of its sums, are the same on every device.
const INVOCATIONS: usize = 1 << 14;
/// Rows of the longest strip.
const STRIP_AT_MOST: usize = 256;

/// A function of multivectors that has parameters for each feature, checked: shapes go together, and every size is below
/// $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeaturesProblem {
    /// What is computed.
    pub(crate) function: FeatureFunction,
    /// Whether that, or its gradients.
    pub(crate) pass: Pass,
    /// The blades of operand and result.
    pub(crate) blades: Blades,
    /// The sizes, as the shader has them.
    pub(crate) dims: FeaturesDims,
    /// The type of operands and parameters.
    pub(crate) dtype: DType,
}

impl FeaturesProblem {
    /// The sizes, as the shader has them.
    #[must_use]
    pub fn dims(&self) -> &FeaturesDims {
        &self.dims
    }

    /// `function` of `x` (blade, row, feature), and with `g`, which has its shape, the gradients of that, with parameters
    /// (feature, part).
    ///
    /// # Errors
    /// [`Error::Shape`] if the parameters are not for these features; [`Error::Limit`] if a size is $2^{31}$ or more.
    ///
    /// # Panics
    /// If `x` has not three axes, its first axis is not `blades`, or the number of parameters is not the function's.
    pub fn new(
        function: FeatureFunction,
        blades: &Blades,
        x: &Layout,
        g: Option<&Layout>,
        parameters: &[&Layout],
        dtype: DType,
    ) -> Result<Self> {
        let op = function.name();
        let &[of_blades, rows, features] = x.shape() else { panic!("{op} of {x:?}") };
        assert_eq!((of_blades, parameters.len()), (blades.len(), function.parameters()), "{op}");
        let needed = [features, function.parts(blades)];
        let mut dims =
            FeaturesDims { rows: dim(op, rows)?, features: dim(op, features)?, ..Default::default() };
        let strides = |to: &mut [u32; 4], of: &Layout| -> Result<()> {
            for (to, &stride) in to.iter_mut().zip(of.strides()) {
                *to = dim(op, stride)?;
            }
            to[of.rank()] = of.offset_in_window(dtype);
            dim(op, of.span().len()).map(|_| ())
        };
        strides(&mut dims.x, x)?;
        if let Some(g) = g {
            strides(&mut dims.g, g)?;
        }
        for (to, parameter) in [&mut dims.a, &mut dims.b].into_iter().zip(parameters) {
            if parameter.shape() != needed {
                let rule = "parameters must be (feature, part), for the operand's features";
                return Err(Error::shapes(op, rule, parameter.shape(), &needed));
            }
            strides(to, parameter)?;
        }
        dim(op, x.len())?;
        let (pass, strip) = match g {
            Some(_) => (Pass::Backward, (rows * features).div_ceil(INVOCATIONS).clamp(1, STRIP_AT_MOST)),
            None => (Pass::Forward, 1),
        };
        let units = if function.is_by_rows() { rows } else { rows.div_ceil(strip) * features };
        dims.strip = dim(op, strip)?;
        dims.units = dim(op, units)?;
        Ok(Self { function, pass, blades: blades.clone(), dims, dtype })
    }

    /// Numbers that parameters' gradients are summed of, (strips, features, parameters).
    pub(super) fn sums(&self) -> [usize; 3] {
        let [rows, features, strip] =
            [self.dims.rows, self.dims.features, self.dims.strip].map(|n| n as usize);
        let strips = if self.function.is_by_rows() { rows } else { rows.div_ceil(strip) };
        [strips, features, self.function.parameters() * self.function.parts(&self.blades)]
    }

    /// Blades, rows and features.
    pub(super) fn shape(&self) -> [usize; 3] {
        [self.blades.len(), self.dims.rows as usize, self.dims.features as usize]
    }

    /// Where an operand of this shape lies.
    pub(super) fn layout<const N: usize>(&self, shape: [usize; N], places: &[u32; 4]) -> Result<Layout> {
        let places = places.map(|place| place as usize);
        Layout::new(self.function.name(), &shape, &places[..N], places[N], usize::MAX)
    }
}

impl std::fmt::Display for FeaturesProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gradients = if self.pass == Pass::Backward { ", gradients" } else { "" };
        write!(f, "{}{gradients}, {:?}", self.function.name(), self.blades)
    }
}
