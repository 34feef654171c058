//! The results of tuning on a device: in memory, and in a file for each adapter and driver.

use super::tried::Tuned;
use super::tuning_file::{parse_rates, parse_tuning};
use crate::caps::{Caps, MeasuredRates};
use crate::gpu::GpuOptions;
use crate::gpu::cache::cache_file::{CacheFile, digest_of_text};
use crate::gpu::cache::sealed_text::unseal_text;
use crate::gpu::driver::lock::Lock;
use crate::gpu::options::gpu_options::Tuning;
use crate::gpu::rows::verdicts::identity;
use crate::plan::{AnyProblem, Plan};
#[cfg(not(target_arch = "wasm32"))]
use std::collections::HashSet;

/// Maximum size in bytes of a file. A larger file is not read.
pub(in crate::gpu) const MAX_FILE_BYTES: u64 = 4 << 20;
/// The results of tuning on a device.
pub(in crate::gpu) struct TuningMemory {
    /// The file and its header.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code, reason = "a browser tunes nothing"))]
    pub(in crate::gpu) file: Option<(CacheFile, String)>,
    pub(in crate::gpu) state: Lock<TuningState>,
}

#[derive(Default)]
pub(in crate::gpu) struct TuningState {
    /// From old to new.
    pub(in crate::gpu) all: Vec<Tuned>,
    pub(in crate::gpu) rates: MeasuredRates,
    /// Whether a thread tunes now.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) is_busy: bool,
    /// The keys of problems that could not be tuned in this run.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) given_up: HashSet<String>,
}

impl TuningMemory {
    /// Reads the results of earlier runs, if the options request it.
    pub(in crate::gpu) fn open(caps: &Caps, adapter: &wgpu::AdapterInfo, options: &GpuOptions) -> Self {
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
            file.note(&why, "problems are tuned again");
            Default::default()
        });
        file.log_problem();
        Self {
            file: Some((file, header)),
            state: Lock::new(TuningState { all, rates, ..TuningState::default() }),
        }
    }

    /// The plan of the problem that was the fastest when it was last tuned, with its measured time. None if the problem was not
    /// tuned, or the device has no such candidate any more.
    pub(in crate::gpu) fn plan_of(&self, problem: &AnyProblem, caps: &Caps) -> Option<Plan> {
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

    /// The times of the problem's candidates when it was last tuned.
    pub(in crate::gpu) fn last(&self, key: &str) -> Option<Tuned> {
        self.state.lock().all.iter().rev().find(|tuned| tuned.key == key).cloned()
    }

    /// The rates that were measured.
    pub(in crate::gpu) fn rates(&self) -> MeasuredRates {
        self.state.lock().rates
    }
}

/// The key that distinguishes a problem from all others.
pub(in crate::gpu) fn key(problem: &AnyProblem) -> String {
    digest_of_text(&format!("{} {problem:?}", problem.type_name()))
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

/// The results and rates, from the contents of a file with this header. The error says why the file is not used.
pub(in crate::gpu) fn read(contents: &[u8], header: &str) -> Result<(Vec<Tuned>, MeasuredRates), String> {
    let lines = unseal_text(contents, header)?;
    let all = parse_tuning(&lines).ok_or("it is damaged")?;
    Ok((all, parse_rates(&lines)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::fixtures;

    #[test]
    fn whatever_measured_times_depend_on_is_in_the_header() {
        let adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let of = |caps: &Caps, options: &GpuOptions| header(caps, &identity(caps, &adapter, options));
        let (caps, options) = (fixtures::h200(), GpuOptions::default());
        let usual = of(&caps, &options);
        assert!(usual.contains(env!("CARGO_PKG_VERSION")) && usual.contains("NVIDIA H200"), "{usual}");
        let checks = crate::gpu::Checks::Checked;
        assert_ne!(usual, of(&caps, &GpuOptions { checks, ..options.clone() }));
        assert_ne!(usual, of(&Caps { driver: "NVIDIA 1.2".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { adapter: "NVIDIA H100".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { subgroups: None, ..caps }, &options));
    }
}
