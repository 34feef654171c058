//! A watchdog for hanging tests. Every thread announces its work on a board. If a thread announces nothing new for longer than is
//! allowed, the process prints the board and aborts, so that a hang fails at once instead of at CI's time limit. It prints the
//! panics so far, too: a thread that others wait for may have panicked.
//!
//! Time counts less on a busy machine: where four threads want each core, a quarter of it.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// Limit of the time of one step, on a machine that does nothing else.
const LIMIT: Duration = Duration::from_secs(30);
/// Limit of the time of a whole test with many steps.
const LONG: Duration = Duration::from_secs(300);
/// The time between two checks of the board.
const LOOK: Duration = Duration::from_millis(500);

struct Task {
    what: String,
    /// The time that counts towards the limit.
    counted: Duration,
    limit: Duration,
}

struct Desk {
    thread: String,
    /// The thread's nested work, outermost first: a callback runs inside the call that polled.
    doing: Vec<Task>,
}

static BOARD: Mutex<Option<HashMap<ThreadId, Desk>>> = Mutex::new(None);
/// The messages of panics, which a test harness that captures output would lose when the process aborts.
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// An announcement that ends when it is dropped.
#[must_use]
pub struct Doing;

/// Announces this thread's work from now on.
pub fn doing(what: impl Into<String>) -> Doing {
    doing_within(what, LIMIT)
}

/// Runs work of many steps, which must end within five minutes.
pub fn in_time<R>(what: impl Into<String>, work: impl FnOnce() -> R) -> R {
    let _doing = doing_within(what, LONG);
    work()
}

fn doing_within(what: impl Into<String>, limit: Duration) -> Doing {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(panic.to_string());
            hook(panic);
        }));
        std::thread::Builder::new().name("watchdog".into()).spawn(watch).expect("a thread starts");
    });
    let thread = std::thread::current();
    let new = || Desk { thread: thread.name().unwrap_or("unnamed").into(), doing: Vec::new() };
    let mut board = board();
    let desk = board.get_or_insert_default().entry(thread.id()).or_insert_with(new);
    desk.doing.push(Task { what: what.into(), counted: Duration::ZERO, limit });
    Doing
}

impl Drop for Doing {
    fn drop(&mut self) {
        let id = std::thread::current().id();
        let mut board = board();
        let desks = board.get_or_insert_default();
        let done = desks.get_mut(&id).is_none_or(|desk| {
            desk.doing.pop();
            desk.doing.is_empty()
        });
        if done {
            desks.remove(&id);
        }
    }
}

fn board() -> MutexGuard<'static, Option<HashMap<ThreadId, Desk>>> {
    BOARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads of the machine want each core: 1, where a core is free, and where nothing tells it. At most 8, since the
/// threads of a container's host are counted here, and its cores are not.
fn threads_for_each_core() -> f64 {
    let running = || {
        let load = std::fs::read_to_string("/proc/loadavg").ok()?;
        load.split(' ').nth(3)?.split('/').next()?.parse::<f64>().ok()
    };
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    running().map_or(1.0, |running| (running / cores).clamp(1.0, 8.0))
}

/// NOTE: a virtual machine may be paused and resumed. All threads then seem slow at once, and so does this one: what it
/// overslept counts for none of them.
fn watch() {
    let (mut begun, mut all) = (Instant::now(), Duration::ZERO);
    loop {
        std::thread::sleep(LOOK);
        let counts = LOOK.div_f64(threads_for_each_core());
        let mut board = board();
        all += counts;
        if board.as_ref().is_none_or(HashMap::is_empty) {
            (begun, all) = (Instant::now(), Duration::ZERO);
        }
        for task in board.iter_mut().flat_map(HashMap::values_mut).flat_map(|desk| &mut desk.doing) {
            task.counted += counts;
        }
        let desks = board.iter().flat_map(HashMap::values);
        let stuck = |desk: &Desk| desk.doing.iter().any(|task| task.counted > task.limit);
        if !desks.clone().any(stuck) {
            continue;
        }
        let mut text = String::from("stuck: a step takes too long. The work of each thread:\n");
        text += &format!("  (of {:.1} s, {:.1} s count)\n", begun.elapsed().as_secs_f64(), all.as_secs_f64());
        for desk in desks {
            text += &format!("  {}\n", desk.thread);
            for Task { what, counted, .. } in &desk.doing {
                text += &format!("    {what}, for {:.1} s\n", counted.as_secs_f64());
            }
        }
        for panic in PANICS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text += &format!("  {panic}\n");
        }
        // NOTE: writes past the test harness, which would hold captured output back until the test ends.
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::abort();
    }
}
