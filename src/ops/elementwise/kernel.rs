//! The kernels of elementwise functions: `shaders/ops/elementwise.wgsl`, and `shaders/ops/elementwise_vectors.wgsl` for
//! contiguous, aligned rows.

use super::kind::Kind;
use super::operation::Elementwise;
use super::problem::{
    ElementwiseDims, ElementwiseDimsOfFour, ElementwiseProblem, along_rows, from_row_to_row,
};
use super::written::Written;
use crate::caps::Caps;
use crate::kernel::{AccessWidth, Kernel, OperandAccess, StorageFormat};
use crate::layout::{DType, known};
use crate::ops::vectors::Moves;

/// Invocations per workgroup.
pub(super) const LANES: u32 = 64;

/// The operands in the shaders.
const OPERANDS: [&str; 4] = ["x0", "x1", "x2", "x3"];

/// Where the uniform has the strides of the operands along the rows.
const STRIDES: [&str; 4] =
    ["dims.axes.axis0.z", "dims.axes.axis0.w", "dims.more_axes.axes01.x", "dims.more_axes.axes01.y"];

impl ElementwiseProblem {
    /// The kernel of the function in WGSL, with the slots of the memory layout.
    pub(super) fn kernel(&self, written: &Written, caps: &Caps) -> Kernel {
        let moves = self.moves();
        let shader = match moves {
            Moves::Elements => "ops/elementwise",
            Moves::Vectors => "ops/elementwise_vectors",
        };
        let sum = if self.dtype.is_real() { "f32" } else { "i32" };
        let kernel = Kernel::new(shader).param("LANES", LANES).param("sum", sum);
        let kernel = if self.is_of_two(written) {
            kernel.dims::<ElementwiseDims>(caps)
        } else {
            kernel.dims::<ElementwiseDimsOfFour>(caps).slot("elementwise_dims", "four")
        };
        let kernel = match &self.function {
            Elementwise::Activate(activation) | Elementwise::ActivateBackward(activation) => {
                kernel.slot("activation", activation.variant())
            }
            _ => kernel,
        };
        let (kernel, operands) = match moves {
            Moves::Elements => self.by_elements(kernel, caps),
            Moves::Vectors => self.by_vectors(kernel, caps),
        };
        let description = self.function.to_string();
        kernel.generated("operands", description, format!("{operands}\n{}", written.text))
    }

    /// Whether the smaller uniform suffices.
    pub(super) fn is_of_two(&self, written: &Written) -> bool {
        self.operands.len() <= 2 && written.numbers <= 2
    }

    /// The number of vectors, or groups of four elements, of an invocation.
    pub(super) fn units_per_invocation(&self) -> u32 {
        match self.moves() {
            Moves::Vectors => 2_u32.div_ceil(self.vector_quads()),
            Moves::Elements => 1,
        }
    }

    /// The number of elements of an invocation.
    pub(super) fn elements_per_invocation(&self) -> u32 {
        match self.moves() {
            Moves::Vectors => 4 * self.vector_quads() * self.units_per_invocation(),
            Moves::Elements => 4,
        }
    }

    /// Whether C is also an operand.
    pub(super) fn is_update(&self) -> bool {
        matches!(self.function, Elementwise::Update(_))
    }

    /// The kernel for any strides, and the text of its operands.
    fn by_elements(&self, kernel: Kernel, caps: &Caps) -> (Kernel, String) {
        // Contiguous rows that begin at pairs are stored in pairs.
        let format = StorageFormat::of(self.dtype, caps);
        let along = known(along_rows(&self.c)).max(1);
        let starts = from_row_to_row(&self.c).map(known);
        let result = OperandAccess::write_pairs_or_elements(format, [along], starts);
        let result = if self.is_update() { result.and_read(AccessWidth::One) } else { result };
        let mut kernel = kernel.quad_result(result);
        let mut text = String::new();
        let mut values = Vec::new();
        if self.is_update() {
            text += &loads("c", self.dtype);
            values.push("load_quad_c(at.c, dims.axes.axis0.y, count)".to_owned());
        }
        for (at, &(_, dtype)) in self.operands.iter().enumerate() {
            let (name, access) = (OPERANDS[at], element_access(dtype, caps));
            text += &access.declaration(name, at + 1);
            text += &loads(name, dtype);
            kernel = kernel.operand(name, access);
            values.push(format!("load_quad_{name}(at.{name}, {}, count)", STRIDES[at]));
        }
        (kernel, text + &value_of("count", &values))
    }

    /// The kernel for contiguous, aligned rows, and the text of its operands.
    fn by_vectors(&self, kernel: Kernel, caps: &Caps) -> (Kernel, String) {
        let result = OperandAccess::write(StorageFormat::of(self.dtype, caps), AccessWidth::Four);
        let result = if self.is_update() { result.and_read(AccessWidth::Four) } else { result };
        // On a GPU, neighbouring invocations load neighbouring vectors. A software device loads for each invocation separately,
        // and waits less for memory if one invocation has the neighbouring vectors.
        let step = if caps.machine.elements_per_load > 1 { LANES } else { 1 };
        let kernel = kernel
            .param("QUADS", self.vector_quads())
            .param("VECTORS", self.units_per_invocation())
            .param("STEP", step)
            .quads("c", result);
        let mut kernel = if self.rank() > 1 { kernel.slot("vector_place", "rows") } else { kernel };
        let mut text = String::new();
        let mut values = Vec::new();
        if self.is_update() {
            text += &loads_of_quads("c", self.dtype);
            values.push("quad_c(at.c / WIDTH * QUADS + k)".to_owned());
        }
        for (at, &(x, dtype)) in self.operands.iter().enumerate() {
            let name = OPERANDS[at];
            if along_rows(&x) == 0 {
                let access = element_access(dtype, caps);
                text += &access.declaration(name, at + 1);
                text += &loads_of_elements(name, dtype);
                kernel = kernel.operand(name, access);
                values.push(format!("{}(load_{name}(at.{name}))", Kind::of(dtype).wgsl()));
            } else {
                let access = OperandAccess::read(StorageFormat::of(dtype, caps), AccessWidth::Four);
                text += &access.declaration(name, at + 1);
                text += &loads_of_quads(name, dtype);
                kernel = kernel.quads(name, access);
                values.push(format!("quad_{name}(at.{name} / WIDTH * QUADS + k)"));
            }
        }
        (kernel, text + &value_of("k", &values))
    }
}

fn element_access(dtype: DType, caps: &Caps) -> OperandAccess {
    OperandAccess::read(StorageFormat::of(dtype, caps), AccessWidth::One)
}

/// The slot of loads of one element. Integers stay integers.
fn loads_of_elements(name: &str, dtype: DType) -> String {
    let default = if dtype == DType::I32 { "integer" } else { "element" };
    format!("//#slot load x={name} default {default}\n")
}

/// The slots of loads of four elements at any stride.
fn loads(name: &str, dtype: DType) -> String {
    let default = if dtype.is_real() { "reals" } else { "integers" };
    loads_of_elements(name, dtype) + &format!("//#slot load_quad x={name} default {default}\n")
}

/// The slot of loads of four elements that are neighbours.
fn loads_of_quads(name: &str, dtype: DType) -> String {
    let default = match dtype {
        DType::I8 => "bytes",
        DType::I32 => "integers",
        _ => "plain",
    };
    format!("//#slot aligned_quad x={name} default {default}\n")
}

/// The function that computes four results from these values.
fn value_of(last_parameter: &str, values: &[String]) -> String {
    let values = values.join(", ");
    format!(
        "\nfn value(at: Place, {last_parameter}: u32) -> vec4<sum> {{\n    return result({values});\n}}\n"
    )
}
