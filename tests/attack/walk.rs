//! The random walk: threads on every device, until the time is over; then nothing may be left.

use crate::actor::Actor;
use crate::api;
use crate::world::{World, lock, worlds};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::watchdog::doing;
use tilewise::wgpu;

/// Seconds that the walk takes unless `TILEWISE_ATTACK` asks for minutes.
fn seconds() -> f64 {
    if support::is_brief() { 10.0 } else { 30.0 }
}
/// What the pool of a device may keep at the end: a walk's tensors are small.
const CACHED_AT_MOST: u64 = 64 << 20;

/// What the environment asks for.
pub(crate) struct Settings {
    pub(crate) seed: u64,
    /// Whether minutes were asked for, so that compiling may take its time.
    pub(crate) is_long: bool,
    seconds: f64,
    devices: Option<Vec<String>>,
    without: Vec<String>,
}

impl Settings {
    fn from_env() -> Self {
        let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let list = |value: String| value.split(',').map(str::to_owned).collect::<Vec<_>>();
        let minutes = value("TILEWISE_ATTACK").map(|v| v.parse::<f64>().expect("a number of minutes"));
        Self {
            seed: value("TILEWISE_ATTACK_SEED").map_or(18, |v| v.parse().expect("a number")),
            is_long: minutes.is_some(),
            seconds: minutes.map_or_else(seconds, |minutes| 60.0 * minutes),
            devices: value("TILEWISE_ATTACK_DEVICES").map(list),
            without: value("TILEWISE_ATTACK_WITHOUT").map(list).unwrap_or_default(),
        }
    }

    /// Whether the walk takes this step.
    pub(crate) fn takes(&self, step: &str) -> bool {
        !self.without.iter().any(|name| name == step)
    }

    fn walks_on(&self, device: &str) -> bool {
        self.devices.as_ref().is_none_or(|devices| devices.iter().any(|name| name == device))
    }
}

#[test]
fn a_random_walk_of_many_threads_gives_what_a_plain_model_does() {
    let settings = Settings::from_env();
    let worlds: Vec<Arc<World>> = worlds().into_iter().map(Arc::new).collect();
    let until = Instant::now() + Duration::from_secs_f64(settings.seconds);
    std::thread::scope(|scope| {
        let mut actors = Vec::new();
        for (at, world) in worlds.iter().enumerate().filter(|(_, world)| settings.walks_on(world.name)) {
            let other = &worlds[(at + 1) % worlds.len()].gpu;
            for thread in 0..world.threads {
                let name = format!("{} {thread}", world.name);
                let settings = &settings;
                let run = move || Actor::new(world, other).run(thread, settings, until);
                let actor = std::thread::Builder::new().name(name).spawn_scoped(scope, run);
                actors.push((world.name, thread, actor.expect("a thread starts")));
            }
        }
        let ended: Vec<_> = actors.into_iter().map(|(name, at, actor)| (name, at, actor.join())).collect();
        for (name, thread, steps) in ended {
            match steps {
                Ok(steps) => println!("{name}, thread {thread}: {steps} steps"),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    worlds.iter().for_each(|world| nothing_is_left(world));
    assert_eq!(support::take_complaints(), Vec::<String>::new(), "the validation layer complains");
}

fn nothing_is_left(world: &World) {
    let _doing = doing(format!("{}: the end", world.name));
    let gpu = &world.gpu;
    gpu.wait().expect("nothing failed that nobody was told of");
    while world.callbacks.load(Ordering::Acquire) > 0 {
        gpu.device().poll(wgpu::PollType::Poll).expect("the device is there");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(world.failures(), Vec::<String>::new(), "{}", world.name);
    lock(&world.graves).clear();
    let stats = gpu.stats();
    println!("{}: {stats:?}", world.name);
    assert!(stats.bytes_cached <= world.budget.unwrap_or(CACHED_AT_MOST), "{}: {stats:?}", world.name);
    assert!(stats.bytes_peak <= world.budget.unwrap_or(u64::MAX), "{}: {stats:?}", world.name);
    // The constants of plans are in use until the memory is wanted.
    api::trim(gpu);
    assert_eq!(gpu.stats().bytes_in_use, 0, "{}: all is dropped", world.name);
}
