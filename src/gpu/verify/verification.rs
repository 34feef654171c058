//! Tests rows of cooperative matrices before any kernel relies on them. A test is one small exact product, and its verdict is
//! cached across runs.
//!
//! The tests are needed because naga and wgpu let a shader use matrices that the adapter does not have, and because
//! drivers' support for matrices is young. No user's launch may be the first to meet such a fault.

#[cfg(not(target_arch = "wasm32"))]
use super::speed_test;
use crate::caps::{Caps, CoopRow, Verdict};
use crate::gpu::CacheFolder;
use crate::gpu::Gpu;
use crate::gpu::GpuOptions;
use crate::gpu::View;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::rows::known_caps::untested;
use crate::gpu::rows::module_test::ModuleCase;
use crate::gpu::rows::row_test::Test;
use crate::gpu::rows::scalar_test::ScalarCase;
use crate::gpu::rows::self_test::{Case, OP};
use crate::gpu::rows::verdicts::Verdicts;
use crate::gpu::transfer::read::Pending;
#[cfg(not(target_arch = "wasm32"))]
use crate::progress::unreported;
use crate::{Error, Result};
use std::ops::Range;

/// The pending tests of a device's rows.
pub(in crate::gpu) struct Verification {
    verified: Verified,
    /// Assumed rows, which the adapter does not list. Their verdicts are not cached.
    claims: Vec<CoopRow>,
    /// Whether rows are timed. They are not if the speed of another device is assumed: times of this device cannot be compared
    /// with it.
    are_timed: bool,
    launched: Option<LaunchedTests>,
}

/// The outcome of tests.
pub(in crate::gpu) struct Verified {
    /// The device's capabilities, with verdicts.
    pub(in crate::gpu) caps: Caps,
    /// The verdicts of this run, to be cached.
    found: Vec<CoopRow>,
    warnings: Vec<String>,
}

/// Whether rows that pass their test are timed, which waits for the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gpu) enum RowTiming {
    #[cfg(not(target_arch = "wasm32"))]
    Yes,
    No,
}

/// Tests that were launched, and the range of each one's result in the bytes that are read.
struct LaunchedTests {
    #[cfg(not(target_arch = "wasm32"))]
    probe: Gpu,
    cases: Vec<(Test, Range<usize>)>,
    read: Pending,
}

impl Verification {
    /// Starts the test of the wanted rows that a kernel could use and that have no verdict. The tests run on a separate `Gpu`,
    /// which `probe` creates, so that the counters of the user's `Gpu` start at 0. `verdicts` are those of earlier runs. Rows
    /// can be timed only if the caller waits in its own thread.
    pub(in crate::gpu) fn start(
        caps: Caps,
        options: &GpuOptions,
        timed: RowTiming,
        verdicts: Option<&Verdicts>,
        wanted: impl Fn(&CoopRow) -> bool,
        probe: impl FnOnce(Caps, GpuOptions) -> Result<Gpu>,
    ) -> Self {
        let claims = options.assume.rows.iter().map(|row| untested(*row)).collect();
        let verified = Verified { caps, found: Vec::new(), warnings: Vec::new() };
        let mut this = Self {
            verified,
            claims,
            are_timed: timed != RowTiming::No
                && options.assume.device_type.is_none()
                && options.assume.speed_of.is_none(),
            launched: None,
        };
        verdicts.into_iter().for_each(|verdicts| this.recall(verdicts));
        let cases = untested_cases(&this.verified.caps, wanted);
        if !cases.is_empty() {
            let options =
                GpuOptions { checks: options.checks, cache: CacheFolder::Off, ..Default::default() };
            match probe(this.verified.caps.clone(), options) {
                Ok(probe) => this.launched = this.begin(&probe, cases),
                Err(error) => cases.into_iter().for_each(|case| _ = this.refuse(case, &error)),
            }
        }
        this
    }

    /// Waits in the calling thread, which polls the device.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn wait(mut self) -> Verified {
        if let Some(LaunchedTests { probe, cases, read }) = self.launched.take() {
            let tests: Vec<Test> = cases.iter().map(|(test, _)| *test).collect();
            // NOTE: a test that is not waited for would count as refused.
            let read = unreported(|| read.wait(OP, <[u8]>::to_vec));
            self.judge(cases, read);
            self.time(&probe, &tests);
        }
        self.finish()
    }

    /// Times the rows that have passed these tests.
    #[cfg(not(target_arch = "wasm32"))]
    fn time(&mut self, probe: &Gpu, tests: &[Test]) {
        for test in tests {
            let passed = CoopRow { verdict: Verdict::Verified, ..test.row() };
            if !self.is_timed(&test.row()) || !self.verified.caps.rows.contains(&passed) {
                continue;
            }
            match unreported(|| speed_test::speed(probe, test)) {
                Ok(speed) => self.set_speed(&CoopRow { speed, ..passed }),
                Err(error) => self.verified.warn(&format!("{passed}, but not timed: {error}")),
            }
        }
    }

    fn is_timed(&self, row: &CoopRow) -> bool {
        self.are_timed && !self.claims.contains(row) && ScalarCase::can_time(row, &self.verified.caps)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn set_speed(&mut self, timed: &CoopRow) {
        let Verified { caps, found, .. } = &mut self.verified;
        let rows = caps.rows.iter_mut().chain(found);
        rows.filter(|row| untested(**row) == untested(*timed)).for_each(|row| *row = *timed);
        if let Some(why) = caps.slowness(timed) {
            self.verified.warnings.push(format!("{}: {why}", self.verified.caps.adapter));
        }
    }

    /// Waits without blocking, as reads of tensors do.
    pub(in crate::gpu) async fn wait_async(mut self) -> Verified {
        if let Some(LaunchedTests { cases, read, .. }) = self.launched.take() {
            let read = read.wait_async(<[u8]>::to_vec).await;
            self.judge(cases, read);
        }
        self.finish()
    }

    /// Uses the verdicts of an earlier run. A row that was not timed then is tested again.
    fn recall(&mut self, verdicts: &Verdicts) {
        let mut rows = self.verified.caps.rows.clone();
        for row in &mut rows {
            if row.verdict == Verdict::Untested && !self.claims.contains(row) {
                let is_timed = self.is_timed(row);
                let (verdict, speed) = (verdicts.of(row), verdicts.speed_of(row).filter(|_| is_timed));
                let is_known = verdict != Verdict::Verified || speed.is_some() || !is_timed;
                *row = if is_known { CoopRow { verdict, speed, ..*row } } else { *row };
            }
        }
        self.verified.caps.rows = rows;
    }

    fn begin(&mut self, probe: &Gpu, cases: Vec<Test>) -> Option<LaunchedTests> {
        let mut compiled = Vec::new();
        let plans: Vec<_> = cases.iter().filter_map(|case| case.plan(probe.known_caps()).ok()).collect();
        #[cfg(not(target_arch = "wasm32"))]
        let plans: Vec<_> = {
            let timed = cases.iter().filter(|case| self.is_timed(&case.row()));
            let scalar = timed.filter_map(|case| speed_test::scalar_plan(case, probe.known_caps()));
            plans.into_iter().chain(scalar).collect()
        };
        probe.compile_side_by_side(plans.iter().flat_map(|plan| plan.steps()).map(|step| &step.kernel));
        for case in cases {
            match prepared(probe, &case) {
                Ok(prepared) => compiled.push((case, prepared)),
                Err(error) => {
                    let row = self.refuse(case, &error);
                    // If the device is lost, or out of memory, which leads to its loss, then it compiles nothing. That
                    // says nothing about the row, so the verdict is not cached.
                    probe.check_for_loss();
                    if !probe.inner.status.is_lost() {
                        self.verified.found.push(row);
                    }
                }
            }
        }
        if compiled.is_empty() {
            return None;
        }
        match launch(probe, &compiled) {
            Ok(launched) => Some(launched),
            Err(error) => {
                compiled.into_iter().for_each(|(case, _)| _ = self.refuse(case, &error));
                None
            }
        }
    }

    fn judge(&mut self, cases: Vec<(Test, Range<usize>)>, read: Result<Vec<u8>>) {
        for (case, place) in cases {
            match &read {
                Ok(bytes) => {
                    let row = self.set(case, case.judge(&bytes[place]));
                    if row.is_fenced_off() {
                        self.verified.warn(&row.to_string());
                    }
                    self.verified.found.push(row);
                }
                // The cause may have been the device, or another row's test. So the verdict is not cached.
                Err(error) => _ = self.refuse(case, error),
            }
        }
    }

    fn refuse(&mut self, case: Test, error: &Error) -> CoopRow {
        let row = self.set(case, Verdict::Refused);
        self.verified.warn(&format!("{row}: {error}"));
        row
    }

    fn set(&mut self, case: Test, verdict: Verdict) -> CoopRow {
        let row = CoopRow { verdict, ..case.row() };
        let rows = self.verified.caps.rows.iter_mut();
        rows.filter(|known| **known == case.row()).for_each(|known| *known = row);
        row
    }

    fn finish(mut self) -> Verified {
        self.verified.found.retain(|row| !self.claims.contains(&untested(*row)));
        self.verified
    }
}

impl Verified {
    fn warn(&mut self, what: &str) {
        self.warnings.push(format!("{}: cooperative matrices {what}", self.caps.adapter));
    }

    /// Logs the warnings, and caches the verdicts of this run.
    pub(in crate::gpu) fn report(&self, verdicts: Option<&Verdicts>) {
        self.warnings.iter().for_each(|warning| log::warn!("{warning}"));
        if let Some(verdicts) = verdicts.filter(|_| !self.found.is_empty()) {
            verdicts.store(&self.found);
        }
    }
}

/// The wanted rows that a kernel could use and that have no verdict.
pub(in crate::gpu) fn untested_cases(caps: &Caps, wanted: impl Fn(&CoopRow) -> bool) -> Vec<Test> {
    let case = |row: &CoopRow| {
        let is_pending = row.verdict == Verdict::Untested && wanted(row);
        let subgroup = caps.coop_conditions(row).ok().filter(|_| is_pending)?;
        if row.is_spelled_in_wgsl() {
            return Some(Test::Wgsl(Case { row: *row, subgroup }));
        }
        ModuleCase::of(row, subgroup, caps).map(Test::Spirv)
    };
    caps.rows.iter().filter_map(case).collect()
}

/// The plan of a test, compiled.
fn prepared(probe: &Gpu, test: &Test) -> Result<Prepared> {
    probe.inner.status.check()?;
    probe.compiled_untested(test.plan(probe.known_caps())?)
}

/// Launches all tests in one recording, and starts reading their results.
fn launch(probe: &Gpu, tests: &[(Test, Prepared)]) -> Result<LaunchedTests> {
    let mut c = Vec::new();
    let mut cases = Vec::new();
    for (case, prepared) in tests {
        let start = c.len().next_multiple_of(256);
        c.resize(start, 0);
        c.extend(case.poison());
        cases.push((*case, prepared, start..c.len()));
    }
    let c = probe.upload(OP, &c)?;
    for (case, prepared, place) in &cases {
        let read = case.operands();
        let read = read.iter().map(|bytes| Ok((probe.upload(OP, bytes)?, bytes.len())));
        let read = read.collect::<Result<Vec<_>>>()?;
        let mut operands = read
            .iter()
            .map(|(buffer, bytes)| View::of_words(buffer, 0..*bytes))
            .collect::<Result<Vec<_>>>()?;
        operands.push(View::of_words(&c, place.clone())?);
        probe.run_prepared(prepared, &operands, &[])?;
    }
    let cases: Vec<_> = cases.into_iter().map(|(case, _, place)| (case, place)).collect();
    let end = cases.last().map_or(0, |(_, place)| place.end as u64);
    Ok(LaunchedTests {
        #[cfg(not(target_arch = "wasm32"))]
        probe: probe.clone(),
        cases,
        read: probe.start_read(&c, 0..end)?,
    })
}
