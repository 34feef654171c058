//! Functions of multivectors that have parameters for each feature: what to compute, checked, and how.

use super::super::blades::Blades;
use super::features_body::Body;
use crate::gpu::Caps;
use crate::kernel::{self, Kernel, Memory, Needs};
use crate::ops::{Rows, RowsProblem};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Region, Time};
use crate::tensor::{DType, Layout, Real, Tensor, dim};
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

    fn is_by_rows(self) -> bool {
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

/// The uniform of `shaders/clifford_features.wgsl` and `shaders/clifford_mean.wgsl`, in elements.
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

/// Invocations that gradients are made with, where there are positions for as many: each sums over a strip of rows.
const INVOCATIONS: usize = 1 << 14;
/// Rows of the longest strip.
const STRIP_AT_MOST: usize = 256;

/// A function of multivectors that has parameters for each feature, checked: shapes go together, and every size is below
/// $2^{31}$.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeaturesProblem {
    /// What is computed.
    pub function: FeatureFunction,
    /// Whether that, or its gradients.
    pub pass: Pass,
    /// The blades of operand and result.
    pub blades: Blades,
    /// The sizes, as the shader has them.
    pub dims: FeaturesDims,
    /// The type of operands and parameters.
    pub dtype: DType,
}

impl FeaturesProblem {
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
    fn sums(&self) -> [usize; 3] {
        let [rows, features, strip] =
            [self.dims.rows, self.dims.features, self.dims.strip].map(|n| n as usize);
        let strips = if self.function.is_by_rows() { rows } else { rows.div_ceil(strip) };
        [strips, features, self.function.parameters() * self.function.parts(&self.blades)]
    }

    fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let halves = memory.per_scalar() == 2;
        let by_rows = self.function.is_by_rows();
        let mut kernel = Kernel::new(if by_rows { "clifford_mean" } else { "clifford_features" })
            .dims(caps, size_of::<FeaturesDims>())
            .param("x_unit", memory.scalar())
            .param("c_unit", if halves { "atomic<u32>" } else { memory.scalar() })
            .param("LANES", format!("{}u", self.lanes(caps)));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "pack_bf16");
        }
        if halves {
            let load = if memory == Memory::Bf16 { "load_x_bf16" } else { "load_x_packed" };
            kernel = kernel
                .slot("store_element", "store_element_packed")
                .slot("load_x", load)
                .slot("load_a", load);
            if self.pass == Pass::Backward {
                kernel = kernel.slot("load_g", load);
            }
            if self.function.parameters() == 2 {
                kernel = kernel.slot("load_b", load);
            }
        }
        let body = Body::of(self.function, self.pass, &self.blades);
        let what = |part: &str| format!("{part} of {self}");
        kernel = kernel.generated("features_operands", what("operands"), operands(self.function, self.pass));
        if by_rows {
            kernel.generated("features_sums", what("sums"), body.sums).generated(
                "features_results",
                what("results"),
                body.results,
            )
        } else {
            kernel.generated("features_terms", what("terms"), body.results)
        }
    }

    /// Invocations of a workgroup.
    fn lanes(&self, caps: &Caps) -> u32 {
        let usual = if self.function.is_by_rows() && self.dims.features > 64 { 256 } else { 64 };
        kernel::lanes(usual, caps)
    }

    /// The limits that a workgroup needs: bindings for the result, the operands and parameters, and for gradients their sums.
    fn needs(&self, caps: &Caps) -> Needs {
        let tensors = if self.pass == Pass::Backward { 4 } else { 2 };
        let parameters = if self.function.parameters() == 2 { 2 } else { 1 };
        let invocations = self.lanes(caps);
        let workgroup_bytes =
            if self.function.is_by_rows() { (8 * invocations).next_multiple_of(16) } else { 0 };
        Needs { bindings: tensors + parameters, invocations, workgroup_bytes }
    }

    /// Blades, rows and features.
    fn shape(&self) -> [usize; 3] {
        [self.blades.len(), self.dims.rows as usize, self.dims.features as usize]
    }

    /// Where an operand of this shape lies.
    fn layout<const N: usize>(&self, shape: [usize; N], places: &[u32; 4]) -> Result<Layout> {
        let places = places.map(|place| place as usize);
        Layout::new(self.function.name(), &shape, &places[..N], places[N], usize::MAX)
    }

    /// Operations for each element, about: a root and a gate for each grade.
    fn flops(&self) -> f64 {
        let each = if self.pass == Pass::Backward { 30.0 } else { 10.0 };
        each * self.shape().into_iter().product::<usize>() as f64
    }
}

impl std::fmt::Display for FeaturesProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let gradients = if self.pass == Pass::Backward { ", gradients" } else { "" };
        write!(f, "{}{gradients}, {:?}", self.function.name(), self.blades)
    }
}

/// The declarations of operands, in the order in which they are bound.
fn operands(function: FeatureFunction, pass: Pass) -> String {
    let mut names = vec!["x"];
    if pass == Pass::Backward {
        names.push("g");
    }
    names.extend(["a", "b"].iter().take(function.parameters()));
    let mut text = String::new();
    for (i, name) in names.iter().enumerate() {
        let renamed = if *name == "x" { String::new() } else { format!(" x={name}") };
        text += &format!("@group(0) @binding({}) var<storage, read> {name}: array<x_unit>;\n", i + 1);
        text += &format!("//#import load_x{renamed}\n");
    }
    if pass == Pass::Backward {
        text += &format!("@group(0) @binding({}) var<storage, read_write> d: array<f32>;\n", names.len() + 1);
    }
    text
}

impl Problem for FeaturesProblem {
    /// A kernel over features, or over rows where these have a mean. Of gradients, those of the parameters are summed over strips
    /// of rows in a second step, in a fixed order.
    ///
    /// Operands: the result, or the gradient of x; x; of gradients that of the result; the parameters; of gradients those of the
    /// parameters (feature, parts of all), in f32.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let (op, shape) = (self.function.name(), self.shape());
        if shape.contains(&0) {
            return Err(Error::shape(op, "there must be something to compute", &shape));
        }
        let mut draft = Draft::new(op, &[], caps);
        let c = draft.operand("the result", self.dtype, Layout::contiguous(op, &shape)?, Access::Write);
        let mut args = vec![(c, Access::Write)];
        let mut read = |draft: &mut Draft<'_>, name, layout| {
            args.push((draft.operand(name, self.dtype, layout, Access::Read), Access::Read));
        };
        read(&mut draft, "x", self.layout(shape, &self.dims.x)?);
        if self.pass == Pass::Backward {
            read(&mut draft, "the gradient", self.layout(shape, &self.dims.g)?);
        }
        let parameters = [("the first parameter", &self.dims.a), ("the second parameter", &self.dims.b)];
        for (name, places) in parameters.into_iter().take(self.function.parameters()) {
            let layout = self.layout([shape[2], self.function.parts(&self.blades)], places)?;
            read(&mut draft, name, layout);
        }
        if self.pass == Pass::Forward {
            self.step(&mut draft, &args)?;
            return Ok(draft.finish());
        }
        let sums = self.sums();
        let of_parameters = Layout::contiguous(op, &sums[1..])?;
        let name = "the gradient of the parameters";
        let of_parameters = draft.operand(name, DType::F32, of_parameters, Access::Write);
        let sums = draft.temporary(&sums, DType::F32)?;
        args.push((sums, Access::Write));
        self.step(&mut draft, &args)?;
        let together = RowsProblem::new(Rows::Sum, &sums.layout, 0, DType::F32)?;
        draft.call(together.plan(caps)?, &[sums, of_parameters], &[])?;
        Ok(draft.finish())
    }
}

impl FeaturesProblem {
    fn step(&self, draft: &mut Draft<'_>, args: &[(Region, Access)]) -> Result<()> {
        let caps = draft.caps();
        let lanes = self.lanes(caps);
        let units = self.dims.units;
        let groups = if self.function.is_by_rows() { units } else { units.div_ceil(lanes) };
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{lanes} invocations, {self}, {}", self.dtype),
            needs: self.needs(caps),
            blocks: u64::from(groups),
            dims: Dims::of(&self.dims),
            args,
            flops: Flops::of_f32(self.flops()),
            time: Time::Roofline,
        })
    }
}

/// A function of `x` (blade, row, feature) on the device, one launch.
pub(super) fn forward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    x: &Tensor<T>,
    parameters: &[&Tensor<T>],
) -> Result<Tensor<T>> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), None, &layouts, T::DTYPE)?;
    let gpu = x.gpu();
    let c = gpu.empty(x.shape())?;
    let operands: Vec<_> = [&c, x].into_iter().chain(parameters.iter().copied()).map(Tensor::view).collect();
    gpu.run(&problem, &operands, &[])?;
    Ok(c)
}

/// The gradients of a function with respect to `x` and its parameters, from `g`: one launch, and one that sums the latter
/// over strips of rows, in a fixed order. Those of parameters are (features, parts of all).
pub(super) fn backward<T: Real>(
    function: FeatureFunction,
    blades: &Blades,
    [x, g]: [&Tensor<T>; 2],
    parameters: &[&Tensor<T>],
) -> Result<(Tensor<T>, Tensor<f32>)> {
    let layouts: Vec<&Layout> = parameters.iter().map(|parameter| parameter.layout()).collect();
    let problem = FeaturesProblem::new(function, blades, x.layout(), Some(g.layout()), &layouts, T::DTYPE)?;
    let gpu = x.gpu();
    let c = gpu.empty(x.shape())?;
    let of_parameters = gpu.empty::<f32>(&problem.sums()[1..])?;
    let operands = [&c, x, g].into_iter().chain(parameters.iter().copied()).map(Tensor::view);
    let operands: Vec<_> = operands.chain([of_parameters.view()]).collect();
    gpu.run(&problem, &operands, &[])?;
    Ok((c, of_parameters))
}
