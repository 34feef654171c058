//! How functions of rows of multivectors are planned for devices as they are: who has a row, and how often it is read.

use support::laid::flat;
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{GradeNorm, LayerProduct};
use tilewise::planning::Problem;
use tilewise::planning::clifford_layer::{RowFunction, RowOperandLayouts, RowProblem, RowTile};
use tilewise::planning::fixtures;
use tilewise::{Caps, DType, Plan};

fn problem(
    function: RowFunction,
    product: LayerProduct,
    [rows, features]: [usize; 2],
    dtype: DType,
) -> RowProblem {
    let x = flat(&[product.signature.size(), rows, features]);
    let w = flat(&[features, product.signature.paths().len()]);
    let layouts = RowOperandLayouts { x: &x, y: Some(&x), g: Some(&x), w: Some(&w) };
    RowProblem::new(function, product, &product.blades(), layouts, dtype).unwrap()
}

fn plan(function: RowFunction, signature: Signature, shape: [usize; 2], caps: &Caps) -> Plan {
    problem(function, LayerProduct::new(signature), shape, DType::F32).plan(caps).unwrap()
}

#[test]
fn rows_that_fit_take_three_passes_and_longer_ones_five() {
    let (h200, m2, software) = (fixtures::h200(), fixtures::apple_m2(), fixtures::lavapipe());
    let forward = RowFunction::Steerable;
    let backward = plan(RowFunction::SteerableBackward, Signature::CL3, [4096, 512], &h200);
    let shaders: Vec<&str> = backward.steps().iter().map(|step| step.kernel.shader()).collect();
    assert_eq!(shaders, ["clifford/rows", "ops/reduce_columns", "ops/reduce_parts"], "{backward}");
    for (caps, signature, features, launches) in [
        (&h200, Signature::CL3, 512, 1),
        (&h200, Signature::CL3, 1024, 1),
        (&h200, Signature::CL3, 4096, 2),
        (&h200, Signature::CGA3D, 256, 1),
        (&h200, Signature::CGA3D, 1024, 2),
        (&m2, Signature::CL2, 512, 1),
        (&m2, Signature::CL2, 8192, 2),
        (&software, Signature::CL3, 4096, 1),
        (&software, Signature::CL3, 40_000, 2),
    ] {
        let plan = plan(forward, signature, [64, features], caps);
        let found = plan.steps().len();
        assert_eq!(found, launches, "{signature}, {features} features on {}: {plan}", caps.adapter);
        // Beyond one launch the product waits for its sums, in f32.
        let product = 4 * (signature.size() * 64 * features) as u64;
        assert_eq!(plan.temporaries().iter().sum::<u64>() > product, launches == 2, "{plan}");
    }
}

#[test]
fn plans_say_what_they_read_and_compute() {
    let caps = fixtures::h200();
    let elements = 8 * 4096 * 512_u64;
    let forward = plan(RowFunction::Steerable, Signature::CL3, [4096, 512], &caps);
    let weights = 4 * 512 * Signature::CL3.paths().len() as u64;
    let work = &forward.steps()[0].work;
    assert_eq!(work.read.iter().chain(&work.written).sum::<u64>(), 3 * 4 * elements + weights, "{forward}");
    let backward = plan(RowFunction::SteerableBackward, Signature::CL3, [4096, 512], &caps);
    let work = &backward.steps()[0].work;
    let slab = backward.temporaries()[0];
    assert_eq!(work.bytes(), 5 * 4 * elements + weights + slab, "{backward}");
    assert!(backward.to_string().contains("gated by gelu, norm rms"), "{backward}");
    let seconds = |function| {
        let plan = plan(function, Signature::CL3, [4096, 512], &caps);
        plan.seconds() - plan.steps().len() as f64 * caps.machine.launch_seconds
    };
    let copy = elements as f64 * 4.0 / caps.machine.memory_bandwidth;
    assert!((3.0..3.1).contains(&(seconds(RowFunction::Steerable) / copy)));
    assert!((5.0..6.0).contains(&(seconds(RowFunction::SteerableBackward) / copy)));
}

/// Every row and feature is some lane's, once, and shared memory and invocations are within limits.
#[test]
fn tiles_cover_every_row() {
    for caps in [fixtures::h200(), fixtures::apple_m2(), fixtures::lavapipe(), fixtures::swiftshader()] {
        for signature in [Signature::CL2, Signature::CL3, Signature::PGA3D, Signature::CGA3D] {
            for shape in [[1, 1], [3, 65], [4096, 64], [37, 3000], [70_000, 2]] {
                for norm in [GradeNorm::None, GradeNorm::Rms] {
                    let product = LayerProduct::new(signature).norm(norm);
                    let problem = problem(RowFunction::SteerableBackward, product, shape, DType::F32);
                    let tile = RowTile::of(&problem, &caps);
                    let [rows, features] = shape;
                    let each = (tile.width * tile.units) as usize;
                    let row = (tile.part * tile.blocks) as usize * each;
                    assert!(row >= features, "{tile:?} for {shape:?}");
                    let spare = tile.part as usize * each;
                    assert!(row - features < spare.max(2 * features), "{tile:?} for {shape:?}: idle lanes");
                    let at_once = tile.lanes / tile.part;
                    assert!(
                        (tile.strips * tile.iterations * at_once) as usize >= rows,
                        "{tile:?} for {shape:?}"
                    );
                    let but_one = ((tile.strips - 1) * tile.iterations * at_once) as usize;
                    assert!(but_one < rows, "{tile:?} for {shape:?}: an idle strip");
                    assert!(tile.lanes <= caps.limits.workgroup_invocations, "{tile:?}");
                }
            }
        }
    }
}

/// Features up to the same power of two share a kernel on GPUs, and all rows do.
#[test]
fn sizes_share_a_kernel() {
    let caps = fixtures::h200();
    let kernel = |shape| plan(RowFunction::Steerable, Signature::CL3, shape, &caps).steps()[0].kernel.clone();
    assert_eq!(kernel([7, 500]), kernel([4096, 512]));
    assert_ne!(kernel([7, 500]), kernel([7, 200]));
}
