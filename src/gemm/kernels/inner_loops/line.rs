//! A line of the tables of inner loops.

use crate::gemm::problem::GemmKernel;
use crate::layout::DType;

/// The inner loops of a target, compiled by one version of Mesa.
pub(super) struct Compiled {
    pub(super) target: &'static str,
    pub(super) mesa: &'static str,
    pub(super) lines: &'static [Line],
}

/// A tile and its inner loop:
///
/// - the kernel;
/// - rows, columns and depth of a block, rows and columns of a register or subgroup tile, edge of the matrices; `gemv`: in
///   place of the tile's columns the rows of a skinny A;
/// - the types of A and B, of C, and of the sums;
/// - invocations of a subgroup, registers of an invocation (0: fixed), bytes of shared memory of a workgroup, and the number of
///   workgroups that fit on a multiprocessor;
/// - of the heaviest block: instructions; multiply-adds of an invocation; slots of the multiply-adds, unless they are on
///   matrices; slots of all else; waits for accesses; bytes that an invocation reads and writes in shared memory, and in storage.
pub(super) type Line = (GemmKernel, [u32; 6], [DType; 3], [u32; 4], [u32; 7]);

/// A tile's compiled inner loop: the kernel's heaviest basic block.
///
/// A *slot* is a cycle in which a scheduler issues an instruction of one subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InnerLoop {
    /// The GPU for which it was compiled, by Mesa's name.
    pub target: &'static str,
    /// The version of Mesa that compiled it.
    pub mesa: &'static str,
    /// Invocations of a subgroup.
    pub subgroup: u32,
    /// Registers of an invocation; 0 if the number is fixed.
    pub registers: u32,
    /// Bytes of shared memory of a workgroup.
    pub shared_bytes: u32,
    /// The number of workgroups that fit into the registers and shared memory of the target's multiprocessor. For AMD
    /// that is a workgroup processor, two cores.
    pub workgroups: u32,
    /// Instructions of the block.
    pub instructions: u32,
    /// Multiply-adds of an invocation.
    pub multiply_adds: u32,
    /// Slots of the multiply-adds, unless they are on cooperative matrices.
    pub arithmetic_slots: u32,
    /// Slots of all other instructions.
    pub other_slots: u32,
    /// Instructions that wait for the result of an access.
    pub waits: u32,
    /// Bytes that an invocation reads and writes in shared memory and in storage buffers.
    pub accessed_bytes: u32,
}

impl Compiled {
    /// The inner loop of a tile with these types. If the table has no such type of C, the loop of another type of C is taken,
    /// because it multiplies the same operands into the same sums.
    pub(super) fn find(&self, kernel: GemmKernel, tile: [u32; 6], types: [DType; 3]) -> Option<InnerLoop> {
        let [ab, c, sums] = types;
        let mut lines = self.lines.iter().filter(|line| line.0 == kernel && line.1 == tile);
        let same = |line: &&Line| line.2[0] == ab && line.2[2] == sums;
        let exact = lines.clone().find(|line| same(line) && line.2[1] == c);
        let (_, _, _, core, counts) = exact.or_else(|| lines.find(same))?;
        let [subgroup, registers, shared_bytes, workgroups] = *core;
        let [instructions, multiply_adds, arithmetic_slots, other_slots, waits, shared, storage] = *counts;
        Some(InnerLoop {
            target: self.target,
            mesa: self.mesa,
            subgroup,
            registers,
            shared_bytes,
            workgroups,
            instructions,
            multiply_adds,
            arithmetic_slots,
            other_slots,
            waits,
            accessed_bytes: shared + storage,
        })
    }
}
