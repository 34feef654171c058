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
    for time in 1..=2 {
        let values = sum.to_vec().expect("it has nothing to do with what was destroyed");
        assert_eq!(integers(&values), twice, "recorded before, read {time} times");
    }
    victim
}

/// A recording of which a buffer is destroyed is refused as a whole.
pub(crate) fn behind_a_launch(gpu: &Gpu, model: &Model) -> Tensor<f32> {
    let (a, victim) = (upload(gpu, model), upload(gpu, model));
    let mut kept = upload(gpu, model);
    let twice: Vec<i32> = model.values.iter().map(|v| 2 * v).collect();
    let first = ops::add(&a, &a).expect("nothing failed before");
    assert_eq!(integers(&first.to_vec().expect("nothing failed before")), twice);
    // NOTE: exporting a buffer submits what touches it: the handle is taken before.
    let buffer = crate::api::buffer(&victim).expect("nothing failed before").0.clone();
    let mut lost = ops::add(&a, &a).expect("nothing failed before");
    ops::add_into(&a, &a, &mut kept).expect("nothing failed before");
    let of_victim = ops::add(&victim, &a).expect("nothing is destroyed yet");
    buffer.destroy();
    assert!(is_device(gpu.flush()), "a recording on a destroyed buffer was submitted");
    for time in 1..=2 {
        for (what, tensor) in [("a result", &lost), ("an output", &kept), ("the victim's", &of_victim)] {
            let read = tensor.to_vec();
            let error = matches!(read, Err(Error::Device(_)));
            assert!(error, "{what} of a failed recording reads {read:?}, the {time}th time");
            assert!(is_device(ops::add(tensor, &a)), "{what} of a failed recording is an operand");
            assert!(is_device(tensor.slice(0, 1..3).expect("in range").to_vec()), "{what}, a view");
        }
        assert_eq!(integers(&a.to_vec().expect("it was only read")), model.values, "an operand");
        assert_eq!(integers(&first.to_vec().expect("it was done before")), twice, "of a recording before");
    }
    let new: Vec<i32> = model.values.iter().map(|v| v + 5).collect();
    lost.write(&elements::<f32>(&new)).expect("it is written as a whole");
    assert_eq!(integers(&lost.to_vec().expect("it was written")), new, "written anew");
    ops::add_into(&a, &a, &mut kept).expect("it is written as a whole");
    assert_eq!(integers(&kept.to_vec().expect("it was written")), twice, "computed anew");
    victim
}
