//! Steps of caches whose position is in a tensor: filled by calls and by captured steps, in frames too, and set back.

use crate::actor::Actor;
use crate::held::elements;
use crate::model::Model;
use tilewise::attention::KeyValueCache;
use tilewise::{Error, Gpu, Replay, Result, Tensor, ops};

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
    /// The position, as it was taken at first.
    at: Tensor<i32>,
}

/// What becomes of a frame that appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Submitted,
    /// Its encoder is dropped.
    Dropped,
    /// Its closure fails behind the appends.
    Failed,
}

impl Filled {
    fn new(gpu: &Gpu, shape: [usize; 4], capacity: usize) -> Result<Self> {
        let [batch, heads, _, dim] = shape;
        let mut cache = KeyValueCache::replayable(gpu, [batch, heads, capacity, dim])?;
        let token = gpu.zeros::<f32>(shape)?;
        let step = captured(&mut cache, &token)?;
        let at = cache.position()?.clone();
        Ok(Self { cache, step, token, shape, rows: Vec::new(), at })
    }

    /// Forgets all positions but the first ones.
    fn truncate(&mut self, len: usize) {
        self.cache.truncate(len);
        self.rows.truncate(len);
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
        assert_eq!(self.at.to_vec()?, [position]);
        assert_eq!(self.cache.position()?.to_vec()?, [position]);
        self.check_rows()
    }

    fn check_rows(&self) -> Result<()> {
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
        let ran = self.step.run(&[self.token.view()]).map(drop);
        self.appended(ran, room, new)
    }

    /// A run, or a call, with these positions, also in a frame.
    fn fill(&mut self, is_run: bool, new: &Model) -> Result<()> {
        let (rows, room) = (elements::<f32>(&new.values), self.has_room());
        if is_run {
            self.step.write_from(0, |to| to.write(0, &rows))?;
            return self.ran(room, new);
        }
        let keys = self.token.gpu().tensor(&rows, self.shape)?;
        let values = ops::neg(&keys)?;
        let called = self.cache.append(&keys, &values);
        self.appended(called, room, new)
    }

    fn appended(&mut self, done: Result<()>, room: bool, new: &Model) -> Result<()> {
        match done {
            Ok(()) if room => self.rows.extend(self.rows_of(new)),
            Err(Error::Input { why, .. }) if !room => assert!(why.contains("no room"), "{why}"),
            Err(Error::Shape { .. }) if !room => {}
            Ok(()) => panic!("there is no room"),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Writes the token, which a lost frame may have left without contents.
    fn write_token(&mut self) -> Result<()> {
        let zeros = vec![0.0; self.token.len()];
        self.token.write(&zeros)
    }

    /// Another capture of the append.
    fn captured(&mut self) -> Result<Replay<()>> {
        self.write_token()?;
        captured(&mut self.cache, &self.token)
    }

    /// Nothing but the cache changes its position.
    fn meddle(&mut self) -> Result<()> {
        self.write_token()?;
        let (gpu, mut at) = (self.token.gpu().clone(), self.at.writable_view());
        let one = gpu.tensor(&[1], [1])?;
        let refused = [
            ops::add_assign(&mut at, &one),
            at.write(&[3]),
            at.revert(),
            gpu.capture(&[one.view()], || ops::sub_assign(&mut at, &one)).map(drop),
            gpu.capture(&[self.token.view()], || {
                self.cache.append(&self.token, &ops::neg(&self.token)?)?;
                self.cache.truncate(0);
                Ok(())
            })
            .map(drop),
        ];
        for error in refused.map(|refused| refused.expect_err("the cache counts along")) {
            assert!(matches!(error, Error::Input { .. } | Error::OutOfMemory { .. }), "{error}");
        }
        Ok(())
    }
}

/// An append of the token and its negative.
fn captured(cache: &mut KeyValueCache<f32>, token: &Tensor<f32>) -> Result<Replay<()>> {
    token.gpu().capture(&[token.view()], || cache.append(token, &ops::neg(token)?))
}

impl Actor {
    pub(crate) fn cache(&mut self) {
        if self.caches.is_empty() || (self.caches.len() < CACHES && self.random.chance(10)) {
            return self.make_cache();
        }
        let at = self.random.below(self.caches.len());
        let mut filled = self.caches.swap_remove(at);
        let new = Model::random(&mut self.random, &filled.shape);
        let done = match self.random.below(16) {
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
                filled.truncate(len);
                Ok(())
            }
            3 | 4 => self.append(&mut filled, &new),
            5 => self.run_in_frame(&mut filled, &new),
            9..12 => self.frame_that_appends(&mut filled),
            12 => {
                self.say("another capture of a cache");
                filled.captured().map(|step| filled.step = step)
            }
            13 => {
                self.say("what a cache refuses");
                filled.meddle()
            }
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
        filled.fill(false, new)
    }

    /// A run in a frame, of which nothing is left if it is dropped.
    fn run_in_frame(&mut self, filled: &mut Filled, new: &Model) -> Result<()> {
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
            filled.rows.clear();
            filled.check()?;
        }
        Ok(())
    }

    /// Runs and calls in a frame, whatever becomes of it: what is not submitted is missing, until the host goes back behind it.
    fn frame_that_appends(&mut self, filled: &mut Filled) -> Result<()> {
        let fate = [Fate::Submitted, Fate::Dropped, Fate::Failed][self.random.below(3)];
        let steps: Vec<(bool, Model)> = (0..=self.random.below(3))
            .map(|_| (self.random.chance(60), Model::random(&mut self.random, &filled.shape)))
            .collect();
        let some = |actor: &mut Self| {
            let is_cut = actor.random.chance(30);
            is_cut.then(|| actor.random.below(filled.rows.len() + 4))
        };
        let (inside, open) = (some(self), some(self));
        self.say(format!(
            "frame of {} appends, {fate:?}, cut to {inside:?} in it, {open:?} behind",
            steps.len()
        ));
        let gpu = self.world.gpu.clone();
        // Another capture takes the place of the one that the frame runs.
        let other = if self.random.chance(20) { Some(filled.captured()?) } else { None };
        // The positions that are left of those before the frame.
        let mut before = filled.rows.len();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let recorded = gpu.record_into(&mut encoder, || {
            for (at, (is_run, new)) in steps.iter().enumerate() {
                filled.fill(*is_run, new)?;
                if let Some(cut) = inside.filter(|_| at == 0) {
                    filled.truncate(cut);
                    before = before.min(cut);
                }
            }
            match fate {
                Fate::Failed => filled.at.to_vec().map(drop),
                _ => Ok(()),
            }
        });
        if let Some(cut) = open {
            filled.truncate(cut);
            before = before.min(cut);
        }
        other.into_iter().for_each(|other| filled.step = other);
        match (recorded, fate) {
            (Ok(()), Fate::Submitted) => {
                gpu.queue().submit([encoder.finish()]);
                return filled.check();
            }
            (Err(error @ Error::OutOfMemory { .. }), _) => self.excuse(error),
            (recorded, _) => assert_eq!(recorded.is_err(), fate == Fate::Failed, "{recorded:?}"),
        }
        assert_eq!(filled.cache.len(), filled.rows.len());
        if before < filled.rows.len() {
            let lost = filled.cache.keys()?.slice(2, before..)?.to_vec();
            assert!(lost.is_err(), "the frame that should have written it is not submitted");
        }
        drop(encoder);
        if before < filled.rows.len() {
            let lost = filled.cache.keys()?.slice(2, before..)?.to_vec();
            assert!(
                matches!(lost, Err(Error::Device(_) | Error::OutOfMemory { .. })),
                "the frame is lost: {lost:?}"
            );
        }
        filled.truncate(before - self.random.below(2).min(before));
        filled.check()
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
