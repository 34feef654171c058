//! Doubles of integers: the operation that `tests/house/additions.rs` adds to a copy of the tree.

use crate::Result;
use crate::caps::Caps;
use crate::error::call;
use crate::kernel::{Kernel, Needs};
use crate::layout::{DType, Layout, dim};
use crate::plan::{Dims, Draft, Flops, NewStep, Operand, Plan, Problem, Time};
use crate::tensor::Tensor;

const OP: &str = "double";
const LANES: u32 = 64;

/// A checked doubling of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DoubleProblem {
    count: u32,
}

impl DoubleProblem {
    /// Doubles of elements.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) for $2^{31}$ elements or more.
    pub fn new(count: usize) -> Result<Self> {
        Ok(Self { count: dim(OP, count)? })
    }
}

impl Problem for DoubleProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let mut draft = Draft::new(OP, &[], caps);
        let line = Layout::line(self.count as usize);
        let (c, a) = (Operand::written("the output", DType::I32, line), Operand::read("a", DType::I32, line));
        let args = draft.operands(&[c, a]);
        draft.step(NewStep {
            kernel: Kernel::new("ops/double").dims(caps, 4).param("LANES", LANES),
            tile: format!("{LANES} invocations"),
            needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(self.count.div_ceil(LANES)),
            dims: Dims::of(&self.count),
            args: &args,
            flops: Flops::default(),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}

/// Doubles of integers, which wrap.
///
/// # Shapes
/// `x` has any shape; the result has the same.
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) for $2^{31}$ elements or more.
/// # Precision
/// Exact: [`reference::double`](crate::reference::double).
pub fn double(x: &Tensor<i32>) -> Result<Tensor<i32>> {
    call(OP, || {
        let x = x.contiguous()?;
        let [c] = x.gpu().compute(&DoubleProblem::new(x.len())?, &[x.view()], &[])?;
        Tensor::from_output(c, x.shape())
    })
}
