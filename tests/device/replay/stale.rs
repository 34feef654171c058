//! What a capture would fix though a later run had to change it: an error, and not the captured tensor in every run.

use super::{bits, fails_with, on_every_device, random};
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
            fails_with(
                gpu.capture(&[y.view(), x.view()], || {
                    kept = Some(view(&x)?);
                    matmul(&y, &x)
                }),
                "capture: input 1",
            );
        }
        let z = gpu.tensor(&[1, 2, 3, 4], [4]).unwrap();
        fails_with(gpu.capture(&[z.view()], || Ok((ops::add(&z, 1)?, z.cast_saturating::<i32>()?))), SHOWS);
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
