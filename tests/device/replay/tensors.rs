//! Whose elements a run reads and a write replaces: those of the tensors that were passed, and no others.

use super::{bits, on_every_device, random};
use std::sync::mpsc::channel;
use support::failure::says;
use tilewise::{Fill, Tensor, matmul, ops, wgpu};

/// A buffer of the application, as a tensor of floats and as one of integers.
#[test]
fn another_element_type_of_the_same_buffer_is_an_error() {
    on_every_device("element types", |gpu| {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let buffer = support::app::buffer(gpu.device(), 256, usage);
        let floats = Tensor::<f32>::from_buffer(gpu, buffer.clone(), .., [8, 8]).unwrap();
        let integers = Tensor::<i32>::from_buffer(gpu, buffer, .., [8, 8]).unwrap();
        let mut replay = gpu.capture(&[floats.view()], || matmul(&floats, &floats)).unwrap();
        says(replay.run(&[integers.view()]), &["it was captured as f32, not i32"]);
        replay.run(&[floats.view()]).unwrap();
        says(replay.run(&[integers.view()]), &["it was captured as f32, not i32"]);
    });
}

/// A row and a column, both repeated to a square, have the same strides except for their order.
#[test]
fn a_repeated_axis_is_not_another() {
    on_every_device("repeated axes", |gpu| {
        let [x, y] = [1, 2].map(|seed| random::<f32>(gpu, &[4], seed));
        let [row, column] = [[0, 1], [1, 0]];
        let row = x.as_strided(&[4, 4], &row, 0).unwrap();
        let column = y.as_strided(&[4, 4], &column, 0).unwrap();
        let mut replay = gpu.capture(&[row.view()], || ops::add(&row, &row)).unwrap();
        says(replay.run(&[column.view()]), &["its strides"]);
    });
}

/// The windows that kernels bind begin and end at aligned places, so they contain neighbours.
#[test]
fn a_neighbour_of_an_input_does_not_follow_it() {
    on_every_device("neighbours", |gpu| {
        let x = random::<f32>(gpu, &[16], 1);
        let [first, second] = [0..4, 4..8].map(|part| x.slice(0, part).unwrap());
        for (input, other) in [(&second, &first), (&first, &second)] {
            says(gpu.capture(&[input.view()], || ops::add(input, other)), &["another part of its buffer"]);
        }
        let [even, odd] = [0, 1].map(|at| x.as_strided(&[7], &[2], at).unwrap());
        says(gpu.capture(&[even.view()], || ops::add(&even, &odd)), &["another part of its buffer"]);
        // What belongs to the input may be used in parts, transposed, and repeated.
        let matrix = random::<f32>(gpu, &[8, 8], 2);
        let columns = |of: &Tensor<f32>| of.slice(1, 2..6).unwrap();
        let (input, other) = (columns(&matrix), columns(&random(gpu, &[8, 8], 3)));
        let work = |input: &Tensor<f32>| {
            let product =
                matmul(&input.t(), &input.slice(0, 1..8)?.slice(1, 1..3)?.as_strided(&[8, 2], &[0, 1], 11)?);
            ops::add(&product?, &input.slice(0, 4..8)?.slice(1, 0..2)?)
        };
        let want = [&input, &other].map(|of| bits(&work(of).unwrap()));
        let mut replay = gpu.capture(&[input.view()], || work(&input)).unwrap();
        for (of, want) in [&other, &input].into_iter().zip([&want[1], &want[0]]) {
            assert_eq!(&bits(replay.run(&[of.view()]).unwrap()), want, "{gpu:?}");
        }
    });
}

/// A tensor that was dropped after its run: its buffer belongs to others.
#[test]
fn a_write_does_not_reach_a_tensor_that_was_dropped() {
    on_every_device("a dropped input", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        let y = random::<f32>(gpu, &[8, 8], 3);
        replay.run(&[y.view()]).unwrap();
        gpu.wait().unwrap();
        drop(y);
        let others: Vec<_> = (0..4).map(|seed| random::<f32>(gpu, &[8, 8], 10 + seed)).collect();
        says(replay.write(0, &[7.0f32; 64]), &["was dropped"]);
        for (other, seed) in others.iter().zip(10..) {
            assert_eq!(other.to_vec().unwrap(), Fill::Uniform.values::<f32>(64, seed), "{gpu:?}");
        }
        replay.run(&[x.view()]).unwrap();
        replay.write(0, &[7.0f32; 64]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [7.0; 64]);
    });
}

#[test]
fn a_run_that_fails_does_not_change_what_is_written() {
    on_every_device("a run that fails", |gpu| {
        let [x, y, weight] = [1, 2, 3].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut z = random::<f32>(gpu, &[8, 8], 4);
        gpu.record_into(&mut encoder, || z.assign(|| matmul(&y, &y))).unwrap();
        says(replay.run(&[z.view()]), &["have not been submitted"]);
        replay.write(0, &[2.0f32; 64]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [2.0; 64], "the last run, or the capture, had x");
        let want = bits(&matmul(&x, &weight).unwrap());
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        drop(encoder);
    });
}

/// While one thread is in the closure, another one goes on.
#[test]
fn a_capture_is_in_nobodys_way() {
    on_every_device("two threads", |gpu| {
        let [x, mut weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let target = random::<f32>(gpu, &[8, 8], 3);
        let before = bits(&target);
        let writable = weight.writable_view();
        let (begun, has_begun) = channel();
        let (done, is_done) = channel::<()>();
        let mut replay = std::thread::scope(|scope| {
            let done = done; // Dropped if an assertion fails, so that the thread ends.
            let (x, weight, target) = (&x, &weight, &target);
            let captured = scope.spawn(move || {
                gpu.capture(&[x.view()], || {
                    let product = matmul(x, weight)?;
                    target.writable_view().assign(|| matmul(x, weight))?;
                    begun.send(product.clone()).unwrap();
                    let _ = is_done.recv();
                    Ok(product)
                })
            });
            let product: Tensor<f32> = has_begun.recv().unwrap();
            says(product.to_vec(), &["`capture`"]);
            says(product.buffer().map(drop), &["`capture`"]);
            assert_eq!(bits(target), before);
            let mut writable = writable;
            writable.write(&[1.0; 64]).unwrap();
            done.send(()).unwrap();
            captured.join().unwrap().unwrap()
        });
        let want = bits(&matmul(&x, &weight).unwrap());
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), want, "{gpu:?}");
        assert_eq!(bits(&target), want);
        drop(replay);
        drop(target);
        weight.write(&[0.0; 64]).unwrap();
    });
}

/// A tensor that no launch uses is the capture's all the same.
#[test]
fn what_the_closure_allocates_and_does_not_use_is_its_own() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = random::<f32>(&gpu, &[64, 64], 1);
    let before = gpu.stats().bytes_in_use;
    let replay = gpu.capture(&[x.view()], || {
        for _ in 0..3 {
            drop(gpu.empty::<f32>([100, 100])?);
        }
        ops::add(&x, &x)
    });
    let replay = replay.unwrap();
    assert_eq!(replay.bytes(), gpu.stats().bytes_in_use - before);
    drop(replay);
    assert_eq!(gpu.stats().bytes_in_use, before);
}

/// A tensor that the closure reads before it writes it has unspecified contents, as without a replay.
#[test]
fn a_tensor_that_is_read_before_it_is_written_is_no_error() {
    on_every_device("unspecified contents", |gpu| {
        let x = random::<f32>(gpu, &[8, 8], 1);
        let replay = gpu.capture(&[x.view()], || {
            let mut sum = gpu.empty::<f32>([8, 8])?;
            drop(ops::mul(&sum, &x)?);
            ops::copy_into(&x, &mut sum)?;
            ops::add(&sum, &x)
        });
        let mut replay = replay.unwrap();
        assert_eq!(bits(replay.run(&[x.view()]).unwrap()), bits(&ops::add(&x, &x).unwrap()), "{gpu:?}");
    });
}
