//! Plans as an application executes them: what they compute, what they refuse before anything is recorded, what is shared.

mod operands;
mod pieces;
mod refused;
mod work;

use support::TestGpu;
use support::laid::flat;
use tilewise::clifford::layer::{Connected, LayerProduct};
use tilewise::clifford::{BladeAxis, Multivectors, MvProduct, Signature};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::gpu::Stats;
use tilewise::planning::gemm::{GemmProblem, GemmTypes, Pin};
use tilewise::planning::ops::{Elementwise, ElementwiseProblem};
use tilewise::planning::{Access, Buffer, Plan, Problem, Scalar, fixtures};
use tilewise::{DType, Fill, Gemm, Gpu, Precision, Tensor, ops};

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
        let scalars: &[Scalar] = if plan.scalars().is_empty() { &[] } else { &[alpha.into()] };
        gpu.execute(plan, &[a.view(), b.view(), c.view_mut()?], scalars)
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
        (|problem| problem.split_k(SplitK::Splits(1)), 1),
        (|problem| problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split_k(SplitK::Splits(3)), 2),
        (|problem| problem.precision(Precision::Fast).split_k(SplitK::Splits(1)), 3),
        (|problem| problem.precision(Precision::Split).split_k(SplitK::Splits(1)), 4),
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
        problem.pinned(Pin::Kernel(GemmKernel::Tiled)).split_k(SplitK::Splits(2))
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
    let plan = MvProduct::new(tilewise::clifford::Product::Geometric, &x, &x).plan().unwrap();
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

/// Tables of two plans that have the same words are one on the device.
#[test]
fn plans_share_their_constants_by_content() {
    let Some(gpu) = own() else { return };
    let six = Signature::new(6, 0, 0).unwrap();
    let product = tilewise::clifford::Product::Geometric;
    let batch = |rows: usize| {
        let x = gpu.random::<f32>([64, rows, 5], Fill::Integers, 1).unwrap();
        Multivectors::new(x, &six.blades(), BladeAxis::First).unwrap()
    };
    let (x, y) = (batch(3), batch(7));
    let plans = [&x, &y].map(|x| MvProduct::new(product, x, x).plan().unwrap());
    assert_ne!(plans[0], plans[1]);
    assert_eq!(plans[0].constants(), plans[1].constants());
    drop(x.geometric(&x).unwrap());
    let before = gpu.stats();
    let second = y.geometric(&y).unwrap();
    let after = gpu.stats();
    assert_eq!(after.bytes_staged, before.bytes_staged, "nothing is uploaded");
    let result = (second.tensor().to_vec().unwrap().len() * 4) as u64;
    let grown = after.bytes_in_use - before.bytes_in_use;
    assert!(grown >= result && grown < result + plans[1].constants()[0].bytes(), "{grown} bytes more");
}

/// A temporary is given back behind the last step that binds it, and its buffer is another's.
#[test]
fn temporaries_are_given_back_behind_their_last_step() {
    let Some(gpu) = own() else { return };
    // Two halves of each operand, their exponents, and the cross terms, all of which the last product reads; then the parts of
    // the cross terms, which nothing needs any more when the parts of the last product are summed.
    let mut product = product(&gpu, [64, 64, 1024], |problem| {
        let pin = Pin::Kernel(GemmKernel::Tiled);
        problem.pinned(pin).precision(Precision::Split).split_k(SplitK::Splits(4))
    });
    let temporaries = product.plan.temporaries();
    let parts = 4 * 64 * 64 * 4;
    assert_eq!(temporaries.iter().filter(|&&bytes| bytes == parts).count(), 2, "{}", product.plan);
    let all: u64 = temporaries.iter().map(|bytes| bytes.next_power_of_two().max(256)).sum();
    gpu.wait().unwrap();
    gpu.reset_peak();
    let before = gpu.stats().bytes_in_use;
    product.execute(&gpu, 1.0).unwrap();
    let after = gpu.stats();
    assert_eq!(after.bytes_in_use, before, "all are given back");
    assert!(after.bytes_peak - before <= all - parts, "{} of {all} bytes", after.bytes_peak - before);
    let [a, b] = [&product.a, &product.b].map(|x| x.to_vec().unwrap());
    let want = tilewise::reference::gemm(&a, &b, [64, 64, 1024]).value;
    let found = product.c.to_vec().unwrap();
    assert!(found.iter().zip(&want).all(|(found, want)| f64::from(*found) == *want), "integers are exact");
}

/// The gates of a connected product are given back before there is a result: its norm writes that.
#[test]
fn a_new_result_is_allocated_for_the_step_that_writes_it() {
    let Some(gpu) = own() else { return };
    let (rows, features) = (256, 64);
    let product = LayerProduct::new(Signature::CL2);
    let x = gpu.random::<f32>([4, rows, features], Fill::Uniform, 1).unwrap();
    let x = Multivectors::new(x, &product.blades(), BladeAxis::First).unwrap();
    let weight = gpu.random::<f32>([10, features, features], Fill::Uniform, 2).unwrap();
    let run = || Connected::new(product, &x, &x, &weight).unwrap().kernel(GemmKernel::Tiled).run().unwrap();
    let first = run().tensor().to_vec().unwrap();
    let before = gpu.stats().bytes_in_use;
    gpu.reset_peak();
    let second = run();
    let result = (4 * 4 * rows * features) as u64;
    assert_eq!(gpu.stats().bytes_peak - before, 2 * result, "the result, and what it is before its norm");
    assert_eq!(gpu.stats().bytes_in_use - before, result);
    assert_eq!(second.tensor().to_vec().unwrap(), first, "the same bits");
    // An output that the call passes is there from the start.
    let plan = Connected::new(product, &x, &x, &weight).unwrap().kernel(GemmKernel::Tiled).plan().unwrap();
    let mut held = gpu.zeros::<f32>([4, rows, features]).unwrap();
    gpu.reset_peak();
    let before = gpu.stats().bytes_in_use;
    let operands = [held.view_mut().unwrap(), x.tensor().view(), x.tensor().view(), weight.view()];
    gpu.execute(&plan, &operands, &[]).unwrap();
    assert_eq!(gpu.stats().bytes_peak - before, result + (4 * rows * features) as u64, "o and the gates");
    assert_eq!(held.to_vec().unwrap(), first);
}

/// Of a plan without a device: what is bound is an operand, a temporary or a constant that there is.
#[test]
fn arguments_name_buffers_that_the_plan_has() {
    let six = Signature::new(6, 0, 0).unwrap();
    let layout = flat(&[64, 3, 5]);
    let blades = six.blades();
    let placed = tilewise::planning::clifford::MvLayout { layout: &layout, blades: &blades };
    let function = tilewise::planning::clifford::Function::Product(tilewise::clifford::Product::Geometric);
    let problem = tilewise::planning::clifford::CliffordProblem::new(
        function,
        &[placed; 2],
        placed,
        BladeAxis::First,
        DType::F32,
    );
    let square = flat(&[64, 64]);
    let add = ElementwiseProblem::of_one_type(Elementwise::ADD, &[&square; 2], &square, DType::F32).unwrap();
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
