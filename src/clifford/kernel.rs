//! The two kernels of functions of multivectors: what fills their parameters and slots. One has all terms of the function
//! written out; the other loops over a table of them.

use super::body::Body;
use super::function::Function;
use super::problem::{Beside, CliffordDims, CliffordProblem};
use super::product::{Term, Terms};
use super::walk::{Load, READ_BLADES, Store, Unit, Walk};
use crate::gpu::Caps;
use crate::kernel::{self, Kernel, Memory, Needs};
use std::fmt::Write;

/// Invocations of one workgroup, these kernels' own tuning: few where they share registers, of which each may need many;
/// elsewhere starting a group takes longer than what is idle in its last.
pub(super) fn invocations(caps: &Caps) -> u32 {
    kernel::lanes(if caps.machine.workgroup_registers.is_some() { 64 } else { 256 }, caps)
}

/// The statements between the frame and the body: loads of operands, stores of results.
struct Statements {
    text: String,
}

impl Statements {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing into a String does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    /// Loads all blades of an operand, called `name`, whose place among C, X and Y is `component`.
    fn load(&mut self, name: char, component: char, blades: usize, load: Load) {
        for i in 0..blades {
            let at = format!("at.{component} + {i}u * step.{component}");
            let read = format!("read_{name}({at}, stride.{component}, count)");
            if load.read != READ_BLADES {
                self.line(format_args!("let {name}{i} = {read};"));
                continue;
            }
            if i % 4 == 0 {
                self.line(format_args!("let {name}_from{i} = {read};"));
            }
            let part = ['x', 'y', 'z', 'w'][i % 4];
            self.line(format_args!("let {name}{i} = {name}_from{}.{part};", i - i % 4));
        }
    }

    /// Loads all blades of operand x as scalars.
    fn load_scalars(&mut self, blades: usize) {
        for i in 0..blades {
            self.line(format_args!("let x{i} = load_x(at.y + {i}u * step.y);"));
        }
    }

    /// The results, each stored as soon as it is there; blades that lie side by side by fours.
    fn store(&mut self, results: &[String], beside: Beside) {
        for (k, result) in results.iter().enumerate() {
            self.line(format_args!("let z{k} = {result};"));
            if beside == Beside::Positions {
                self.line(format_args!("store_lanes(at.x + {k}u * step.x, count, z{k});"));
            } else if k % 4 == 3 || k + 1 == results.len() {
                let first = k - k % 4;
                let four = [0, 1, 2, 3].map(|i| format!("z{}", (first + i).min(k))).join(", ");
                let count = k - first + 1;
                self.line(format_args!("store_blades(at.x + {first}u, {count}u, vec4<f32>({four}));"));
            }
        }
    }
}

impl CliffordProblem {
    pub(super) fn kernel(&self, body: &Body, walk: Walk, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let loads = [1, 2].map(|operand| Load::of(self, operand, walk));
        let store = Store::of(self, walk, memory);
        let mut kernel = Kernel::new("clifford/product")
            .dims(caps, size_of::<CliffordDims>())
            .param("x_unit", loads[0].unit.memory(memory))
            .param("y_unit", loads[1].unit.memory(memory))
            .param("c_unit", store.unit)
            .param("lanes", walk.lanes())
            .param("WIDTH", format!("{}u", walk.width()))
            .param("LANES", format!("{}u", invocations(caps)));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "bf16");
        }
        for (load, slots) in
            loads.iter().zip([["load_x", "read_x"], ["load_y", "read_y"]]).take(self.operands())
        {
            if let Some(fragment) = load.unit.load(memory) {
                kernel = kernel.slot(slots[0], fragment);
            }
            kernel = kernel.slot(slots[1], load.read);
        }
        if self.operands() == 1 {
            kernel = kernel.slot("blades", "one");
        }
        for &(slot, fragment) in &store.slots {
            kernel = kernel.slot(slot, fragment);
        }
        if let Some(fragment) = body.functions {
            kernel = kernel.slot("body_functions", fragment);
        }
        kernel.generated("product_terms", self.what(), self.text(body, loads, store.beside))
    }

    pub(super) fn table_kernel(&self, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let halves = memory.per_scalar() == 2;
        let mut kernel = Kernel::new("clifford/table")
            .dims(caps, size_of::<CliffordDims>())
            .param("x_unit", memory.scalar())
            .param("c_unit", if halves { "atomic<u32>" } else { memory.scalar() })
            .param("LANES", format!("{}u", invocations(caps)));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "bf16");
        }
        if let Some(fragment) = Unit::One.load(memory) {
            kernel = kernel.slot("load_x", fragment).slot("load_y", fragment);
        }
        if halves { kernel.slot("store_element", "packed") } else { kernel }
    }

    /// The limits that a workgroup needs: bindings for the result and the operands.
    pub(super) fn needs(&self, caps: &Caps) -> Needs {
        let bindings = if self.operands() == 1 { 2 } else { 3 };
        Needs { bindings, invocations: invocations(caps), workgroup_bytes: 0 }
    }

    fn text(&self, body: &Body, loads: [Load; 2], beside: Beside) -> String {
        let mut statements = Statements { text: String::new() };
        if self.function == Function::Sandwich && loads[0].read == "one" {
            statements.load_scalars(self.x.len()); // one for all lanes
        } else {
            statements.load('x', 'y', self.x.len(), loads[0]);
        }
        if let Some(y) = &self.y {
            statements.load('y', 'z', y.len(), loads[1]);
        }
        for line in &body.lines {
            statements.line(format_args!("{line}"));
        }
        statements.store(&body.results, beside);
        statements.text
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
