//! A thread of the walk: tensors of its own and what they should hold, and a step after another by seeded choice.

use crate::caches::Filled;
use crate::held::{Held, Item, Reading};
use crate::model::Model;
use crate::random::Random;
use crate::reals::Real;
use crate::replays::Captured;
use crate::textures::Image;
use crate::walk::Settings;
use crate::world::{Menu, SMALL_BINDING, World};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use support::watchdog::doing;
use tilewise::{DType, Error, Gpu, Result};

/// Steps that a failure prints.
const REMEMBERED: usize = 24;
/// Tensors that a thread holds at most.
const ITEMS: usize = 12;

/// A thread of the walk.
pub(crate) struct Actor {
    pub(crate) world: Arc<World>,
    /// Another device, whose tensors do not belong here.
    pub(crate) other: Gpu,
    pub(crate) random: Random,
    pub(crate) items: Vec<Item>,
    /// Results that are no integers.
    pub(crate) reals: Vec<Real>,
    pub(crate) reads: Vec<(Reading, Model)>,
    pub(crate) replays: Vec<Captured>,
    pub(crate) caches: Vec<Filled>,
    pub(crate) textures: Vec<Image>,
    pub(crate) menu: Menu,
    pub(crate) step: u64,
    history: VecDeque<String>,
}

/// How the host writes a tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Writing {
    /// By a write of the queue.
    Queued,
    /// Through staging memory, by a recorded copy.
    Staged,
}

type Step = (&'static str, usize, fn(&mut Actor));

/// What a thread may do next, and how often.
const STEPS: &[Step] = &[
    ("upload", 6, Actor::upload),
    ("check", 10, Actor::check_one),
    ("compare", 4, Actor::check_real),
    ("drop", 4, Actor::drop_one),
    ("compute", 24, Actor::compute),
    ("into", 6, Actor::into),
    ("view", 8, Actor::view),
    ("write", 6, Actor::write),
    ("write part", 8, Actor::write_part),
    ("copy part", 4, Actor::copy_part),
    ("join", 4, Actor::join),
    ("buffer", 4, Actor::buffer_of_the_application),
    ("read", 8, Actor::start_read),
    ("finish", 8, Actor::finish_read),
    ("poll", 4, Actor::poll_read),
    ("abandon", 4, Actor::drop_read),
    ("elsewhere", 1, Actor::finish_elsewhere),
    ("application", 8, Actor::application),
    ("frame", 6, Actor::frame),
    ("replay", 8, Actor::replay),
    ("cache", 6, Actor::cache),
    ("texture", 8, Actor::texture),
    ("callback", 5, Actor::register_callback),
    ("mistake", 5, Actor::mistake),
    ("control", 4, Actor::control),
    ("destroy", 2, Actor::destroy),
];

impl Actor {
    pub(crate) fn new(world: &Arc<World>, other: &Gpu) -> Self {
        Self {
            world: world.clone(),
            other: other.clone(),
            random: Random::new(&[]),
            items: Vec::new(),
            reals: Vec::new(),
            reads: Vec::new(),
            replays: Vec::new(),
            caches: Vec::new(),
            textures: Vec::new(),
            menu: Menu::Plain,
            step: 0,
            history: VecDeque::new(),
        }
    }

    /// Steps until the time is over or a thread has failed; the number of steps.
    pub(crate) fn run(mut self, thread: usize, settings: &Settings, until: Instant) -> u64 {
        let steps: Vec<Step> = STEPS.iter().copied().filter(|(name, ..)| settings.takes(name)).collect();
        let sum: usize = steps.iter().map(|(_, weight, _)| weight).sum();
        let device = self.world.name.bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte));
        while Instant::now() < until && !self.world.stop.load(Ordering::Acquire) {
            self.random = Random::new(&[settings.seed, device, thread as u64, self.step]);
            // What compiles in an instant comes first, so that a short walk has many steps.
            let met = if settings.is_long { Menu::Whole } else { menu_at(thread, self.step) };
            self.menu = self.world.menu.min(met);
            let at = self.random.below(sum);
            let (name, act) = chosen(&steps, at);
            self.act(thread, settings, name, act);
            self.step += 1;
        }
        let end = |actor: &mut Actor| {
            while let Some(item) = actor.items.pop() {
                drop(actor.checked(item));
            }
            actor.check_reals();
            actor.check_replays();
            actor.check_caches();
            while !actor.reads.is_empty() {
                actor.finish_read();
            }
        };
        self.act(thread, settings, "end", end);
        self.step
    }

    fn act(&mut self, thread: usize, settings: &Settings, name: &str, act: fn(&mut Actor)) {
        let place = format!("{}, thread {thread}, step {}", self.world.name, self.step);
        let _doing = doing(format!("{place}: {name}"));
        self.note(format!("{}: {name}", self.step));
        let done = catch_unwind(AssertUnwindSafe(|| {
            act(self);
            let failures = self.world.failures();
            assert!(failures.is_empty(), "behind this step or before: {}", failures.join("\n"));
        }));
        if let Err(panic) = done {
            self.world.stop.store(true, Ordering::Release);
            let seed = settings.seed;
            eprintln!("\nTILEWISE_ATTACK_SEED={seed} fails: {place}. The last steps of this thread:");
            self.history.iter().for_each(|line| eprintln!("  {line}"));
            resume_unwind(panic);
        }
    }

    /// Notes what the step does, for a failure to print.
    pub(crate) fn say(&mut self, what: impl AsRef<str>) {
        if let Some(line) = self.history.back_mut() {
            line.push_str(", ");
            line.push_str(what.as_ref());
        }
    }

    fn note(&mut self, line: String) {
        if self.history.len() == REMEMBERED {
            self.history.pop_front();
        }
        self.history.push_back(line);
    }

    /// A new tensor, if the operation gave one.
    pub(crate) fn keep(&mut self, result: Result<Held>, model: Model) {
        self.keep_sharing(result, model, Arc::default());
    }

    /// A tensor on a buffer that others share.
    pub(crate) fn keep_sharing(&mut self, result: Result<Held>, model: Model, buffer: Arc<()>) {
        match result {
            Ok(tensor) => {
                self.items.push(Item { tensor, model, buffer, made: self.step });
                if self.items.len() > ITEMS {
                    let at = self.random.below(self.items.len());
                    self.items.swap_remove(at);
                }
            }
            Err(error) => self.excuse(error),
        }
    }

    /// Accepts an error that the device has a reason for, and makes room. All others are failures.
    pub(crate) fn excuse(&mut self, error: Error) {
        match error {
            Error::OutOfMemory { needed, available, .. } if self.world.budget.is_some() => {
                assert!(available.is_none_or(|available| needed > available), "{error}");
                self.say("out of memory");
                let keep = self.random.below(self.items.len() + 1);
                self.items.truncate(keep);
                self.reals.clear();
            }
            Error::Limit { needed, allowed, .. }
                if self.world.gpu.caps().limits.binding_bytes == SMALL_BINDING =>
            {
                assert!(needed > allowed, "{error}");
                self.say("more than a binding");
            }
            other => panic!("{other}"),
        }
    }

    /// The place of some tensor that `fits`, if there is one.
    pub(crate) fn find(&mut self, fits: impl Fn(&Item) -> bool) -> Option<usize> {
        let places: Vec<usize> = (0..self.items.len()).filter(|&at| fits(&self.items[at])).collect();
        (!places.is_empty()).then(|| places[self.random.below(places.len())])
    }

    /// Some matrix, or a new one of some type on this menu. None, where there is no room for one.
    pub(crate) fn matrix(&mut self) -> Option<usize> {
        let found = self.find(|item| item.model.shape.len() == 2);
        found.or_else(|| {
            self.upload();
            self.find(|item| item.model.shape.len() == 2)
        })
    }

    /// Some type on this menu.
    pub(crate) fn dtype(&mut self) -> DType {
        match self.menu {
            Menu::Plain => DType::F32,
            _ => [DType::F32, DType::F16, DType::I8, DType::I32][self.random.below(4)],
        }
    }

    fn upload(&mut self) {
        let dtype = self.dtype();
        let shape = [self.random.extent(), self.random.extent()];
        let model = Model::random(&mut self.random, &shape);
        self.say(format!("{dtype} {shape:?}"));
        self.keep(Held::upload(&self.world.gpu, dtype, &model), model);
    }

    /// Reads some tensor, and keeps it or not.
    fn check_one(&mut self) {
        let Some(at) = self.find(|_| true) else { return };
        let item = self.items.swap_remove(at);
        let kept = self.checked(item).filter(|_| self.random.chance(70));
        self.items.extend(kept);
    }

    /// A tensor whose values are right; None if there was no room for the read.
    pub(crate) fn checked(&mut self, item: Item) -> Option<Item> {
        self.say(item.name());
        let times = 1 + self.random.below(2);
        for time in 1..=times {
            let read = match self.random.below(4) {
                0 | 1 => item.tensor.to_vec(),
                2 => item.tensor.read_into(),
                _ => item.tensor.read_with(),
            };
            match read {
                Ok(values) => assert_eq!(values, item.model.values, "{}, read {time} times", item.name()),
                Err(error) => {
                    self.excuse(error);
                    return None;
                }
            }
        }
        Some(item)
    }

    fn drop_one(&mut self) {
        if let Some(at) = self.find(|_| true) {
            let item = self.items.swap_remove(at);
            self.say(item.name());
        }
    }

    fn write(&mut self) {
        let staged = self.random.chance(60);
        self.write_some(if staged { Writing::Staged } else { Writing::Queued });
    }

    /// Writes some tensor as a whole.
    pub(crate) fn write_some(&mut self, writing: Writing) {
        let Some(at) = self.find(|item| item.tensor.is_plain()) else { return };
        let item = &mut self.items[at];
        let model = Model::random(&mut self.random, &item.model.shape);
        let (name, shared) = (item.name(), item.is_shared());
        let is_odd = !(model.values.len() * item.tensor.dtype().size()).is_multiple_of(4);
        let result = match writing {
            Writing::Queued => item.tensor.write(&model.values),
            Writing::Staged => item.tensor.write_from(&model.values),
        };
        match result {
            Ok(()) => {
                assert!(!shared, "{name} is shared, but was written");
                (item.model, item.made) = (model, self.step);
            }
            // The application's buffers may hold other data in the last word.
            Err(Error::Input { .. }) if shared || is_odd => {}
            Err(error) => self.excuse(error),
        }
        self.say(format!("{writing:?}, {name}"));
    }
}

/// The step at this place, where each takes up its weight.
fn chosen(steps: &[Step], mut at: usize) -> (&'static str, fn(&mut Actor)) {
    for &(name, weight, act) in steps {
        if at < weight {
            return (name, act);
        }
        at -= weight;
    }
    panic!("all steps are left out");
}

/// What a thread of a short walk has met: one of each device compiles more and more, the others go on.
fn menu_at(thread: usize, step: u64) -> Menu {
    match (thread, step) {
        (_, 0..200) => Menu::Plain,
        (0, 1000..2000) => Menu::Many,
        (0, 2000..) => Menu::Whole,
        _ => Menu::Typed,
    }
}
