//! The two kernels of functions of multivectors. One has generated code for all terms; the other loops over a table of
//! terms.

use super::access::{Load, READ_BLADES, Store};
use super::algebra::blades::Blades;
use super::algebra::function::Function;
use super::algebra::terms::{Term, Terms};
use super::generate::formula::Formula;
use super::problem::{CliffordDims, CliffordProblem, UnitStride};
use super::vector_width::VectorWidth;
use crate::caps::Caps;
use crate::kernel::wgsl::{Block, Callee, Expression, FunctionDefinition, Module, index, integer, name};
use crate::kernel::{self, AccessWidth, Kernel, OperandAccess, StorageFormat};

/// Invocations per workgroup, tuned for these kernels. Workgroups are small if their invocations share registers, since
/// each may need many. Otherwise they are large: starting a workgroup costs more than idle invocations in the last one.
pub(super) fn invocations(caps: &Caps) -> u32 {
    kernel::workgroup_size(if caps.machine.workgroup_registers.is_some() { 64 } else { 256 }, caps)
}

/// The index of a blade of C, X or Y. `of` is the operand's component of the index vectors.
fn blade_index(of: &'static str, blade: usize) -> Expression {
    index("at").member(of) + integer(blade) * index("step").member(of)
}

/// Loads all blades of operand `of`. `component` is its component of the index vectors.
fn load(to: &mut Block, of: char, component: &'static str, blades: usize, load: Load) {
    let read = Callee::without_flops(format!("read_{of}"));
    for i in 0..blades {
        let value =
            || read.call([blade_index(component, i), index("stride").member(component), index("count")]);
        if load.read != READ_BLADES {
            to.define(format!("{of}{i}"), value());
            continue;
        }
        if i % 4 == 0 {
            to.define(format!("{of}_from{i}"), value());
        }
        let four = name(format!("{of}_from{}", i - i % 4));
        to.define(format!("{of}{i}"), four.member(["x", "y", "z", "w"][i % 4]));
    }
}

/// Loads all blades of x as scalars.
fn load_scalars(to: &mut Block, blades: usize) {
    for i in 0..blades {
        to.define(format!("x{i}"), Callee::without_flops("load_x").call([blade_index("y", i)]));
    }
}

/// Computes and stores the results one by one; contiguous blades are stored four at a time.
fn store(to: &mut Block, out: &Blades, results: &[Expression], direction: UnitStride) {
    for (k, result) in results.iter().enumerate() {
        to.comment(out.signature().name(out.masks()[k]));
        let z = to.define(format!("z{k}"), result);
        if direction == UnitStride::Positions {
            to.call(Callee::without_flops("store_consecutive").call([
                blade_index("x", k),
                index("count"),
                z,
            ]));
        } else if k % 4 == 3 || k + 1 == results.len() {
            let first = k - k % 4;
            let four = [0, 1, 2, 3].map(|i| name(format!("z{}", (first + i).min(k))));
            let at = index("at").member("x") + integer(first);
            to.call(Callee::without_flops("store_consecutive").call([
                at,
                integer(k - first + 1),
                Callee::without_flops("vec4<f32>").call(four),
            ]));
        }
    }
}

impl CliffordProblem {
    /// The kernel with generated code.
    pub(super) fn kernel(&self, formula: &Formula, width: VectorWidth, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let loads = [1, 2].map(|operand| Load::of(self, operand, width));
        let store = Store::of(self, width, format);
        let mut kernel = Kernel::new("clifford/product")
            .dims::<CliffordDims>(caps)
            .result(OperandAccess::write(format, store.width))
            .param("lanes", width.wgsl_type())
            .param("WIDTH", format!("{}u", width.count()))
            .param("LANES", format!("{}u", invocations(caps)));
        let mut declarations = String::new();
        let names = [("x", "read_x"), ("y", "read_y")];
        for (i, (load, (name, slot))) in loads.iter().zip(names).take(self.operands()).enumerate() {
            let access = OperandAccess::read(format, load.width);
            kernel = kernel.operand(name, access).slot(slot, load.read);
            declarations += &access.declaration(name, i + 1);
            declarations += &access.functions(name);
            declarations += &format!("//#slot read x={name} default positions\n");
        }
        for &(slot, variant) in &store.slots {
            kernel = kernel.slot(slot, variant);
        }
        let kernel = kernel.generated("operands", "its operands".to_owned(), declarations);
        kernel.generated(
            "results",
            self.description(),
            self.results(formula, loads, store.direction).to_string(),
        )
    }

    /// The kernel with a loop over a table of terms.
    pub(super) fn table_kernel(&self, caps: &Caps) -> Kernel {
        let format = StorageFormat::of(self.dtype, caps);
        let operand = OperandAccess::read(format, AccessWidth::One);
        Kernel::new("clifford/table")
            .dims::<CliffordDims>(caps)
            .result(OperandAccess::write(format, AccessWidth::One))
            .operand("x", operand)
            .operand("y", operand)
            .param("LANES", format!("{}u", invocations(caps)))
    }

    /// The function `results` of the kernel. `shaders/clifford/product.wgsl` documents its contract.
    fn results(&self, formula: &Formula, loads: [Load; 2], direction: UnitStride) -> Module {
        let mut body = Block::default();
        if self.function == Function::Sandwich && loads[0].read == "one" {
            load_scalars(&mut body, self.x.len()); // shared by all positions
        } else {
            load(&mut body, 'x', "y", self.x.len(), loads[0]);
        }
        if let Some(y) = &self.y {
            load(&mut body, 'y', "z", y.len(), loads[1]);
        }
        body.append(&formula.statements);
        store(&mut body, &self.out, &formula.results, direction);
        let places = ["at", "stride", "step"].map(|name| (name, "vec3<u32>"));
        let parameters = places.into_iter().chain([("count", "u32")]).collect();
        let comment = "Loads the operands, then computes and stores the result, blade by blade.";
        Module::from(FunctionDefinition { comment, name: "results", parameters, result: None, body })
    }

    /// The function, the algebra and the numbers of blades, for plans.
    pub(super) fn description(&self) -> String {
        let [out, x, y] = [0, 1, 2].map(|i| self.blades_of(i).len());
        let (function, signature) = (self.function.name(), self.out.signature());
        match self.operands() {
            1 => format!("{function} of {signature}, {x} blades to {out}"),
            _ => format!("{function} of {signature}, {x} and {y} blades to {out}"),
        }
    }
}

/// The table of the shader: for each blade of the result, the index of its first term, then the end; then all terms.
pub(super) fn table(terms: &Terms) -> Vec<u32> {
    let mut ends = vec![0; terms.out.len() + 1];
    for term in &terms.terms {
        ends[usize::from(term.out) + 1] += 1;
    }
    let mut at = u32::try_from(ends.len()).unwrap_or(u32::MAX); // after the indices, at most 257
    for end in &mut ends {
        at += *end;
        *end = at;
    }
    let word = |term: &Term| u32::from(term.x) | u32::from(term.y) << 8 | u32::from(term.sign < 0) << 16;
    ends.extend(terms.terms.iter().map(word));
    ends
}
