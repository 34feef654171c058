//! No number of a kernel wraps around 32 bits, and no index is beyond its operand, whatever the problem. No device.
//!
//! Every kernel that the library plans is run here as naga understands it, with whole numbers of 64 bits in place of 32:
//! each `+`, `-`, `*`, `<<` and negation whose result 32 bits do not hold is a fault, and so is an index at or behind the
//! end of an operand, of shared memory or of an array, a division by zero, and a loop that does not end. The bounds of
//! sizes, strides and offsets hang together, so they are not taken one by one: problems are given that pass their checks
//! and are as large as they may be, with operands of almost $2^{31}$ bytes, the longest axes, the widest strides, the most
//! matrices and parts.
//!
//! Of a launch the first, second, middle and last workgroups run, and the last of the grid, which may be past them; of
//! each some of the first, middle and last invocations, and the last one that does anything.
//!
//! - **Memory.** What operands and shared memory hold is not known, but for tables that plans make. Floats are not looked
//!   at. What comes of something unknown is unknown. Of a branch on it both ways are taken, and where they meet a variable
//!   is known if both left the same; in either way, indices are not held to the ends of operands, as the condition may be
//!   what guards them.
//! - **Loops.** Three turns are run; then, where the comparison at the head is of what has changed by the same in each, or
//!   gone to and fro, the last turn is solved for, and one in the middle and the last are run. What changes evenly is
//!   largest or least at an end; what has changed otherwise is unknown from there on. Loops of few turns, or whose counter
//!   halves, run whole. Where the condition is unknown, a loop has a first turn, and one with all that it changes unknown.
//! - **Marks.** Where wrapping is meant, in the rounds of Philox for one, the line of the shader ends in `// wraps: ` and
//!   why. A mark that nothing needs is a fault too.
//!
//! `TILEWISE_SWEEP=full` gives every tile every problem; else each has some.

mod attention;
mod convolutions;
mod expressions;
mod faults;
mod gemm;
mod launch;
mod law;
mod layers;
mod loops;
mod machine;
mod on_views;
mod operators;
mod run;
mod shader;
mod shapes;
mod value;

use faults::Faults;
use launch::Launch;
use std::collections::BTreeSet;
use tilewise::planning::kernel::{INCLUDES, Include, KERNELS};

#[test]
fn no_number_of_a_kernel_wraps_and_no_index_is_beyond_an_operand() {
    let others: [fn() -> Vec<Launch>; 5] =
        [attention::launches, convolutions::launches, gemm::launches, shapes::launches, layers::launches];
    let faults = std::thread::scope(|scope| {
        let rows = on_views::families().into_iter().map(|of| scope.spawn(move || run::check(of())));
        let mut found: Vec<_> = rows.collect();
        found.extend(others.map(|of| scope.spawn(move || run::check(of()))));
        found.into_iter().map(|of| of.join().expect("no family panics")).fold(Faults::default(), Faults::and)
    });
    let kernels: BTreeSet<&str> = KERNELS.iter().map(|(name, _)| *name).collect();
    assert_eq!(faults.shaders, kernels, "every kernel is run");
    let parts = support::includes::every();
    let others: Vec<&Include> = parts.symmetric_difference(&faults.parts).collect();
    assert_eq!(others, Vec::<&Include>::new(), "every part is run, and there are no others");
    let tiles = gemm::tiles().map(|tile| (tile.kernel.shader(), tile.to_string()));
    let missing: Vec<_> = tiles.filter(|tile| !faults.tiles.contains(tile)).collect();
    assert_eq!(missing, Vec::new(), "every tile is run");
    println!("{} kernels in {} launches", faults.kernels, faults.launches);
    println!("{} operations on whole numbers, and {} on what is not known", faults.known, faults.unknown);
    let found = faults.lines();
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
    let lines = KERNELS.iter().chain(INCLUDES).flat_map(|(_, text)| text.lines().map(str::trim));
    let marked: BTreeSet<&str> = lines.filter(|line| line.contains(shader::MEANT)).collect();
    let needed: BTreeSet<&str> = faults.needed.iter().map(String::as_str).collect();
    assert_eq!(needed, marked, "each mark is needed by something that wraps");
}
