//! Fully connected products of multivectors, operands that are made where they are staged, and the self-test.

use super::gemm::{WINDOW, bare, caps, tiles};
use super::launch::{Launch, Operand};
use super::on_views::multivectors;
use crate::kernels::scalar_tests;
use support::laid::flat;
use support::wgsl;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, LayerProduct};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::planning::Problem;
use tilewise::planning::clifford_layer::ConnectedProblem;
use tilewise::planning::gemm::{
    Distribution, GemmTypes, GeneratedOperand, OuterAxis, Pin, SegmentedProblem, Side,
};
use tilewise::planning::kernel::Kernel;
use tilewise::{Caps, DType};

pub(crate) fn launches() -> Vec<Launch> {
    let devices = [caps(), bare()];
    let mut launches = vec![self_test()];
    launches.extend(scalar_tests().map(timed));
    let signature = Signature::CL2;
    let (blades, paths) = (signature.blades(), signature.paths().len());
    let tiles: Vec<&Tile> =
        tiles().filter(|tile| matches!(tile.kernel, GemmKernel::Tiled | GemmKernel::Coop)).collect();
    for (i, dtype) in [DType::F32, DType::F16, DType::Bf16].into_iter().enumerate() {
        for (j, x) in multivectors(blades.len(), WINDOW / 4).into_iter().enumerate() {
            let caps = &devices[j % 2];
            let [inputs, outputs] = [x.shape()[2], 9];
            let weight = flat(&[paths, inputs, outputs]);
            let g = flat(&[blades.len(), x.shape()[1], outputs]);
            let product = LayerProduct::new(signature).gate([Gate::Gelu, Gate::None][j % 3 % 2]);
            let Ok(problem) = ConnectedProblem::new(product, &blades, [&x, &x], &weight, dtype) else {
                continue;
            };
            let what = format!("connected, {dtype} {x:?}");
            if let Ok(Some(gates)) = problem.gates()
                && let Ok(plan) = gates.plan(caps)
            {
                launches.extend(Launch::steps(&what, &plan));
            }
            let back = problem.operand_gradients([x.shape()[1] / 2, (x.shape()[1] / 2).clamp(1, 100_000)]);
            if let Some(plan) = back.ok().and_then(|back| back.plan(caps).ok()) {
                launches.extend(Launch::steps(&what, &plan));
            }
            let products = [problem.forward(), problem.weight_gradient(&g), problem.path_gradients(&g)];
            for (k, product) in products.into_iter().enumerate() {
                let Ok(product) = product else { continue };
                for l in 0..3 {
                    let tile = tiles[(7 * i + 3 * j + k + 5 * l) % tiles.len()];
                    // Cooperative matrices are of f16.
                    let caps = if tile.kernel == GemmKernel::Coop { &devices[0] } else { caps };
                    launches.extend(connected(caps, &product, tile, &what));
                }
            }
        }
    }
    launches.extend(made(&devices[0]));
    launches
}

/// A product summed over segments, by a tile.
fn connected(caps: &Caps, product: &SegmentedProblem, tile: &Tile, what: &str) -> Vec<Launch> {
    let product = product.clone().pinned(Pin::Tile(*tile)).split_k(SplitK::Splits(1));
    let dims = product.product().dims();
    let plan = product.plan(caps);
    plan.map_or(Vec::new(), |plan| Launch::steps(&format!("{what}, {dims:?}"), &plan))
}

/// Products with an operand that is made, whole or half of it.
fn made(caps: &Caps) -> Vec<Launch> {
    let mut launches = Vec::new();
    let long = WINDOW / 4 / 8 * 8;
    for shape in [[16_384, 2, long / 16_384], [3, long / 4, 66], [long / 70, 64, 66]] {
        for (i, side) in [Side::A, Side::B].into_iter().enumerate() {
            for entries in [Distribution::Normal, Distribution::Uniform, Distribution::Sign] {
                let outer = [OuterAxis::Rows, OuterAxis::Columns][(i + entries as usize) % 2];
                let seed = wgsl::SEEDS[launches.len() % 2];
                let generated = GeneratedOperand { side, entries, outer, tag: 1, seed };
                let problem = wgsl::plain(shape, GemmTypes::new(DType::F32, DType::F32)).generated(generated);
                let plan = problem.split_k(SplitK::Splits(1)).plan(caps);
                launches.extend(Launch::planned(&format!("a generated operand, {:?}", problem.dims()), plan));
            }
        }
        for (i, signs) in wgsl::sign_half().enumerate() {
            let tile =
                tiles().filter(|tile| tile.kernel == [GemmKernel::Tiled, GemmKernel::Coop][i % 2]).nth(i % 5);
            let (whole, view) =
                (wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F32)), support::operand::View::Plain);
            if [whole.dims().n, whole.dims().k].iter().any(|size| size % 2 == 1) {
                continue;
            }
            let problem = wgsl::halved(whole, signs, view).split_k(SplitK::Splits(1));
            let problem = problem.pinned(Pin::Tile(*tile.expect("there are so many tiles")));
            let plan = problem.plan(caps);
            launches.extend(Launch::planned(&format!("signs in half of B, {:?}", problem.dims()), plan));
        }
    }
    launches
}

/// A kernel that a row of matrices is timed against, at the sizes of the shader's defaults: 16 cubed, by 32 invocations.
fn timed(kernel: Kernel) -> Launch {
    let (iterations, size, workgroups) = (4_u32, 16, 8);
    let staged = size * (size | 1) + size * size;
    let dims = [iterations, staged, size, 0];
    Launch {
        what: "a row is timed".into(),
        kernel,
        tile: String::new(),
        grid: [workgroups, 1, 1],
        dims: bytemuck::cast_slice(&dims).to_vec(),
        // Packs and results have four bytes.
        operands: vec![
            Operand::of((iterations * staged).into(), 4),
            Operand::of((workgroups * size * size).into(), 4),
        ],
        subgroup: 32,
    }
}

/// The self-test of cooperative matrices has one size: that of the shader's defaults.
fn self_test() -> Launch {
    let (size, subgroup) = (16_u32, 32);
    let quads = size / 4;
    let dims = [4 * quads, 5 * quads, 2 * size, 4 * size * quads];
    let c = 4 * 2 * 2 * size * 2 * size + 4 * 2 * subgroup * 4;
    let ab = 4 * size * 5 * size;
    Launch {
        what: "the self-test".into(),
        kernel: Kernel::new("gemm/coop_verify"),
        tile: String::new(),
        grid: [4, 1, 1],
        dims: bytemuck::cast_slice(&dims).to_vec(),
        operands: vec![Operand::of(ab.into(), 2), Operand::of(c.into(), 4)],
        subgroup,
    }
}
