//! Copies of views, row-major without gaps, in another type if asked for.

use crate::gpu::Caps;
use crate::kernel::{Kernel, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::tensor::{DType, Element, Layout, MAX_RANK, Tensor, dim};
use crate::{Error, Result};
use half::{bf16, f16};

/// Invocations of one workgroup.
const LANES: u32 = 64;

/// The uniform of `shaders/cast.wgsl`, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct CastDims {
    pub extents: [u32; 4],
    pub strides: [u32; 4],
    pub extent1: u32,
    pub stride0: u32,
    pub stride1: u32,
    pub a_offset: u32,
    pub count: u32,
    pub reserved0: u32,
    pub reserved1: u32,
    pub reserved2: u32,
}

/// What becomes of values that the new type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// As Rust's `as`: a real beyond the largest becomes infinity, an integer keeps its low bits. A real that becomes
    /// an integer saturates.
    Rust,
    /// The largest finite value of the new type with the same sign.
    Saturate,
}

/// A copy of a view into a tensor without gaps, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CastProblem {
    /// The sizes, as the shader has them.
    pub dims: CastDims,
    /// The type of the view's elements.
    pub from: DType,
    /// The type of the copy's elements.
    pub to: DType,
    /// What becomes of values that `to` does not hold.
    pub overflow: Overflow,
}

impl CastProblem {
    /// The copy of a view of `from` elements as `to` elements. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the view spans more than 32-bit indices reach.
    pub fn new(view: &Layout, from: DType, to: DType, overflow: Overflow) -> Result<Self> {
        let op = op(from, to);
        let missing = MAX_RANK - view.rank();
        let mut extents = [1; MAX_RANK];
        let mut strides = [0; MAX_RANK];
        for (axis, (&extent, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            extents[missing + axis] = dim(op, extent)?;
            strides[missing + axis] = if extent == 1 { 0 } else { dim(op, stride)? };
        }
        let [_, extent1, extents @ ..] = extents;
        let [stride0, stride1, strides @ ..] = strides;
        let dims = CastDims {
            extents,
            strides,
            extent1,
            stride0,
            stride1,
            a_offset: view.offset_in_window(from),
            count: dim(op, view.len())?,
            reserved0: 0,
            reserved1: 0,
            reserved2: 0,
        };
        Ok(Self { dims, from, to, overflow })
    }

    fn kernel(&self, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("cast")
            .dims(caps, size_of::<CastDims>())
            .param("A_PER_WORD", per_word(self.from))
            .param("C_PER_WORD", per_word(self.to))
            .param("LANES", LANES);
        // What stays the same type and is not limited keeps its bits, of NaN too: no step is taken.
        if !changes(self.from, self.to, self.overflow) {
            return kernel;
        }
        let kernel = match self.from {
            DType::F16 => kernel.slot("widen", "widen_f16"),
            DType::Bf16 => kernel.slot("widen", "widen_bf16"),
            DType::I8 => kernel.slot("widen", "widen_i8"),
            DType::F32 | DType::I32 => kernel,
        };
        let kernel = match (self.from.is_real(), self.to.is_real()) {
            (true, false) => kernel.slot("convert", "convert_to_integer"),
            (false, true) => kernel.slot("convert", "convert_to_real"),
            (true, true) | (false, false) => kernel,
        };
        let kernel = match (self.to, self.overflow) {
            (DType::I8, Overflow::Saturate) => kernel.slot("limit", "limit_i8"),
            (DType::I8, Overflow::Rust) if self.from.is_real() => kernel.slot("limit", "limit_i8"),
            (DType::F32, Overflow::Saturate) => limit_real(kernel, f32::MAX),
            (DType::F16, Overflow::Saturate) => limit_real(kernel, f16::MAX.to_f32()),
            (DType::Bf16, Overflow::Saturate) => limit_real(kernel, bf16::MAX.to_f32()),
            (DType::I32, _) | (_, Overflow::Rust) => kernel,
        };
        match self.to {
            DType::F16 => kernel.slot("narrow", "narrow_f16"),
            DType::Bf16 => kernel.slot("narrow", "narrow_bf16"),
            DType::F32 | DType::I8 | DType::I32 => kernel,
        }
    }
}

/// What errors call it.
fn op(from: DType, to: DType) -> &'static str {
    if from == to { "contiguous" } else { "cast" }
}

/// Whether a value may come out as another, or with other bits. NOTE: saturating changes infinities of the same type.
fn changes(from: DType, to: DType, overflow: Overflow) -> bool {
    from != to || (overflow == Overflow::Saturate && to.is_real())
}

fn limit_real(kernel: Kernel, largest: f32) -> Kernel {
    kernel.slot("limit", "limit_real").param("LARGEST", format!("{:#x}u", largest.to_bits()))
}

fn per_word(dtype: DType) -> u32 {
    match dtype {
        DType::F32 | DType::I32 => 1,
        DType::F16 | DType::Bf16 => 2,
        DType::I8 => 4,
    }
}

impl CastProblem {
    /// Where the view's elements lie.
    fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let inner = d.extents.iter().product::<u32>() * d.extent1;
        let [e2, e3, e4, e5] = d.extents;
        let [s2, s3, s4, s5] = d.strides;
        let shape = [d.count / inner.max(1), d.extent1, e2, e3, e4, e5].map(|extent| extent as usize);
        let strides = [d.stride0, d.stride1, s2, s3, s4, s5].map(|stride| stride as usize);
        Layout::new(op(self.from, self.to), &shape, &strides, d.a_offset as usize, usize::MAX)
    }
}

impl Problem for CastProblem {
    /// There is one kernel, which differs by the types alone.
    ///
    /// Operands: the view, the copy.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let op = op(self.from, self.to);
        if self.dims.count == 0 {
            return Err(Error::shape(op, "there must be something to convert", &[0]));
        }
        let mut draft = Draft::new(op, &[], caps);
        let view = draft.operand("the view", self.from, self.layout()?, Access::Read);
        let copy = Layout::contiguous(op, &[self.dims.count as usize])?;
        let copy = draft.operand("the copy", self.to, copy, Access::Write);
        let words = self.dims.count.div_ceil(per_word(self.to));
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {} to {}", self.from, self.to),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(words.div_ceil(LANES)),
            dims: Dims::of(&self.dims),
            args: &[(view, Access::Read), (copy, Access::Write)],
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

/// A new tensor with the elements of `view` as `U`, row-major without gaps.
pub(crate) fn cast<T: Element, U: Element>(view: &Tensor<T>, overflow: Overflow) -> Result<Tensor<U>> {
    let gpu = view.gpu();
    if view.is_empty() {
        return gpu.empty(view.shape());
    }
    let problem = CastProblem::new(view.layout(), T::DTYPE, U::DTYPE, overflow)?;
    let copy = gpu.empty(view.shape())?;
    gpu.run(&problem, &[view.view(), copy.view()], &[])?;
    Ok(copy)
}
