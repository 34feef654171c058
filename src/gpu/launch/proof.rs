//! Proofs of subgroup sizes. On a device that has several, the driver chooses one for each kernel. A kernel that is
//! written for one size is not used before it has reported that it has this size.

use crate::caps::CoopRow;
use crate::gpu::cache::cache_file::digest_of_text;
use crate::gpu::driver::error_scope::result_and_error;
use crate::gpu::driver::lock::foreign;
use crate::gpu::handle::gpu::Gpu;
use crate::gpu::kernels::pipeline::{DimsPassing, Pipeline};
use crate::gpu::kernels::pipelines::Evicted;
use crate::gpu::kernels::ring::Ring;
use crate::gpu::submit::queue::is_of_submit;
use crate::kernel::{Kernel, SubgroupReport};
use crate::{Error, Result};
use std::sync::Arc;

/// Bytes of each buffer that a proof binds: at least one element of any operand.
const BYTES: u64 = 256;

impl Gpu {
    /// The pipeline of `kernel`, compiled on first use. If the kernel reports its subgroup size, then it has the size that
    /// it is written for.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the driver has given the kernel another subgroup size. The row of cooperative matrices
    /// that it uses is then fenced off. [`Error::Device`] if the driver refuses the kernel, or the device is lost.
    pub(in crate::gpu) fn pipeline(&self, op: &'static str, kernel: &Kernel) -> Result<Arc<Pipeline>> {
        let pipeline = self.compiled_kernel(kernel)?;
        let Some(report) = kernel.subgroup_report() else { return Ok(pipeline) };
        let size = match pipeline.subgroup_size.get() {
            Some(&size) => size,
            None => self.find_subgroup_size(kernel, &pipeline, report)?,
        };
        if size == report.expected {
            return Ok(pipeline);
        }
        let needs = format!(
            "subgroups of {} in {}, to which the driver gives {size}",
            report.expected,
            kernel.shader()
        );
        self.fence_off(kernel, &needs);
        Err(self.known_caps().unsupported(op, needs))
    }

    /// The pipeline of `kernel`, compiled on first use, without a check of its subgroup size.
    pub(in crate::gpu) fn compiled_kernel(&self, kernel: &Kernel) -> Result<Arc<Pipeline>> {
        let (pipeline, evicted) = self.inner.pipelines.get(&self.inner.device, kernel)?;
        if evicted == Evicted::Some {
            self.inner.plans.note_eviction();
        }
        Ok(pipeline)
    }

    /// The subgroup size of a pipeline: that of an earlier run, or the one that it reports now. Two threads may find it at
    /// the same time.
    fn find_subgroup_size(
        &self,
        kernel: &Kernel,
        pipeline: &Pipeline,
        report: SubgroupReport,
    ) -> Result<u32> {
        let proofs = &self.inner.proofs;
        let name = format!("{} {}", kernel.shader(), digest_of_text(&kernel.code()?.to_string()));
        let size = match proofs.known(&name) {
            Some(size) => size,
            None => {
                let size = self.launch_proof(pipeline, report)?;
                proofs.add(&name, size, report.expected);
                size
            }
        };
        Ok(*pipeline.subgroup_size.get_or_init(|| size))
    }

    /// Fences off the rows of cooperative matrices that a kernel uses, unless that has been done.
    fn fence_off(&self, kernel: &Kernel, needs: &str) {
        for row in kernel.matrices().iter().filter_map(|matrices| self.inner.caps.fence_off(matrices)) {
            self.note_fenced_off(row, needs);
        }
    }

    /// Logs that a row is fenced off, and remembers it.
    fn note_fenced_off(&self, row: CoopRow, needs: &str) {
        log::warn!("{}: cooperative matrices {row}: needs {needs}", self.known_caps().adapter);
        let is_row = |claim: &CoopRow| CoopRow { verdict: row.verdict, ..*claim } == row;
        // Facts that a test assumes about a device are not cached.
        let is_claimed = self.inner.options.assume.rows.iter().any(is_row);
        if let Some(verdicts) = self.inner.proofs.verdicts().filter(|_| !is_claimed) {
            verdicts.store(&[row]);
        }
    }

    /// Launches a pipeline with zeros for dims, in a submission of its own, and waits for the size that it reports. The
    /// recording is not involved: this may run between any two launches.
    fn launch_proof(&self, pipeline: &Pipeline, report: SubgroupReport) -> Result<u32> {
        let (device, queue) = (&self.inner.device, &self.inner.queue);
        self.inner.status.check()?;
        let _suspended = self.inner.recorder.suspend_scope();
        let (commands, staging) = self.caught(|| encode(device, pipeline))?;
        let (index, error) = result_and_error(device, || foreign(|| queue.submit([commands])));
        match error {
            Some(error) if is_of_submit(&error) => return Err(self.cause_of(error)),
            // As in `submit_recording`.
            Some(error) => log::error!("an error in an application's callback: {error}"),
            None => {}
        }
        self.caught(|| foreign(|| staging.map_async(wgpu::MapMode::Read, .., |_| ())))?;
        self.wait_for(&index)?;
        self.inner.status.check()?;
        let size = match staging.slice(..).get_mapped_range() {
            Ok(memory) => report.read(&memory),
            Err(error) => {
                self.check_for_loss();
                return Err(self.inner.status.check().err().unwrap_or_else(|| Error::device(error)));
            }
        };
        if size != report.expected {
            // The reports of a lost device are ignored.
            self.check_for_loss();
            self.inner.status.check()?;
        }
        Ok(size)
    }
}

/// The commands of a proof, and the buffer that they copy the start of the result to.
fn encode(device: &wgpu::Device, pipeline: &Pipeline) -> (wgpu::CommandBuffer, wgpu::Buffer) {
    use wgpu::BufferUsages as U;
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("tilewise proof"),
            size: BYTES,
            usage,
            mapped_at_creation: false,
        })
    };
    let operand = buffer(U::STORAGE);
    let result = buffer(U::STORAGE | U::COPY_SRC);
    let staging = buffer(U::MAP_READ | U::COPY_DST);
    let bound = |&writes: &bool| if writes { &result } else { &operand };
    let group = pipeline.bind(device, pipeline.writes.iter().map(|writes| bound(writes).as_entire_binding()));
    let desc = wgpu::CommandEncoderDescriptor { label: Some("tilewise proof") };
    let mut encoder = device.create_command_encoder(&desc);
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
        label: Some("tilewise proof"),
        timestamp_writes: None,
    });
    pass.set_pipeline(&pipeline.pipeline);
    pass.set_bind_group(0, &group, &[]);
    match pipeline.dims {
        // wgpu initialises the buffer of a ring with zeros.
        DimsPassing::Ring => pass.set_bind_group(1, Ring::new(device, 1).group(), &[0]),
        DimsPassing::Immediates(bytes) => pass.set_immediates(0, &vec![0; bytes as usize]),
    }
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    encoder.copy_buffer_to_buffer(&result, 0, &staging, 0, BYTES);
    (foreign(|| encoder.finish()), staging)
}
