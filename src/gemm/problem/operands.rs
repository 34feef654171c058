//! The operands of a product: their layouts, reconstructed from its dims, and the same product with other operands.

use super::dims::{GemmDims, OP, batch_strides, layout, stride};
use super::epilogue::{BiasAxis, Epilogue, Scale};
use super::gemm::GemmProblem;
use super::generated::{Generated, HalfAxis};
use super::segments::PlaneSource;
use super::types::{GemmTypes, Side};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout, dim};
use crate::plan::{Access, Operand};

/// The layouts of stored operands: A, B, C and the residual with four axes (batch, batch, rows, columns), the bias and the
/// scales with one.
#[derive(Clone, Copy, Debug)]
pub(in crate::gemm) struct Layouts {
    pub(in crate::gemm) a: Layout,
    pub(in crate::gemm) b: Layout,
    pub(in crate::gemm) c: Layout,
    pub(in crate::gemm) bias: Option<Layout>,
    pub(in crate::gemm) residual: Option<Layout>,
    pub(in crate::gemm) row_scale: Option<Layout>,
    pub(in crate::gemm) column_scale: Option<Layout>,
}

impl GemmDims {
    /// The two axes of the batch; an axis has extent 1 if the operand is broadcast along it.
    fn batch(&self, strides: [u32; 2]) -> [[u32; 2]; 2] {
        let extents = [self.batches / self.batch1.max(1), self.batch1];
        [0, 1].map(|i| if strides[i] == 0 { [extents[i].min(1), 0] } else { [extents[i], strides[i]] })
    }

    /// A batch of matrices, from this element on.
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

    /// The number of exponents of an operand: one for each line, which is a row of A or a column of B. The matrices of the
    /// operand start at `offset` plus multiples of `strides`; the index of an exponent is that of its line in memory.
    fn exponents(&self, offset: u32, strides: [u32; 2], lines: u32) -> u32 {
        let reach = |[extent, stride]: [u32; 2]| u64::from(extent.saturating_sub(1)) * u64::from(stride);
        let first = u64::from(offset) + self.batch(strides).into_iter().map(reach).sum::<u64>();
        let lines = first / u64::from(self.scaled_row.max(1)) + u64::from(lines);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }
}

impl GemmProblem {
    /// The layouts of the stored operands.
    pub(in crate::gemm) fn layouts(&self) -> Result<Layouts> {
        let d = &self.dims;
        let bias = self.epilogue.bias.map(|_| d.bias()).transpose()?;
        let residual = self.epilogue.residual.map(|_| d.residual()).transpose()?;
        let [row_scale, column_scale] =
            [BiasAxis::Rows, BiasAxis::Columns].map(|axis| self.line_scale_layout(axis));
        let (row_scale, column_scale) = (row_scale?, column_scale?);
        Ok(Layouts { a: d.a()?, b: d.b()?, c: d.c()?, bias, residual, row_scale, column_scale })
    }

    /// The same product with A and B of type `ab` and operands with these layouts.
    pub(in crate::gemm) fn with_operands(&self, layouts: &Layouts, ab: DType) -> Result<Self> {
        let Layouts { a, b, c, bias, residual, row_scale, column_scale } = layouts;
        let mut on = Self::new(a, b, c, GemmTypes { ab, ..self.types })?;
        let d = &mut on.dims;
        if let (Some(bias), Some(dtype)) = (bias, self.epilogue.bias) {
            // The stride of a bias of one element is 0.
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
        for (axis, scale) in [(BiasAxis::Rows, row_scale), (BiasAxis::Columns, column_scale)] {
            if let Some(scale) = scale {
                on.place_line_scale(axis, scale)?;
            }
        }
        let Self { epilogue, pin, split, precision, .. } = *self;
        Ok(Self { epilogue, pin, split, precision, ..on })
    }

    /// The layout of C (batch, batch, m, n), relative to the start of its window.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if they span more than can be indexed.
    pub fn output(&self) -> Result<Layout> {
        self.dims.c()
    }

    /// How C is accessed: its previous contents are read only if they are added.
    pub(in crate::gemm) fn access_of_c(&self) -> Access {
        if self.epilogue.adds_previous() { Access::Update } else { Access::Write }
    }

    /// The operands in the order in which kernels bind them: A, B, C, the sources of a generated A or the seed, those of
    /// the epilogue.
    pub(in crate::gemm) fn operands(&self) -> Result<Vec<Operand>> {
        let d = &self.dims;
        let read = Operand::read;
        let c = read("the output", self.types.c, d.c()?).accessed(self.access_of_c());
        let ab = self.types.ab;
        let mut all = match self.generated {
            None => vec![read("A", ab, d.a()?), read("B", ab, d.b()?), c],
            Some(Generated::Operand(generated)) => {
                let words = u32::try_from(generated.entries.table_words()).unwrap_or(u32::MAX);
                let table = read("the table", DType::I32, layout(&[[words, 1]], 0)?);
                let seed = generated.seed.operand()?;
                let [a, b] = match generated.side {
                    Side::A => [table, read("B", ab, d.b()?)],
                    Side::B => [read("A", ab, d.a()?), table],
                };
                [a, b, c].into_iter().chain(seed).collect()
            }
            Some(Generated::SignHalf(signs)) => {
                let half = match signs.axis {
                    HalfAxis::Outer => [[d.k, d.b_k], [d.n / 2, d.b_outer]],
                    HalfAxis::K => [[d.k / 2, d.b_k], [d.n, d.b_outer]],
                };
                vec![read("A", ab, d.a()?), read("the stored half of B", ab, layout(&half, d.b_offset)?), c]
            }
            Some(Generated::Segments(segments)) => {
                let [a, y, b] = segments.layouts(d)?;
                let words = layout(&[[segments.words, 1]], 0)?;
                let mut all =
                    vec![read("A", ab, a), read("B", ab, b), c, read("the table", DType::I32, words)];
                if let PlaneSource::Products(_) = segments.source {
                    all.push(read("Y", ab, y));
                }
                all.extend(segments.gates_layout(d)?.map(|gates| read("the gates", DType::F32, gates)));
                all
            }
        };
        all.extend(self.extras()?);
        Ok(all)
    }

    /// The operands of the epilogue.
    pub(in crate::gemm) fn extras(&self) -> Result<Vec<Operand>> {
        let Epilogue { scale, line_scale, bias, residual, .. } = self.epilogue;
        let d = &self.dims;
        let read = Operand::read;
        let mut extras = Vec::new();
        if let Some(dtype) = bias {
            extras.push(read("the bias", dtype, d.bias()?));
        }
        if let Some(dtype) = residual {
            extras.push(read("the residual", dtype, d.residual()?));
        }
        for &axis in line_scale.axes() {
            let name = match axis {
                BiasAxis::Rows => "the row scale",
                BiasAxis::Columns => "the column scale",
            };
            extras.extend(self.line_scale_layout(axis)?.map(|layout| read(name, DType::F32, layout)));
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

    /// The number of storage bindings of the epilogue.
    pub(in crate::gemm) fn extra_bindings(&self) -> u32 {
        let Epilogue { scale, line_scale, bias, residual, .. } = self.epilogue;
        let scaled = match scale {
            Scale::One | Scale::Alpha => 0,
            Scale::Back => 2,
            Scale::BackWithCross => 3,
        };
        u32::from(bias.is_some()) + u32::from(residual.is_some()) + scaled + line_scale.bindings()
    }

    /// The number of storage bindings for A, B and C, and for the sources of generated operands.
    pub(in crate::gemm) fn bindings(&self) -> u32 {
        3 + match self.generated {
            Some(Generated::Segments(segments)) => segments.bindings(),
            Some(Generated::Operand(generated)) => generated.seed.bindings(),
            Some(Generated::SignHalf(_)) | None => 0,
        }
    }

    /// Whether a second launch applies the epilogue, because a single kernel would need more bindings than the device has.
    pub(in crate::gemm) fn has_separate_epilogue(&self, caps: &Caps) -> bool {
        self.extra_bindings() > 0 && self.bindings() + self.extra_bindings() > caps.limits.storage_bindings
    }
}
