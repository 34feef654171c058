//! A board on which every thread says what it is doing. Who says the same for half a minute is stuck: the process then
//! prints the board and aborts, so that a hang is a failure and no limit of CI's.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(30);

struct Desk {
    thread: String,
    /// Outermost first: a callback runs within the call that polled.
    doing: Vec<(String, Instant)>,
}

static BOARD: Mutex<Option<HashMap<ThreadId, Desk>>> = Mutex::new(None);

/// What this thread does until it is dropped.
#[must_use]
pub(crate) struct Doing;

/// Says what this thread does from now on.
pub(crate) fn doing(what: impl Into<String>) -> Doing {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::Builder::new().name("watchdog".into()).spawn(watch).expect("a thread starts");
    });
    let thread = std::thread::current();
    let new = || Desk { thread: thread.name().unwrap_or("unnamed").into(), doing: Vec::new() };
    let mut board = board();
    let desk = board.get_or_insert_default().entry(thread.id()).or_insert_with(new);
    desk.doing.push((what.into(), Instant::now()));
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

fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let board = board();
        let desks = board.iter().flat_map(HashMap::values);
        let stuck = |desk: &Desk| desk.doing.iter().any(|(_, since)| since.elapsed() > LIMIT);
        if !desks.clone().any(stuck) {
            continue;
        }
        let mut text =
            format!("stuck: a step takes more than {} s. What each thread does:\n", LIMIT.as_secs());
        for desk in desks {
            text += &format!("  {}\n", desk.thread);
            for (what, since) in &desk.doing {
                text += &format!("    {what}, for {:.1} s\n", since.elapsed().as_secs_f64());
            }
        }
        // NOTE: past the test harness, which would keep what it has captured until the test ends.
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::abort();
    }
}
