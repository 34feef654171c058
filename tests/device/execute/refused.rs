//! What is refused before anything is recorded, and what of an earlier failure an execution sees.

use super::{Product, TYPES, launches, own, product};
use support::failure::{Kind, fails, says};
use support::laid;
use tilewise::clifford::layer::LayerProduct;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, OperandRounding,
};
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::planning::ops::{Elementwise, ElementwiseProblem};
use tilewise::planning::{Plan, Problem, Scalar, fixtures};
use tilewise::{DType, Error, Fill, Gpu, GpuOptions, Layout, Tensor, f16, ops};

#[test]
fn operands_that_the_plan_is_not_for_are_refused_before_anything_is_recorded() {
    let (Some(gpu), Some(other)) = (own(), own()) else { return };
    let Product { a, b, mut c, plan } = product(&gpu, [6, 8, 10], |problem| problem.alpha(2.0).beta(1.0));
    let scalars = [1.0f32.into(), 0.0f32.into()];
    let half = gpu.zeros::<f16>([6, 10]).unwrap();
    let (far, wide) = (other.zeros::<f32>([6, 10]).unwrap(), gpu.zeros::<f32>([6, 11]).unwrap());
    let turned = gpu.zeros::<f32>([10, 6]).unwrap();
    let before = gpu.stats();
    let refused = |error: tilewise::Result<()>, says: &[&str]| {
        let said = error.expect_err("it is refused").to_string();
        assert!(says.iter().all(|word| said.contains(word)), "{said}");
        assert_eq!(launches(&before, &gpu.stats()), 0, "{said}");
    };
    let (av, bv) = (a.view(), b.view());
    refused(gpu.execute(&plan, &[half.view(), bv, c.view_mut().unwrap()], &scalars), &["A", "f32", "f16"]);
    refused(gpu.execute(&plan, &[far.view(), bv, c.view_mut().unwrap()], &scalars), &["different devices"]);
    for wrong in [&wide, &turned.t(), &wide.slice(1, 1..).unwrap()] {
        let error = gpu.execute(&plan, &[wrong.view(), bv, c.view_mut().unwrap()], &scalars);
        assert!(matches!(error, Err(Error::Shape { .. })), "{error:?}");
        refused(error, &["A must have the plan's layout"]);
    }
    refused(gpu.execute(&plan, &[av, bv], &scalars), &["3 operands and 2 scalars", "2 operands"]);
    refused(gpu.execute(&plan, &[av, bv, c.view_mut().unwrap()], &[]), &["2 scalars", "0 scalars"]);
    refused(gpu.execute(&plan, &[av, bv, c.view()], &scalars), &["the output", "view_mut"]);
    let clone = c.clone();
    assert!(matches!(c.view_mut(), Err(Error::Input { .. })), "its buffer is shared");
    drop(clone);
    let mut c = gpu.zeros::<f32>([6, 8]).unwrap();
    gpu.execute(&plan, &[av, bv, c.view_mut().unwrap()], &scalars).unwrap();
    assert_eq!(c.to_vec().unwrap(), tilewise::matmul(&a, &b).unwrap().to_vec().unwrap());
}

#[test]
fn a_plan_for_a_device_that_has_more_is_refused_with_what_is_lacking() {
    let Some(gpu) = support::bare() else { return };
    let a = gpu.zeros::<f32>([64, 64]).unwrap();
    let problem = GemmProblem::new(a.layout(), a.layout(), a.layout(), TYPES).unwrap();
    let mut c = gpu.empty::<f32>([64, 64]).unwrap();
    let mut wide = gpu.caps().clone();
    wide.limits.workgroup_invocations = 4096;
    wide.limits.workgroup_bytes = 1 << 20;
    let immediates = fixtures::h200();
    for caps in [immediates, wide] {
        for kernel in [GemmKernel::Naive, GemmKernel::Tiled] {
            let plan = problem.pinned(Pin::Kernel(kernel)).plan(&caps).unwrap();
            let runs = plan.steps().iter().all(|step| {
                let limits = &gpu.caps().limits;
                step.needs.invocations <= limits.workgroup_invocations
                    && step.needs.workgroup_bytes <= limits.workgroup_bytes
                    && (limits.immediate_bytes > 0
                        || !step.kernel.specialize().unwrap().contains("var<immediate>"))
            });
            let done = gpu.execute(&plan, &[a.view(), a.view(), c.view_mut().unwrap()], &[]);
            match done {
                Ok(()) => assert!(runs, "{plan}"),
                Err(Error::Unsupported { .. }) => assert!(!runs, "{plan}"),
                Err(error) => panic!("{error}: {plan}"),
            }
        }
    }
    // f16 in shaders, and tensor cores.
    let launched = gpu.stats().launches;
    let half = gpu.zeros::<f16>([64, 64]).unwrap();
    let types = GemmTypes::new(DType::F16, DType::F32);
    let problem = GemmProblem::new(half.layout(), half.layout(), c.layout(), types).unwrap();
    for kernel in [GemmKernel::Naive, GemmKernel::Coop] {
        let plan = problem.pinned(Pin::Kernel(kernel)).plan(&fixtures::rtx_4090()).unwrap();
        let operands = [half.view(), half.view(), c.view_mut().unwrap()];
        fails(gpu.execute(&plan, &operands, &[]), Kind::Unsupported, &[]);
        assert!(matches!(gpu.prepare(&plan), Err(Error::Unsupported { .. })));
    }
    assert_eq!(gpu.stats().launches, launched);
}

#[test]
fn temporaries_beyond_the_budget_are_an_error_before_anything_is_recorded() {
    let Some(gpu) = support::own(|options| options.memory_budget = Some(3 << 19)) else { return };
    let mut product = product(&gpu, [64, 64, 1024], |problem| {
        problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split_k(SplitK::Splits(32))
    });
    assert_eq!(product.plan.temporaries(), [32 * 64 * 64 * 4]);
    let held = gpu.zeros::<f32>([3 << 16]).unwrap();
    fails(ops::add(&held, &held), Kind::OutOfMemory, &[]);
    let before = gpu.stats();
    fails(product.execute(&gpu, 1.0), Kind::OutOfMemory, &["^matmul: "]);
    let after = gpu.stats();
    assert_eq!((launches(&before, &after), after.bytes_in_use), (0, before.bytes_in_use));
    drop(held);
    product.execute(&gpu, 1.0).unwrap();
    let want =
        tilewise::reference::gemm(&product.a.to_vec().unwrap(), &product.b.to_vec().unwrap(), [64, 64, 1024]);
    let found = product.c.to_vec().unwrap();
    assert!(found.iter().zip(&want.value).all(|(found, want)| f64::from(*found) == *want));
}

/// A device whose immediates have no room for what the plan has there.
#[test]
fn a_plan_with_more_immediates_than_the_device_has_is_refused() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_immediate_size = 64;
    });
    assert_eq!(gpu.caps().limits.immediate_bytes, 64);
    let a = gpu.zeros::<f32>([64, 64]).unwrap();
    let mut c = gpu.empty::<f32>([64, 64]).unwrap();
    let problem = GemmProblem::new(a.layout(), a.layout(), a.layout(), TYPES).unwrap();
    let plan = problem.pinned(Pin::Kernel(GemmKernel::Naive)).plan(&fixtures::h200()).unwrap();
    let error = gpu.execute(&plan, &[a.view(), a.view(), c.view_mut().unwrap()], &[]);
    says(error, &["bytes of immediates"]);
    assert_eq!(gpu.stats().launches, 0);
}

/// A view is copied freely, so one tensor may be passed twice: never where it is written.
#[test]
fn what_is_written_is_no_other_operand() {
    let Some(gpu) = own() else { return };
    let Product { a, mut c, plan, .. } = product(&gpu, [8, 8, 8], |problem| problem);
    let written = c.view_mut().unwrap();
    for operands in [[written, a.view(), written], [a.view(), written, written]] {
        let error = gpu.execute(&plan, &operands, &[]).expect_err("it is written and read");
        let said = error.to_string();
        assert!(
            matches!(error, Error::Input { .. }) && said.contains("the output") && said.contains("as well"),
            "{said}"
        );
    }
    assert_eq!(gpu.stats().launches, 0);
    // What is only read may be passed twice.
    gpu.execute(&plan, &[a.view(), a.view(), written], &[]).unwrap();
    assert_eq!(c.to_vec().unwrap(), tilewise::matmul(&a, &a).unwrap().to_vec().unwrap());
    // Two outputs of one plan: both gradients of a product.
    let forward = ConnectedForward::new(connected(), OperandRounding::None, Pin::Free).unwrap();
    let plan = ConnectedBackward::new(forward, &flat(&[4, 3, 7])).unwrap().plan(gpu.caps()).unwrap();
    let zeros = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let (x, w, g) = (zeros(&[4, 3, 5]), zeros(&[10, 5, 7]), zeros(&[4, 3, 7]));
    let (mut both, mut of_w) = (zeros(&[4, 3, 5]), zeros(&[10, 5, 7]));
    let both = both.view_mut().unwrap();
    let operands = [both, both, of_w.view_mut().unwrap(), x.view(), x.view(), w.view(), g.view()];
    fails(gpu.execute(&plan, &operands, &[]), Kind::Input, &[]);
}

#[test]
fn scalars_are_those_that_kernels_read_and_of_their_types() {
    let Some(gpu) = own() else { return };
    let names = |plan: &Plan| -> Vec<&str> { plan.scalars().iter().map(|scalar| scalar.name).collect() };
    type Choose = fn(GemmProblem) -> GemmProblem;
    let cases: [(Choose, &[&str]); 5] = [
        (|problem| problem, &[]),
        (|problem| problem.alpha(2.0), &["alpha"]),
        (|problem| problem.beta(2.0), &["beta"]),
        (|problem| problem.alpha(2.0).beta(2.0).precision(tilewise::Precision::Split), &["alpha", "beta"]),
        (|problem| problem.alpha(2.0).beta(2.0).split_k(SplitK::Splits(3)), &["alpha", "beta"]),
    ];
    for (choose, scalars) in cases {
        let mut product = product(&gpu, [9, 10, 100], choose);
        assert_eq!(names(&product.plan), scalars);
        let held = gpu.random::<f32>([9, 10], Fill::Integers, 3).unwrap();
        product.c = gpu.tensor(&held.to_vec().unwrap(), [9, 10]).unwrap();
        let Product { a, b, mut c, plan } = product;
        let numbers = vec![Scalar::from(3.0f32); scalars.len()];
        gpu.execute(&plan, &[a.view(), b.view(), c.view_mut().unwrap()], &numbers).unwrap();
        let factor = |name: &str, without: f32| if scalars.contains(&name) { 3.0 } else { without };
        let (alpha, beta) = (factor("alpha", 1.0), factor("beta", 0.0));
        let products = tilewise::matmul(&a, &b).unwrap().to_vec().unwrap();
        let want = products.iter().zip(held.to_vec().unwrap()).map(|(ab, c)| alpha * ab + beta * c);
        assert_eq!(c.to_vec().unwrap(), want.collect::<Vec<_>>(), "{plan}");
        if !scalars.is_empty() {
            let numbers = vec![Scalar::from(3u32); scalars.len()];
            let error = gpu.execute(&plan, &[a.view(), b.view(), c.view_mut().unwrap()], &numbers);
            says(error, &["f32, not u32"]);
        }
    }
}

/// A tensor whose contents were never computed, because a launch failed.
fn never_computed(gpu: &Gpu) -> Tensor<f32> {
    let x = gpu.zeros::<f32>([8, 8]).unwrap();
    x.buffer().unwrap().0.destroy();
    let y = ops::add(&x, &x).unwrap();
    assert!(gpu.flush().is_err());
    y
}

#[test]
fn an_operand_that_was_never_computed_is_an_error_unless_the_plan_writes_all_of_it() {
    let Some(gpu) = own() else { return };
    let ones = gpu.tensor(&[1.0f32; 64], [8, 8]).unwrap();
    let plan = |choose: fn(GemmProblem) -> GemmProblem| product(&gpu, [8; 3], choose).plan;
    let (overwrites, adds) = (plan(|problem| problem), plan(|problem| problem.beta(2.0)));
    let beta = [Scalar::from(1.0f32)];
    // As A, and as what is added to.
    let mut c = gpu.zeros::<f32>([8, 8]).unwrap();
    let error =
        gpu.execute(&overwrites, &[never_computed(&gpu).view(), ones.view(), c.view_mut().unwrap()], &[]);
    assert!(matches!(error, Err(Error::Device(_))), "{error:?}");
    assert_eq!(c.to_vec().unwrap(), [0.0; 64]);
    let mut failed = never_computed(&gpu);
    fails(
        gpu.execute(&adds, &[ones.view(), ones.view(), failed.view_mut().unwrap()], &beta),
        Kind::Device,
        &[],
    );
    assert!(failed.to_vec().is_err(), "it is as it was");
    gpu.execute(&overwrites, &[ones.view(), ones.view(), failed.view_mut().unwrap()], &[]).unwrap();
    assert_eq!(failed.to_vec().unwrap(), [8.0; 64]);
    // An update in place reads, too.
    let mut failed = never_computed(&gpu);
    let update = ElementwiseProblem::of_one_type(
        Elementwise::ADD_ASSIGN,
        &[ones.layout()],
        failed.layout(),
        DType::F32,
    );
    let update = update.unwrap().plan(gpu.caps()).unwrap();
    let error = gpu.execute(&update, &[failed.view_mut().unwrap(), ones.view()], &[]);
    assert!(matches!(error, Err(Error::Device(_))) && failed.to_vec().is_err(), "{error:?}");
}

/// Tables that plans have uploaded make room where a tensor needs it.
#[test]
fn constants_make_room_within_the_budget() {
    const BUDGET: u64 = 1 << 20;
    let Some(gpu) = support::own(|options| options.memory_budget = Some(BUDGET)) else { return };
    let eight = Signature::new(6, 0, 0).unwrap();
    let x = gpu.random::<f32>([64, 3, 5], Fill::Integers, 1).unwrap();
    let x = Multivectors::new(x, &eight.blades(), BladeAxis::First).unwrap();
    let want = x.geometric(&x).unwrap().tensor().to_vec().unwrap();
    let held = gpu.stats().bytes_in_use;
    // All that is left without the table, and a part of what that takes: sizes go by powers of two.
    let mut tensors = Vec::new();
    let mut left = BUDGET - held;
    while left >= 256 {
        let size = 1 << left.ilog2();
        tensors.push(gpu.empty::<f32>([size / 4]).unwrap());
        left -= size as u64;
    }
    let more = gpu.empty::<f32>([1024]).expect("the table makes room");
    drop((more, tensors));
    assert_eq!(x.geometric(&x).unwrap().tensor().to_vec().unwrap(), want, "it is uploaded again");
}

fn flat(shape: &[usize]) -> Layout {
    laid::flat(shape)
}

fn connected() -> ConnectedProblem {
    let product = LayerProduct::new(Signature::CL2);
    let x = flat(&[4, 3, 5]);
    ConnectedProblem::new(product, &product.blades(), [&x, &x], &flat(&[10, 5, 7]), DType::F32).unwrap()
}

/// What kernels trust is checked where a problem is made, and cannot be changed behind that.
#[test]
fn problems_whose_parts_do_not_go_together_are_refused() {
    let product = LayerProduct::new(Signature::CL2);
    let (x, w) = (flat(&[4, 3, 5]), flat(&[10, 5, 7]));
    let new = |blades: &tilewise::clifford::Blades, operands: [&Layout; 2]| {
        ConnectedProblem::new(product, blades, operands, &w, DType::F32)
    };
    let all = product.blades();
    for operands in
        [[&x, &flat(&[4, 2, 5])], [&flat(&[4, 3]), &flat(&[4, 3])], [&flat(&[3, 3, 5]), &flat(&[3, 3, 5])]]
    {
        assert!(matches!(new(&all, operands), Err(Error::Shape { .. })), "{operands:?}");
    }
    for blades in [Signature::CL2.scalars(), Signature::CL3.blades()] {
        assert!(matches!(new(&blades, [&x, &x]), Err(Error::Input { .. })), "{blades}");
    }
    let problem = new(&all, [&x, &x]).unwrap();
    for rows in [[0, 4], [3, 1], [usize::MAX, 2]] {
        assert!(matches!(problem.operand_gradients(rows), Err(Error::Shape { .. })), "{rows:?}");
    }
    let forward = ConnectedForward::new(problem.clone(), OperandRounding::None, Pin::Free).unwrap();
    for g in [flat(&[4, 3, 5]), flat(&[4, 2, 7]), flat(&[4, 21])] {
        assert!(matches!(ConnectedBackward::new(forward.clone(), &g), Err(Error::Shape { .. })), "{g:?}");
    }
    let halves = problem.rounded_to_f16().unwrap();
    fails(ConnectedForward::new(halves, OperandRounding::F16, Pin::Free), Kind::Input, &[]);
    // A product over segments reads its table unchecked, so it has no plan without one.
    let segmented = problem.forward().unwrap();
    fails(segmented.product().plan(&fixtures::h200()), Kind::Input, &[]);
}
