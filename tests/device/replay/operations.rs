//! Every operation of networks in a capture and in an application's encoder: the bits of eager work, and no uploads. Those of
//! `tests/support/operations`, and forms of them with options.

use super::random;
use std::cell::RefCell;
use support::operations::results::{self, Read};
use support::operations::{self, Row};
use support::watchdog::{doing, in_time};
use tilewise::gemm::Linear;
use tilewise::ops::{self, BatchNorm, CrossEntropy, Expr, GroupNorm, LayerNorm};
use tilewise::{Activation, Error, Gpu, Result, Tensor};

/// What operations use next to x, a tensor (6, 8, 16).
struct World {
    gamma: Tensor<f32>,
    /// The shape of x.
    other: Tensor<f32>,
    rows: Tensor<f32>,
    /// Classes of rows (48); one of them is ignored.
    classes: Tensor<i32>,
    /// Indices (5) into axis 0; one is out of range.
    indices: Tensor<i32>,
    linear: Linear<f32>,
}

impl World {
    fn new(gpu: &Gpu) -> Result<Self> {
        let classes: Vec<i32> = (0..48).map(|i| if i == 7 { -100 } else { i % 16 }).collect();
        Ok(Self {
            gamma: random(gpu, &[16], 2),
            other: random(gpu, &[6, 8, 16], 3),
            rows: random(gpu, &[5, 8, 16], 4),
            classes: gpu.tensor(&classes, [48])?,
            indices: gpu.tensor(&[3, 0, 3, 9, 5], [5])?,
            linear: Linear::new(random(gpu, &[16, 16], 5), Some(random(gpu, &[16], 6)), Activation::Gelu)?,
        })
    }
}

type Operation = (&'static str, fn(&Tensor<f32>, &World) -> Result<Tensor<f32>>);

const OPERATIONS: [Operation; 12] = [
    ("numbers", |x, _| &(&(2.0 * x)? + 1)? / 3),
    ("map", |x, it| ops::map(&[x, &it.other], |[x, y]: [Expr; 2]| x.less(&y).select(x.exp() * 0.5, y.sin()))),
    ("mean", |x, _| ops::mean(x, [0, 2])),
    ("layer norm", |x, it| {
        let norm = LayerNorm::new().gamma(&it.gamma).beta(&it.gamma);
        let normed = norm.with_statistics(x)?;
        let (of_x, gradients) = norm.backward(x, &normed, &it.other)?;
        &of_x * gradients.get("gamma").expect("there is a gamma")
    }),
    ("group norm", |x, it| {
        let norm = GroupNorm::new(4).gamma(&it.gamma);
        let normed = norm.with_statistics(x)?;
        &norm.backward(x, &normed, &it.other)?.0 + &normed.y
    }),
    ("batch norm", |x, it| {
        let norm = BatchNorm::new().gamma(&it.gamma);
        let normed = norm.training(x, None)?;
        &norm.training_backward(x, &normed, &it.other)?.0 + &normed.y
    }),
    ("cross-entropy", |x, it| {
        let entropy = CrossEntropy::new().class_weights(&it.gamma).ignore_index(-100).label_smoothing(0.1);
        let (found, gradient) = entropy.run_with_gradient(&x.reshape([48, 16])?, &it.classes, 2.0)?;
        &gradient + &found.loss
    }),
    ("rows by index", |x, it| ops::index_select(x, 0, &it.indices)),
    ("embedding backward", |x, it| {
        ops::embedding_backward(&it.indices.slice(0, ..3)?, &x.reshape([6, 128])?.slice(0, ..3)?, 4, Some(0))
    }),
    ("rows added", |x, it| {
        let mut sums = ops::activate(x, Activation::None)?;
        ops::index_add(&mut sums, 0, &it.indices, &it.rows)?;
        Ok(sums)
    }),
    ("a layer", |x, it| it.linear.forward_with_residual(&x.reshape([48, 16])?, &it.other.reshape([48, 16])?)),
    ("a layer, backward", |x, it| {
        let (x_gradient, gradients) =
            it.linear.backward(&x.reshape([48, 16])?, &it.other.reshape([48, 16])?)?;
        &x_gradient + gradients.get("bias").expect("there is a bias")
    }),
];

/// Whether a row computes on the device alone: tables of angles are uploaded.
fn is_operation(row: &Row) -> bool {
    let rooms = ["ops::", "attention", "linear", "matmul", "Gemm::", "gemm::"];
    let others = [
        "Builder",
        "Rotary::new",
        "Rotary::at_positions",
        "KeyValueCache",
        "MultiHeadAttention",
        "TransformerBlock",
    ];
    rooms.iter().any(|room| row.name.starts_with(room))
        && !others.iter().any(|other| row.name.contains(other))
}

/// Work on a tensor that is replaced, and what it gives.
struct Case<'a> {
    name: &'static str,
    /// Makes this the tensor that the work reads.
    replace: &'a dyn Fn(&Tensor<f32>),
    work: &'a dyn Fn() -> Result<Vec<Read>>,
}

#[test]
fn every_operation_has_the_bits_of_eager_work_in_a_capture_and_in_an_encoder() {
    let Some(()) = support::first_driver() else { return };
    let devices = [support::own(|_| ()), support::bare()];
    for gpu in devices.into_iter().flatten() {
        let (mut cases, of) = (0, |shape: &[usize]| [7, 8].map(|seed| random::<f32>(&gpu, shape, seed)));
        let it = World::new(&gpu).unwrap();
        let [x, new] = of(&[6, 8, 16]);
        for (name, operation) in OPERATIONS {
            let at = RefCell::new(x.clone());
            let work = || Ok(vec![results::of(&operation(&at.borrow(), &it)?)]);
            let replace = |x: &Tensor<f32>| drop(at.replace(x.clone()));
            cases +=
                in_time(name, || check(&gpu, &Case { name, replace: &replace, work: &work }, [&x, &new]));
        }
        let world = RefCell::new(operations::World::new(&gpu).unwrap());
        let [a, new] = of(&[8, 8]);
        for row in operations::all().iter().filter(|row| is_operation(row)) {
            let work = || {
                let it = &mut *world.borrow_mut();
                it.c = ops::mul(&it.b, 1.0)?; // what it writes to has the same contents in every run
                let made = results::tensors(&*row.call(it)?);
                let made = made.unwrap_or_else(|| {
                    panic!("{}: tests/support/operations/results.rs lacks its type", row.name)
                });
                Ok(made.into_iter().chain([results::of(&it.c)]).collect())
            };
            let replace = |a: &Tensor<f32>| world.borrow_mut().a = a.clone();
            let case = Case { name: row.name, replace: &replace, work: &work };
            cases += in_time(row.name, || check(&gpu, &case, [&a, &new]));
        }
        println!("{cases} operations are captured and recorded");
        assert!(cases > 130, "{cases}");
    }
}

fn read(made: &[Read]) -> Vec<Vec<u8>> {
    made.iter().map(|read| read().unwrap()).collect()
}

/// The work in an encoder, and in a capture with one tensor that is run with another. Returns how many cases the device can run.
fn check(gpu: &Gpu, case: &Case<'_>, [x, new]: [&Tensor<f32>; 2]) -> usize {
    let (name, _doing) = (case.name, doing(case.name));
    let eager = |of| {
        (case.replace)(of);
        (case.work)().map(|made| read(&made))
    };
    let (before, want) = match (eager(x), eager(new)) {
        (Ok(before), Ok(want)) => (before, want),
        (Err(Error::Unsupported { .. } | Error::Limit { .. }), _) => {
            println!("{name}: this device lacks what it needs");
            return 0;
        }
        (before, want) => panic!("{name}: {:?}, {:?}", before.err(), want.err()),
    };
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let recorded = gpu.record_into(&mut encoder, case.work);
    let recorded = recorded.unwrap_or_else(|error| panic!("{name} in an encoder: {error}"));
    gpu.queue().submit([encoder.finish()]);
    assert!(read(&recorded) == want, "{name} in an encoder");
    (case.replace)(x);
    // What does not read x cannot have it as an input, and has the same bits whatever it is.
    let (captured, reads_x) = match gpu.capture(&[x.view()], case.work) {
        Err(Error::Input { .. }) if before == want => (gpu.capture(&[], case.work), false),
        captured => (captured, true),
    };
    let mut replay = captured.unwrap_or_else(|error| panic!("{name} in a capture: {error}"));
    let given: &[_] = if reads_x { &[new.view()] } else { &[] };
    for run in 0..2 {
        let before = gpu.stats();
        let found = replay.run(given).unwrap_or_else(|error| panic!("{name}: {error}"));
        let after = gpu.stats();
        assert_eq!(
            (after.plans, after.buffers_created, after.bytes_staged),
            (before.plans, before.buffers_created, before.bytes_staged),
            "{name}"
        );
        assert!(read(found) == want, "{name}, run {run}");
    }
    1
}
