//! Steps that make a whole recording fail: a buffer of it is destroyed behind our back. What it should have written is an
//! error until it is written again, and all else stays right.

use crate::actor::Actor;
use crate::held::{Held, elements, integers};
use crate::model::Model;
use crate::world::lock;
use tilewise::{Error, Gpu, Tensor, ops};

/// A tensor of these values on a device that has room.
fn upload(gpu: &Gpu, model: &Model) -> Tensor<f32> {
    gpu.tensor(&elements::<f32>(&model.values), &model.shape).expect("there is room")
}

fn is_device<R>(result: tilewise::Result<R>) -> bool {
    matches!(result, Err(Error::Device(_)))
}

impl Actor {
    pub(crate) fn destroy(&mut self) {
        if self.world.is_rough {
            let gpu = self.world.gpu.clone();
            gpu.flush().expect("nothing failed before");
            let model = Model::random(&mut self.random, &[6, 7]);
            let grave = if self.random.chance(50) {
                self.say("before a launch");
                before_a_launch(&gpu, &model)
            } else {
                self.say("behind a launch");
                behind_a_launch(&gpu, &model)
            };
            lock(&self.world.graves).push(Held::F32(grave));
        }
    }
}

/// A launch on a destroyed buffer is refused; what was recorded before is not touched.
pub(crate) fn before_a_launch(gpu: &Gpu, model: &Model) -> Tensor<f32> {
    let (a, victim) = (upload(gpu, model), upload(gpu, model));
    let twice: Vec<i32> = model.values.iter().map(|v| 2 * v).collect();
    let sum = ops::add(&a, &a).expect("nothing failed before");
    crate::api::buffer(&victim).expect("nothing failed before").0.destroy();
    let refused = ops::add(&victim, &a).and_then(|lost| lost.to_vec());
    assert!(is_device(refused), "a destroyed buffer was read");
    told_at_most_once_more(gpu);
    for time in 1..=2 {
        let values = sum.to_vec().expect("it has nothing to do with what was destroyed");
        assert_eq!(integers(&values), twice, "recorded before, read {time} times");
    }
    victim
}

/// What has failed may be told by a read of it and by the next flush, and then no more.
fn told_at_most_once_more(gpu: &Gpu) {
    let flushed = gpu.flush();
    assert!(flushed.is_ok() || is_device(flushed), "another error");
    gpu.flush().expect("it was told before");
}

/// A recording of which a buffer is destroyed fails as a whole or but for what used that: what is lost is an error until
/// it is written again, and the rest is right.
pub(crate) fn behind_a_launch(gpu: &Gpu, model: &Model) -> Tensor<f32> {
    let (a, victim) = (upload(gpu, model), upload(gpu, model));
    let mut kept = upload(gpu, model);
    let twice: Vec<i32> = model.values.iter().map(|v| 2 * v).collect();
    let first = ops::add(&a, &a).expect("nothing failed before");
    assert_eq!(integers(&first.to_vec().expect("nothing failed before")), twice);
    // NOTE: exporting a buffer submits what touches it: the handle is taken before.
    let buffer = crate::api::buffer(&victim).expect("nothing failed before").0.clone();
    let mut result = ops::add(&a, &a).expect("nothing failed before");
    kept.assign(|| ops::add(&a, &a)).expect("nothing failed before");
    let of_victim = ops::add(&victim, &a).expect("nothing is destroyed yet");
    buffer.destroy();
    assert!(is_device(gpu.flush()), "a recording on a destroyed buffer was submitted");
    told_at_most_once_more(gpu);
    let lost: Vec<bool> = [&result, &kept, &of_victim].iter().map(|t| t.to_vec().is_err()).collect();
    assert!(lost[2], "a sum with a destroyed buffer was read");
    for time in 1..=2 {
        for (tensor, lost) in [&result, &kept, &of_victim].into_iter().zip(&lost) {
            let reads = [tensor.to_vec(), tensor.slice(0, 0..6).and_then(|whole| whole.to_vec())];
            for read in reads {
                let right = match &read {
                    Ok(values) => !lost && integers(values) == twice,
                    Err(error) => *lost && matches!(error, Error::Device(_)),
                };
                assert!(right, "of a failed recording, lost: {lost}, read {time} times: {read:?}");
            }
            // Recording with what is lost is an error at once, and harms nobody.
            assert!(!lost || is_device(ops::add(tensor, &a)), "a lost tensor is an operand");
        }
        assert_eq!(integers(&a.to_vec().expect("it was only read")), model.values, "an operand");
        assert_eq!(integers(&first.to_vec().expect("it was done before")), twice, "of a recording before");
    }
    let new: Vec<i32> = model.values.iter().map(|v| v + 5).collect();
    result.write(&elements::<f32>(&new)).expect("it is written as a whole");
    assert_eq!(integers(&result.to_vec().expect("it was written")), new, "written anew");
    kept.assign(|| ops::add(&a, &a)).expect("it is written as a whole");
    assert_eq!(integers(&kept.to_vec().expect("it was written")), twice, "computed anew");
    victim
}
