//! Plans as an application executes them: what they compute, what they refuse before anything is recorded, what is shared.

mod operands;
mod pieces;
#[path = "../support/mod.rs"]
mod support;
mod work;

use support::TestGpu;
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::gemm::{GemmProblem, GemmTypes, Pin, Split};
use tilewise::gpu::{Stats, fixtures};
use tilewise::ops::{Elementwise, ElementwiseProblem};
use tilewise::plan::{Access, Buffer, Plan, Problem};
use tilewise::{DType, Error, Fill, Gemm, GemmKernel, Gpu, GpuOptions, Precision, Tensor, f16, ops};

const TYPES: GemmTypes = GemmTypes::new(DType::F32, DType::F32);

/// Operands of a product, its output, and its plan with these choices.
struct Product {
    a: Tensor<f32>,
    b: Tensor<f32>,
    c: Tensor<f32>,
    plan: Plan,
}

fn product(gpu: &Gpu, [m, n, k]: [usize; 3], choose: impl Fn(GemmProblem) -> GemmProblem) -> Product {
    let a = gpu.random::<f32>([m, k], Fill::Integers, 1).unwrap();
    let b = gpu.random::<f32>([k, n], Fill::Integers, 2).unwrap();
    let c = gpu.empty::<f32>([m, n]).unwrap();
    let problem = GemmProblem::new(a.layout(), b.layout(), c.layout(), TYPES).unwrap();
    let plan = choose(problem).plan(gpu.caps()).unwrap();
    Product { a, b, c, plan }
}

impl Product {
    fn execute(&mut self, gpu: &Gpu, alpha: f32) -> tilewise::Result<()> {
        let Self { a, b, c, plan } = self;
        gpu.execute(plan, &[a.view(), b.view(), c.view_mut()?], &[alpha.into(), 0.0.into()])
    }
}

/// A device of the test's own, which has counted nothing.
fn own() -> Option<TestGpu> {
    support::own(|_| ())
}

fn launches(before: &Stats, after: &Stats) -> u64 {
    after.launches - before.launches
}

#[test]
fn an_executed_plan_computes_what_the_operation_does_in_the_steps_that_it_says() {
    let Some(gpu) = own() else { return };
    type Choose = fn(GemmProblem) -> GemmProblem;
    let cases: [(Choose, usize); 4] = [
        (|problem| problem.split(Split::Parts(1)), 1),
        (|problem| problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split(Split::Parts(3)), 2),
        (|problem| problem.precision(Precision::Fast).split(Split::Parts(1)), 3),
        (|problem| problem.precision(Precision::Split).split(Split::Parts(1)), 4),
    ];
    for (choose, steps) in cases {
        let mut product = product(&gpu, [33, 20, 300], |problem| choose(problem.alpha(0.5)));
        assert_eq!(product.plan.steps().len(), steps, "{}", product.plan);
        let before = gpu.stats();
        product.execute(&gpu, 0.5).unwrap();
        assert_eq!(launches(&before, &gpu.stats()), steps as u64, "{}", product.plan);
        let whole = Gemm::new(&product.a, &product.b).alpha(0.5).run().unwrap();
        // Integers: exact in every precision.
        assert_eq!(product.c.to_vec().unwrap(), whole.to_vec().unwrap(), "{}", product.plan);
    }
}

/// What a step binds, by the plan and by the counters.
#[test]
fn a_plan_says_what_it_binds() {
    let Some(gpu) = own() else { return };
    let mut product = product(&gpu, [64, 64, 256], |problem| {
        problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split(Split::Parts(2))
    });
    let bound = |writes: bool| -> u64 {
        let steps = product.plan.steps().iter().flat_map(|step| &step.args);
        let args = steps.filter(|arg| (arg.access != Access::Read) == writes);
        args.map(|arg| arg.window.end - arg.window.start).sum()
    };
    let (read, written) = (bound(false), bound(true));
    let work = product.plan.work();
    assert_eq!((work.read[0], work.written[0]), (read, written), "sizes that are whole windows");
    let before = gpu.stats();
    product.execute(&gpu, 1.0).unwrap();
    let after = gpu.stats();
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, read);
    assert_eq!(after.bytes_bound_for_writing - before.bytes_bound_for_writing, written);
}

#[test]
fn twenty_thousand_alphas_are_one_plan() {
    let Some(gpu) = own() else { return };
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let mut c = gpu.empty::<f32>([2, 2]).unwrap();
    Gemm::new(&a, &a).alpha(0.5).run_into(&mut c).unwrap();
    let before = gpu.stats();
    for i in 2..20_000u16 {
        Gemm::new(&a, &a).alpha(f32::from(i)).run_into(&mut c).unwrap();
    }
    let after = gpu.stats();
    assert_eq!((after.plans, after.pipelines), (before.plans, before.pipelines));
    assert_eq!(c.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0].map(|x| 19_999.0 * x));
}

#[test]
fn a_constant_is_uploaded_once_and_released_by_trim() {
    let Some(gpu) = own() else { return };
    let six = Signature::new(6, 0, 0).unwrap();
    let x = gpu.random::<f32>([64, 3, 5], Fill::Integers, 1).unwrap();
    let x = Multivectors::new(x, &six.blades(), BladeAxis::First).unwrap();
    let plan = x.plan_product(tilewise::clifford::Product::Geometric, &x).unwrap();
    let [table] = plan.constants() else { panic!("{plan}") };
    assert!(table.bytes() > 4096);
    let first = x.geometric(&x).unwrap();
    let want = first.tensor().to_vec().unwrap();
    let before = gpu.stats();
    drop(first);
    let again = x.geometric(&x).unwrap();
    let after = gpu.stats();
    assert_eq!(after.bytes_staged, before.bytes_staged, "nothing is uploaded again");
    assert_eq!(after.bytes_in_use, before.bytes_in_use);
    assert_eq!(again.tensor().to_vec().unwrap(), want);
    drop(again);
    let held = gpu.stats().bytes_in_use;
    gpu.trim();
    assert!(gpu.stats().bytes_in_use + table.bytes() <= held, "trim gives the table back");
    assert_eq!(x.geometric(&x).unwrap().tensor().to_vec().unwrap(), want, "it is uploaded again");
}

#[test]
fn operands_that_the_plan_is_not_for_are_refused_before_anything_is_recorded() {
    let (Some(gpu), Some(other)) = (own(), own()) else { return };
    let Product { a, b, mut c, plan } = product(&gpu, [6, 8, 10], |problem| problem);
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
        refused(error, &["A must lie as the plan has it"]);
    }
    refused(gpu.execute(&plan, &[av, bv], &scalars), &["3 operands and 2 scalars", "2 operands"]);
    refused(gpu.execute(&plan, &[av, bv, c.view_mut().unwrap()], &[]), &["2 scalars", "0 scalars"]);
    refused(gpu.execute(&plan, &[av, bv, c.view()], &scalars), &["the output", "view_mut"]);
    let clone = c.clone();
    assert!(matches!(c.view_mut(), Err(Error::Input { .. })), "its buffer is shared");
    drop(clone);
    gpu.execute(&plan, &[av, bv, c.view_mut().unwrap()], &scalars).unwrap();
    assert_eq!(c.to_vec().unwrap(), tilewise::matmul(&a, &b).unwrap().to_vec().unwrap());
}

#[test]
fn a_plan_for_a_device_that_has_more_is_refused_with_what_is_lacking() {
    let Some(gpu) = support::bare() else { return };
    let a = gpu.zeros::<f32>([64, 64]).unwrap();
    let problem = GemmProblem::new(a.layout(), a.layout(), a.layout(), TYPES).unwrap();
    let mut c = gpu.empty::<f32>([64, 64]).unwrap();
    let scalars = [1.0f32.into(), 0.0f32.into()];
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
            let done = gpu.execute(&plan, &[a.view(), a.view(), c.view_mut().unwrap()], &scalars);
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
        let error = gpu.execute(&plan, &operands, &scalars).expect_err("the device lacks it");
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(matches!(gpu.prepare(&plan), Err(Error::Unsupported { .. })));
    }
    assert_eq!(gpu.stats().launches, launched);
}

#[test]
fn temporaries_beyond_the_budget_are_an_error_before_anything_is_recorded() {
    let Some(gpu) = support::own(|options| options.memory_budget = Some(3 << 19)) else { return };
    let mut product = product(&gpu, [64, 64, 1024], |problem| {
        problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split(Split::Parts(32))
    });
    assert_eq!(product.plan.temporaries(), [32 * 64 * 64 * 4]);
    let held = gpu.zeros::<f32>([3 << 16]).unwrap();
    let other = ops::add(&held, &held).unwrap_err();
    assert!(matches!(other, Error::OutOfMemory { .. }), "{other}");
    let before = gpu.stats();
    let error = product.execute(&gpu, 1.0).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { op: "matmul", .. }), "{error}");
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
    let error = gpu.execute(&plan, &[a.view(), a.view(), c.view_mut().unwrap()], &[1.0.into(), 0.0.into()]);
    let said = error.expect_err("it does not fit").to_string();
    assert!(said.contains("bytes of immediates"), "{said}");
    assert_eq!(gpu.stats().launches, 0);
}

#[test]
fn who_watches_is_told_until_the_work_ends_however_it_does() {
    let Some(gpu) = own() else { return };
    let a = gpu.random::<f32>([8, 8], Fill::Integers, 1).unwrap();
    let add = || ops::add(&a, &a).map(drop);
    let of = |plans: &[Plan]| -> Vec<&'static str> { plans.iter().map(Plan::op).collect() };
    // One in another, in which a third panics.
    let (inner, outer) = gpu.plans_of(|| {
        add().unwrap();
        let (result, inner) = gpu.plans_of(|| tilewise::matmul(&a, &a).map(drop));
        result.unwrap();
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            gpu.plans_of(|| {
                add().unwrap();
                panic!("in the middle");
            })
        }));
        assert!(panics.is_err());
        inner
    });
    assert_eq!((of(&inner), of(&outer)), (vec!["matmul"], vec!["add", "matmul", "add"]));
    add().unwrap();
    let (error, none) = gpu.plans_of(|| ops::add(&a, &gpu.zeros::<f32>([7]).unwrap()));
    assert!(error.is_err() && none.is_empty(), "what is refused executes nothing");
}

/// Several steps that leave each other something, twice in one recording, from several threads.
#[test]
fn plans_of_several_steps_do_not_meet_in_their_temporaries() {
    let Some(gpu) = own() else { return };
    let want = {
        let mut product = product(&gpu, [40, 30, 500], |problem| problem.precision(Precision::Split));
        product.execute(&gpu, 1.0).unwrap();
        product.c.to_vec().unwrap()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let mut product =
                        product(&gpu, [40, 30, 500], |problem| problem.precision(Precision::Split));
                    product.execute(&gpu, 1.0).unwrap();
                    product.execute(&gpu, 1.0).unwrap();
                    assert_eq!(product.c.to_vec().unwrap(), want);
                }
            });
        }
    });
}

/// Of a plan without a device: what is bound is an operand, a temporary or a constant that there is.
#[test]
fn arguments_name_buffers_that_the_plan_has() {
    let six = Signature::new(6, 0, 0).unwrap();
    let layout = tilewise::Layout::contiguous("test", &[64, 3, 5]).unwrap();
    let blades = six.blades();
    let placed = tilewise::clifford::Placed { layout: &layout, blades: &blades };
    let function = tilewise::clifford::Function::Product(tilewise::clifford::Product::Geometric);
    let problem = tilewise::clifford::CliffordProblem::new(
        function,
        &[placed; 2],
        placed,
        BladeAxis::First,
        DType::F32,
    );
    let square = tilewise::Layout::contiguous("test", &[64, 64]).unwrap();
    let add = ElementwiseProblem::new(Elementwise::Add, &[&square; 2], &square, DType::F32).unwrap();
    let gemm = GemmProblem::new(&square, &square, &square, TYPES).unwrap().precision(Precision::Split);
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let plans = [problem.as_ref().unwrap().plan(&caps), add.plan(&caps), gemm.plan(&caps)];
        for plan in plans.map(Result::unwrap) {
            for arg in plan.steps().iter().flat_map(|step| &step.args) {
                let there = match arg.buffer {
                    Buffer::Operand(index) => index < plan.parameters().len(),
                    Buffer::Temporary(index) => index < plan.temporaries().len(),
                    Buffer::Constant(index) => index < plan.constants().len(),
                };
                assert!(there, "{name}: {arg:?} of {plan}");
            }
        }
    }
}
