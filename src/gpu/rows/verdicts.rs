//! Verdicts of the self-tests, the speeds of rows, and the subgroup sizes that kernels were found to have, cached across runs in a small text
//! file for each adapter.

use super::scalar_test;
use super::self_test;
use super::test_modules;
use crate::caps::{Caps, CoopRow, RowSpeed, Verdict};
use crate::gpu::GpuOptions;
use crate::gpu::cache::cache_file::{CacheFile, digest_of, digest_of_text};
use crate::gpu::cache::sealed_text::{seal_text, unseal_text};
use crate::gpu::driver::lock::Lock;
use crate::gpu::options::gpu_options::Checks;
use crate::kernel::{INCLUDES, KERNELS, MODULES};

/// Maximum size in bytes of a file of verdicts. A larger file is not read.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum number of kernels whose subgroup sizes are kept. The oldest are dropped. With the rows, they stay far below the
/// size of a file that is read.
const MAX_KERNELS: usize = 4096;

/// The verdicts of one adapter and driver as in its file: a header, then one line for each verdict, each speed and each kernel.
pub(in crate::gpu) struct Verdicts {
    file: CacheFile,
    header: String,
    state: Lock<VerdictLines>,
}

#[derive(Default)]
struct VerdictLines {
    lines: Vec<String>,
    /// Whether the file lacks some of the lines.
    is_stale: bool,
    /// Whether a thread is writing the file. It writes it again if more lines are added meanwhile.
    is_written: bool,
}

impl Verdicts {
    /// Reads the verdicts of an earlier run. None if no files are cached. Logs nothing.
    pub(in crate::gpu) fn read(
        caps: &Caps,
        adapter: &wgpu::AdapterInfo,
        options: &GpuOptions,
    ) -> Option<Self> {
        let folder = options.cache.path()?;
        let identity = tested(caps, adapter, options);
        let name = digest_of_text(&identity);
        let path = folder.join(format!("verdicts-{}.txt", &name[..16]));
        let header = header(caps, &identity);
        let what = "the verdicts on cooperative matrices";
        let (mut file, contents) = CacheFile::open(path, what, MAX_FILE_BYTES);
        let lines = contents.map_or(Ok(Vec::new()), |contents| unseal_text(&contents, &header));
        let lines = lines.unwrap_or_else(|why| {
            file.note(&why, "the rows are tested again");
            Vec::new()
        });
        Some(Self { file, header, state: Lock::new(VerdictLines { lines, ..VerdictLines::default() }) })
    }

    /// Logs why the file is not used.
    pub(in crate::gpu) fn log_problem(&self) {
        self.file.log_problem();
    }

    /// The verdict on a row; [`Verdict::Untested`] for a row without one.
    pub(in crate::gpu) fn of(&self, row: &CoopRow) -> Verdict {
        let state = self.state.lock();
        let known = |&verdict: &Verdict| state.lines.contains(&line(row, verdict));
        let verdicts = [Verdict::OtherSubgroups, Verdict::Wrong, Verdict::Refused, Verdict::Verified];
        verdicts.into_iter().find(known).unwrap_or(Verdict::Untested)
    }

    /// How fast a row was when it was timed.
    pub(in crate::gpu) fn speed_of(&self, row: &CoopRow) -> Option<RowSpeed> {
        let state = self.state.lock();
        let subject = speed_subject(row);
        let times = |line: &String| line.strip_prefix(&subject)?.strip_prefix(", ")?.parse().ok();
        RowSpeed::new(state.lines.iter().find_map(times)?)
    }

    /// The subgroup size that the kernel of this name was found to have.
    pub(in crate::gpu) fn subgroup_size(&self, kernel: &str) -> Option<u32> {
        let state = self.state.lock();
        let size = |line: &String| line.strip_prefix(kernel)?.strip_prefix(SUBGROUPS_OF)?.parse().ok();
        state.lines.iter().find_map(size)
    }

    /// Adds the verdicts on these rows, and their speeds, and writes the file.
    pub(in crate::gpu) fn store(&self, rows: &[CoopRow]) {
        let verdicts = rows.iter().map(|row| line(row, row.verdict));
        let speed = |row: &CoopRow| Some(format!("{}, {}", speed_subject(row), row.speed?));
        self.write(verdicts.chain(rows.iter().filter_map(speed)).collect());
    }

    /// Adds the subgroup size that a kernel was found to have and writes the file.
    pub(in crate::gpu) fn store_subgroup_size(&self, kernel: &str, size: u32) {
        self.write(vec![format!("{kernel}{SUBGROUPS_OF}{size}")]);
    }

    /// Adds lines, which replace those about the same row or kernel, and writes the file. Does nothing if they are there.
    fn write(&self, new: Vec<String>) {
        let mut state = self.state.lock();
        if new.iter().all(|new| state.lines.contains(new)) {
            return;
        }
        state.lines.retain(|line| new.iter().all(|new| subject(new) != subject(line)));
        state.lines.extend(new);
        let sizes = state.lines.iter().filter(|line| line.contains(SUBGROUPS_OF)).count();
        for _ in MAX_KERNELS..sizes {
            let oldest = state.lines.iter().position(|line| line.contains(SUBGROUPS_OF));
            oldest.map(|at| state.lines.remove(at));
        }
        state.is_stale = true;
        if state.is_written {
            return;
        }
        state.is_written = true;
        while state.is_stale {
            state.is_stale = false;
            let text = seal_text(&self.header, &state.lines);
            // Not while the state is locked: the file can log a warning, and a logger is foreign code.
            drop(state);
            self.file.write(text.as_bytes());
            state = self.state.lock();
        }
        state.is_written = false;
    }
}

/// The separator between the name of a kernel and its subgroup size.
const SUBGROUPS_OF: &str = ", subgroups of ";

/// The row, its speed or the kernel that a line is about.
fn subject(line: &str) -> &str {
    line.rsplit_once(", ").map_or(line, |(subject, _)| subject)
}

/// The identity of an adapter that its file belongs to. It includes whether shaders have run-time checks and whether the
/// driver checks their accesses, because a verdict on one kind says nothing about the others.
pub(in crate::gpu) fn identity(caps: &Caps, adapter: &wgpu::AdapterInfo, options: &GpuOptions) -> String {
    let wgpu::AdapterInfo { vendor, device, driver, .. } = adapter;
    let kind = options.buffer_access.suffix();
    let checks = match options.checks {
        Checks::Trusted => "trusted",
        Checks::Checked => "checked",
    };
    format!("{}, {}, {vendor:x}:{device:x}, {driver}, {checks}{kind} shaders", caps.adapter, caps.backend)
}

/// The tested device, with the extensions that it was opened with: their functions are tested, too.
fn tested(caps: &Caps, adapter: &wgpu::AdapterInfo, options: &GpuOptions) -> String {
    format!("{}, with {}", identity(caps, adapter, options), caps.extensions)
}

/// The first lines of the file. Files of another crate version, self-test or driver have another header.
fn header(caps: &Caps, identity: &str) -> String {
    let is_text = |name: &str| name == self_test::SHADER || scalar_test::SHADERS.contains(&name);
    let texts = KERNELS.iter().chain(INCLUDES).filter(|(name, _)| is_text(name));
    let texts = texts.map(|(_, text)| text.as_bytes());
    let modules = MODULES.iter().filter(|(name, _)| test_modules::is_module(name)).map(|(_, bytes)| *bytes);
    let test: Vec<&[u8]> = texts.chain(modules).collect();
    let subgroups = caps.subgroups.map_or("none".into(), |sizes| sizes.to_string());
    format!(
        "Verdicts of Tilewise on cooperative matrices. Delete this file to test the rows again.\n\
         version {}, test {}\nadapter {identity}\ndriver {}\nsubgroups {subgroups}\n",
        env!("CARGO_PKG_VERSION"),
        digest_of(&test.concat()),
        caps.driver,
    )
}

fn line(row: &CoopRow, verdict: Verdict) -> String {
    CoopRow { verdict, ..*row }.to_string()
}

/// The beginning of a line about the speed of a row.
fn speed_subject(row: &CoopRow) -> String {
    let row = row.to_string();
    format!("speed of {}", subject(&row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caps::{MatrixExtensions, fixtures};
    use crate::gpu::BufferAccess;

    fn verdicts(lines: &[String]) -> Verdicts {
        let (file, _) = CacheFile::open(".".into(), "nothing", 0);
        Verdicts {
            file,
            header: "header\n".into(),
            state: Lock::new(VerdictLines { lines: lines.to_vec(), ..VerdictLines::default() }),
        }
    }

    #[test]
    fn stored_verdicts_are_found_by_row() {
        let rows = fixtures::apple_m2().rows;
        let lines = [line(&rows[0], Verdict::Wrong), line(&rows[1], Verdict::Verified)];
        let read = unseal_text(seal_text("header\n", &lines).as_bytes(), "header\n").expect("it is whole");
        assert_eq!(read, lines);
        let found = rows.iter().map(|row| verdicts(&read).of(row)).collect::<Vec<_>>();
        assert_eq!(found, [Verdict::Wrong, Verdict::Verified, Verdict::Untested]);
    }

    #[test]
    fn stored_sizes_are_found_by_kernel_and_a_new_line_replaces_the_one_before() {
        let row = fixtures::radv_rdna3().rows[1];
        let found = verdicts(&[line(&row, Verdict::Verified), "gemm/coop 12, subgroups of 32".into()]);
        found.store_subgroup_size("gemm/coop 1", 64);
        found.store_subgroup_size("gemm/coop 12", 8);
        assert_eq!(found.subgroup_size("gemm/coop 1"), Some(64));
        assert_eq!(found.subgroup_size("gemm/coop 12"), Some(8));
        assert_eq!(found.subgroup_size("gemm/coop"), None);
        assert_eq!(found.of(&row), Verdict::Verified);
        found.store(&[CoopRow { verdict: Verdict::OtherSubgroups, ..row }]);
        assert_eq!(found.of(&row), Verdict::OtherSubgroups);
        let lines = found.state.lock().lines.clone();
        let row = line(&row, Verdict::OtherSubgroups);
        assert_eq!(lines, ["gemm/coop 1, subgroups of 64", "gemm/coop 12, subgroups of 8", row.as_str()]);
    }

    #[test]
    fn sizes_are_kept_of_the_latest_kernels() {
        let row = fixtures::radv_rdna3().rows[1];
        let found = verdicts(&[line(&row, Verdict::Verified)]);
        for kernel in 0..MAX_KERNELS + 3 {
            let mut state = found.state.lock();
            state.is_written = true; // by another thread, so that this one writes no file
            drop(state);
            found.store_subgroup_size(&format!("gemm/coop {kernel}"), 32);
        }
        assert_eq!(found.state.lock().lines.len(), MAX_KERNELS + 1);
        assert_eq!(found.subgroup_size("gemm/coop 2"), None);
        assert_eq!(found.subgroup_size("gemm/coop 3"), Some(32));
        assert_eq!(found.of(&row), Verdict::Verified);
    }

    #[test]
    fn whatever_a_verdict_depends_on_is_in_the_header() {
        let adapter = wgpu::AdapterInfo::new(wgpu::DeviceType::DiscreteGpu, wgpu::Backend::Vulkan);
        let of = |caps: &Caps, options: &GpuOptions| header(caps, &tested(caps, &adapter, options));
        let (caps, options) = (fixtures::h200(), GpuOptions::default());
        let usual = of(&caps, &options);
        assert!(usual.contains(env!("CARGO_PKG_VERSION")) && usual.contains("NVIDIA H200"), "{usual}");
        assert_ne!(usual, of(&caps, &GpuOptions { checks: Checks::Checked, ..options.clone() }));
        let buffer_access = BufferAccess { is_unchecked: true };
        assert_ne!(usual, of(&caps, &GpuOptions { buffer_access, ..options.clone() }));
        assert_ne!(usual, of(&Caps { driver: "NVIDIA 1.2".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { adapter: "NVIDIA H100".into(), ..caps.clone() }, &options));
        assert_ne!(usual, of(&Caps { subgroups: None, ..caps.clone() }, &options));
        let extensions = MatrixExtensions { maintenance1: true, ..caps.extensions };
        assert_ne!(usual, of(&Caps { extensions, ..caps.clone() }, &options));
        assert!(identity(&caps, &adapter, &options).contains("trusted"));
    }
}
