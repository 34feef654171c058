//! Whether a device can run a kernel with a tile.

use super::module_epilogue::module_bindings;
use super::reduce;
use super::spec::KernelSpec;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, OP, Tile, scratch_bytes};
use crate::kernel::{self, Language, Needs};

/// Checks that the device can compute the problem with this tile of the kernel. The error says what the device lacks.
pub(in crate::gemm) fn check_fit(
    spec: &dyn KernelSpec,
    tile: &Tile,
    problem: &GemmProblem,
    caps: &Caps,
) -> Result<(), String> {
    spec.admits(tile, problem, caps)?;
    launch_needs(spec, tile, problem, caps).fit(caps)?;
    if has_separate_epilogue(spec, problem, caps) {
        reduce::needs(problem).fit(caps)?;
        kernel::check_scratch(OP, caps, scratch_bytes(problem, 1)).map_err(|error| error.to_string())?;
    }
    let accumulators = spec.accumulators(tile, problem, caps);
    if accumulators > caps.machine.accumulators && caps.machine.compile_seconds.is_none() {
        return Err(format!("{accumulators} accumulators per invocation, which a GPU would spill"));
    }
    Ok(())
}

/// Whether a second launch applies the epilogue: the kernel does not, or would need more bindings than the device has.
pub(in crate::gemm) fn has_separate_epilogue(
    spec: &dyn KernelSpec,
    problem: &GemmProblem,
    caps: &Caps,
) -> bool {
    problem.has_separate_epilogue(caps) || !spec.has_epilogue(problem)
}

/// The limits that the launch of the product needs, without the bindings of a separate epilogue.
pub(in crate::gemm) fn launch_needs(
    spec: &dyn KernelSpec,
    tile: &Tile,
    problem: &GemmProblem,
    caps: &Caps,
) -> Needs {
    let is_separate = has_separate_epilogue(spec, problem, caps);
    let extras = if is_separate { 0 } else { problem.extra_bindings() };
    let bindings = match spec.language() {
        Language::Wgsl => problem.bindings() + extras,
        Language::Spirv => module_bindings(problem),
    };
    Needs {
        bindings,
        invocations: spec.invocations(tile, caps),
        workgroup_bytes: spec.shared_bytes(tile, problem, caps),
    }
}
