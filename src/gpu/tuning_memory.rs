//! What was tuned on a device: in memory, and in a file for each adapter and driver.

use super::GpuOptions;
use super::cache_file::{CacheFile, digest_of_text};
use super::lock::Lock;
use super::options::Tuning;
use super::sealed_text::{seal_text, unseal_text};
use super::tuned::Tuned;
use super::tuning_file::{parse_rates, parse_tuning, rate_lines, tuning_lines};
use super::verdicts::identity;
use crate::caps::{Caps, MeasuredRates};
use crate::plan::{Plan, Problem};
use std::collections::{HashMap, HashSet};

/// Maximum size in bytes of a file. A larger file is not read.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Maximum size in bytes of the lines that are written. The oldest are left out.
const MAX_LINE_BYTES: usize = 3 << 20;
/// Maximum number of times that one problem was tuned, of which the file says what was tried.
const MAX_TIMES: usize = 3;

/// What was tuned on a device.
pub(super) struct TuningMemory {
    file: Option<(CacheFile, String)>,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    /// From old to new.
    all: Vec<Tuned>,
    rates: MeasuredRates,
    /// Whether a thread tunes now.
    is_busy: bool,
    /// The keys of problems that could not be tuned in this run.
    given_up: HashSet<String>,
}

/// The right to tune. Only one thread has it at a time. Its drop returns it.
pub(super) struct Turn<'a>(&'a TuningMemory);

impl TuningMemory {
    /// Reads what earlier runs have tuned, if the options say so.
    pub(super) fn open(caps: &Caps, adapter: &wgpu::AdapterInfo, options: &GpuOptions) -> Self {
        let folder = match options.tuning {
            Tuning::Off => None,
            Tuning::Remembered | Tuning::Now => options.cache.path(),
        };
        let Some(folder) = folder else { return Self { file: None, state: Lock::default() } };
        let identity = identity(caps, adapter, options);
        let name = digest_of_text(&identity);
        let path = folder.join(format!("tuning-{}.txt", &name[..16]));
        let header = header(caps, &identity);
        let (mut file, contents) = CacheFile::open(path, "the tuned plans", MAX_FILE_BYTES);
        let found = contents.map_or(Ok(Default::default()), |contents| read(&contents, &header));
        let (all, rates) = found.unwrap_or_else(|why| {
            file.warn(&why, "problems are tuned again");
            Default::default()
        });
        Self { file: Some((file, header)), state: Lock::new(State { all, rates, ..State::default() }) }
    }

    /// The plan of the problem that was the fastest when it was last tuned, with its measured time. None if the problem was not
    /// tuned, or the device has no such candidate any more.
    pub(super) fn plan_of<P: Problem>(&self, problem: &P, caps: &Caps) -> Option<Plan> {
        if self.state.lock().all.is_empty() {
            return None;
        }
        let key = key(problem);
        let state = self.state.lock();
        let tuned = state.all.iter().rev().find(|tuned| tuned.key == key)?;
        let winner = tuned.winner()?.clone();
        drop(state);
        let candidates = problem.candidates(caps).ok()?;
        let plan = candidates.into_iter().find(|plan| plan.signature() == winner.signature)?;
        Some(plan.measured(winner.measured?))
    }

    /// Everything that was tuned, from old to new.
    pub(super) fn all(&self) -> Vec<Tuned> {
        self.state.lock().all.clone()
    }

    /// What the problem's candidates took when it was last tuned.
    pub(super) fn last(&self, key: &str) -> Option<Tuned> {
        self.state.lock().all.iter().rev().find(|tuned| tuned.key == key).cloned()
    }

    /// Forgets everything, in the file too.
    pub(super) fn forget(&self) {
        let mut state = self.state.lock();
        state.all.clear();
        state.rates = MeasuredRates::default();
        state.given_up.clear();
        drop(state);
        if let Some((file, header)) = &self.file {
            file.write(seal_text(header, &[]).as_bytes());
        }
    }

    /// The rates that were measured.
    pub(super) fn rates(&self) -> MeasuredRates {
        self.state.lock().rates
    }

    /// Adds measured rates, and writes the file.
    pub(super) fn add_rates(&self, rates: MeasuredRates) {
        self.update(|state| state.rates = rates);
    }

    /// Adds what was tuned, and writes the file.
    pub(super) fn add(&self, tuned: Tuned) {
        self.update(|state| state.all.push(tuned));
    }

    /// Changes what is known, and writes the file. What another process has written meanwhile is kept.
    fn update(&self, change: impl FnOnce(&mut State)) {
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
    pub(super) fn begin(&self) -> Option<Turn<'_>> {
        let mut state = self.state.lock();
        if state.is_busy {
            return None;
        }
        state.is_busy = true;
        drop(state);
        Some(Turn(self))
    }

    /// Notes that a problem cannot be tuned in this run.
    pub(super) fn give_up(&self, key: String) {
        self.state.lock().given_up.insert(key);
    }

    /// Whether a problem could not be tuned in this run.
    pub(super) fn is_given_up(&self, key: &str) -> bool {
        self.state.lock().given_up.contains(key)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().is_busy = false;
    }
}

/// What distinguishes a problem from all others.
pub(super) fn key<P: Problem>(problem: &P) -> String {
    digest_of_text(&format!("{} {problem:?}", std::any::type_name::<P>()))
}

/// The first lines of the file. Files of another crate version or driver have another header.
fn header(caps: &Caps, identity: &str) -> String {
    let subgroups = caps.subgroups.map_or("none".into(), |sizes| sizes.to_string());
    format!(
        "Plans that Tilewise has measured. Delete this file to forget them.\nversion {}\nadapter {identity}\n\
         driver {}\nsubgroups {subgroups}\n",
        env!("CARGO_PKG_VERSION"),
        caps.driver,
    )
}

fn read(contents: &[u8], header: &str) -> Result<(Vec<Tuned>, MeasuredRates), String> {
    let lines = unseal_text(contents, header)?;
    let all = parse_tuning(&lines).ok_or("it is damaged")?;
    Ok((all, parse_rates(&lines)))
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
    use crate::caps::fixtures;

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

    #[test]
    fn whatever_measured_times_depend_on_is_in_the_header() {
        let adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let of = |caps: &Caps, options: &GpuOptions| header(caps, &identity(caps, &adapter, options));
        let (caps, options) = (fixtures::h200(), GpuOptions::default());
        let usual = of(&caps, &options);
        assert!(usual.contains(env!("CARGO_PKG_VERSION")) && usual.contains("NVIDIA H200"), "{usual}");
        let checks = super::super::Checks::Checked;
        assert_ne!(usual, of(&caps, &GpuOptions { checks, ..options.clone() }));
        assert_ne!(usual, of(&Caps { driver: "NVIDIA 1.2".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { adapter: "NVIDIA H100".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { subgroups: None, ..caps }, &options));
    }
}
