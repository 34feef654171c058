//! Steps of replays: captured, run with the walk's tensors and with their own, written to, dropped.

use crate::actor::Actor;
use crate::held::{Held, elements};
use crate::model::{Model, largest_of};
use std::sync::Arc;
use tilewise::{DType, Error, Replay, Result, Tensor, ops};

/// Replays that a thread holds at most.
const REPLAYS: usize = 3;

/// 2 x + row, for x of one shape.
pub(crate) struct Captured {
    replay: Replay<Tensor<f32>>,
    row: Model,
    own: Tensor<f32>,
    own_model: Model,
    /// The output as it was passed on, and what it holds since the last run.
    output: Option<(Tensor<f32>, Model)>,
}

impl Actor {
    pub(crate) fn replay(&mut self) {
        if self.replays.is_empty() || (self.replays.len() < REPLAYS && self.random.chance(10)) {
            return self.capture();
        }
        let at = self.random.below(self.replays.len());
        match self.random.below(10) {
            0 => drop(self.replays.swap_remove(at)),
            1 | 2 => self.write_input(at),
            3..6 => self.run_with_own(at),
            _ => self.run_with_another(at),
        }
    }

    fn capture(&mut self) {
        let shape = [self.random.extent(), self.random.extent()];
        let own_model = Model::random(&mut self.random, &shape);
        let row = Model::random(&mut self.random, &shape[1..]);
        self.say(format!("capture of {shape:?}"));
        let gpu = self.world.gpu.clone();
        let captured = || -> Result<Captured> {
            let own = gpu.tensor(&elements::<f32>(&own_model.values), shape)?;
            let weight = gpu.tensor(&elements::<f32>(&row.values), &row.shape)?;
            // The row is dropped here: the replay keeps its buffer.
            let replay = gpu.capture(&[own.view()], || ops::add(&ops::add(&own, &weight)?, &own))?;
            Ok(Captured { replay, row: row.clone(), own, own_model: own_model.clone(), output: None })
        };
        match captured() {
            Ok(captured) => self.replays.push(captured),
            Err(error) => self.excuse(error),
        }
    }

    fn write_input(&mut self, at: usize) {
        let shape = self.replays[at].own_model.shape.clone();
        let model = Model::random(&mut self.random, &shape);
        self.say(format!("write to input of {shape:?}"));
        let captured = &mut self.replays[at];
        // The input of the last run may be another tensor of the walk, which must not change.
        if captured.replay.run(&[captured.own.view()]).is_err() {
            return;
        }
        captured.output = None;
        match captured.replay.write(0, &elements::<f32>(&model.values)) {
            Ok(()) => captured.own_model = model,
            Err(error) => self.excuse(error),
        }
    }

    fn run_with_own(&mut self, at: usize) {
        self.say("run");
        let captured = &mut self.replays[at];
        let run = captured.replay.run(&[captured.own.view()]).cloned();
        let model = captured.own_model.clone();
        self.ran(at, run, &model);
    }

    fn run_with_another(&mut self, at: usize) {
        let shape = self.replays[at].own_model.shape.clone();
        let fits = |tensor: &Tensor<f32>| tensor.layout().is_contiguous() && tensor.layout().offset() == 0;
        let found = self.find(|item| {
            item.model.shape == shape && matches!(&item.tensor, Held::F32(tensor) if fits(tensor))
        });
        let other = match found {
            Some(other) => other,
            None => {
                let model = Model::random(&mut self.random, &shape);
                let made = Held::upload(&self.world.gpu, DType::F32, &model);
                let is_made = made.is_ok();
                self.keep(made, model);
                let Some(last) = self.items.len().checked_sub(1).filter(|_| is_made) else { return };
                last
            }
        };
        let (Held::F32(x), model) = (self.items[other].whole(), self.items[other].model.clone()) else {
            return;
        };
        if model.shape != shape {
            return;
        }
        let name = self.items[other].name();
        self.say(format!("run with {name}"));
        let run = self.replays[at].replay.run(&[x.view()]).cloned();
        self.ran(at, run, &model);
    }

    /// Reads the output, now or later, and lets the walk's other steps compute with a copy of it.
    fn ran(&mut self, at: usize, run: Result<Tensor<f32>>, x: &Model) {
        let output = match run {
            Ok(output) => output,
            // A view of another tensor.
            Err(Error::Input { why, .. }) if why.contains("its place in its buffer modulo 256 bytes") => {
                return;
            }
            Err(error) => return self.excuse(error),
        };
        let captured = &mut self.replays[at];
        let want = x.with(&captured.row, |x, row| 2 * x + row, largest_of(DType::F32));
        let Some(want) = want else {
            captured.output = None;
            return;
        };
        captured.output = Some((output.clone(), want.clone()));
        match self.random.below(4) {
            0 => self.reads.push((Held::F32(output).read(), want)),
            1 => {
                let copy = ops::concat(&[&output], 0).map(Held::F32);
                self.keep_sharing(copy, want, Arc::default());
            }
            2 => {
                let read = Held::F32(output).to_vec();
                self.compare(read, &want);
            }
            _ => {}
        }
    }

    /// Compares the outputs of the last runs, at the end.
    pub(crate) fn check_replays(&mut self) {
        for captured in std::mem::take(&mut self.replays) {
            if let Some((output, want)) = captured.output {
                drop(captured.replay);
                let read = Held::F32(output).to_vec();
                self.compare(read, &want);
            }
        }
    }
}
