//! Copies of views: row-major, without gaps, in another type if asked for.

use crate::Result;
use crate::gpu::{Caps, Problem};
use crate::kernel::{self, Kernel, Plan};
use crate::tensor::{DType, Element, Layout, MAX_RANK, Tensor, dim};

/// Invocations of one workgroup.
const LANES: u32 = 64;

/// The uniform of `shaders/copy.wgsl`, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct CopyDims {
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

impl CopyDims {
    /// Elements of the view's binding, to behind the last that is read.
    fn last_element(&self) -> u64 {
        let step = |extent: u32, stride: u32| u64::from(extent - 1) * u64::from(stride);
        let inner: u64 =
            self.extents.iter().zip(&self.strides).map(|(&extent, &stride)| step(extent, stride)).sum();
        let extent0 = self.count / self.extents.iter().product::<u32>() / self.extent1;
        u64::from(self.a_offset) + inner + step(self.extent1, self.stride1) + step(extent0, self.stride0) + 1
    }
}

/// A copy of a view into a tensor without gaps, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyProblem {
    /// The sizes, as the shader has them.
    pub dims: CopyDims,
    /// The type of the view's elements.
    pub from: DType,
    /// The type of the copy's elements.
    pub to: DType,
}

impl CopyProblem {
    /// The copy of a view of `from` elements as `to` elements. The view must not be empty.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if the view spans more than 32-bit indices reach.
    pub fn new(view: &Layout, from: DType, to: DType) -> Result<Self> {
        let op = "copy";
        let missing = MAX_RANK - view.rank();
        let mut extents = [1; MAX_RANK];
        let mut strides = [0; MAX_RANK];
        for (axis, (&extent, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            extents[missing + axis] = dim(op, extent)?;
            strides[missing + axis] = if extent == 1 { 0 } else { dim(op, stride)? };
        }
        let [_, extent1, extents @ ..] = extents;
        let [stride0, stride1, strides @ ..] = strides;
        let dims = CopyDims {
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
        Ok(Self { dims, from, to })
    }

    fn kernel(&self, caps: &Caps) -> Kernel {
        let packed = |dtype| dtype == DType::F16 && !caps.f16;
        let unit = |dtype: DType| if packed(dtype) { "u32".to_owned() } else { dtype.to_string() };
        let mut kernel = Kernel::new("copy")
            .dims(caps, size_of::<CopyDims>())
            .param("a_unit", unit(self.from))
            .param("c_unit", unit(self.to))
            .param("LANES", LANES);
        if packed(self.from) {
            kernel = kernel.slot("load_a", "load_x_packed");
        }
        if packed(self.to) {
            kernel = kernel.slot("copy_unit", "copy_unit_packed");
        }
        kernel
    }
}

/// How to compute `problem` on a device: there is one kernel, which differs by how f16 lies in memory.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) if the view or its copy is larger than this device can bind.
pub fn plan_copy(problem: &CopyProblem, caps: &Caps) -> Result<Plan> {
    let last = problem.dims.last_element();
    kernel::check_binding("copy", caps, last, problem.from)?;
    kernel::check_binding("copy", caps, u64::from(problem.dims.count), problem.to)?;
    let units = if problem.to == DType::F16 && !caps.f16 {
        problem.dims.count.div_ceil(2)
    } else {
        problem.dims.count
    };
    let bytes = f64::from(problem.dims.count) * (problem.from.size() + problem.to.size()) as f64;
    Ok(Plan {
        kernel: problem.kernel(caps),
        tile: format!("{LANES} invocations, {} to {}", problem.from, problem.to),
        grid: kernel::fold("copy", u64::from(units.div_ceil(LANES)), caps.limits.grid)?,
        seconds: bytes / caps.roofs.bytes,
        reasons: Vec::new(),
    })
}

impl Problem for CopyProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_copy(self, caps)
    }
}

/// A new tensor with the elements of `view`, row-major without gaps, rounded to `U`.
pub(crate) fn copy<T: Element, U: Element>(view: &Tensor<T>) -> Result<Tensor<U>> {
    let gpu = view.gpu();
    if view.is_empty() {
        return gpu.empty(view.shape());
    }
    let problem = CopyProblem::new(view.layout(), T::DTYPE, U::DTYPE)?;
    let planned = gpu.planned(&problem)?;
    let copy = gpu.empty(view.shape())?;
    gpu.launch(&planned, bytemuck::bytes_of(&problem.dims), &[view.bind(), copy.bind()])?;
    Ok(copy)
}
