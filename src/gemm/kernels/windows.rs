//! Products with windows of an image: the variants that fill the slots of kernels.

use super::stage::LoadSize;
use crate::caps::Machine;
use crate::gemm::problem::{GemmKernel, GemmProblem, Tile, WindowB};
use crate::kernel::Kernel;

/// Bytes of a window in shared memory: `Window` of `gemm/window_element.wgsl`, of images and of volumes.
const WINDOW_BYTES: [u32; 2] = [12, 16];

/// Bytes of shared memory for the windows of a workgroup, if A's rows are windows; modules have them if those of B are, too.
pub(super) fn table_bytes(tile: &Tile, problem: &GemmProblem) -> u32 {
    let has_table = match problem.window_b() {
        None => false,
        Some(WindowB::Windows) => tile.kernel == GemmKernel::CoopKhr,
        Some(WindowB::Lines | WindowB::Taps) => true,
    };
    if !has_table {
        return 0;
    }
    // The module's table of planes has one element for images.
    let is_of_volumes = problem.volumes().is_some();
    let spare = if tile.kernel == GemmKernel::CoopKhr && !is_of_volumes { 4 } else { 0 };
    tile.bm * WINDOW_BYTES[usize::from(is_of_volumes)] + spare
}

/// Fills the slot of `gemm/windows.wgsl`, and that of its axes.
fn bind(kernel: Kernel, b: WindowB, problem: &GemmProblem) -> Kernel {
    let rows = if b == WindowB::Windows { "rows_of_b" } else { "rows_of_a" };
    let kernel = kernel.slot("windows", rows);
    if problem.volumes().is_some() { kernel.slot("window_element", "of_volumes") } else { kernel }
}

/// Fills the slots of the tiled kernel.
pub(super) fn bind_tiled(kernel: Kernel, problem: &GemmProblem, machine: &Machine) -> Kernel {
    let Some(b) = problem.window_b() else { return kernel };
    let kernel = bind(kernel, b, problem);
    let is_ahead = machine.loads_windows_ahead;
    let of_a = |kernel: Kernel| kernel.slot("tiled_load_a", "windows").param("A_AHEAD", is_ahead);
    let of_b = |kernel: Kernel, variant| kernel.slot("tiled_load_b", variant).param("B_AHEAD", is_ahead);
    match b {
        WindowB::Lines => of_a(kernel),
        WindowB::Taps => of_b(of_a(kernel), "taps"),
        WindowB::Windows => of_b(kernel, "window_rows"),
    }
}

/// Fills the slots of the dot kernel.
pub(super) fn bind_dot(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    match problem.window_b() {
        Some(b) => bind(kernel, b, problem).slot("dot_load_a", "windows"),
        None => kernel,
    }
}

/// Fills the slots of the broadcast kernel.
pub(super) fn bind_broadcast(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    let Some(b) = problem.window_b() else { return kernel };
    let (kernel, planes) = match b {
        WindowB::Lines | WindowB::Taps => {
            (kernel.slot("broadcast_lines", "windows_of_a"), "broadcast_planes_of_a")
        }
        WindowB::Windows => {
            let kernel = kernel.slot("broadcast_lines", "windows_of_b");
            (bind(kernel, b, problem), "broadcast_planes_of_b")
        }
    };
    if problem.volumes().is_some() { kernel.slot(planes, "of_volumes") } else { kernel }
}

/// Fills the slot of the coop kernel for windows.
pub(super) fn bind_coop(kernel: Kernel, problem: &GemmProblem) -> Kernel {
    match problem.window_b() {
        Some(b) => bind(kernel, b, problem),
        None => kernel,
    }
}

/// The variants of the coop kernel that load A and B of these sizes, if windows need others.
pub(super) fn coop_loads(problem: &GemmProblem, [by_a, by_b]: [LoadSize; 2]) -> [Option<&'static str>; 2] {
    let of = |units, elements, by| match by {
        LoadSize::Units => Some(units),
        LoadSize::Elements => Some(elements),
    };
    let rows_of_a = of("window_units", "window_elements", by_a);
    match problem.window_b() {
        None => [None; 2],
        Some(WindowB::Lines) => [rows_of_a, None],
        Some(WindowB::Taps) => [rows_of_a, of("tap_units", "tap_elements", by_b)],
        Some(WindowB::Windows) => [None, of("window_row_units", "window_row_elements", by_b)],
    }
}
