//! What a capture would fix though a later run had to change it: an error, and not the captured tensor in every run.

use super::{bits, on_every_device, random};
use support::failure::says;
use tilewise::{Tensor, matmul, ops};

/// The words of the error for an output that shows an input.
const SHOWS: &str = "shows it";

#[test]
fn an_output_that_is_a_view_of_an_input_is_an_error() {
    type View = (&'static str, fn(&Tensor<f32>) -> tilewise::Result<Tensor<f32>>);
    const VIEWS: [View; 11] = [
        ("t", |x| Ok(x.t())),
        ("clone", |x| Ok(x.clone())),
        ("reshape", |x| x.reshape([64])),
        ("slice", |x| x.slice(0, 2..5)),
        ("permute", |x| x.permute(&[1, 0])),
        ("unsqueeze", |x| x.unsqueeze(0)),
        ("broadcast_to", |x| x.broadcast_to([2, 8, 8])),
        ("as_strided", |x| x.as_strided(&[4], &[2], 1)),
        ("contiguous", |x| x.contiguous()),
        ("cast", |x| x.cast::<f32>()),
        ("writable_view", |x| x.t().writable_view().slice(0, ..1)),
    ];
    on_every_device("views of inputs", |gpu| {
        let [x, y] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        for (name, view) in VIEWS {
            let shown = gpu.capture(&[x.view()], || Ok((ops::neg(&x)?, view(&x)?)));
            let error = shown.err().unwrap_or_else(|| panic!("{name} of an input is an output")).to_string();
            assert!(error.contains("capture: input 0") && error.contains(SHOWS), "{name}: {error}");
            // Neither is it kept outside.
            let mut kept = None;
            says(
                gpu.capture(&[y.view(), x.view()], || {
                    kept = Some(view(&x)?);
                    matmul(&y, &x)
                }),
                &["capture: input 1"],
            );
        }
        let z = gpu.tensor(&[1, 2, 3, 4], [4]).unwrap();
        says(gpu.capture(&[z.view()], || Ok((ops::add(&z, 1)?, z.cast_saturating::<i32>()?))), &[SHOWS]);
        // Nothing is left of the attempts, and views may be operands.
        let mut replay = gpu.capture(&[x.view()], || matmul(&x.t(), &x.contiguous()?)).unwrap();
        let want = bits(&matmul(&y.t(), &y).unwrap());
        assert_eq!(bits(replay.run(&[y.view()]).unwrap()), want, "{gpu:?}");
        // Views of results and of other tensors are outputs.
        let mut replay = gpu.capture(&[x.view()], || Ok((ops::neg(&x)?.t(), y.t()))).unwrap();
        let (of_result, of_other) = replay.run(&[x.view()]).unwrap();
        assert_eq!(bits(of_result), bits(&ops::neg(&x).unwrap().t()));
        assert_eq!(bits(of_other), bits(&y.t()));
        // A copy is what the error advises.
        let mut replay = gpu
            .capture(&[x.view()], || {
                let mut copy = gpu.empty([8, 8])?;
                ops::copy_into(&x.t(), &mut copy)?;
                Ok(copy)
            })
            .unwrap();
        assert_eq!(bits(replay.run(&[y.view()]).unwrap()), bits(&y.t()), "{gpu:?}");
    });
}

/// Other threads may use the tensor while it is being captured, and a view that was made before is theirs.
#[test]
fn views_that_others_hold_are_no_outputs() {
    on_every_device("views of others", |gpu| {
        let [x, y] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let before = x.t();
        let mut elsewhere = None;
        let mut replay = gpu
            .capture(&[x.view()], || {
                std::thread::scope(|scope| {
                    elsewhere = scope.spawn(|| x.slice(0, ..2)).join().ok();
                });
                ops::neg(&x)
            })
            .unwrap();
        assert_eq!(bits(replay.run(&[y.view()]).unwrap()), bits(&ops::neg(&y).unwrap()));
        assert_eq!(elsewhere.unwrap().unwrap().shape(), [2, 8]);
        assert_eq!(bits(&before), bits(&x.t()));
    });
}

/// A replay may be dropped in the frame that runs it, and a capture that was refused there leaves the frame as it is.
#[test]
fn a_frame_contains_no_capture_and_may_drop_its_replay() {
    on_every_device("a capture in a frame", |gpu| {
        let [x, weight] = [1, 2].map(|seed| random::<f32>(gpu, &[8, 8], seed));
        let want = bits(&ops::neg(&matmul(&x, &weight).unwrap()).unwrap());
        let mut replay = Some(gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap());
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let y = gpu.record_into(&mut encoder, || {
            says(gpu.capture(&[x.view()], || Ok(x.t())), &["the closure of `record_into` cannot"]);
            let mut replay = replay.take().expect("it runs once");
            let y = ops::neg(replay.run(&[x.view()])?);
            drop(replay);
            y
        });
        // What takes memory now must not get the buffers of the frame.
        let others: Vec<_> = (0..4).map(|seed| random::<f32>(gpu, &[8, 8], 10 + seed)).collect();
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(bits(&y.unwrap()), want, "{gpu:?}");
        drop(others);
        // A view of x that the refused closure would have made has no mark that a later capture could meet.
        let mut replay = gpu.capture(&[x.view()], || matmul(&x, &weight)).unwrap();
        replay.run(&[x.view()]).unwrap();
    });
}
