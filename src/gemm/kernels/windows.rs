//! Products whose rows of A are windows of an image: the variants that fill the slots of kernels.

use super::stage::LoadSize;
use crate::gemm::problem::{GemmProblem, Tile};
use crate::kernel::Kernel;

/// Bytes of a window in shared memory: `Window` of `gemm/windows.wgsl`.
const WINDOW_BYTES: u32 = 12;

/// Bytes of shared memory for the windows of a workgroup, if A's rows are windows.
pub(super) fn table_bytes(tile: &Tile, problem: &GemmProblem) -> u32 {
    problem.windows().map_or(0, |_| tile.bm * WINDOW_BYTES)
}

/// Fills the slots of the tiled kernel.
pub(super) fn bind_tiled(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    if problem.windows().is_some() {
        kernel.slot("windows", "image").slot("tiled_load_a", "windows")
    } else {
        kernel
    }
}

/// Fills the slots of the dot kernel.
pub(super) fn bind_dot(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    if problem.windows().is_some() {
        kernel.slot("windows", "image").slot("dot_load_a", "windows")
    } else {
        kernel
    }
}

/// Fills the slots of the broadcast kernel.
pub(super) fn bind_broadcast(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    if problem.windows().is_some() { kernel.slot("broadcast_rows", "windows") } else { kernel }
}

/// Fills the slots of the coop kernel. `by` says how windows are loaded.
pub(super) fn bind_coop(kernel: Kernel, by: LoadSize) -> Kernel {
    let load = match by {
        LoadSize::Units => "window_units",
        LoadSize::Elements => "window_elements",
    };
    kernel.slot("windows", "image").slot("coop_load_a", load).param("a_unit", by.unit())
}
