//! Fully connected products of multivectors, operands that are made where they are staged, and the self-test.

use super::gemm::{WINDOW, bare, caps, tiles};
use super::launch::{Launch, Operand};
use super::multivectors::layouts;
use super::support::wgsl;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{
    ConnectedBackProblem, ConnectedProblem, Gate, LayerProduct, Tabled, plan_connected_back, plan_gates,
};
use tilewise::gemm::{
    self, Entries, GemmKernel, GemmProblem, GemmTypes, Generated, Outer, Pin, Side, Split, Tile,
};
use tilewise::kernel::{Kernel, Needs, Plan};
use tilewise::{Caps, DType, Layout};

pub(crate) fn launches() -> Vec<Launch> {
    let devices = [caps(), bare()];
    let mut launches = vec![self_test()];
    let signature = Signature::CL2;
    let (blades, paths) = (signature.blades(), signature.paths().len());
    let tiles: Vec<&Tile> =
        tiles().filter(|tile| matches!(tile.kernel, GemmKernel::Tiled | GemmKernel::Coop)).collect();
    for (i, dtype) in [DType::F32, DType::F16, DType::Bf16].into_iter().enumerate() {
        for (j, x) in layouts(blades.len(), WINDOW / 4).into_iter().enumerate() {
            let caps = &devices[j % 2];
            let [inputs, outputs] = [x.shape()[2], 9];
            let weight = Layout::contiguous("test", &[paths, inputs, outputs]).expect("few axes");
            let g = Layout::contiguous("test", &[blades.len(), x.shape()[1], outputs]).expect("few axes");
            let product = LayerProduct::new(signature).gate([Gate::Gelu, Gate::None][j % 2]);
            let Ok(problem) = ConnectedProblem::new(product, &blades, [&x, &x], &weight, dtype) else {
                continue;
            };
            let plane = Operand::of((x.shape()[1] * inputs) as u64, 4);
            let what = format!("connected, {dtype} {x:?}");
            if let Ok(Some(gates)) = problem.gates() {
                if let Ok(plan) = plan_gates(&gates, caps) {
                    let x = Operand::of_view(&x, dtype);
                    launches.push(Launch::new(
                        &what,
                        &plan,
                        bytemuck::bytes_of(&gates.dims),
                        vec![plane.clone(), x.clone(), x],
                    ));
                }
            }
            let back =
                ConnectedBackProblem::new(&problem, [x.shape()[1] / 2, (x.shape()[1] / 2).clamp(1, 100_000)]);
            if let Some((back, plan)) =
                back.ok().and_then(|back| plan_connected_back(&back, caps).ok().map(|plan| (back, plan)))
            {
                let c = Operand::of(x.len() as u64, dtype.size());
                let through = Operand::of(WINDOW as u64 / 4, 4);
                let operands =
                    vec![c.clone(), c, through, Operand::of_view(&x, dtype), Operand::of_view(&x, dtype)];
                launches.push(Launch::new(&what, &plan, bytemuck::bytes_of(&back.dims), operands));
            }
            let ways = [
                (problem.forward(), &x, &weight, true),
                (problem.of_weight(&g), &x, &g, true),
                (problem.through(&g), &g, &weight, false),
            ];
            for (k, (tabled, a, b, formed)) in ways.into_iter().enumerate() {
                let Ok(tabled) = tabled else { continue };
                for l in 0..3 {
                    let tile = tiles[(7 * i + 3 * j + k + 5 * l) % tiles.len()];
                    let beside =
                        if formed { vec![Operand::of_view(&x, dtype), plane.clone()] } else { Vec::new() };
                    launches.extend(connected(
                        // Cooperative matrices are of f16.
                        if tile.kernel == GemmKernel::Coop { &devices[0] } else { caps },
                        &tabled,
                        tile,
                        &what,
                        [Operand::of_view(a, dtype), Operand::of_view(b, dtype)],
                        beside,
                    ));
                }
            }
        }
    }
    launches.extend(made(&devices[0]));
    launches
}

/// A product summed over segments, by a tile.
fn connected(
    caps: &Caps,
    tabled: &Tabled,
    tile: &Tile,
    what: &str,
    [a, b]: [Operand; 2],
    beside: Vec<Operand>,
) -> Option<Launch> {
    let problem = tabled.problem.pinned(Pin::Tile(*tile)).split(Split::Parts(1));
    let plan = gemm::plan(&problem, caps).ok()?;
    let [.., c] = problem.binding_elements();
    let c = Operand::of(c, problem.types.c.size());
    let operands = [vec![a, b, c, Operand::table(&tabled.table)], beside].concat();
    Some(launch(what, &problem, &plan, operands))
}

fn launch(what: &str, problem: &GemmProblem, plan: &Plan, operands: Vec<Operand>) -> Launch {
    let launch = Launch::new(
        format!("{what}, {:?}", problem.dims),
        plan,
        bytemuck::bytes_of(&problem.dims_of(plan)[0]),
        operands,
    );
    Launch { subgroup: 8, ..launch }
}

/// Products with an operand that is made, whole or half of it.
fn made(caps: &Caps) -> Vec<Launch> {
    let mut launches = Vec::new();
    let long = WINDOW / 4 / 8 * 8;
    for shape in [[16_384, 2, long / 16_384], [3, long / 4, 66], [long / 70, 64, 66]] {
        for (i, side) in [Side::A, Side::B].into_iter().enumerate() {
            for entries in [Entries::Normal, Entries::Uniform, Entries::Sign] {
                let outer = [Outer::Rows, Outer::Columns][(i + entries as usize) % 2];
                let generated = Generated { side, entries, outer, tag: 1 };
                let problem =
                    wgsl::plain(shape, GemmTypes::new(DType::F32, DType::F32)).generated(generated, [1, 2]);
                let Ok(plan) = gemm::plan(&problem.split(Split::Parts(1)), caps) else { continue };
                let mut operands: Vec<Operand> =
                    problem.binding_elements().map(|elements| Operand::of(elements, 4)).to_vec();
                // What entries are looked up in.
                operands[side as usize] = Operand::of(operands[side as usize].bytes.max(2048 * 4), 1);
                launches.push(launch("a generated operand", &problem, &plan, operands));
            }
        }
        for (i, signs) in wgsl::half_signs().enumerate() {
            let tile =
                tiles().filter(|tile| tile.kernel == [GemmKernel::Tiled, GemmKernel::Coop][i % 2]).nth(i % 5);
            let (whole, view) = (
                wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F32)),
                super::support::operand::View::Plain,
            );
            if [whole.dims.n, whole.dims.k].iter().any(|size| size % 2 == 1) {
                continue;
            }
            let problem = wgsl::halved(whole, signs, view).split(Split::Parts(1));
            let problem = problem.pinned(Pin::Tile(*tile.expect("there are so many tiles")));
            let Ok(plan) = gemm::plan(&problem, caps) else { continue };
            let sizes = problem.types.of_operands().map(DType::size);
            let operands =
                problem.binding_elements().into_iter().zip(sizes).map(|(n, size)| Operand::of(n, size));
            launches.push(launch("signs in half of B", &problem, &plan, operands.collect()));
        }
    }
    launches
}

/// The self-test of cooperative matrices has one size: that of the shader's defaults.
fn self_test() -> Launch {
    let (size, subgroup) = (16_u32, 32);
    let (quads, kernel) = (size / 4, Kernel::new("coop_verify"));
    let dims = [4 * quads, 5 * quads, 2 * size, 4 * size * quads];
    let plan = Plan {
        kernel,
        tile: String::new(),
        grid: [4, 1, 1],
        needs: Needs::default(),
        seconds: 0.0,
        parts: 1,
        scratch: 0,
        table: Vec::new(),
        then: None,
        reasons: Vec::new(),
    };
    let c = 4 * 2 * 2 * size * 2 * size + 4 * 2 * subgroup * 4;
    let ab = 4 * size * 5 * size;
    Launch::new(
        "the self-test",
        &plan,
        bytemuck::cast_slice(&dims),
        vec![Operand::of(ab.into(), 2), Operand::of(c.into(), 4)],
    )
}
