//! What a fully connected product hands back to its operands, of what came back through its weights: a kernel whose code is
//! made from the algebra's table of signs.

use super::connected_problem::{ConnectedProblem, OP, Pair};
use crate::Result;
use crate::gpu::Caps;
use crate::kernel::{Kernel, Memory, Needs};
use crate::plan::{Access, Dims, Draft, Flops, NewStep, Plan, Problem, Time};
use crate::tensor::{DType, Layout, dim};
use std::fmt::Write;

/// Invocations of one workgroup.
const LANES: u32 = 64;
/// Operations of both gates and slopes, about.
const FLOPS_OF_GATES: usize = 200;

/// The uniform of `shaders/connected_back.wgsl`, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
#[expect(missing_docs, reason = "the shader documents its uniform")]
pub struct ConnectedBackDims {
    pub positions: u32,
    pub features: u32,
    pub first: u32,
    pub plane: u32,
    pub x_offset: u32,
    pub x_blade: u32,
    pub x_row: u32,
    pub x_feature: u32,
    pub y_offset: u32,
    pub y_blade: u32,
    pub y_row: u32,
    pub y_feature: u32,
}

/// What some rows of a fully connected product hand back to its operands, checked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectedBackProblem {
    /// The sizes, as the shader has them.
    pub dims: ConnectedBackDims,
    /// The operands' type.
    pub dtype: DType,
    gate: &'static str,
    what: String,
    text: String,
    blades: usize,
    pairs: usize,
    terms: usize,
    /// Where X, Y and either gradient lie, (blade, row, feature).
    layouts: [Layout; 3],
}

impl ConnectedBackProblem {
    /// Of so many rows from `first` on.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if a size is $2^{31}$ or more.
    pub fn new(product: &ConnectedProblem, [first, rows]: [usize; 2]) -> Result<Self> {
        let [blades, all, features, _] = product.sizes();
        let [x, y] = &product.operands;
        let stride = |layout: &Layout, axis| dim(OP, layout.strides()[axis]);
        dim(OP, blades * all * features)?;
        let dims = ConnectedBackDims {
            positions: dim(OP, rows * features)?,
            features: dim(OP, features)?,
            first: dim(OP, first * features)?,
            plane: dim(OP, all * features)?,
            x_offset: x.offset_in_window(product.dtype),
            x_blade: stride(x, 0)?,
            x_row: stride(x, 1)?,
            x_feature: stride(x, 2)?,
            y_offset: y.offset_in_window(product.dtype),
            y_blade: stride(y, 0)?,
            y_row: stride(y, 1)?,
            y_feature: stride(y, 2)?,
        };
        let pairs = product.pairs()?;
        let gradient = Layout::contiguous(OP, &[blades, all, features])?;
        Ok(Self {
            dims,
            dtype: product.dtype,
            gate: product.product.gate.fragment(),
            what: format!(
                "gradients of {}, {} matrices, {} gate",
                product.product.signature,
                pairs.len(),
                product.product.gate
            ),
            text: text(product, &pairs),
            blades,
            pairs: pairs.len(),
            terms: pairs.iter().map(|pair| pair.terms.len()).sum(),
            layouts: [*x, *y, gradient],
        })
    }
}

/// Straight-line code: each matrix is read once, and its terms are added to both gradients.
fn text(product: &ConnectedProblem, pairs: &[Pair]) -> String {
    let mut text = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| {
        // Writing into a String does not fail.
        let _ = writeln!(text, "{line}");
    };
    let [blades, ..] = product.sizes();
    for operand in ['x', 'y'] {
        for i in 0..blades {
            line(format_args!(
                "let {operand}{i} = load_{operand}(at_{operand} + {i}u * dims.{operand}_blade);"
            ));
            line(format_args!("var d{operand}{i} = 0.0;"));
        }
    }
    for (i, pair) in pairs.iter().enumerate() {
        line(format_args!("let t{i} = through[at + {i}u * dims.positions];"));
        for term in &pair.terms {
            let (a, b, sign) = (term.x, term.y, if term.sign < 0 { "-" } else { "" });
            line(format_args!("dx{a} = fma({sign}t{i}, y{b}, dx{a});"));
            line(format_args!("dy{b} = fma({sign}t{i}, x{a}, dy{b});"));
        }
    }
    // Both gradients lack the other operand's gate, and what their own hands to the scalar.
    let s = product.scalar();
    line(format_args!("let gates = gate(vec4<f32>(x{s}, y{s}, 0.0, 0.0));"));
    line(format_args!("let slopes = gate_slope(vec4<f32>(x{s}, y{s}, 0.0, 0.0));"));
    for (operand, store, [own, other]) in [('x', 'u', ["x", "y"]), ('y', 'v', ["y", "x"])] {
        let along: Vec<String> = (0..blades).map(|i| format!("{operand}{i} * d{operand}{i}")).collect();
        line(format_args!("let along_{operand} = slopes.{own} * gates.{other} * ({});", along.join(" + ")));
        line(format_args!("let gate_{operand} = gates.x * gates.y;"));
        for i in 0..blades {
            let more = if i == s { format!(" + along_{operand}") } else { String::new() };
            line(format_args!(
                "store_{store}(at_u + {i}u * dims.plane, gate_{operand} * d{operand}{i}{more});"
            ));
        }
    }
    text
}

impl ConnectedBackProblem {
    fn kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let halves = memory.per_scalar() == 2;
        let stored = if halves { "atomic<u32>" } else { memory.scalar() };
        let mut kernel = Kernel::new("connected_back")
            .dims(caps, size_of::<ConnectedBackDims>())
            .param("x_unit", memory.scalar())
            .param("y_unit", memory.scalar())
            .param("u_unit", stored)
            .param("v_unit", stored)
            .param("LANES", format!("{LANES}u"))
            .slot("gate", self.gate);
        if halves {
            let load = if memory == Memory::Bf16 { "load_x_bf16" } else { "load_x_packed" };
            kernel = kernel.slot("load_x", load).slot("load_y", load);
            kernel = kernel.slot("store_u", "store_element_packed").slot("store_v", "store_element_packed");
        }
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "pack_bf16");
        }
        kernel.generated("connected_terms", self.what.clone(), self.text.clone())
    }
}

impl Problem for ConnectedBackProblem {
    /// There is one kernel.
    ///
    /// Operands: the gradients of X and Y; what came back through the weights (pair, row, feature), in f32; X and Y.
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        let Self { dims, dtype, blades, pairs, terms, layouts: [x, y, gradient], .. } = self;
        let mut draft = Draft::new(OP, &[], caps);
        let rest = u64::from(dims.plane) - u64::from(dims.positions);
        let writes = if rest == 0 { Access::Write } else { Access::Update };
        let dx = draft.operand("the gradient of X", *dtype, *gradient, writes);
        let dy = draft.operand("the gradient of Y", *dtype, *gradient, writes);
        let through = Layout::contiguous(OP, &[*pairs, dims.positions as usize])?;
        let through = draft.operand("what came back", DType::F32, through, Access::Read);
        let x = draft.operand("X", *dtype, *x, Access::Read);
        let y = draft.operand("Y", *dtype, *y, Access::Read);
        let flops = (4 * terms + 6 * blades + FLOPS_OF_GATES) as f64 * f64::from(dims.positions);
        let read = [through, x, y].map(|region| (region, Access::Read));
        draft.step(NewStep {
            kernel: self.kernel(caps),
            tile: format!("{LANES} invocations, {}, {dtype}", self.what),
            needs: Needs { bindings: 5, invocations: LANES, workgroup_bytes: 0 },
            blocks: u64::from(dims.positions.div_ceil(LANES)),
            dims: Dims::of(dims),
            args: &[&[(dx, writes), (dy, writes)], &read[..]].concat(),
            flops: Flops::of_f32(flops),
            time: Time::Roofline,
        })?;
        Ok(draft.finish())
    }
}
