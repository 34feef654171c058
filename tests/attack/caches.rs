//! Steps of caches whose position is in a tensor: filled by calls and by captured steps, in frames too, and set back.

use crate::actor::Actor;
use crate::held::elements;
use crate::model::Model;
use tilewise::{Error, Gpu, KeyValueCache, Replay, Result, Tensor, ops};

/// Caches that a thread holds at most.
const CACHES: usize = 2;

/// A cache, what it should hold, and a captured append of `new` positions.
pub(crate) struct Filled {
    cache: KeyValueCache<f32>,
    step: Replay<()>,
    token: Tensor<f32>,
    /// (1, heads, new, dim).
    shape: [usize; 4],
    /// The keys of each position, head after head. The values are their negatives.
    rows: Vec<Vec<i32>>,
}

impl Filled {
    fn new(gpu: &Gpu, shape: [usize; 4], capacity: usize) -> Result<Self> {
        let [batch, heads, _, dim] = shape;
        let mut cache = KeyValueCache::replayable(gpu, [batch, heads, capacity, dim])?;
        let token = gpu.zeros::<f32>(shape)?;
        let step = gpu.capture(&[token.view()], || cache.append(&token, &ops::neg(&token)?))?;
        Ok(Self { cache, step, token, shape, rows: Vec::new() })
    }

    fn has_room(&self) -> bool {
        self.rows.len() + self.shape[2] <= self.cache.capacity()
    }

    /// The rows of new positions (1, heads, new, dim).
    fn rows_of(&self, new: &Model) -> Vec<Vec<i32>> {
        let [_, heads, count, dim] = self.shape;
        let row = |at: usize| {
            let of_head = |head: usize| new.values[(head * count + at) * dim..][..dim].to_vec();
            (0..heads).flat_map(of_head).collect()
        };
        (0..count).map(row).collect()
    }

    /// The keys (1, heads, positions, dim), times this.
    fn wanted(&self, sign: i32) -> Vec<f32> {
        let [_, heads, _, dim] = self.shape;
        let of_head = |head: usize| self.rows.iter().flat_map(move |row| row[head * dim..][..dim].to_vec());
        elements::<f32>(&(0..heads).flat_map(of_head).map(|x| sign * x).collect::<Vec<i32>>())
    }

    fn check(&self) -> Result<()> {
        assert_eq!(self.cache.len(), self.rows.len());
        let position = i32::try_from(self.rows.len()).expect("a small cache");
        assert_eq!(self.cache.position()?.to_vec()?, [position]);
        for (found, sign) in [(self.cache.keys()?, 1), (self.cache.values()?, -1)] {
            assert_eq!(found.to_vec()?, self.wanted(sign), "{} positions", self.rows.len());
        }
        Ok(())
    }

    /// A run with these positions. Without room it must fail.
    fn run(&mut self, new: &Model) -> Result<()> {
        let room = self.has_room();
        self.step.write(0, &elements::<f32>(&new.values))?;
        self.ran(room, new)
    }

    /// A run with the positions that are in the input.
    fn ran(&mut self, room: bool, new: &Model) -> Result<()> {
        match self.step.run(&[self.token.view()]) {
            Ok(()) if room => self.rows.extend(self.rows_of(new)),
            Err(Error::Input { why, .. }) if !room => assert!(why.contains("no room"), "{why}"),
            Ok(()) => panic!("there is no room"),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Actor {
    pub(crate) fn cache(&mut self) {
        if self.caches.is_empty() || (self.caches.len() < CACHES && self.random.chance(10)) {
            return self.make_cache();
        }
        let at = self.random.below(self.caches.len());
        let mut filled = self.caches.swap_remove(at);
        let new = Model::random(&mut self.random, &filled.shape);
        let done = match self.random.below(12) {
            0 => return self.say("drop of a cache"),
            1 => {
                self.say("clear");
                filled.cache.clear();
                filled.rows.clear();
                Ok(())
            }
            2 => {
                let len = self.random.below(filled.rows.len() + 2);
                self.say(format!("truncate to {len}"));
                filled.cache.truncate(len);
                filled.rows.truncate(len);
                Ok(())
            }
            3 | 4 => self.append(&mut filled, &new),
            5 => match self.run_in_frame(&mut filled, &new) {
                // What a dropped frame leaves is no contents.
                Ok(false) => return,
                other => other.map(drop),
            },
            6..9 => {
                self.say("check of a cache");
                filled.check()
            }
            _ => {
                self.say("run that appends");
                filled.run(&new)
            }
        };
        match done {
            Ok(()) => self.caches.push(filled),
            Err(error) => self.excuse(error),
        }
    }

    fn make_cache(&mut self) {
        let new = 1 + self.random.below(2);
        let shape = [1, 1 + self.random.below(3), new, 1 + self.random.below(9)];
        let capacity = new + self.random.below(9);
        self.say(format!("cache for {capacity} positions, {shape:?} at once"));
        match Filled::new(&self.world.gpu, shape, capacity) {
            Ok(filled) => self.caches.push(filled),
            Err(error) => self.excuse(error),
        }
    }

    /// A call without the replay.
    fn append(&mut self, filled: &mut Filled, new: &Model) -> Result<()> {
        self.say("append");
        let keys = self.world.gpu.tensor(&elements::<f32>(&new.values), filled.shape)?;
        let room = filled.has_room();
        match filled.cache.append(&keys, &ops::neg(&keys)?) {
            Ok(()) if room => filled.rows.extend(filled.rows_of(new)),
            Err(Error::Shape { .. }) if !room => {}
            Ok(()) => panic!("there is no room"),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A run in a frame, and whether it was submitted.
    fn run_in_frame(&mut self, filled: &mut Filled, new: &Model) -> Result<bool> {
        let is_submitted = self.random.chance(70);
        self.say(format!("run that appends in a frame, submitted: {is_submitted}"));
        let gpu = self.world.gpu.clone();
        let room = filled.has_room();
        filled.step.write(0, &elements::<f32>(&new.values))?;
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        gpu.record_into(&mut encoder, || filled.ran(room, new))?;
        if is_submitted {
            gpu.queue().submit([encoder.finish()]);
        } else if room {
            assert!(filled.cache.keys()?.to_vec().is_err(), "commands that use it are not submitted");
            drop(encoder);
            assert!(filled.cache.position()?.to_vec().is_err(), "the frame was dropped");
            filled.cache.clear();
            assert_eq!(filled.cache.position()?.to_vec()?, [0]);
        }
        Ok(is_submitted || !room)
    }

    /// Checks what all caches hold, at the end.
    pub(crate) fn check_caches(&mut self) {
        for filled in std::mem::take(&mut self.caches) {
            if let Err(error) = filled.check() {
                self.excuse(error);
            }
        }
    }
}
