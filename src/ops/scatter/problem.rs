//! A checked addition of values to indexed elements, as plain data.

use crate::kernel::shader_dims;
use crate::layout::{Axes, Axis, DType, Layout, MAX_RANK, dim};
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/sort_blocks.wgsl`.
    pub struct SortDims {
        /// of the indices, innermost first: extent, then the strides of indices, keys and values
        axes: [[u32; 4]; MAX_RANK],
        /// first element in its binding
        index_offset: u32,
        value_offset: u32,
        /// of indices
        count: u32,
        /// number of axes, at least 1
        rank: u32,
        /// along the axis that is indexed
        key_stride: u32,
        /// of that axis
        extent: u32,
        /// an index that names nothing; larger than all others if each names something
        skipped: u32,
        /// the keys of valid indices are smaller
        slots: u32,
    }
}

shader_dims! {
    /// The uniform of `shaders/ops/run_parts.wgsl` and `scatter_add.wgsl` (`scatter_dims.wgsl`).
    pub struct ScatterDims {
        /// of C, innermost first: extent, then the strides of C and of the values, then 0
        axes: [[u32; 4]; MAX_RANK + 1],
        /// first element in its binding
        c_offset: u32,
        /// of pairs
        count: u32,
        slots: u32,
        columns: u32,
        /// number of axes, at least 1
        rank: u32,
        /// groups of four neighbours in a row along the innermost axis
        row_units: u32,
        /// in a slot
        slot_units: u32,
        /// of all slots, or of all chunks of pairs
        units: u32,
    }
}

/// The elements that an index names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A row of a new table of zeros. The indices have any shape, and one id may stand for no row.
    Rows {
        /// The index that names no row.
        padding: Option<usize>,
    },
    /// All elements of one position along this axis. The indices have one axis.
    Positions(usize),
    /// One element. Its position along this axis is the value of the index, along other axes the place of the index.
    Elements(usize),
}

/// A checked addition of values to the elements of C that indices name. Neither is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScatterProblem {
    pub(super) sort: SortDims,
    pub(super) dims: ScatterDims,
    pub(super) target: Target,
    /// Type of the elements of C and the values.
    pub(super) dtype: DType,
    /// The layouts of C, the indices and the values, relative to their windows.
    pub(super) layouts: [Layout; 3],
}

impl Target {
    /// The name in errors and plans.
    pub(super) fn op(self) -> &'static str {
        match self {
            Self::Rows { .. } => "embedding_backward",
            Self::Positions(_) => "index_add",
            Self::Elements(_) => "scatter_add",
        }
    }

    /// The axis of C that is indexed.
    pub(super) fn axis(self) -> usize {
        match self {
            Self::Rows { .. } => 0,
            Self::Positions(axis) | Self::Elements(axis) => axis,
        }
    }

    /// Checks the shapes.
    ///
    /// # Errors
    /// [`Error::Shape`] if C has no such axis, the shapes do not match, or elements of C overlap.
    pub(super) fn check(self, [c, indices, values]: [&Layout; 3]) -> Result<()> {
        let (op, axis) = (self.op(), self.axis());
        if axis >= c.rank() {
            return Err(Error::shapes(op, "the axis must be one of the shape", c.shape(), &[axis]));
        }
        match self {
            Self::Rows { .. } => {
                let want = [indices.shape(), &c.shape()[1..]].concat();
                if values.shape() != want {
                    let rule = "the gradient must have the shape of the ids, and then one more axis";
                    return Err(Error::shapes(op, rule, indices.shape(), values.shape()));
                }
            }
            Self::Positions(_) => {
                if indices.rank() != 1 {
                    return Err(Error::shape(op, "the indices must have one axis", indices.shape()));
                }
                let mut want = c.shape().to_vec();
                want[axis] = indices.shape()[0];
                if values.shape() != want {
                    let rule = "the values must have the shape of the output, with as many positions along the axis as \
                                there are indices";
                    return Err(Error::shapes(op, rule, values.shape(), c.shape()));
                }
            }
            Self::Elements(_) => {
                let fits = (0..c.rank()).all(|at| at == axis || indices.shape().get(at) <= c.shape().get(at));
                if indices.rank() != c.rank() || !fits {
                    let rule =
                        "the indices must have the axes of the output, none longer except the indexed one";
                    return Err(Error::shapes(op, rule, c.shape(), indices.shape()));
                }
                if values.shape() != indices.shape() {
                    let rule = "the values must have the shape of the indices";
                    return Err(Error::shapes(op, rule, indices.shape(), values.shape()));
                }
            }
        }
        c.check_no_overlap(op)
    }
}

impl ScatterProblem {
    /// The addition of values to C, both of `dtype` elements, by indices of i32: `layouts` are those of C, of the indices and of
    /// the values. There must be indices, and C must not be empty.
    ///
    /// # Errors
    /// [`Error::Shape`] if the shapes do not match, or elements of C overlap; [`Error::Input`] for types of 8 bits with a fraction;
    /// [`Error::Limit`] if a size is $2^{31}$ or more.
    pub fn new(target: Target, layouts: [&Layout; 3], dtype: DType) -> Result<Self> {
        target.check(layouts)?;
        let (op, axis) = (target.op(), target.axis());
        dtype.check_computed(op)?;
        let [c, indices, values] = layouts;
        let layouts = [c.in_window(dtype), indices.in_window(DType::I32), values.in_window(dtype)];
        let [c, indices, values] = layouts;
        let dense = Layout::contiguous(op, c.shape())?;
        // C's axes: those of the slots, and those within a slot.
        let (named, within): (Vec<usize>, Vec<usize>) = match target {
            Target::Elements(_) => ((0..c.rank()).collect(), Vec::new()),
            Target::Rows { .. } | Target::Positions(_) => (0..c.rank()).partition(|&at| at == axis),
        };
        let slots: usize = named.iter().map(|&at| c.shape()[at]).product();
        let columns: usize = within.iter().map(|&at| c.shape()[at]).product();
        // The axes of the indices: the strides of the indices, of the keys and of the values.
        let of_key = |at: usize| match target {
            Target::Elements(axis) if at != axis => dense.strides()[at],
            _ => 0,
        };
        let of_value = |at: usize| match target {
            Target::Positions(axis) => values.strides()[axis],
            _ => values.strides()[at],
        };
        let of_index = |at: usize| [indices.strides()[at], of_key(at), of_value(at)];
        let key_stride = if let Target::Elements(axis) = target { dense.strides()[axis] } else { 1 };
        let skipped = match target {
            Target::Rows { padding } => padding.filter(|&row| row < slots),
            _ => None,
        };
        let mut sort = SortDims {
            index_offset: indices.offset_in_window(DType::I32),
            value_offset: values.offset_in_window(dtype),
            count: dim(op, indices.len())?,
            key_stride: dim(op, key_stride)?,
            extent: dim(op, c.shape()[axis])?,
            skipped: skipped.map_or(Ok(u32::MAX), |row| dim(op, row))?,
            slots: dim(op, slots)?,
            ..SortDims::default()
        };
        sort.rank = Axes::of(indices.shape(), of_index).at_least_one().put(op, &mut sort.axes)?;
        // The axes of C: the strides of C and of the values. What is behind the indices' own axes is within.
        let of_columns = |at: usize| {
            let own = if let Target::Rows { .. } = target { at - 1 + indices.rank() } else { at };
            [c.strides()[at], values.strides()[own]]
        };
        let merged = |axes: Vec<usize>, strides: &dyn Fn(usize) -> [usize; 2]| {
            let of = |at: usize| Axis { extent: c.shape()[at], strides: strides(at) };
            Axes::merged(axes.into_iter().rev().map(of))
        };
        // The innermost axis is never one of the slots.
        let axes = merged(within, &of_columns).at_least_one();
        let row = axes.iter().next().map_or(1, |axis| axis.extent);
        let axes = axes.within(merged(named, &|at| [c.strides()[at], 0]));
        let row_units = row.div_ceil(4);
        let slot_units = columns / row * row_units;
        let mut dims = ScatterDims {
            c_offset: c.offset_in_window(dtype),
            count: sort.count,
            slots: sort.slots,
            columns: dim(op, columns)?,
            row_units: dim(op, row_units)?,
            slot_units: dim(op, slot_units)?,
            units: dim(op, slots.saturating_mul(slot_units))?,
            ..ScatterDims::default()
        };
        dims.rank = axes.put(op, &mut dims.axes)?;
        // The words of the pairs, and those behind them.
        dim(op, indices.len().saturating_mul(2).saturating_add(slots + 1))?;
        Ok(Self { sort, dims, target, dtype, layouts })
    }
}
