//! A checked cross-entropy, as plain data.

use crate::caps::Caps;
use crate::kernel::shader_dims;
use crate::layout::{Axes, Axis, DType, Layout, MAX_RANK, known};
use crate::ops::loss::reduction::{LossGradient, Reduction};
use crate::ops::loss::total::LANES;
use crate::ops::subgroups::lanes_of_row;
use crate::ops::vectors::Moves;
use crate::{Error, Result};

shader_dims! {
    /// The uniform of `shaders/ops/cross_entropy.wgsl`, in elements.
    pub struct CrossEntropyDims {
        /// of the rows: extent, then the strides of A and of the probabilities, then 0; innermost first
        axes: [[u32; 4]; MAX_RANK - 1],
        /// first elements in their bindings, in elements
        a_offset: u32,
        target_offset: u32,
        weight_offset: u32,
        g_offset: u32,
        /// along the classes
        a_stride: u32,
        /// of probabilities along the classes
        target_stride: u32,
        /// 0 if there are no weights
        weight_stride: u32,
        /// of the gradients with respect to the losses: 0 if there is one
        g_stride: u32,
        /// number of classes
        length: u32,
        rows: u32,
        /// number of axes of the rows
        rank: u32,
        /// invocations that share a row: a power of two, at most LANES
        lanes: u32,
        /// 1 if rows of the class `ignored` do not count
        ignores: u32,
        /// its bits
        ignored: u32,
        /// 1 - the label smoothing
        kept: f32,
        /// the label smoothing, divided by the number of classes
        spread: f32,
        /// of all gradients
        factor: f32,
        /// another, which the call passes
        g: f32,
        /// of the sum of the targets' weights, if it follows other numbers
        counted_offset: u32,
        /// of the logarithms, if they follow the losses
        log_sums_offset: u32,
    }
}

/// The kind of the targets of a cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// The index of a class for each row, i32.
    Classes,
    /// A probability for each logit, of the logits' type.
    Probabilities,
}

/// Whether rows of one class do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IgnoredClass {
    /// All rows count.
    Never,
    /// The call names a class; rows of this class do not count.
    OfCall,
}

/// A checked cross-entropy: there is at least one row and one class, the targets have the logits' rows, and every size is
/// below $2^{31}$. The gradient, the losses and the logarithms are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrossEntropyProblem {
    /// Type of the logits, of probabilities, and of the gradient.
    pub(super) dtype: DType,
    /// Layouts, relative to their windows.
    pub(super) logits: Layout,
    pub(super) targets: (TargetKind, Layout),
    pub(super) weight: Option<Layout>,
    pub(super) ignored: IgnoredClass,
    pub(super) reduction: Reduction,
    pub(super) gradient: LossGradient,
    /// The gradient with respect to the losses, if it is a tensor.
    pub(super) upstream: Option<Layout>,
    /// The rows of the mean or the sum.
    pub(super) of: Rows,
}

/// The rows of a cross-entropy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rows {
    /// The rows of its operands.
    All,
    /// The rows of several windows: this total number. If the weights of their targets are added, an operand has the
    /// sum.
    OfWindow(usize),
}

/// The name of the function in errors.
pub(super) const OP: &str = "cross_entropy";

impl CrossEntropyProblem {
    /// The losses of `logits` (..., classes), of `dtype` elements. Targets are classes (...), contiguous, or probabilities
    /// (..., classes).
    ///
    /// # Errors
    /// [`Error::Shape`] if the targets or weights have other shapes, or if there is no row or no class; [`Error::Limit`] if a
    /// size is $2^{31}$ or more.
    pub fn new(
        logits: &Layout,
        targets: (TargetKind, &Layout),
        weight: Option<&Layout>,
        dtype: DType,
    ) -> Result<Self> {
        let (kind, of_targets) = targets;
        check_shapes(logits, targets, weight)?;
        if logits.is_empty() {
            return Err(Error::shape(OP, "there must be at least one row and one class", logits.shape()));
        }
        for layout in [Some(logits), Some(of_targets), weight].into_iter().flatten() {
            layout.check_dims(OP)?;
        }
        Ok(Self {
            dtype,
            logits: logits.in_window(dtype),
            targets: (kind, of_targets.in_window(kind.dtype(dtype))),
            weight: weight.map(|weight| weight.in_window(DType::F32)),
            ignored: IgnoredClass::Never,
            reduction: Reduction::Mean,
            gradient: LossGradient::Skipped,
            upstream: None,
            of: Rows::All,
        })
    }

    /// The same with this reduction.
    #[must_use]
    pub fn reduced(self, reduction: Reduction) -> Self {
        Self { reduction, ..self }
    }

    /// The same for calls that may name an ignored class.
    #[must_use]
    pub fn ignoring(self, ignored: IgnoredClass) -> Self {
        Self { ignored, ..self }
    }

    /// The same with the gradient. `upstream` is the layout of the gradient with respect to the losses if it is a tensor: of
    /// one element, or contiguous with one for each row.
    #[must_use]
    pub fn with_gradient(self, upstream: Option<&Layout>) -> Self {
        let upstream = upstream.map(|layout| layout.in_window(DType::F32));
        Self { gradient: LossGradient::Computed, upstream, ..self }
    }

    /// Whether the losses of rows are added.
    pub(super) fn is_reduced(&self) -> bool {
        self.reduction != Reduction::None
    }

    /// The number of classes, and of rows.
    pub(super) fn sizes(&self) -> [usize; 2] {
        let classes = self.logits.shape().last().copied().unwrap_or(1);
        [classes, self.logits.len() / classes]
    }

    /// The number of rows of all windows.
    pub(super) fn all_rows(&self) -> usize {
        match self.of {
            Rows::All => self.sizes()[1],
            Rows::OfWindow(all) => all,
        }
    }

    /// Whether the device adds the weights of the targets, because the host does not know the sum.
    pub(super) fn counts_targets(&self) -> bool {
        self.reduction == Reduction::Mean
            && self.targets.0 == TargetKind::Classes
            && (self.weight.is_some() || self.ignored == IgnoredClass::OfCall)
    }

    /// The factor of each row's loss in the result, without the sum that the device adds.
    #[expect(clippy::cast_possible_truncation, reason = "rounded once")]
    pub(super) fn factor(&self) -> f32 {
        match self.reduction {
            Reduction::Mean if !self.counts_targets() => (1.0 / self.all_rows() as f64) as f32,
            _ => 1.0,
        }
    }

    /// How the kernel moves logits and gradients.
    pub(super) fn moves(&self) -> Moves {
        let dims = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let [classes, rows] = self.sizes();
        let (strides, last) = (self.logits.strides(), self.logits.rank() - 1);
        // With a single class the stride does not matter.
        let along = if classes == 1 { 1 } else { dims(strides[last]) };
        let of_gradient = if rows > 1 { dims(classes) } else { 0 };
        let starts = strides[..last].iter().copied().chain([self.logits.offset()]).map(dims);
        Moves::of(self.dtype, [along], starts.chain([of_gradient]))
    }

    /// The uniform on a device, with zeros in place of the call's scalars.
    pub(super) fn dims(&self, caps: &Caps) -> CrossEntropyDims {
        let [classes, rows] = self.sizes().map(known);
        let (kind, targets) = &self.targets;
        let last = self.logits.rank() - 1;
        let of_target = |axis: usize| match kind {
            TargetKind::Classes => 0,
            TargetKind::Probabilities => targets.strides()[axis],
        };
        let steps = |axis: usize| Axis {
            extent: self.logits.shape()[axis],
            strides: [self.logits.strides()[axis], of_target(axis)],
        };
        let first = |layout: Option<Layout>| layout.map_or(0, |layout| known(layout.offset()));
        let weight_stride = self.weight.map_or(0, |weight| weight.strides()[0]);
        let group = 4 * self.moves().quads(self.dtype);
        let most = lanes_of_row(caps, LANES, rows);
        let mut dims = CrossEntropyDims {
            a_offset: known(self.logits.offset()),
            target_offset: known(targets.offset()),
            weight_offset: first(self.weight),
            g_offset: first(self.upstream),
            a_stride: known(self.logits.strides()[last]),
            target_stride: known(of_target(last)),
            weight_stride: known(weight_stride),
            g_stride: u32::from(self.upstream.is_some_and(|upstream| upstream.len() > 1)),
            length: classes,
            rows,
            lanes: classes.div_ceil(group).next_power_of_two().min(most),
            ignores: u32::from(self.ignored == IgnoredClass::OfCall),
            factor: self.factor(),
            ..CrossEntropyDims::default()
        };
        let axes: Axes<2> = (0..last).rev().map(steps).collect();
        dims.rank = axes.put_known(&mut dims.axes);
        dims
    }
}

/// Checks that targets and weights have the shapes that the logits' shape requires.
pub(super) fn check_shapes(
    logits: &Layout,
    (kind, targets): (TargetKind, &Layout),
    weight: Option<&Layout>,
) -> Result<()> {
    let (&classes, rows) = logits
        .shape()
        .split_last()
        .ok_or_else(|| Error::shape(OP, "the logits must have an axis of classes", logits.shape()))?;
    let (shape, rule) = match kind {
        TargetKind::Classes => (rows, "the targets must have the axes of the logits without the last"),
        TargetKind::Probabilities => (logits.shape(), "the probabilities must have the shape of the logits"),
    };
    if targets.shape() != shape {
        return Err(Error::shapes(OP, rule, targets.shape(), logits.shape()));
    }
    match weight {
        Some(weight) if weight.shape() != [classes] => {
            let rule = "there must be a weight for each class, the last axis of the logits";
            Err(Error::shapes(OP, rule, weight.shape(), logits.shape()))
        }
        _ => Ok(()),
    }
}

impl TargetKind {
    /// The type of the targets of logits of this type.
    pub(super) fn dtype(self, logits: DType) -> DType {
        match self {
            Self::Classes => DType::I32,
            Self::Probabilities => logits,
        }
    }
}
