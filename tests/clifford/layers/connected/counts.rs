//! What products launch, bind and leave in memory.

use std::collections::HashSet;
use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::planning::kernel::Kernel;
use tilewise::{Fill, Gpu, Plan, Tensor};

const SHAPE: [usize; 3] = [64, 128, 96];

fn operands(gpu: &Gpu, signature: Signature) -> ([Multivectors<f32>; 3], Tensor<f32>) {
    let [rows, inputs, outputs] = SHAPE;
    let blades = signature.blades();
    let of = |features, seed| {
        let tensor = gpu.random([blades.len(), rows, features], Fill::Uniform, seed).unwrap();
        Multivectors::new(tensor, &blades, BladeAxis::First).unwrap()
    };
    let paths = signature.paths().len();
    let weight = gpu.random([paths, inputs, outputs], Fill::Uniform, 4).unwrap();
    ([of(inputs, 1), of(inputs, 2), of(outputs, 3)], weight)
}

/// Steps of a plan that bring the parts of a product together, and the bytes of their sums.
fn in_parts(plan: &Plan) -> (u64, u64) {
    let reduce = plan.steps().iter().filter(|step| step.kernel.shader() == "gemm/reduce_splits");
    reduce.fold((0, 0), |(steps, bytes), step| (steps + 1, bytes + step.work.read[0]))
}

#[test]
fn launches_are_those_of_the_plan_and_no_product_lies_in_memory() {
    let Some(()) = support::first_driver() else { return };
    for (gate, in_front) in [(Gate::None, 0), (Gate::Gelu, 1)] {
        let Some(gpu) = support::own(|_| ()) else { return };
        let signature = Signature::CL3;
        let ([x, y, g], weight) = operands(&gpu, signature);
        let product = LayerProduct::new(signature).gate(gate).norm(GradeNorm::None);
        let connected = Connected::new(product, &x, &y, &weight).unwrap();
        let plan = connected.plan().unwrap();
        let (reductions, scratch) = in_parts(&plan);
        assert_eq!(plan.steps().len() as u64, 1 + in_front + reductions, "{plan}");
        let before = gpu.stats();
        let o = connected.run().unwrap();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, plan.steps().len() as u64, "{plan}");
        let [rows, inputs, outputs] = SHAPE;
        let plane = (rows * inputs * 4) as u64;
        let [result, gates] = [(8 * rows * outputs * 4) as u64, in_front * plane];
        // Products would be 44 planes; the table of terms is less than one. A buffer is a quarter larger than asked, at most.
        let peak = after.bytes_peak - before.bytes_in_use;
        assert!(peak < result + gates + scratch * 5 / 4 + 2 * plane, "{peak} bytes");
        let written = after.bytes_bound_for_writing - before.bytes_bound_for_writing;
        assert_eq!(written, result + gates + scratch, "{plan}");
        drop(o);
        let plan = connected.plan_backward(&g).unwrap();
        let (reductions, scratch) = in_parts(&plan);
        assert_eq!(plan.steps().len() as u64, 3 + in_front + reductions, "{plan}");
        let before = gpu.stats();
        let gradients = connected.backward(&g).unwrap();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, plan.steps().len() as u64, "{plan}");
        // The pairs of blades and paths, of which what comes back through the weights has a plane each.
        let of_weight = (weight.len() * 4) as u64;
        let written = after.bytes_bound_for_writing - before.bytes_bound_for_writing;
        assert_eq!(written, gates + of_weight + 44 * plane + 2 * 8 * plane + scratch, "{plan}");
        drop(gradients);
    }
}

#[test]
fn the_same_product_has_the_same_bits() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let signature = Signature::CL2;
    let ([x, y, g], weight) = operands(&gpu, signature);
    let product = LayerProduct::new(signature).norm(GradeNorm::None);
    let bits = || {
        let o = product.connected(&x, &y, &weight).unwrap();
        let of = product.connected_backward(&x, &y, &weight, &g).unwrap();
        let all = [o.into_tensor(), of.x.into_tensor(), of.y.into_tensor(), of.weight];
        all.map(|tensor| tensor.to_vec().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>())
    };
    let first = bits();
    for _ in 0..99 {
        assert_eq!(bits(), first);
    }
}

#[test]
fn a_new_shape_or_algebra_compiles_no_new_product() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let run = |signature: Signature, rows: usize| {
        let blades = signature.blades();
        let operand = |seed| {
            let tensor = gpu.random::<f32>([blades.len(), rows, 8], Fill::Uniform, seed).unwrap();
            Multivectors::new(tensor, &blades, BladeAxis::First).unwrap()
        };
        let weight = gpu.random([signature.paths().len(), 8, 4], Fill::Uniform, 3).unwrap();
        let product = LayerProduct::new(signature).norm(GradeNorm::None);
        let (x, y) = (operand(1), operand(2));
        // GPUs with many registers refuse some tiles.
        let of = |tile: &Tile| Connected::new(product, &x, &y, &weight).unwrap().tile(*tile);
        let mut tiles = GemmKernel::Tiled.tiles().iter().rev();
        let tile = tiles.find(|tile| of(tile).plan().is_ok()).expect("a device runs one of them");
        of(tile).run().unwrap();
        let plan = of(tile).plan().unwrap();
        plan.steps().iter().map(|step| step.kernel.clone()).collect::<HashSet<Kernel>>()
    };
    let first = run(Signature::CL2, 3);
    let before = gpu.stats().pipelines;
    let mut new = run(Signature::CL3, 40);
    new.extend(run(Signature::PGA3D, 7));
    new.retain(|kernel| !first.contains(kernel));
    // A device with many multiprocessors may take a product in parts, which another kernel sums.
    assert!(new.iter().all(|kernel| kernel.shader() == "gemm/reduce_splits"), "{new:?}");
    assert_eq!(gpu.stats().pipelines - before, new.len() as u64);
}

/// What comes back through the weights would take more than 128 MiB: it comes in two parts, and the last rows are as those
/// of a batch of their own.
#[test]
fn many_rows_come_back_by_parts() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let (signature, rows, last) = (Signature::CL2, 40_001, 5);
    let blades = signature.blades();
    let product = LayerProduct::new(signature).norm(GradeNorm::None);
    let operand = |features, seed| gpu.random::<f32>([4, rows, features], Fill::Uniform, seed).unwrap();
    let all = [operand(64, 1), operand(64, 2), operand(1, 3)];
    let weight = gpu.random([10, 64, 1], Fill::Uniform, 4).unwrap();
    let of = |tensor: &Tensor<f32>| Multivectors::new(tensor.clone(), &blades, BladeAxis::First).unwrap();
    let [x, y, g] = all.each_ref().map(of);
    let connected = Connected::new(product, &x, &y, &weight).unwrap();
    let plan = connected.plan_backward(&g).unwrap();
    // A slow device launches a step in pieces, of which all but the first begin behind some workgroups.
    let steps = plan.steps().iter().filter(|step| step.first_block == 0).count() as u64;
    let (reductions, _) = in_parts(&plan); // of the weight's gradient, of so many rows
    assert_eq!(steps, 6 + reductions, "gates, weight, and two for either part of the rows: {plan}");
    let before = gpu.stats();
    let whole = connected.backward(&g).unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, plan.steps().len() as u64, "{plan}");
    let plane = (14 * rows * 64 * 4) as u64;
    assert!(after.bytes_peak < before.bytes_in_use + plane + 3 * (4 * rows * 64 * 4) as u64);
    let [x, y, g] = all.each_ref().map(|tensor| of(&tensor.slice(1, rows - last..).unwrap()));
    let own = product.connected_backward(&x, &y, &weight, &g).unwrap();
    for (whole, own) in [(&whole.x, &own.x), (&whole.y, &own.y)] {
        let end = whole.tensor().slice(1, rows - last..).unwrap().to_vec().unwrap();
        for (found, want) in end.iter().zip(own.tensor().to_vec().unwrap()) {
            assert!((found - want).abs() <= 1e-5, "{found}, not {want}");
        }
    }
}
