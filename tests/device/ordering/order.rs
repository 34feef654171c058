//! The order of taken work: between submissions of ours and of the application, and among pieces that were taken.

use super::{SIZE, data, encoder, is_unsubmitted, on_every_device, product, taken_product, tensor};
use tilewise::{matmul, ops};

#[test]
fn flushed_work_runs_before_the_applications() {
    on_every_device("flushed work", |gpu| {
        let one = gpu.tensor(&[1.0f32; SIZE], [SIZE]).unwrap();
        let mut sum = gpu.zeros::<f32>([SIZE]).unwrap();
        let buffer = sum.buffer().unwrap().0.clone();
        let copy = gpu.empty::<f32>([SIZE]).unwrap();
        sum.assign(|| ops::add(&one, &one)).unwrap(); // recorded after the buffer was asked for
        gpu.flush().unwrap();
        let mut encoder = encoder(gpu);
        let (into, bytes) = copy.buffer().unwrap();
        encoder.copy_buffer_to_buffer(&buffer, 0, into, bytes.start, (4 * SIZE) as u64);
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(copy.to_vec().unwrap(), [2.0; SIZE], "{gpu:?}");
    });
}

#[test]
fn command_buffers_may_be_submitted_in_another_order_than_they_were_taken() {
    on_every_device("another order", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for order in 0..3 {
            // Enough launches for each, so that dims in a ring would be mixed up if the two shared it.
            let (first, c) = taken_product(gpu, &a, &b);
            let d = ops::add(&a, &b).unwrap();
            let e = matmul(&b, &a).unwrap();
            let second = gpu.take_commands().unwrap();
            let (third, f) = taken_product(gpu, &b, &b);
            match order {
                0 => _ = gpu.queue().submit([third, second, first]),
                1 => {
                    [second, first, third].into_iter().for_each(|commands| _ = gpu.queue().submit([commands]))
                }
                _ => _ = gpu.queue().submit([first, third, second]),
            }
            let [x, y] = [data(1), data(2)];
            assert_eq!(c.to_vec().unwrap(), product(&x, &y), "{gpu:?}, order {order}");
            let sum: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            assert_eq!(d.to_vec().unwrap(), sum, "{gpu:?}, order {order}");
            assert_eq!(e.to_vec().unwrap(), product(&y, &x), "{gpu:?}, order {order}");
            assert_eq!(f.to_vec().unwrap(), product(&y, &y), "{gpu:?}, order {order}");
        }
    });
}

#[test]
fn dependent_pieces_cannot_be_taken_before_the_first_is_submitted() {
    on_every_device("dependent pieces", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        let mut first = encoder(gpu);
        let c = gpu.record_into(&mut first, || matmul(&a, &b)).unwrap();
        is_unsubmitted(matmul(&c, &b), "matmul", "`record_into`");
        gpu.queue().submit([first.finish()]);
        let (second, d) = taken_product(gpu, &c, &b);
        gpu.queue().submit([second]);
        assert_eq!(d.to_vec().unwrap(), product(&product(&data(1), &data(2)), &data(2)), "{gpu:?}");
    });
}

#[test]
fn ordinary_work_of_ours_overtakes_taken_work() {
    on_every_device("overtaking", |gpu| {
        let [a, b] = [tensor(gpu, 1), tensor(gpu, 2)];
        for round in 0..20 {
            let (commands, c) = taken_product(gpu, &a, &b);
            // Recorded later, it runs earlier: other dims, other buffers, and buffers that it frees.
            let e = ops::add(&matmul(&b, &a).unwrap(), &a).unwrap();
            let overtaken: Vec<f32> =
                product(&data(2), &data(1)).iter().zip(data(1)).map(|(x, y)| x + y).collect();
            if round % 2 == 0 {
                assert_eq!(e.to_vec().unwrap(), overtaken, "{gpu:?}, round {round}");
            } else {
                gpu.flush().unwrap();
            }
            gpu.queue().submit([commands]);
            assert_eq!(c.to_vec().unwrap(), product(&data(1), &data(2)), "{gpu:?}, round {round}");
            assert_eq!(e.to_vec().unwrap(), overtaken, "{gpu:?}, round {round}");
        }
    });
}

#[test]
fn gpus_that_share_a_device_also_share_an_encoder() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let adopt = || tilewise::Gpu::adopt(&adapter, device.clone(), queue.clone()).unwrap();
    let [gpu, other] = [adopt(), adopt()];
    let [a, b] = [tensor(&gpu, 1), tensor(&other, 2)];
    let mut encoder = encoder(&gpu);
    let c = gpu.record_into(&mut encoder, || {
        // The scope is of one Gpu; the other one submits as usual.
        assert_eq!(matmul(&b, &b)?.to_vec()?, product(&data(2), &data(2)));
        matmul(&a, &a)
    });
    let d = other.record_into(&mut encoder, || matmul(&b, &b)).unwrap();
    queue.submit([encoder.finish()]);
    assert_eq!(c.unwrap().to_vec().unwrap(), product(&data(1), &data(1)));
    assert_eq!(d.to_vec().unwrap(), product(&data(2), &data(2)));
    assert_eq!(SIZE * SIZE, d.len());
}
