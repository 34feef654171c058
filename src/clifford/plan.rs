//! How to compute a function of multivectors: how many positions an invocation has, and how it reaches them.

use super::body::Body;
use super::problem::{Beside, CliffordDims, CliffordProblem};
use crate::gpu::{Caps, Problem};
use crate::kernel::{self, Kernel, Memory, Plan};
use crate::{Error, Result};
use std::fmt::Write;

/// Invocations of one workgroup.
const LANES: u32 = 256;
/// Blades of operands and result together that an invocation has of four positions at once; of one, beyond it.
const BLADES_OF_FOUR: usize = 2;
/// Terms that are written out.
const STRAIGHT_AT_MOST: usize = 1100;

/// How invocations go over positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// Each has four positions side by side, of every blade.
    Fours,
    /// Each has one position.
    Ones,
}

impl Walk {
    pub(super) fn of(problem: &CliffordProblem) -> Self {
        let blades: usize = (0..3).map(|i| problem.blades_of(i).len()).sum();
        let beside = problem.axes()[0][1] == 1 && problem.dims.blades[0] != 1;
        if beside && blades <= BLADES_OF_FOUR { Self::Fours } else { Self::Ones }
    }

    fn width(self) -> u32 {
        match self {
            Self::Fours => 4,
            Self::Ones => 1,
        }
    }

    /// The problem's uniform.
    pub(super) fn dims(self, problem: &CliffordProblem) -> CliffordDims {
        let mut dims = problem.dims;
        dims.units = dims.axes[0][0].div_ceil(self.width());
        let rows: u32 = problem.axes()[1..].iter().map(|axis| axis[0]).product();
        dims.offsets[3] = dims.units * rows;
        dims
    }
}

/// How an invocation loads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    /// A blade of four positions at once.
    Aligned,
    /// A blade of four positions, out of two loads of four.
    Shifted,
    /// A blade of four positions, one by one.
    Apart,
    /// A blade of one position, for all lanes.
    One,
    /// Four blades of one position at once.
    Blades,
}

impl Load {
    fn of(problem: &CliffordProblem, operand: usize, walk: Walk) -> Self {
        let inner = problem.axes()[0][operand + 1];
        let begins = |beside| problem.begin_at_multiples(operand, beside, 4);
        match (walk, inner) {
            (Walk::Ones, _) => {
                let fours = problem.blades_of(operand).len() % 4 == 0 && begins(Beside::Blades);
                if fours { Self::Blades } else { Self::One }
            }
            (Walk::Fours, 0) => Self::One,
            (Walk::Fours, 1) if begins(Beside::Positions) => Self::Aligned,
            (Walk::Fours, 1) => Self::Shifted,
            (Walk::Fours, _) => Self::Apart,
        }
    }

    fn is_of_four(self) -> bool {
        matches!(self, Self::Aligned | Self::Shifted | Self::Blades)
    }

    fn fragment(self) -> &'static str {
        match self {
            Self::Aligned | Self::Blades => "read_x_aligned",
            Self::Shifted => "read_x_shifted",
            Self::Apart => "read_x",
            Self::One => "read_x_one",
        }
    }
}

/// What an invocation stores at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    /// Elements, each on its own; of pairs, each half.
    Elements,
    /// Pairs that are nobody else's.
    Pairs,
    /// Four elements.
    Fours,
}

impl Store {
    fn of(problem: &CliffordProblem, walk: Walk, memory: Memory) -> Self {
        let (beside, extent) = match walk {
            Walk::Fours => (Beside::Positions, problem.dims.axes[0][0] as usize),
            Walk::Ones => (Beside::Blades, problem.out.len()),
        };
        let begins = |of| problem.begin_at_multiples(0, beside, of);
        if extent % 4 == 0 && begins(4) {
            Self::Fours
        } else if memory.per_scalar() == 2 && begins(2) {
            Self::Pairs
        } else {
            Self::Elements
        }
    }
}

/// The text between the frame's loads and stores and the function's body.
struct Text {
    lines: String,
}

impl Text {
    /// Loads of all blades of an operand, called `name`, whose place among C, X and Y is `component`.
    fn load(&mut self, name: char, component: char, blades: usize, load: Load) {
        let at = |i: usize| {
            let stride = format!("stride.{component}");
            format!("read_{name}(at.{component} + {i}u * step.{component}, {stride}, count)")
        };
        for i in 0..blades {
            let _ = match (load, i % 4) {
                (Load::Blades, 0) => writeln!(self.lines, "let {name}q{i} = {};", at(i))
                    .and_then(|()| writeln!(self.lines, "let {name}{i} = {name}q{i}.x;")),
                (Load::Blades, part) => {
                    let of = ['x', 'y', 'z', 'w'][part];
                    writeln!(self.lines, "let {name}{i} = {name}q{}.{of};", i - part)
                }
                _ => writeln!(self.lines, "let {name}{i} = {};", at(i)),
            };
        }
    }

    /// The results, each stored as soon as it is there; blades that lie side by side by fours.
    fn store(&mut self, results: &[String], walk: Walk, beside: Beside) {
        for (k, result) in results.iter().enumerate() {
            let _ = writeln!(self.lines, "let z{k} = {result};");
            let last = k + 1 == results.len();
            let _ = match (walk, beside) {
                (Walk::Fours, _) => {
                    writeln!(self.lines, "store_quad(at.x + {k}u * step.x, stride.x, count, z{k});")
                }
                (Walk::Ones, Beside::Positions) => {
                    writeln!(self.lines, "store_quad(at.x + {k}u * step.x, 1u, 1u, vec4<f32>(z{k}));")
                }
                (Walk::Ones, Beside::Blades) if k % 4 == 3 || last => {
                    let first = k - k % 4;
                    let four = [0, 1, 2, 3].map(|i| format!("z{}", (first + i).min(k))).join(", ");
                    let count = k - first + 1;
                    writeln!(self.lines, "store_quad(at.x + {first}u, 1u, {count}u, vec4<f32>({four}));")
                }
                _ => Ok(()),
            };
        }
    }
}

impl CliffordProblem {
    fn kernel(&self, body: &Body, walk: Walk, caps: &Caps) -> Kernel {
        let memory = Memory::of(self.dtype, caps);
        let loads = [1, 2].map(|operand| Load::of(self, operand, walk));
        let store = Store::of(self, walk, memory);
        let unit = |four: bool| if four { memory.vector() } else { memory.scalar() };
        let halves = memory.per_scalar() == 2 && store == Store::Elements;
        let mut kernel = Kernel::new("clifford")
            .dims(caps, size_of::<CliffordDims>())
            .param("x_unit", unit(loads[0].is_of_four()))
            .param("y_unit", unit(loads[1].is_of_four()))
            .param("c_unit", if halves { "atomic<u32>" } else { unit(store == Store::Fours) })
            .param("lanes", if walk == Walk::Fours { "vec4<f32>" } else { "f32" })
            .param("WIDTH", format!("{}u", walk.width()))
            .param("LANES", format!("{LANES}u"));
        if memory == Memory::Bf16 {
            kernel = kernel.slot("pack_pair", "pack_bf16");
        }
        for (operand, slots) in [["load_x", "read_x"], ["load_y", "read_y"]].into_iter().enumerate() {
            if operand == 0 || self.y.is_some() {
                if let Some(fragment) = load_fragment(memory, loads[operand].is_of_four()) {
                    kernel = kernel.slot(slots[0], fragment);
                }
                kernel = kernel.slot(slots[1], loads[operand].fragment());
            }
        }
        if self.y.is_none() {
            kernel = kernel.slot("blades_of_two", "blades_of_one");
        }
        kernel = match (store, memory.per_scalar()) {
            (Store::Fours, 2) => kernel.slot("store_quad", "store_quad_packed4"),
            (Store::Fours, _) => kernel.slot("store_quad", "store_quad_vec4"),
            (Store::Pairs, _) => kernel.slot("store_quad", "store_quad_pairs"),
            (Store::Elements, 2) => kernel.slot("store_element", "store_element_packed"),
            (Store::Elements, _) => kernel,
        };
        kernel.slot("body_functions", body.functions.unwrap_or("nothing")).generated(
            "product_terms",
            self.what(),
            self.text(body, walk, loads),
        )
    }

    fn text(&self, body: &Body, walk: Walk, loads: [Load; 2]) -> String {
        let mut text = Text { lines: String::new() };
        text.load('x', 'y', self.x.len(), loads[0]);
        if let Some(y) = &self.y {
            text.load('y', 'z', y.len(), loads[1]);
        }
        for line in &body.lines {
            let _ = writeln!(text.lines, "{line}");
        }
        let beside = if self.dims.blades[0] == 1 { Beside::Blades } else { Beside::Positions };
        text.store(&body.results, walk, beside);
        text.lines
    }

    /// What is computed, in words.
    fn what(&self) -> String {
        let blades = [1, 2, 0].map(|i| self.blades_of(i).len());
        let [x, y, out] = blades;
        let function = self.function.name();
        let signature = self.out.signature();
        match self.y {
            Some(_) => format!("{function} of {signature}, {x} and {y} blades to {out}"),
            None => format!("{function} of {signature}, {x} blades to {out}"),
        }
    }
}

/// The fragment that loads one element or four; the shader's own needs no slot.
fn load_fragment(memory: Memory, four: bool) -> Option<&'static str> {
    match (memory, four) {
        (Memory::Packed, false) => Some("load_x_packed"),
        (Memory::Packed, true) => Some("load_x_packed4"),
        (Memory::Bf16, false) => Some("load_x_bf16"),
        (Memory::Bf16, true) => Some("load_x_bf16x4"),
        (_, true) => Some("load_x_vec4"),
        (_, false) => None,
    }
}

/// How to compute `problem` on a device.
///
/// # Errors
/// [`Error::Limit`] if an operand is larger than this device can bind, or the function has too many terms.
pub fn plan_clifford(problem: &CliffordProblem, caps: &Caps) -> Result<Plan> {
    let op = problem.function.name();
    for elements in problem.binding_elements() {
        kernel::check_binding(op, caps, elements, problem.dtype)?;
    }
    let body = Body::of(problem)?;
    if body.flops > 2 * STRAIGHT_AT_MOST {
        let what = "the number of a function's operations at a position".to_owned();
        return Err(Error::Limit {
            op,
            what,
            needed: body.flops as u64,
            allowed: 2 * STRAIGHT_AT_MOST as u64,
        });
    }
    let walk = Walk::of(problem);
    let dims = walk.dims(problem);
    let flops = body.flops as f64 * problem.positions() as f64;
    let seconds = (problem.bytes() / caps.roofs.bytes).max(flops / caps.roofs.f32_flops);
    let tile = format!("{LANES} invocations of {}, {}, {}", walk.width(), problem.what(), problem.dtype);
    let grid = kernel::fold(op, u64::from(dims.offsets[3].div_ceil(LANES)), caps.limits.grid)?;
    Ok(Plan::of_one_launch(problem.kernel(&body, walk, caps), tile, grid, seconds))
}

impl Problem for CliffordProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_clifford(self, caps)
    }
}
