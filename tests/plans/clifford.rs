//! How functions of multivectors are planned for devices as they are: by how many blades there are, where they lie and what
//! the device is.

use support::failure::{Kind, fails};
use support::laid::flat;
use tilewise::clifford::{BladeAxis, Blades, Product, Signature};
use tilewise::planning::Problem;
use tilewise::planning::clifford::{CliffordProblem, Function, MvLayout};
use tilewise::planning::fixtures;
use tilewise::{Caps, DType, Error, Plan};

/// The product of dense operands at these positions.
fn problem(signature: Signature, positions: [usize; 2], axis: BladeAxis, dtype: DType) -> CliffordProblem {
    let blades = signature.blades();
    let [batch, features] = positions;
    let shape = match axis {
        BladeAxis::First => [blades.len(), batch, features],
        BladeAxis::Last => [batch, features, blades.len()],
    };
    let layout = flat(&shape);
    let placed = MvLayout { layout: &layout, blades: &blades };
    CliffordProblem::new(Function::Product(Product::Geometric), &[placed; 2], placed, axis, dtype).unwrap()
}

fn plan(signature: Signature, positions: [usize; 2], axis: BladeAxis, caps: &Caps) -> Plan {
    problem(signature, positions, axis, DType::F32).plan(caps).unwrap()
}

/// What a kernel is specialised by: ` name=value ` or ` slot:variant `.
fn has(plan: &Plan, word: &str) -> bool {
    plan.steps()[0].kernel.to_string().split_whitespace().any(|w| w == word)
}

#[test]
fn positions_of_an_invocation_follow_from_blades_and_device() {
    use BladeAxis::{First, Last};
    let (h200, m2, software) = (fixtures::h200(), fixtures::apple_m2(), fixtures::lavapipe());
    let conformal = Signature::CGA3D;
    for (caps, signature, axis, width) in [
        (&h200, Signature::CL2, First, "WIDTH=4u"),
        (&h200, Signature::CL3, First, "WIDTH=2u"),
        (&m2, Signature::PGA3D, First, "WIDTH=2u"),
        (&h200, conformal, First, "WIDTH=1u"),
        (&h200, Signature::CL2, Last, "WIDTH=1u"),
        (&software, Signature::CL2, First, "WIDTH=4u"),
        (&software, Signature::CL3, First, "WIDTH=2u"),
        (&software, Signature::PGA3D, First, "WIDTH=1u"),
    ] {
        let plan = plan(signature, [4096, 64], axis, caps);
        assert!(has(&plan, width), "{signature}, {axis:?} on {}: {plan}", caps.adapter);
    }
}

/// Planes that begin anywhere are read by vectors on GPUs, by elements on a CPU, whose loads are of elements anyway.
#[test]
fn ragged_planes_are_read_by_vectors_on_gpus() {
    let ragged = |caps: &Caps, signature| plan(signature, [37, 65], BladeAxis::First, caps);
    assert!(has(&ragged(&fixtures::h200(), Signature::CL2), "read_x:shifted"));
    assert!(has(&ragged(&fixtures::h200(), Signature::CL3), "read_x:shifted_two"));
    assert!(has(&ragged(&fixtures::lavapipe(), Signature::CL3), "read_x:one"));
    // Rows of a whole batch are one: features alone may be ragged.
    let whole = plan(Signature::CL2, [64, 65], BladeAxis::First, &fixtures::h200());
    assert!(has(&whole, "read_x:aligned") && has(&whole, "store_consecutive:four_whole"), "{whole}");
    let last = plan(Signature::CL3, [37, 65], BladeAxis::Last, &fixtures::h200());
    assert!(has(&last, "read_x:blades") && has(&last, "store_consecutive:four_whole"), "{last}");
}

/// One kernel for all sizes that lie alike; types and algebras are others.
#[test]
fn sizes_share_a_kernel() {
    let caps = fixtures::h200();
    let kernel = |signature, positions, dtype| {
        let plan = problem(signature, positions, BladeAxis::First, dtype).plan(&caps).unwrap();
        plan.steps()[0].kernel.clone()
    };
    let first = kernel(Signature::CL3, [16, 64], DType::F32);
    assert_eq!(first, kernel(Signature::CL3, [3, 1024], DType::F32));
    assert_ne!(first, kernel(Signature::CL3, [16, 64], DType::F16));
    assert_ne!(first, kernel(Signature::new(2, 1, 0).unwrap(), [16, 64], DType::F32));
}

#[test]
fn products_of_many_terms_loop_over_a_table() {
    let caps = fixtures::h200();
    let [five, six] = [[4, 1, 0], [4, 1, 1]].map(|[p, q, r]| Signature::new(p, q, r).unwrap());
    let of = |signature| plan(signature, [3, 5], BladeAxis::First, &caps);
    assert_eq!((of(five).steps()[0].kernel.shader(), of(five).constants().len()), ("clifford/product", 0));
    // Where the terms of each blade begin, and the end, then the terms.
    let plan = of(six);
    let [table] = plan.constants() else { panic!("{plan}") };
    let table = table.words();
    assert_eq!((plan.steps()[0].kernel.shader(), table.len()), ("clifford/table", 65 + 3072));
    assert_eq!([table[0], table[64]], [65, 65 + 3072]);
}

/// Bytes once and operations once, by the slower of both peaks.
#[test]
fn the_machine_says_how_many_terms_are_written_out() {
    let mut caps = fixtures::h200();
    let shader =
        |caps: &Caps| plan(Signature::CL2, [8, 8], BladeAxis::First, caps).steps()[0].kernel.shader();
    for (terms, want) in [(16, "clifford/product"), (15, "clifford/table")] {
        caps.machine.max_terms = terms;
        assert_eq!(shader(&caps), want, "{terms} of 16 terms");
    }
}

#[test]
fn predictions_are_those_of_the_peaks() {
    let caps = fixtures::h200();
    let cl3 = plan(Signature::CL3, [4096, 512], BladeAxis::First, &caps);
    let bytes = (24 * 4096 * 512 * 4) as f64;
    let launch = caps.machine.launch_seconds;
    assert!(
        ((cl3.seconds() - launch) / (bytes / caps.machine.memory_bandwidth) - 1.0).abs() < 1e-12,
        "{cl3}"
    );
    let eight = plan(Signature::new(8, 0, 0).unwrap(), [64, 64], BladeAxis::First, &caps);
    let flops = (2 * 65_536 * 64 * 64) as f64;
    assert!(((eight.seconds() - launch) / (flops / caps.machine.f32_flops) - 1.0).abs() < 1e-12, "{eight}");
}

#[test]
fn what_is_too_large_is_refused() {
    let caps = fixtures::h200();
    let six = Signature::new(6, 0, 0).unwrap();
    let layout = flat(&[64, 3]);
    let blades = six.blades();
    let placed = MvLayout { layout: &layout, blades: &blades };
    let inverse = CliffordProblem::new(Function::Inverse, &[placed], placed, BladeAxis::First, DType::F32);
    let refused = inverse.unwrap().plan(&caps).unwrap_err();
    assert!(matches!(refused, Error::Limit { op: "inverse", allowed: 2048, .. }), "{refused}");
    let mut small = caps;
    small.limits.binding_bytes = 1 << 20;
    let large = problem(Signature::CL3, [1024, 64], BladeAxis::First, DType::F32);
    let plan = large.plan(&small).unwrap();
    let bound = plan.steps().iter().flat_map(|step| &step.args).map(|arg| arg.window.end - arg.window.start);
    assert!(bound.max() <= Some(1 << 20), "windows that can be bound: {plan}");
    let wrong = Blades::new(six, &[0, 1]).unwrap();
    let mistaken = MvLayout { layout: &layout, blades: &wrong };
    fails(
        CliffordProblem::new(Function::Select, &[placed], mistaken, BladeAxis::First, DType::F32),
        Kind::Shape,
        &["^select: "],
    );
}
