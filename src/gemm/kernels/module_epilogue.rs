//! The epilogue and the store of modules of SPIR-V: `shaders/spirv/gemm_epilogue.glsl`.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{
    BiasAxis, Epilogue, Gated, GemmProblem, LineScale, PlaneSource, QuantisedDims, Scale, SegmentDims,
    Segments, WindowDims,
};
use crate::kernel::Kernel;
use crate::layout::DType;
use crate::ops::Activation;
use crate::plan::{Access, Draft, Region};

/// Bindings of a module: A, B and C; then the bias, the residual, the scales of rows, or a shift, and of columns, or with segments of k their table, the
/// right factor of A's products and their gates. For operands that the problem does not have, a word is bound.
pub(in crate::gemm) fn module_bindings(problem: &GemmProblem) -> u32 {
    if problem.segments().is_some() { 6 } else { 7 }
}

/// Bytes of a module's dims: [`WindowDims`] for a product of windows, [`QuantisedDims`] for every other product, and the first
/// workgroup of a launch.
#[expect(clippy::cast_possible_truncation, reason = "it is small")]
fn dims_bytes(problem: &GemmProblem) -> u32 {
    4 + match problem.windows() {
        Some(_) => size_of::<WindowDims>() as u32,
        None => size_of::<QuantisedDims>() as u32,
    }
}

/// How a module reads or stores a tensor, as `OF_..` of `gemm_result.glsl`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementForm {
    NotThere,
    F32,
    F16Bits,
    Bf16Bits,
    I8Bits,
    /// C alone: sums without an epilogue.
    Sums,
    /// C alone: the type of A and B, of 16 bits.
    Operands,
}

impl ElementForm {
    /// The form of an operand of the epilogue.
    fn of(dtype: Option<DType>) -> Self {
        match dtype {
            None => Self::NotThere,
            Some(DType::F16) => Self::F16Bits,
            Some(DType::Bf16) => Self::Bf16Bits,
            Some(DType::I8) => Self::I8Bits,
            Some(_) => Self::F32,
        }
    }

    fn of_c(problem: &GemmProblem) -> Self {
        match problem.types.c {
            _ if is_rounded(problem) => Self::Operands,
            c if c == problem.type_of_sums() && !problem.has_epilogue() => Self::Sums,
            c => Self::of(Some(c)),
        }
    }

    /// Whether C has a type in the module. The others are written by whole words.
    fn is_typed(self) -> bool {
        matches!(self, Self::F32 | Self::Sums | Self::Operands)
    }
}

/// Whether C has the type of A and B, of 16 bits, to which matrices of sums are rounded.
pub(super) fn is_rounded(problem: &GemmProblem) -> bool {
    problem.types.ab.size() == 2 && problem.types.c == problem.types.ab
}

/// Whether C is f32, i32 or of the type of A and B. A module stores single elements of these types.
pub(super) fn stores_elements(problem: &GemmProblem) -> bool {
    ElementForm::of_c(problem).is_typed()
}

/// Whether the module can apply an epilogue to matrices: its sums are real numbers. The module for segments has no
/// epilogue.
pub(super) fn finishes_matrices(problem: &GemmProblem) -> bool {
    problem.types.ab.is_float() && problem.segments().is_none()
}

/// Whether C can be stored as matrices, if the device has them for its type. Drivers require that the rows of a matrix are
/// stored at multiples of 16 bytes, or of their length. Exact sums are converted to real numbers one by one.
pub(super) fn stores_matrices(problem: &GemmProblem) -> bool {
    let aligned = if is_rounded(problem) { 8 } else { 4 };
    stores_elements(problem)
        && problem.rows_of_c_start_at(aligned)
        && (finishes_matrices(problem) || !problem.has_epilogue())
}

/// Whether rows of C consist of whole words, for types of which a module stores four elements at once.
pub(super) fn stores_words(problem: &GemmProblem) -> bool {
    problem.n().is_multiple_of(4) && problem.rows_of_c_start_at(4)
}

/// Whether modules have this epilogue: all but those of f32 operands that were scaled into f16.
pub(super) fn is_known(problem: &GemmProblem) -> bool {
    !matches!(problem.epilogue.scale, Scale::Back | Scale::BackWithCross)
}

/// Checks that a device takes modules, and their dims.
pub(super) fn check_module(problem: &GemmProblem, caps: &Caps) -> std::result::Result<(), String> {
    if !caps.spirv {
        return Err("modules of SPIR-V, which need Vulkan".into());
    }
    let bytes = dims_bytes(problem);
    if caps.limits.immediate_bytes < bytes {
        return Err(format!("{bytes} bytes of immediates"));
    }
    Ok(())
}

/// An epilogue that consists of values for whole rows and columns of C, added to sums of f32. It is applied to whole matrices.
#[derive(Clone, Copy)]
pub(super) struct LineEpilogue {
    /// Elements of each row of a block, and of each column.
    counts: [u32; 2],
}

impl LineEpilogue {
    /// None if an epilogue reads more than that.
    pub(super) fn of(problem: &GemmProblem) -> Option<Self> {
        let Epilogue { line_scale, residual, bias, .. } = problem.epilogue;
        let is_shifted = line_scale == LineScale::ColumnsAndShift;
        if residual.is_some() || problem.epilogue.adds_previous() || is_shifted {
            return None;
        }
        let of_bias =
            [bias_is_of_rows(problem), !bias_is_of_rows(problem)].map(|is_it| is_it && bias.is_some());
        let scaled = [BiasAxis::Rows, BiasAxis::Columns].map(|axis| line_scale.axes().contains(&axis));
        Some(Self { counts: [0, 1].map(|axis| u32::from(of_bias[axis]) + u32::from(scaled[axis])) })
    }

    /// Bytes of shared memory for a block.
    pub(super) fn bytes(self, [bm, bn]: [u32; 2]) -> u32 {
        let [rows, columns] = self.counts;
        (4 * (rows * bm + columns * bn)).next_multiple_of(16).max(16)
    }
}

/// Whether the bias has an element for each row, rather than for each column.
fn bias_is_of_rows(problem: &GemmProblem) -> bool {
    problem.bias_layout().is_some_and(|bias| bias.strides[2] != 0)
}

/// Binds the dims and the epilogue of a product.
pub(super) fn bind(kernel: Kernel, problem: &GemmProblem, caps: &Caps) -> Kernel {
    let Epilogue { line_scale, bias, residual, activation, .. } = problem.epilogue;
    let is_scaled = |axis| u32::from(line_scale.axes().contains(&axis));
    let of_rows = if line_scale == LineScale::ColumnsAndShift { 2 } else { is_scaled(BiasAxis::Rows) };
    let place = Activation::ALL.iter().position(|&known| known == activation);
    let kernel = match problem.windows() {
        Some(_) => kernel.dims::<WindowDims>(caps),
        None => kernel.dims::<QuantisedDims>(caps),
    };
    kernel
        .param("C_FORM", ElementForm::of_c(problem) as u32)
        .param("EPILOGUE", u32::from(problem.has_epilogue()))
        .param("PREVIOUS", u32::from(problem.epilogue.adds_previous()))
        .param("BIAS", ElementForm::of(bias) as u32)
        .param("RESIDUAL", ElementForm::of(residual) as u32)
        .param("ROW_SCALES", of_rows)
        .param("COLUMN_SCALES", is_scaled(BiasAxis::Columns))
        .param("ACTIVATION", place.unwrap_or_default())
}

/// Binds the dims and the source of A of a product over segments, which has no epilogue.
pub(super) fn bind_segments(
    kernel: Kernel,
    segments: &Segments,
    problem: &GemmProblem,
    caps: &Caps,
) -> Kernel {
    let source = match segments.source() {
        PlaneSource::Stored => 0,
        PlaneSource::Products(Gated::No) => 1,
        PlaneSource::Products(Gated::Yes) => 2,
    };
    let kernel = kernel.dims::<SegmentDims>(caps);
    kernel.param("C_FORM", ElementForm::of_c(problem) as u32).param("SOURCE", source)
}

/// Sets the axis along which the bias runs, for kernels that load it as matrices.
pub(super) fn bind_axis_of_bias(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    kernel.param("BIAS_OF_ROWS", u32::from(bias_is_of_rows(problem)))
}

/// The arguments that a module declares: those of the product. A word is bound in place of each missing operand.
pub(in crate::gemm) fn module_args(
    problem: &GemmProblem,
    draft: &mut Draft<'_>,
    args: &[(Region, Access)],
) -> Result<Vec<(Region, Access)>> {
    let Epilogue { line_scale, bias, residual, .. } = problem.epilogue;
    let is_scaled = |axis| line_scale.axes().contains(&axis);
    let are_there: &[bool] = match problem.segments().map(|segments| segments.source()) {
        None => {
            &[bias.is_some(), residual.is_some(), is_scaled(BiasAxis::Rows), is_scaled(BiasAxis::Columns)]
        }
        Some(source) => &[true, source != PlaneSource::Stored, source == PlaneSource::Products(Gated::Yes)],
    };
    let none = (draft.constant(&[0])?, Access::Read);
    let (own, mut extras) = (&args[..3], args[3..].iter());
    let extras =
        are_there.iter().map(|is_there| if *is_there { extras.next().unwrap_or(&none) } else { &none });
    Ok(own.iter().chain(extras).copied().collect())
}
