//! Fully connected layers of multivectors: problems whose plans need every kernel of theirs.

use super::laid::view;
use super::strided::Lay;
use super::wgsl::{REALS, kernels_of};
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, LayerProduct};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::planning::Problem;
use tilewise::planning::clifford_layer::ConnectedProblem;
use tilewise::planning::gemm::{GemmProblem, Pin};
use tilewise::planning::kernel::Kernel;
use tilewise::{Caps, DType, Layout};

/// A fully connected product of operands (blade, row, in), each with its own layout.
pub fn connected_problem(
    signature: Signature,
    gate: Gate,
    dtype: DType,
    lays: [Lay; 3],
) -> (ConnectedProblem, Layout) {
    let blades = signature.blades();
    let placed = |shape: [usize; 3], lay: Lay| {
        let (strides, offset) = lay.strides(&shape);
        view(&shape, &strides, offset)
    };
    let operand = |lay| placed([blades.len(), 36, 72], lay);
    let weight = placed([signature.paths().len(), 72, 40], lays[2]);
    let product = LayerProduct::new(signature).gate(gate);
    let operands = [&operand(lays[0]), &operand(lays[1])];
    let problem =
        ConnectedProblem::new(product, &blades, operands, &weight, dtype).expect("shapes go together");
    (problem, placed([blades.len(), 36, 40], lays[0]))
}

/// The matrix products of fully connected layers on a device, and their tiles: forward and backward, with every tile, with and
/// without gates, in every type and method of staging.
pub fn connected_products(caps: &Caps) -> Vec<(Tile, GemmProblem, Kernel)> {
    const LAYS: [[Lay; 3]; 4] = [
        [Lay::Plain; 3],
        [Lay::Reversed, Lay::Reversed, Lay::Plain],
        [Lay::Plain, Lay::Gaps, Lay::Reversed],
        [Lay::Gaps, Lay::Reversed, Lay::Odd],
    ];
    let mut kernels = Vec::new();
    let tiles = [GemmKernel::Tiled, GemmKernel::Coop].iter().flat_map(|kernel| kernel.tiles());
    for (i, tile) in tiles.enumerate() {
        // The smallest register tiles with every layout, others with one.
        let taken = |&(j, _): &(usize, _)| [tile.tm, tile.tn] == [4, 4] || tile.bm == 32 || j == i % 4;
        for (j, lays) in LAYS.into_iter().enumerate().filter(taken) {
            let dtype = if tile.kernel == GemmKernel::Coop { DType::F16 } else { REALS[(i + j) % 3] };
            let gate = [Gate::Gelu, Gate::None][j / 2];
            let (problem, g) = connected_problem(Signature::CL2, gate, dtype, lays);
            for product in [problem.forward(), problem.weight_gradient(&g), problem.path_gradients(&g)] {
                let product = product.expect("small sizes").pinned(Pin::Tile(*tile));
                // Other tests cover problems that a device cannot run, and the reductions of split-k.
                let product = product.split_k(SplitK::Splits(1));
                let Ok(plan) = product.plan(caps) else { continue };
                kernels.push((*tile, *product.product(), plan.steps()[0].kernel.clone()));
            }
        }
    }
    kernels
}

/// The other kernels of fully connected layers on a device: every algebra, type and gate.
pub fn connected_kernels(caps: &Caps) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for dtype in REALS {
        for gate in Gate::ALL {
            // The algebra only changes the number of similar terms, so two are enough.
            let signatures = [Signature::CL2, Signature::CGA3D];
            for signature in signatures.into_iter().take(if gate == Gate::None { 2 } else { 1 }) {
                let (problem, _) = connected_problem(signature, gate, dtype, [Lay::Plain; 3]);
                let (gaps, _) = connected_problem(signature, gate, dtype, [Lay::Gaps, Lay::Odd, Lay::Plain]);
                for gates in [&problem, &gaps].into_iter().filter_map(|p| p.gates().expect("small sizes")) {
                    kernels.extend(kernels_of(&gates.plan(caps).expect("it fits")));
                }
                let back = problem.operand_gradients([8, 16]).expect("small sizes");
                kernels.extend(kernels_of(&back.plan(caps).expect("it fits")));
            }
        }
    }
    kernels
}
