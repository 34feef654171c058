//! Where the operands of a product lie, read back from its dims; and the same product of other operands.

use super::epilogue::{Epilogue, Scale};
use super::generated::Made;
use super::half_signs::HalvedAxis;
use super::halves::Side;
use super::problem::{GemmDims, GemmProblem, GemmTypes, OP, batch_strides, stride};
use super::reduce;
use super::segments::Formed;
use crate::Result;
use crate::caps::Caps;
use crate::kernel;
use crate::layout::{DType, Layout, dim};
use crate::plan::Access;

/// An operand of a product.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand {
    pub(super) name: &'static str,
    pub(super) dtype: DType,
    pub(super) layout: Layout,
    pub(super) access: Access,
}

/// Where the operands of a product lie whose matrices are in memory: A, B and C as (batch, batch, .., ..).
#[derive(Clone, Copy, Debug)]
pub(super) struct Layouts {
    pub(super) a: Layout,
    pub(super) b: Layout,
    pub(super) c: Layout,
    pub(super) bias: Option<Layout>,
    pub(super) residual: Option<Layout>,
}

/// A layout of these axes, each an extent and a stride, from this element on. The problem has proved that it lies in a buffer.
pub(super) fn layout(axes: &[[u32; 2]], offset: u32) -> Result<Layout> {
    let [shape, strides] = [0, 1].map(|i| axes.iter().map(|axis| axis[i] as usize).collect::<Vec<_>>());
    Layout::new(OP, &shape, &strides, offset as usize, usize::MAX)
}

impl GemmDims {
    /// An axis of the batch; of extent 1 where an operand is repeated along it.
    fn batch(&self, strides: [u32; 2]) -> [[u32; 2]; 2] {
        let extents = [self.batches / self.batch1.max(1), self.batch1];
        [0, 1].map(|i| if strides[i] == 0 { [extents[i].min(1), 0] } else { [extents[i], strides[i]] })
    }

    /// A matrix, or a batch of them, from this element on.
    fn matrices(&self, batch: [u32; 2], matrix: [[u32; 2]; 2], offset: u32) -> Result<Layout> {
        let [outer, inner] = self.batch(batch);
        layout(&[outer, inner, matrix[0], matrix[1]], offset)
    }

    fn a(&self) -> Result<Layout> {
        let matrix = [[self.m, self.a_outer], [self.k, self.a_k]];
        self.matrices([self.a_batch0, self.a_batch1], matrix, self.a_offset)
    }

    fn b(&self) -> Result<Layout> {
        let matrix = [[self.k, self.b_k], [self.n, self.b_outer]];
        self.matrices([self.b_batch0, self.b_batch1], matrix, self.b_offset)
    }

    fn c(&self) -> Result<Layout> {
        let matrix = [[self.m, self.ldc], [self.n, 1]];
        self.matrices([self.c_batch0, self.c_batch1], matrix, self.c_offset)
    }

    fn bias(&self) -> Result<Layout> {
        let axis = match [self.bias_row, self.bias_col] {
            [0, 0] => [1, 0],
            [0, step] => [self.n, step],
            [step, _] => [self.m, step],
        };
        layout(&[axis], self.bias_offset)
    }

    fn residual(&self) -> Result<Layout> {
        let matrix = [[self.m, self.residual_row], [self.n, self.residual_col]];
        self.matrices([self.residual_batch0, self.residual_batch1], matrix, self.residual_offset)
    }

    /// How many exponents an operand has whose matrices start there: one for each line (a row of A, a column of B). A matrix's
    /// place among them is that of its first line.
    fn exponents(&self, offset: u32, strides: [u32; 2], lines: u32) -> u32 {
        let reach = |[extent, stride]: [u32; 2]| u64::from(extent.saturating_sub(1)) * u64::from(stride);
        let first = u64::from(offset) + self.batch(strides).into_iter().map(reach).sum::<u64>();
        let lines = first / u64::from(self.scaled_row.max(1)) + u64::from(lines);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }
}

impl GemmProblem {
    /// Where operands that are in memory lie.
    pub(super) fn layouts(&self) -> Result<Layouts> {
        let d = &self.dims;
        let bias = self.epilogue.bias.map(|_| d.bias()).transpose()?;
        let residual = self.epilogue.residual.map(|_| d.residual()).transpose()?;
        Ok(Layouts { a: d.a()?, b: d.b()?, c: d.c()?, bias, residual })
    }

    /// The same product of operands of this type that lie so.
    pub(super) fn on(&self, layouts: &Layouts, ab: DType) -> Result<Self> {
        let Layouts { a, b, c, bias, residual } = layouts;
        let mut on = Self::new(a, b, c, GemmTypes { ab, ..self.types })?;
        let d = &mut on.dims;
        if let (Some(bias), Some(dtype)) = (bias, self.epilogue.bias) {
            // Of one element there is no step.
            let step = |step| if bias.shape()[0] > 1 { step } else { 0 };
            [d.bias_row, d.bias_col] = [step(self.dims.bias_row), step(self.dims.bias_col)];
            d.bias_offset = bias.offset_in_window(dtype);
        }
        if let (Some(residual), Some(dtype)) = (residual, self.epilogue.residual) {
            d.residual_row = dim(OP, stride(residual, 2))?;
            d.residual_col = dim(OP, stride(residual, 1))?;
            d.residual_offset = residual.offset_in_window(dtype);
            [d.residual_batch0, d.residual_batch1] = batch_strides(residual)?;
        }
        let Self { epilogue, pin, split, precision, .. } = *self;
        Ok(Self { epilogue, pin, split, precision, ..on })
    }

    /// Where the elements of C lie, counted from the start of its window: (batch, batch, m, n).
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if they span more than can be indexed.
    pub fn output(&self) -> Result<Layout> {
        self.dims.c()
    }

    /// What becomes of what C held.
    pub(super) fn access_of_c(&self) -> Access {
        if self.epilogue.adds_previous() { Access::Update } else { Access::Write }
    }

    /// The operands in the order in which kernels bind them: A, B and C, what A is made of, and the epilogue's.
    pub(super) fn operands(&self) -> Result<Vec<Operand>> {
        let d = &self.dims;
        let read = |name, dtype, layout| Operand { name, dtype, layout, access: Access::Read };
        let c =
            Operand { name: "the output", dtype: self.types.c, layout: d.c()?, access: self.access_of_c() };
        let ab = self.types.ab;
        let mut all = match self.made {
            None => vec![read("A", ab, d.a()?), read("B", ab, d.b()?), c],
            Some(Made::Whole(generated)) => {
                let words = u32::try_from(generated.entries.table_words()).unwrap_or(u32::MAX);
                let table = read("the table", DType::I32, layout(&[[words, 1]], 0)?);
                match generated.side {
                    Side::A => vec![table, read("B", ab, d.b()?), c],
                    Side::B => vec![read("A", ab, d.a()?), table, c],
                }
            }
            Some(Made::Half(signs)) => {
                let half = match signs.axis {
                    HalvedAxis::Outer => [[d.k, d.b_k], [d.n / 2, d.b_outer]],
                    HalvedAxis::K => [[d.k / 2, d.b_k], [d.n, d.b_outer]],
                };
                vec![read("A", ab, d.a()?), read("half of B", ab, layout(&half, d.b_offset)?), c]
            }
            Some(Made::Segments(segments)) => {
                let [a, y, b] = segments.layouts(d)?;
                let words = layout(&[[segments.words, 1]], 0)?;
                let mut all =
                    vec![read("A", ab, a), read("B", ab, b), c, read("the table", DType::I32, words)];
                if let Formed::Products(_) = segments.formed {
                    all.push(read("Y", ab, y));
                }
                all.extend(segments.gates_layout(d)?.map(|gates| read("the gates", DType::F32, gates)));
                all
            }
        };
        all.extend(self.extras()?);
        Ok(all)
    }

    /// The epilogue's operands.
    pub(super) fn extras(&self) -> Result<Vec<Operand>> {
        let Epilogue { scale, bias, residual, .. } = self.epilogue;
        let d = &self.dims;
        let read = |name, dtype, layout| Operand { name, dtype, layout, access: Access::Read };
        let mut extras = Vec::new();
        if let Some(dtype) = bias {
            extras.push(read("the bias", dtype, d.bias()?));
        }
        if let Some(dtype) = residual {
            extras.push(read("the residual", dtype, d.residual()?));
        }
        if matches!(scale, Scale::Back | Scale::BackWithCross) {
            let of_a = d.exponents(d.a_offset, [d.a_batch0, d.a_batch1], d.m);
            let of_b = d.exponents(d.b_offset, [d.b_batch0, d.b_batch1], d.n);
            extras.push(read("the exponents of A", DType::I32, layout(&[[of_a, 1]], 0)?));
            extras.push(read("the exponents of B", DType::I32, layout(&[[of_b, 1]], 0)?));
        }
        if scale == Scale::BackWithCross {
            let elements = Layout::contiguous(OP, &[self.elements()])?;
            extras.push(read("the cross terms", DType::F32, elements));
        }
        Ok(extras)
    }

    /// The number of storage bindings for the epilogue.
    pub(super) fn extra_bindings(&self) -> u32 {
        let Epilogue { scale, bias, residual, .. } = self.epilogue;
        let scaled = match scale {
            Scale::One | Scale::Alpha => 0,
            Scale::Back => 2,
            Scale::BackWithCross => 3,
        };
        u32::from(bias.is_some()) + u32::from(residual.is_some()) + scaled
    }

    /// The number of storage bindings for A, B and C, and for what generated operands are made from.
    pub(super) fn bindings(&self) -> u32 {
        3 + match self.made {
            Some(Made::Segments(segments)) => segments.bindings(),
            _ => 0,
        }
    }

    /// Whether a second launch applies the epilogue, because one kernel would need more bindings than the device has.
    pub(super) fn stores_apart(&self, caps: &Caps) -> bool {
        self.extra_bindings() > 0 && self.bindings() + self.extra_bindings() > caps.limits.storage_bindings
    }

    /// Bytes of the sums that any plan needs: of the parts that the caller asked for, or of one part if a second launch applies
    /// the epilogue; else 0.
    fn sums_bytes(&self, caps: &Caps) -> u64 {
        let parts = self.parts_asked();
        if parts == 1 && !self.stores_apart(caps) { 0 } else { reduce::scratch_bytes(self, parts) }
    }

    /// Checks that the device can bind every operand as a whole, and the sums of parts.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if not.
    pub(super) fn check_bound(&self, caps: &Caps) -> Result<()> {
        for Operand { layout, dtype, .. } in self.operands()? {
            kernel::check_binding(OP, caps, layout.span().end as u64, dtype)?;
        }
        kernel::check_scratch(OP, caps, self.sums_bytes(caps))
    }
}
