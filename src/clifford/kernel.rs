//! The two kernels of functions of multivectors: what fills their parameters and slots. One has all terms of the function
//! written out; the other loops over a table of them.

use super::access::{Load, READ_BLADES, Store};
use super::algebra::blades::Blades;
use super::algebra::function::Function;
use super::algebra::terms::{Term, Terms};
use super::generate::formula::Formula;
use super::problem::{Beside, CliffordDims, CliffordProblem};
use super::vector_width::Walk;
use crate::caps::Caps;
use crate::kernel::write::{Block, Callee, Definition, Expression, Module, index, integer, name};
use crate::kernel::{self, Access, Kernel, Memory, Needs, Width};

/// Invocations of one workgroup, these kernels' own tuning: few where they share registers, of which each may need many;
/// elsewhere starting a group takes longer than what is idle in its last.
pub(super) fn invocations(caps: &Caps) -> u32 {
    kernel::lanes(if caps.machine.workgroup_registers.is_some() { 64 } else { 256 }, caps)
}

/// The place of a blade of C, X or Y, whose component of the places is `of`.
fn place(of: &'static str, blade: usize) -> Expression {
    index("at").member(of) + integer(blade) * index("step").member(of)
}

/// Loads all blades of an operand, called `of`, whose component of the places is `component`.
fn load(to: &mut Block, of: char, component: &'static str, blades: usize, load: Load) {
    let read = Callee::free(format!("read_{of}"));
    for i in 0..blades {
        let value = || read.call([place(component, i), index("stride").member(component), index("count")]);
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

/// Loads all blades of operand x as scalars.
fn load_scalars(to: &mut Block, blades: usize) {
    for i in 0..blades {
        to.define(format!("x{i}"), Callee::free("load_x").call([place("y", i)]));
    }
}

/// The results, each stored as soon as it is there; blades that lie side by side by fours.
fn store(to: &mut Block, out: &Blades, results: &[Expression], beside: Beside) {
    for (k, result) in results.iter().enumerate() {
        to.comment(out.signature().name(out.masks()[k]));
        let z = to.define(format!("z{k}"), result);
        if beside == Beside::Positions {
            to.call(Callee::free("store_beside").call([place("x", k), index("count"), z]));
        } else if k % 4 == 3 || k + 1 == results.len() {
            let first = k - k % 4;
            let four = [0, 1, 2, 3].map(|i| name(format!("z{}", (first + i).min(k))));
            let at = index("at").member("x") + integer(first);
            to.call(Callee::free("store_beside").call([
                at,
                integer(k - first + 1),
                Callee::free("vec4<f32>").call(four),
            ]));
        }
    }
}

impl CliffordProblem {
    pub(super) fn kernel(&self, body: &Formula, walk: Walk, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let loads = [1, 2].map(|operand| Load::of(self, operand, walk));
        let store = Store::of(self, walk, memory);
        let mut kernel = Kernel::new("clifford/product")
            .dims(caps, size_of::<CliffordDims>())
            .result(Access::write(memory, store.width))
            .param("lanes", walk.lanes())
            .param("WIDTH", format!("{}u", walk.width()))
            .param("LANES", format!("{}u", invocations(caps)));
        let mut declarations = String::new();
        let names = [("x", "read_x"), ("y", "read_y")];
        for (i, (load, (name, slot))) in loads.iter().zip(names).take(self.operands()).enumerate() {
            let access = Access::read(memory, load.width);
            kernel = kernel.operand(name, access).slot(slot, load.read);
            declarations += &access.declaration(name, i + 1);
            declarations += &access.functions(name);
            declarations += &format!("//#slot read x={name} default positions\n");
        }
        for &(slot, variant) in &store.slots {
            kernel = kernel.slot(slot, variant);
        }
        let kernel = kernel.generated("operands", "its operands".to_owned(), declarations);
        kernel.generated("results", self.what(), self.results(body, loads, store.beside).to_string())
    }

    pub(super) fn table_kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let operand = Access::read(memory, Width::One);
        Kernel::new("clifford/table")
            .dims(caps, size_of::<CliffordDims>())
            .result(Access::write(memory, Width::One))
            .operand("x", operand)
            .operand("y", operand)
            .param("LANES", format!("{}u", invocations(caps)))
    }

    /// The limits that a workgroup needs: bindings for the result and the operands.
    pub(super) fn needs(&self, caps: &Caps) -> Needs {
        let bindings = if self.operands() == 1 { 2 } else { 3 };
        Needs { bindings, invocations: invocations(caps), workgroup_bytes: 0 }
    }

    /// The function `results` of the kernel: `shaders/clifford/product.wgsl` says what it is called with and what it calls.
    fn results(&self, function: &Formula, loads: [Load; 2], beside: Beside) -> Module {
        let mut body = Block::default();
        if self.function == Function::Sandwich && loads[0].read == "one" {
            load_scalars(&mut body, self.x.len()); // one for all lanes
        } else {
            load(&mut body, 'x', "y", self.x.len(), loads[0]);
        }
        if let Some(y) = &self.y {
            load(&mut body, 'y', "z", y.len(), loads[1]);
        }
        body.append(&function.lines);
        store(&mut body, &self.out, &function.results, beside);
        let places = ["at", "stride", "step"].map(|name| (name, "vec3<u32>"));
        let parameters = places.into_iter().chain([("count", "u32")]).collect();
        let comment = "What an invocation reads, computes and stores, blade by blade.";
        Module::from(Definition { comment, name: "results", parameters, result: None, body })
    }

    /// What is computed, in words.
    pub(super) fn what(&self) -> String {
        let [out, x, y] = [0, 1, 2].map(|i| self.blades_of(i).len());
        let (function, signature) = (self.function.name(), self.out.signature());
        match self.operands() {
            1 => format!("{function} of {signature}, {x} blades to {out}"),
            _ => format!("{function} of {signature}, {x} and {y} blades to {out}"),
        }
    }
}

/// Where the terms of each of the result's blades begin, and the end; then all terms, as the shader has them.
pub(super) fn table(terms: &Terms) -> Vec<u32> {
    let mut ends = vec![0; terms.out.len() + 1];
    for term in &terms.terms {
        ends[usize::from(term.out) + 1] += 1;
    }
    let mut at = u32::try_from(ends.len()).unwrap_or(u32::MAX); // behind the ends themselves, 257 at most
    for end in &mut ends {
        at += *end;
        *end = at;
    }
    let word = |term: &Term| u32::from(term.x) | u32::from(term.y) << 8 | u32::from(term.sign < 0) << 16;
    ends.extend(terms.terms.iter().map(word));
    ends
}
