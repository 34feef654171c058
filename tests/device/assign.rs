//! `Tensor::assign` with every registered operation that gives a tensor: the bits of the new tensor, in the buffer that is there.

use support::failure::says;
use support::operand::bits;
use support::operations::{self, Row, World};
use support::watchdog::{doing, in_time};
use tilewise::{Element, Error, Fill, Gpu, Result, Tensor, f16, ops};

/// Operations whose result is made together with others: it is copied.
const COPIED: [&str; 3] = ["ops::cross_entropy", "ops::GroupNorm::run", "ops::InstanceNorm::run"];

/// Whether a row may give a tensor, the same in each call. Memory has any contents, a cache grows, files take time.
fn is_operation(row: &Row) -> bool {
    let others = ["Gpu::", "Replay::", "io::", "sketch::Compress", "sketch::expand", "KeyValueCache"];
    let parts = ["Builder", "_cached", "::save", "::load", "::descend", "::random", "::fit"];
    !others.iter().any(|of| row.name.starts_with(of)) && !parts.iter().any(|of| row.name.contains(of))
}

/// What a row gives, if it is a tensor of this type.
fn made<T: Element>(row: &Row, it: &mut World) -> Result<Option<Tensor<T>>> {
    row.call(it).map(|made| made.downcast::<Tensor<T>>().ok().map(|made| *made))
}

/// A tensor whose bits are all set: NaN, or -1.
fn poisoned<T: Element>(gpu: &Gpu, shape: &[usize]) -> Tensor<T> {
    let one: T = bytemuck::pod_read_unaligned(&[0xff; 4][..size_of::<T>()]);
    gpu.tensor(&vec![one; shape.iter().product()], shape).unwrap()
}

/// Tests a row whose result has elements of this type.
fn check<T: Element>(row: &Row, gpu: &Gpu, it: &mut World) {
    let result = |it: &mut World| made::<T>(row, it).map(|made| made.expect("the type of the first call"));
    gpu.wait().unwrap();
    gpu.trim(); // so that each buffer is created
    let before = gpu.stats();
    let new = result(it).unwrap();
    let after = gpu.stats();
    let alone = [after.launches - before.launches, after.buffers_created - before.buffers_created];
    let (name, want) = (row.name, bits(&new));

    let mut c = poisoned::<T>(gpu, new.shape());
    gpu.wait().unwrap();
    gpu.trim();
    let before = gpu.stats();
    c.assign(|| result(it)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let after = gpu.stats();
    assert!(bits(&c) == want, "{name}: other bits");
    if name.starts_with("ops::") && !COPIED.contains(&name) {
        let assigned = [after.launches - before.launches, after.buffers_created - before.buffers_created];
        assert_eq!(assigned, [alone[0], alone[1] - 1], "{name}: a buffer for the result, which is copied");
    }

    // A view with gaps: nothing beside it changes.
    let shape = [new.shape(), &[2]].concat();
    if shape.len() <= 6 {
        let whole = poisoned::<T>(gpu, &shape);
        let column =
            |at: usize| whole.slice(shape.len() - 1, at..=at).unwrap().squeeze(shape.len() - 1).unwrap();
        column(0)
            .writable_view()
            .assign(|| result(it))
            .unwrap_or_else(|error| panic!("{name}, strided: {error}"));
        assert!(bits(&column(0)) == want, "{name}: other bits in a view with gaps");
        assert!(bits(&column(1)) == bits(&poisoned::<T>(gpu, new.shape())), "{name}: a neighbour changes");
    }

    // In a replay, which computes it again.
    let mut c = poisoned::<T>(gpu, new.shape());
    match gpu.capture(&[], || c.assign(|| result(it))) {
        Ok(mut replay) => {
            let again = poisoned::<T>(gpu, new.shape());
            ops::copy_into(&again, &mut c.writable_view()).unwrap();
            replay.run(&[]).unwrap();
            assert!(bits(&c) == want, "{name}: other bits in a replay");
        }
        Err(Error::Input { .. }) => println!("{name} cannot be captured"),
        Err(error) => panic!("{name} in a capture: {error}"),
    }
}

#[test]
fn every_operation_writes_its_bits_to_a_tensor_that_is_there() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let mut it = World::new(&gpu).unwrap();
    let mut cases = 0;
    for row in operations::all().iter().filter(|row| is_operation(row)) {
        let _doing = doing(row.name);
        let made = row.call(&mut it).unwrap();
        let check = match &*made {
            made if made.is::<Tensor<f32>>() => check::<f32>,
            made if made.is::<Tensor<f16>>() => check::<f16>,
            made if made.is::<Tensor<i8>>() => check::<i8>,
            made if made.is::<Tensor<i32>>() => check::<i32>,
            _ => continue,
        };
        in_time(row.name, || check(row, &gpu, &mut it));
        cases += 1;
    }
    println!("{cases} operations give a tensor");
    assert!(cases > 100, "{cases}");
}

#[test]
fn a_lost_device_is_told() {
    let gpu = support::noop();
    let (mut it, mut c) = (World::new(&gpu).unwrap(), gpu.zeros::<f32>([8, 8]).unwrap());
    gpu.mark_lost("the cable was pulled");
    for row in operations::all().iter().filter(|row| row.name.starts_with("ops::")) {
        let said = c.assign(|| made::<f32>(row, &mut it).map(|made| made.expect("it fails")));
        assert!(matches!(said, Err(Error::Device(_))), "{}: {said:?}", row.name);
    }
}

/// The result of a later operation, one that other tensors keep, and one that is a view.
#[test]
fn a_call_of_several_operations() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = gpu.random::<f32>([4, 4], Fill::Integers, 1).unwrap();
    let values = x.to_vec().unwrap();
    let mut c = gpu.zeros::<f32>([4, 4]).unwrap();
    c.assign(|| ops::neg(&ops::add(&x, 1)?)).unwrap();
    assert_eq!(c.to_vec().unwrap(), values.iter().map(|x| -(x + 1.0)).collect::<Vec<_>>());
    c.assign(|| Ok(ops::neg(&x)?.t())).unwrap();
    assert_eq!(c.to_vec().unwrap(), ops::neg(&x.t()).unwrap().to_vec().unwrap());
    c.assign(|| Ok(x.t())).unwrap();
    assert_eq!(c.to_vec().unwrap(), x.t().to_vec().unwrap());

    // The first result is in the tensor, so it must not be kept; it is not overwritten.
    let mut kept = None;
    let said = c.assign(|| ops::neg(&*kept.insert(ops::add(&x, 1)?)));
    assert!(said.unwrap_err().to_string().starts_with("assign: the output: `call` keeps a result"));
    assert_eq!(kept.unwrap().to_vec().unwrap(), values.iter().map(|x| x + 1.0).collect::<Vec<_>>());

    // Also of a writable view that owns its buffer.
    let (mut own, mut kept) = (gpu.zeros::<f32>([4, 4]).unwrap().writable_view(), None);
    let said = own.assign(|| ops::neg(&*kept.insert(ops::add(&x, 1)?)));
    assert!(said.unwrap_err().to_string().contains("keeps a result"));
    assert_eq!(kept.unwrap().to_vec().unwrap(), values.iter().map(|x| x + 1.0).collect::<Vec<_>>());
    // A result that is changed in place, and operations that others call in turn.
    c.assign(|| {
        let mut t = ops::exp(&x)?;
        ops::add_assign(&mut t, &x)?;
        Ok(t)
    })
    .unwrap();
    let mut want = ops::exp(&x).unwrap();
    ops::add_assign(&mut want, &x).unwrap();
    assert_eq!(c.to_vec().unwrap(), want.to_vec().unwrap());
    let rows = gpu.random::<f32>([2, 4, 3], Fill::Normal, 1).unwrap().permute(&[0, 2, 1]).unwrap();
    let norm = ops::LayerNorm::new().axes(2);
    for rows_of in [0, 2] {
        let whole = gpu.zeros::<f32>([4, 3, 4]).unwrap();
        let part = whole.slice(0, rows_of..rows_of + 2).unwrap();
        part.writable_view().assign(|| norm.run(&rows)).unwrap();
        assert_eq!(part.to_vec().unwrap(), norm.run(&rows).unwrap().to_vec().unwrap());
    }
    // What `call` reads through a shared buffer is what was there before.
    let state = gpu.zeros::<f32>([4, 4]).unwrap();
    state
        .writable_view()
        .assign(|| {
            ops::add(&x, 1)?;
            Ok(state.clone())
        })
        .unwrap();
    assert_eq!(state.to_vec().unwrap(), [0.0; 16]);
    let whole = gpu.zeros::<f32>([8, 4]).unwrap();
    let mut half = whole.slice(0, ..4).unwrap().writable_view();
    half.assign(|| ops::add(&ops::add(&x, 1)?, &whole.slice(0, ..4)?)).unwrap();
    assert_eq!(whole.to_vec().unwrap()[..16], *values.iter().map(|x| x + 1.0).collect::<Vec<_>>());
    // One of another shape is a temporary.
    half.assign(|| ops::add(&ops::sum(&x, 0)?, &x)).unwrap();
}

#[test]
fn assignments_within_an_assignment() {
    let gpu = support::noop();
    let (x, mut c, mut inner) =
        (gpu.zeros::<f32>([3]).unwrap(), gpu.zeros([3]).unwrap(), gpu.zeros([3]).unwrap());
    let before = gpu.stats();
    c.assign(|| {
        inner.assign(|| ops::exp(&x))?;
        ops::log(&inner)
    })
    .unwrap();
    let after = gpu.stats();
    assert_eq!((after.launches, after.buffers_created), (before.launches + 2, before.buffers_created));
    // A destination ends with its closure, after a panic too.
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| c.assign(|| panic!("a mistake"))));
    assert!(panicked.is_err());
    assert!(!ops::exp(&x).unwrap().shares_buffer(&c));
}

#[test]
fn other_shapes_and_devices_are_named() {
    let gpu = support::noop();
    let (x, mut c) = (gpu.zeros::<f32>([2, 3]).unwrap(), gpu.zeros::<f32>([3, 2]).unwrap());
    says(c.assign(|| ops::exp(&x)), &["^assign: ", "[3, 2]", "[2, 3]"]);
    let mut other = support::noop().zeros::<f32>([2, 3]).unwrap();
    assert!(matches!(other.assign(|| ops::exp(&x)), Err(Error::Gpu { op: "assign", .. })));
}
