//! When rows of cooperative matrices are tested: on an opened device when they are needed, on an adopted one at once.

use super::verification::{RowTiming, Verification, untested_cases};
use crate::caps::{Caps, CoopRow, Verdict};
use crate::gpu::GpuOptions;
use crate::gpu::device::open_device::Device;
use crate::gpu::driver::driver_times::DriverCall;
use crate::gpu::handle::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::handle::untested::Untested;
use crate::gpu::kernels::prepared::Prepared;
use crate::gpu::rows::verdicts::Verdicts;
use crate::kernel::Kernel;
use crate::plan::Plan;
use crate::{Error, Result};
use std::sync::Arc;

impl Gpu {
    /// The device's capabilities. The first call on an opened device tests each row of cooperative matrices that neither a kernel
    /// of this run nor an earlier run has tested on this driver, on another device of the same adapter: where such tests have to be
    /// compiled, it takes as long as that. On a lost device nothing is tested.
    ///
    /// On a device with several subgroup sizes, a row of cooperative matrices is fenced off as soon as a kernel on it turns out to
    /// have another size than [`SubgroupSizes::matrices`](crate::gpu::SubgroupSizes::matrices). Later calls then return that.
    #[must_use]
    pub fn caps(&self) -> &Caps {
        self.test_rows(|_| true);
        self.known_caps()
    }

    /// Tests those of these rows that have no verdict. Several threads may test the same row at the same time.
    #[cfg(not(target_arch = "wasm32"))]
    fn test_rows(&self, wanted: impl Fn(&CoopRow) -> bool) {
        let inner = &*self.inner;
        let Some(pending) = &inner.untested else { return };
        // On a lost device nothing can be computed, and inside wgpu's report of the loss nothing must wait for a device.
        if untested_cases(self.known_caps(), &wanted).is_empty() || inner.status.is_lost() {
            return;
        }
        let Some(_inside) = pending.testing.enter() else { return };
        let timed = inner.clock.start(DriverCall::SelfTests);
        let verdicts = self.verdicts_of_earlier_runs(pending);
        let probe = |caps, options| on_another_device(pending, caps, options);
        let caps = self.known_caps().clone();
        let verified =
            Verification::start(caps, &inner.options, RowTiming::Yes, verdicts, wanted, probe).wait();
        drop(timed);
        inner.caps.add_verdicts(&verified.caps.rows);
        // Only now, because a logger may ask for the verdicts.
        verified.report(verdicts);
    }

    /// In a browser all rows are tested when the device is opened.
    #[cfg(target_arch = "wasm32")]
    fn test_rows(&self, _: impl Fn(&CoopRow) -> bool) {}

    /// Tests the rows that these kernels use, if they are not tested yet.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a row is fenced off; [`Error::Device`] if it could not be tested, because the device is lost, or
    /// because this is a logger that is called during the test.
    pub(in crate::gpu) fn check_rows<'a>(
        &self,
        op: &'static str,
        kernels: impl Iterator<Item = &'a Kernel>,
    ) -> Result<()> {
        if self.inner.untested.is_none() {
            return Ok(());
        }
        for matrices in kernels.flat_map(Kernel::matrices) {
            let is_used = |row: &CoopRow| matrices.are_of(row);
            self.test_rows(is_used);
            let caps = self.known_caps();
            caps.check_matrices(matrices).map_err(|needs| caps.unsupported(op, needs))?;
            if caps.rows.iter().any(|row| is_used(row) && row.verdict == Verdict::Untested) {
                self.inner.status.check()?;
                let why =
                    "cooperative matrices cannot be used while their test runs: this is called by a logger";
                return Err(Error::device(why));
            }
        }
        Ok(())
    }

    /// A plan with its kernels compiled, and the rows that it uses tested.
    ///
    /// # Errors
    /// As [`check_rows`](Self::check_rows) and [`compiled_untested`](Self::compiled_untested).
    pub(in crate::gpu) fn compiled(&self, plan: Plan) -> Result<Prepared> {
        self.check_rows(plan.op(), plan.steps().iter().map(|step| &step.kernel))?;
        self.compiled_untested(plan)
    }

    /// A plan that `make` makes for this device. The rows that it uses are tested: if a test changes the capabilities, the plan is
    /// made again.
    pub(crate) fn plan_with(&self, make: impl Fn(&Caps) -> Result<Plan>) -> Result<Plan> {
        loop {
            let caps = self.known_caps();
            let plan = make(caps)?;
            // A plan can be made for a lost device too.
            let _: Result<()> = self.check_rows(plan.op(), plan.steps().iter().map(|step| &step.kernel));
            if std::ptr::eq(caps, self.known_caps()) {
                return Ok(plan);
            }
        }
    }

    /// The verdicts of earlier runs, which are read when they are first needed. None if no files are cached.
    #[cfg(not(target_arch = "wasm32"))]
    fn verdicts_of_earlier_runs(&self, pending: &Untested) -> Option<&Verdicts> {
        let proofs = &self.inner.proofs;
        if proofs.verdicts().is_none() {
            let adapter = pending.adapter.get_info();
            proofs.read(Verdicts::read(self.known_caps(), &adapter, &self.inner.options)?);
        }
        proofs.verdicts()
    }
}

/// Opens another device of the same adapter for a test.
#[cfg(not(target_arch = "wasm32"))]
fn on_another_device(pending: &Untested, caps: Caps, options: GpuOptions) -> Result<Gpu> {
    let request = Device::request(&pending.adapter, pending.access, Arc::default());
    pollster::block_on(request)?.assemble(caps, None, None, options)
}

impl Device<'_> {
    /// Tests and times every row, in the calling thread, which polls the device. Returns the capabilities with verdicts, and the file that
    /// they are cached in.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn tested(&self, options: &GpuOptions) -> (Caps, Option<Verdicts>) {
        let _timed = self.clock.start(DriverCall::SelfTests);
        let (verdicts, verification) = self.verify(options, RowTiming::Yes);
        let verified = verification.wait();
        verified.report(verdicts.as_ref());
        (verified.caps, verdicts)
    }

    /// The same without blocking, and without the speeds of rows.
    pub(in crate::gpu) async fn tested_async(&self, options: &GpuOptions) -> (Caps, Option<Verdicts>) {
        let _timed = self.clock.start(DriverCall::SelfTests);
        let (verdicts, verification) = self.verify(options, RowTiming::No);
        let verified = verification.wait_async().await;
        verified.report(verdicts.as_ref());
        (verified.caps, verdicts)
    }

    fn verify(&self, options: &GpuOptions, timed: RowTiming) -> (Option<Verdicts>, Verification) {
        let caps = self.caps(options);
        let needs_tests = !untested_cases(&caps, |_| true).is_empty();
        let verdicts =
            needs_tests.then(|| Verdicts::read(&caps, &self.adapter.get_info(), options)).flatten();
        verdicts.iter().for_each(Verdicts::log_problem);
        // The calls of the tests count as self-tests.
        let probe = |caps, options| self.assemble_timed(caps, None, None, options, Arc::default());
        let verification = Verification::start(caps, options, timed, verdicts.as_ref(), |_| true, probe);
        (verdicts, verification)
    }
}
