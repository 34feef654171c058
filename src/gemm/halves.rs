//! f32 operands as f16: each row of A and column of B scaled by a power of two, in one part or two.

use super::Precision;
use super::layouts::layout;
use crate::error::call;
use crate::gpu::Caps;
use crate::kernel::{self, Kernel, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::tensor::{DType, Layout, Tensor, dim};
use crate::{Error, Result};
use half::f16;

const OP: &str = "halves";

/// f16 elements that are written at a time; rows are padded to whole ones.
pub(super) const UNIT: u32 = 8;

/// The exponent of a row that has an infinity or a NaN: no row has it otherwise, and two of them can be added. What
/// such a row gives is infinite or NaN, whatever its scale.
pub const NON_FINITE: i32 = 1024;

/// Which operand of a product: its axes are in another order, and so are its two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A (.., m, k): a row is one of A, its parts high and low.
    A,
    /// B (.., k, n): a row is a column of B, its parts low and high, so that the product of whole rows is that of the
    /// cross terms.
    B,
}

/// The uniform of `shaders/halves.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct HalvesDims {
    pub rows: u32,
    pub outer: u32,
    pub k: u32,
    pub batch1: u32,
    pub batch0_stride: u32,
    pub batch1_stride: u32,
    pub outer_stride: u32,
    pub k_stride: u32,
    pub x_offset: u32,
    pub units: u32,
    pub hi: u32,
    pub lo: u32,
}

/// An f32 operand to be scaled and rounded to f16, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalvesProblem {
    /// The sizes, as the shader has them.
    pub dims: HalvesDims,
    /// Parts of each entry: 1 or 2.
    parts: u32,
    /// Which operand it is.
    side: Side,
}

/// An operand as f16, and the exponents that undo its scaling.
#[derive(Clone, Debug)]
pub struct Halves {
    /// Rows of `parts * ld` elements, with ld = k rounded up to a multiple of 8 by zeros: m rows of A, or n columns of
    /// B, for each batch. For [`Precision::Split`] columns `..ld` and `ld..` are the high and the low part of A, the
    /// low and the high part of B.
    pub values: Tensor<f16>,
    /// One e a row: its elements are the operand's times $2^{e}$; [`NON_FINITE`] for a row that has an infinity or a
    /// NaN.
    pub exponents: Tensor<i32>,
}

impl HalvesProblem {
    /// The rows of A, or the columns of B, of this layout: a matrix after at most two batch axes, not empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another number of axes; [`Error::Limit`] if a size or the result has more than
    /// $2^{31}$ elements; [`Error::Input`] for [`Precision::Strict`], which takes f32 as it is.
    pub fn new(x: &Layout, side: Side, precision: Precision) -> Result<Self> {
        let parts = match precision {
            Precision::Strict => return Err(Error::input(OP, "strict products take f32 as it is")),
            Precision::Fast => 1,
            Precision::Split => 2,
        };
        let axis = |axis: usize| {
            let extent = x.shape()[axis];
            Ok([dim(OP, extent)?, if extent > 1 { dim(OP, x.strides()[axis])? } else { 0 }])
        };
        if !(2..=4).contains(&x.rank()) {
            return Err(Error::shapes(OP, "a matrix and at most two batch axes", x.shape(), &[2, 4]));
        }
        let batches = x.rank() - 2;
        let [outer, k] = match side {
            Side::A => [axis(batches)?, axis(batches + 1)?],
            Side::B => [axis(batches + 1)?, axis(batches)?],
        };
        let batch0 = if batches == 2 { axis(0)? } else { [1, 0] };
        let batch1 = if batches > 0 { axis(batches - 1)? } else { [1, 0] };
        let of_part = k[0].div_ceil(UNIT);
        let rows = [batch0, batch1, outer].iter().fold(1usize, |n, axis| n.saturating_mul(axis[0] as usize));
        let elements = rows.saturating_mul(of_part as usize * (UNIT * parts) as usize);
        dim(OP, elements)?;
        let [hi, lo] = if parts == 2 && side == Side::B { [of_part, 0] } else { [0, of_part] };
        let dims = HalvesDims {
            rows: dim(OP, rows)?,
            outer: outer[0],
            k: k[0],
            batch1: batch1[0],
            batch0_stride: batch0[1],
            batch1_stride: batch1[1],
            outer_stride: outer[1],
            k_stride: k[1],
            x_offset: x.offset_in_window(DType::F32),
            units: of_part * parts,
            hi,
            lo,
        };
        Ok(Self { dims, parts, side })
    }

    /// The shape of [`Halves::values`].
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.dims.rows as usize, self.dims.units as usize * UNIT as usize]
    }

    /// Where the operand's elements lie.
    fn layout(&self) -> Result<Layout> {
        let d = &self.dims;
        let batch0 = d.rows / (d.outer * d.batch1).max(1);
        let matrix = [[d.outer, d.outer_stride], [d.k, d.k_stride]];
        let [first, second] = if self.side == Side::A { matrix } else { [matrix[1], matrix[0]] };
        layout(&[[batch0, d.batch0_stride], [d.batch1, d.batch1_stride], first, second], d.x_offset)
    }

    /// Rows and invocations of a workgroup. Where rows are neighbours in memory and their elements are not, several
    /// rows are read at a time.
    fn tile(&self, caps: &Caps) -> [u32; 2] {
        let across = self.dims.outer > 1 && self.dims.outer_stride < self.dims.k_stride;
        let (rows, usual) = if across { (16, 256) } else { (1, 64) };
        let mut lanes = kernel::lanes(usual, caps);
        while lanes > 4 && 4 * lanes > caps.limits.workgroup_bytes {
            lanes /= 2;
        }
        [rows.min(lanes), lanes]
    }
}

impl Problem for HalvesProblem {
    /// There is one kernel, which differs by the order of memory.
    ///
    /// Operands: the f32 operand, its halves, the exponents.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let shape = self.shape();
        if shape.contains(&0) {
            return Err(Error::shape(OP, "there must be something to convert", &shape));
        }
        let mut draft = Draft::new(OP, &[], caps);
        let x = draft.operand("the operand", DType::F32, self.layout()?, Access::Read);
        let values = Layout::contiguous(OP, &shape)?;
        let values = draft.operand("the halves", DType::F16, values, Access::Write);
        let exponents = Layout::contiguous(OP, &shape[..1])?;
        let exponents = draft.operand("the exponents", DType::I32, exponents, Access::Write);
        let [rows_at_once, lanes] = self.tile(caps);
        let kernel = Kernel::new("halves")
            .dims(caps, size_of::<HalvesDims>())
            .param("PARTS", format!("{}u", self.parts))
            .param("ROWS", format!("{rows_at_once}u"))
            .param("LANES", format!("{lanes}u"));
        let entries = f64::from(self.dims.rows) * f64::from(self.dims.k);
        // Read twice, once for the largest of a row.
        let read = 2.0 * entries * DType::F32.size() as f64;
        let written = values.layout.len() as f64 * DType::F16.size() as f64;
        draft.step(NewStep {
            kernel,
            tile: format!("{rows_at_once} rows, {lanes} invocations, {} parts", self.parts),
            needs: Needs {
                bindings: 3,
                invocations: lanes,
                workgroup_bytes: (4 * lanes).next_multiple_of(16),
            },
            blocks: u64::from(self.dims.rows.div_ceil(rows_at_once)),
            dims: Dims::of(&self.dims),
            args: &[(x, Access::Read), (values, Access::Write), (exponents, Access::Write)],
            flops: Flops::of_f32(entries * f64::from(1 + 2 * self.parts)),
            time: Time::Seconds((read + written) / caps.machine.bytes),
        })?;
        Ok(draft.finish())
    }
}

/// An operand of a [`Precision::Fast`] or [`Precision::Split`] product as f16, one launch.
///
/// # Shapes
/// A (.., m, k) or B (.., k, n), any strides, at most two batch axes -> rows as [`Halves`] has them, those of all
/// batches one after another.
/// # Errors
/// [`Error::Shape`] for another number of axes; [`Error::Limit`], [`Error::OutOfMemory`] without room;
/// [`Error::Input`] for [`Precision::Strict`].
/// # Precision
/// Bit for bit [`reference::halves`](crate::reference::halves), on every device.
pub fn halves(x: &Tensor<f32>, side: Side, precision: Precision) -> Result<Halves> {
    call("halves", || {
        let problem = HalvesProblem::new(x.layout(), side, precision)?;
        let (gpu, rows) = (x.gpu(), problem.dims.rows as usize);
        if x.is_empty() {
            return Ok(Halves { values: gpu.empty(problem.shape())?, exponents: gpu.zeros([rows])? });
        }
        let made = Halves { values: gpu.empty(problem.shape())?, exponents: gpu.empty([rows])? };
        gpu.run(&problem, &[x.view(), made.values.view(), made.exponents.view()], &[])?;
        Ok(made)
    })
}
