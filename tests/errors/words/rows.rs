//! Every registered operation names itself in its errors: an operand of another device, one of another shape, no room.

use super::op;
use support::operations::{self, Row, World, results};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::sketch::{Direction, RangeFinder, Rsvd, SkLinear, Sketch, SketchKind};
use tilewise::{Error, Gemm, Gpu, GpuOptions, Precision, Result, Tensor};

/// Replaces an operand by one on this device, each of whose extents that may differ has this many more, and returns its shape.
type Replace = fn(&mut World, &Gpu, usize) -> Vec<usize>;

/// The operands of rows.
const ROLES: [(&str, Replace); 17] = [
    ("a", |it, gpu, more| put(&mut it.a, gpu, &[8 + more, 8 + 2 * more])),
    ("b", |it, gpu, more| put(&mut it.b, gpu, &[8 + more, 8 + 2 * more])),
    ("c", |it, gpu, more| put(&mut it.c, gpu, &[8 + more, 8 + 2 * more])),
    ("row", |it, gpu, more| put(&mut it.row, gpu, &[8 + more])),
    ("lse", |it, gpu, more| put(&mut it.lse, gpu, &[1, 1, 8 + more, 2])),
    ("mask", |it, gpu, more| {
        it.mask = gpu.zeros([8 + more, 8 + 2 * more]).unwrap();
        it.mask.shape().to_vec()
    }),
    ("at", |it, gpu, more| {
        it.at = gpu.zeros([1 + more]).unwrap();
        it.at.shape().to_vec()
    }),
    ("x", |it, gpu, more| put(&mut it.transformer.x, gpu, &[1, 3, 8 + more])),
    ("keys", |it, gpu, more| put(&mut it.transformer.keys, gpu, &[1, 2, 4, 4 + more])),
    ("square", |it, gpu, more| put(&mut it.sketches.square, gpu, &[32 + more, 32 + 2 * more])),
    ("short", |it, gpu, more| put(&mut it.sketches.short, gpu, &[16 + more, 32 + 2 * more])),
    ("tall", |it, gpu, more| put(&mut it.sketches.tall, gpu, &[256 + more, 8])),
    ("hidden", |it, gpu, more| put(&mut it.sketches.hidden, gpu, &[32, 4 + more])),
    ("images", |it, gpu, more| put(&mut it.networks.images, gpu, &[1, 5, 6, 16 + more])),
    ("gradient of images", |it, gpu, more| put(&mut it.networks.grad, gpu, &[1, 5, 6, 16 + more])),
    ("multivectors x", |it, gpu, more| place(&mut it.space.x, gpu, more)),
    ("multivectors y", |it, gpu, more| place(&mut it.space.y, gpu, more)),
];

fn put(to: &mut Tensor<f32>, gpu: &Gpu, shape: &[usize]) -> Vec<usize> {
    *to = gpu.zeros(shape).unwrap();
    shape.to_vec()
}

fn place(to: &mut Multivectors<f32>, gpu: &Gpu, more: usize) -> Vec<usize> {
    let (shape, blades) = ([8, 3 + more, 2 + 2 * more], Signature::CL3.blades());
    *to = Multivectors::new(gpu.zeros(shape).unwrap(), &blades, BladeAxis::First).unwrap();
    shape.to_vec()
}

/// Rows that run what other rows say, or whose example makes something that other rows name.
fn runs_others(row: &Row) -> bool {
    let of_work = ["capture", "execute", "measure_machine", "record_into", "time", "tune", "warm_up"];
    let is_of_work = row.name.strip_prefix("Gpu::").is_some_and(|name| of_work.contains(&name));
    let others = ["Replay::", "io::", "clifford::layer::Connected::backward"];
    is_of_work || others.iter().any(|other| row.name.starts_with(other))
}

/// Calls each row with each operand replaced: it goes through, or fails with an error that names it and is one of these. Asserts
/// how many fail at least.
fn with_each_operand(other: Option<&Gpu>, more: usize, least: usize, is: impl Fn(&Error, &[usize]) -> bool) {
    let (mut faults, mut failed) = (Vec::new(), 0);
    for (role, replace) in ROLES {
        let mut world = World::new(&support::noop()).unwrap();
        let gpu = other.unwrap_or(&world.gpu).clone();
        let shape = replace(&mut world, &gpu, more);
        for row in operations::all().iter().filter(|row| !runs_others(row)) {
            let Err(error) = row.call(&mut world) else { continue };
            failed += 1;
            if op(&error) != row.said() || !is(&error, &shape) {
                faults.push(format!("{} with another {role} says `{error}`", row.name));
            }
        }
    }
    println!("{failed} calls fail");
    assert!(faults.is_empty(), "{} errors are in other words:\n{}", faults.len(), faults.join("\n"));
    assert!(failed > least, "{failed}");
}

#[test]
fn an_operand_of_another_device() {
    with_each_operand(Some(&support::noop()), 0, 240, |error, _| matches!(error, Error::Gpu { .. }));
}

/// An error of shapes shows an extent that only the operand has, but for that of indices.
#[test]
fn an_operand_of_another_shape() {
    with_each_operand(None, 15, 240, |error, shape| match error {
        Error::Shape { lhs, rhs, .. } => {
            let others = [1, 2, 3, 4, 8];
            let is_shown = |extent: &usize| !others.contains(extent) && shape.contains(extent);
            shape.len() < 2 || lhs.iter().chain(rhs.iter().flatten()).any(is_shown)
        }
        error => matches!(error, Error::Input { .. }),
    });
}

/// A call, and what it is called.
type Other = (&'static str, fn(&World) -> Result<()>);

/// Calls that need more than their rows' examples: other kinds of operators, temporaries, more steps.
const OTHERS: [Other; 7] = [
    ("matmul", |it| Gemm::new(&it.a, &it.b).precision(Precision::Split).run().map(drop)),
    ("rsvd", |it| Rsvd::new(&it.sketches.square).tolerance(0.1).run().map(drop)),
    ("range", |it| RangeFinder::new(&it.sketches.square, 2).power(1).run().map(drop)),
    ("SkLinear::fit_to", |it| {
        SkLinear::builder(1, 2).fit_to(&it.sketches.square, &it.sketches.short).map(drop)
    }),
    ("Sketch::apply", |it| operator(SketchKind::Sign)?.apply(&it.sketches.square, 1).map(drop)),
    ("Sketch::adjoint", |it| operator(SketchKind::CountSketch)?.adjoint(&it.sketches.short, 0).map(drop)),
    ("Sketch::left", |it| operator(SketchKind::Hadamard)?.left(&it.sketches.square).map(drop)),
];

fn operator(kind: SketchKind) -> Result<Sketch> {
    Sketch::new(kind, [16, 32], 1)
}

/// Nothing is left of the memory budget. What gives a tensor fails; what writes to one goes through, or fails for its temporaries.
#[test]
fn no_room_for_the_result() {
    let options = GpuOptions { memory_budget: Some(1 << 22), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    let mut world = World::new(&gpu).unwrap();
    gpu.trim();
    let mut held = Vec::new();
    for elements in (0..22).rev().map(|power| 1 << power) {
        while let Ok(tensor) = gpu.empty::<f32>([elements]) {
            held.push(tensor);
        }
    }
    let (mut faults, mut failed) = (Vec::new(), 0);
    let mut full = |name: &str, said: Option<&str>, result: Result<bool>| match result {
        Err(Error::OutOfMemory { op, .. }) if said.is_none_or(|said| said == op) => failed += 1,
        Err(error) => faults.push(format!("{name} says `{error}`")),
        Ok(gives) => faults.extend(gives.then(|| format!("{name} goes through"))),
    };
    for row in operations::all() {
        let said = (!runs_others(&row)).then(|| row.said());
        // A tensor on an application's buffer takes no memory.
        let takes = row.name != "Tensor::from_buffer";
        let gives = |made: Box<dyn std::any::Any>| {
            takes && results::tensors(&*made).is_some_and(|tensors| !tensors.is_empty())
        };
        full(row.name, said.as_deref(), row.call(&mut world).map(gives));
    }
    for (said, call) in OTHERS {
        full(said, Some(said), call(&world).map(|()| true));
    }
    world
        .sketches
        .operator
        .plan(Direction::Forward, &world.sketches.square, 0)
        .expect("a plan allocates nothing");
    println!("{failed} calls without room");
    assert!(faults.is_empty(), "{} calls:\n{}", faults.len(), faults.join("\n"));
    assert!(failed > 250, "{failed}");
}
