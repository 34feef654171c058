//! The results of tuning in this run. One thread tunes at a time. The results are written to the file together with
//! those of other processes.

use super::tried::Tuned;
use super::tuning_file::{rate_lines, tuning_lines};
use super::tuning_memory::{MAX_FILE_BYTES, TuningMemory, TuningState, read};
use crate::caps::MeasuredRates;
use crate::gpu::cache::sealed_text::seal_text;
use std::collections::{HashMap, HashSet};

/// Maximum size in bytes of the lines that are written. The oldest are omitted.
const MAX_LINE_BYTES: usize = 3 << 20;
/// Maximum number of tunings of one problem whose candidates are kept in the file.
const MAX_TIMES: usize = 3;

/// Maximum number of problems that are known not to be tunable in this run. Past it, all are tried again.
const MAX_GIVEN_UP: usize = 4096;

/// The right to tune. Only one thread has it at a time. Its drop returns it.
pub(in crate::gpu) struct Turn<'a>(&'a TuningMemory);

impl TuningMemory {
    /// Everything that was tuned, from old to new.
    pub(in crate::gpu) fn all(&self) -> Vec<Tuned> {
        self.state.lock().all.clone()
    }

    /// Removes all results, in the file too.
    pub(in crate::gpu) fn forget(&self) {
        let mut state = self.state.lock();
        state.all.clear();
        state.rates = MeasuredRates::default();
        state.given_up.clear();
        drop(state);
        if let Some((file, header)) = &self.file {
            file.write(seal_text(header, &[]).as_bytes());
        }
    }

    /// Adds measured rates, and writes the file.
    pub(in crate::gpu) fn add_rates(&self, rates: MeasuredRates) {
        self.update(|state| state.rates = rates);
    }

    /// Adds the results of a tuning, and writes the file.
    pub(in crate::gpu) fn add(&self, tuned: Tuned) {
        self.update(|state| state.all.push(tuned));
    }

    /// Changes the results, and writes the file. Results that another process has written meanwhile are kept.
    fn update(&self, change: impl FnOnce(&mut TuningState)) {
        let theirs = self.file.as_ref().and_then(|(file, header)| {
            let contents = file.contents(MAX_FILE_BYTES)?;
            read(&contents, header).ok()
        });
        let (theirs, their_rates) = theirs.unwrap_or_default();
        let mut state = self.state.lock();
        if their_rates != MeasuredRates::default() {
            state.rates = their_rates;
        }
        change(&mut state);
        let all = merged(std::mem::take(&mut state.all), theirs);
        state.all.clone_from(&all);
        let rates = state.rates;
        drop(state);
        // Not while the state is locked: the file can log a warning, and a logger is foreign code.
        if let Some((file, header)) = &self.file {
            let lines = [rate_lines(&rates), tuning_lines(&all)].concat();
            file.write(seal_text(header, &lines).as_bytes());
        }
    }

    /// Begins to tune. None if another thread is tuning.
    pub(in crate::gpu) fn begin(&self) -> Option<Turn<'_>> {
        let mut state = self.state.lock();
        if state.is_busy {
            return None;
        }
        state.is_busy = true;
        drop(state);
        Some(Turn(self))
    }

    /// Notes that a problem cannot be tuned in this run.
    pub(in crate::gpu) fn give_up(&self, key: String) {
        let given_up = &mut self.state.lock().given_up;
        if given_up.len() >= MAX_GIVEN_UP {
            given_up.clear();
        }
        given_up.insert(key);
    }

    /// Whether a problem could not be tuned in this run.
    pub(in crate::gpu) fn is_given_up(&self, key: &str) -> bool {
        self.state.lock().given_up.contains(key)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().is_busy = false;
    }
}

/// All of both, from old to new, within the limits.
fn merged(mut all: Vec<Tuned>, theirs: Vec<Tuned>) -> Vec<Tuned> {
    let known: HashSet<(String, u64)> = all.iter().map(|tuned| (tuned.key.clone(), tuned.date)).collect();
    all.extend(theirs.into_iter().filter(|tuned| !known.contains(&(tuned.key.clone(), tuned.date))));
    all.sort_by_key(|tuned| tuned.date);
    let (mut bytes, mut kept, mut times) = (0, Vec::new(), HashMap::new());
    for tuned in all.into_iter().rev() {
        bytes += tuning_lines(std::slice::from_ref(&tuned)).iter().map(|line| line.len() + 1).sum::<usize>();
        if bytes > MAX_LINE_BYTES {
            break;
        }
        let times = times.entry(tuned.key.clone()).or_insert(0);
        *times += 1;
        if *times <= MAX_TIMES {
            kept.push(tuned);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::super::tuning_file::tests::tuned;
    use super::*;
    use crate::gpu::driver::lock::Lock;

    #[test]
    fn what_two_processes_tune_is_kept_from_old_to_new_and_bounded() {
        let ours = vec![tuned("a", 5), tuned("b", 7)];
        let theirs = vec![tuned("a", 5), tuned("c", 6), tuned("a", 1), tuned("a", 2), tuned("a", 3)];
        let keys = |all: &[Tuned]| all.iter().map(|t| (t.key.clone(), t.date)).collect::<Vec<_>>();
        let [a, b, c] = ["a", "b", "c"].map(str::to_owned);
        let want = [(a.clone(), 2), (a.clone(), 3), (a, 5), (c, 6), (b, 7)];
        assert_eq!(keys(&merged(ours, theirs)), want);
        let many = (0..40_000).map(|date| tuned(&date.to_string(), date)).collect();
        let kept = merged(many, Vec::new());
        let text = seal_text("", &tuning_lines(&kept));
        assert!((text.len() as u64) < MAX_FILE_BYTES && text.len() > MAX_LINE_BYTES / 2, "{}", text.len());
        assert_eq!(kept.last().map(|tuned| tuned.date), Some(39_999), "the newest are kept");
    }

    #[test]
    fn only_one_thread_tunes_at_a_time() {
        let memory = TuningMemory { file: None, state: Lock::default() };
        let turn = memory.begin().expect("the first one");
        assert!(memory.begin().is_none());
        drop(turn);
        assert!(memory.begin().is_some());
    }
}
