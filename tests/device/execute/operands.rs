//! Operands for any plan, and the families whose plans are executed.

pub(crate) use support::families::{CONVOLUTIONS, FAMILIES, Family, MODULES, Of, PROBLEMS, slowed};
use tilewise::planning::{Access, Parameter, Plan, Scalar, ScalarKind, ScalarParameter};
use tilewise::{DType, Fill, Gpu, Result, Tensor, View, bf16, f16};

/// A tensor of any type.
enum Any {
    F32(Tensor<f32>),
    F16(Tensor<f16>),
    Bf16(Tensor<bf16>),
    I8(Tensor<i8>),
    I32(Tensor<i32>),
}

/// Runs the same code for a tensor, whatever its type is.
macro_rules! of_any {
    ($any:expr, $tensor:ident => $code:expr) => {
        match $any {
            Any::F32($tensor) => $code,
            Any::F16($tensor) => $code,
            Any::Bf16($tensor) => $code,
            Any::I8($tensor) => $code,
            Any::I32($tensor) => $code,
        }
    };
}

impl Any {
    /// Numbers where the plan's operand lies, if it has no gaps: with fractions, whose sums are other bits in another order.
    fn of(gpu: &Gpu, parameter: &Parameter, seed: u64) -> Result<Self> {
        let shape = parameter.layout.shape();
        Ok(match parameter.dtype {
            DType::F32 => Self::F32(gpu.random(shape, Fill::Uniform, seed)?),
            DType::F16 => Self::F16(gpu.random(shape, Fill::Uniform, seed)?),
            DType::Bf16 => Self::Bf16(gpu.random(shape, Fill::Uniform, seed)?),
            DType::I8 => Self::I8(gpu.random(shape, Fill::Integers, seed)?),
            _ => Self::I32(gpu.random(shape, Fill::Integers, seed)?),
        })
    }

    fn view(&mut self, access: Access) -> Result<View<'_>> {
        of_any!(self, tensor => if access == Access::Read { Ok(tensor.view()) } else { tensor.view_mut() })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        of_any!(self, tensor => Ok(bytemuck::cast_slice(&tensor.to_vec()?).to_vec()))
    }
}

/// Operands of a plan, all filled.
pub(crate) struct Operands {
    of: Vec<(Any, Access)>,
    scalars: Vec<Scalar>,
}

impl Operands {
    pub(crate) fn of(gpu: &Gpu, plan: &Plan) -> Result<Self> {
        let all = (0..).zip(plan.parameters());
        let of = all.map(|(i, parameter)| Ok((Any::of(gpu, parameter, i)?, parameter.access)));
        let scalar = |scalar: &ScalarParameter| match scalar.kind {
            ScalarKind::F32 => Scalar::from(1.0),
            ScalarKind::U32 => Scalar::from(7u32),
        };
        Ok(Self { of: of.collect::<Result<_>>()?, scalars: plan.scalars().iter().map(scalar).collect() })
    }

    pub(crate) fn execute(&mut self, gpu: &Gpu, plan: &Plan) -> Result<()> {
        let views = self.of.iter_mut().map(|(any, access)| any.view(*access)).collect::<Result<Vec<_>>>()?;
        gpu.execute(plan, &views, &self.scalars)
    }

    /// What the plan has written.
    pub(crate) fn written(&self) -> Result<Vec<Vec<u8>>> {
        self.of.iter().filter(|(_, access)| *access != Access::Read).map(|(any, _)| any.bytes()).collect()
    }
}
