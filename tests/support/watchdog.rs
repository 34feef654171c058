//! A board on which every thread says what it is doing. A thread that says the same for longer than is allowed is stuck: the
//! process then prints the board and aborts, so that a hang fails at once, and not by CI's limit.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A step takes no longer.
const LIMIT: Duration = Duration::from_secs(30);
/// Nor does a whole test of many.
const LONG: Duration = Duration::from_secs(300);
/// The board is looked at this often.
const LOOK: Duration = Duration::from_millis(500);

struct Task {
    what: String,
    begun: Instant,
    limit: Duration,
}

struct Desk {
    thread: String,
    /// Outermost first: a callback runs within the call that polled.
    doing: Vec<Task>,
}

static BOARD: Mutex<Option<HashMap<ThreadId, Desk>>> = Mutex::new(None);

/// What this thread does until it is dropped.
#[must_use]
pub struct Doing;

/// Says what this thread does from now on.
pub fn doing(what: impl Into<String>) -> Doing {
    doing_within(what, LIMIT)
}

/// Does work of many steps, which ends within five minutes.
pub fn in_time<R>(what: impl Into<String>, work: impl FnOnce() -> R) -> R {
    let _doing = doing_within(what, LONG);
    work()
}

fn doing_within(what: impl Into<String>, limit: Duration) -> Doing {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::Builder::new().name("watchdog".into()).spawn(watch).expect("a thread starts");
    });
    let thread = std::thread::current();
    let new = || Desk { thread: thread.name().unwrap_or("unnamed").into(), doing: Vec::new() };
    let mut board = board();
    let desk = board.get_or_insert_default().entry(thread.id()).or_insert_with(new);
    desk.doing.push(Task { what: what.into(), begun: Instant::now(), limit });
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

/// NOTE: a virtual machine may be stopped and go on. All threads then took long at once, and so did this one: what it
/// has overslept counts for none of them.
fn watch() {
    let mut stopped = Duration::ZERO;
    loop {
        let asleep = Instant::now();
        std::thread::sleep(LOOK);
        let mut board = board();
        let overslept = asleep.elapsed().saturating_sub(LOOK);
        stopped += overslept;
        for task in board.iter_mut().flat_map(HashMap::values_mut).flat_map(|desk| &mut desk.doing) {
            task.begun += overslept;
        }
        let desks = board.iter().flat_map(HashMap::values);
        let stuck = |desk: &Desk| desk.doing.iter().any(|task| task.begun.elapsed() > task.limit);
        if !desks.clone().any(stuck) {
            continue;
        }
        let mut text = String::from("stuck: a step takes too long. What each thread does:\n");
        text += &format!("  (beside {:.1} s in which nothing ran)\n", stopped.as_secs_f64());
        for desk in desks {
            text += &format!("  {}\n", desk.thread);
            for Task { what, begun, .. } in &desk.doing {
                text += &format!("    {what}, for {:.1} s\n", begun.elapsed().as_secs_f64());
            }
        }
        // NOTE: past the test harness, which would keep what it has captured until the test ends.
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::abort();
    }
}
