//! The launches of a replay as they are encoded in every run.

use super::captured::CapturedLaunch;
use super::replay_input::ReplayInput;
use crate::gpu::buffers::bound_window::BoundWindow;
use crate::gpu::kernels::pipeline::{DimsPassing, Pipeline};
use crate::gpu::kernels::ring::Ring;
use std::sync::Arc;

/// The launches of a replay: the data that is the same for all inputs.
pub(in crate::gpu) struct Launches {
    launches: Vec<Launch>,
    /// The dims of all launches, on a device without immediates.
    dims: Option<Ring>,
}

struct Launch {
    pipeline: Arc<Pipeline>,
    /// Its bind group, if it uses no input.
    group: Option<wgpu::BindGroup>,
    dims: Vec<u8>,
    /// The place of its dims in the ring.
    offset: wgpu::DynamicOffset,
    grid: [u32; 3],
}

/// The bind groups of the launches that use inputs, for one set of inputs.
pub(in crate::gpu) struct Bindings {
    /// The windows of the inputs. They name buffers and not storages, because a bind group is valid for any storage in
    /// the buffer.
    places: Vec<(wgpu::Buffer, u64)>,
    groups: Vec<wgpu::BindGroup>,
}

impl CapturedLaunch {
    fn uses(&self, inputs: &[ReplayInput]) -> bool {
        inputs.iter().any(|input| self.bound.iter().any(|bound| input.has(bound)))
    }
}

impl Launches {
    /// The caller opens an error scope around this.
    pub(in crate::gpu) fn new(
        captured: &[CapturedLaunch],
        inputs: &[ReplayInput],
        device: &wgpu::Device,
        queue: &wgpu::Queue,
    ) -> Self {
        let needs_ring = captured.iter().any(|launch| launch.pipeline.dims == DimsPassing::Ring);
        let mut dims = needs_ring.then(|| Ring::new(device, captured.len()));
        let launch = |launch: &CapturedLaunch| {
            let offset = match (launch.pipeline.dims, &mut dims) {
                (DimsPassing::Ring, Some(ring)) => ring.push(&launch.dims),
                _ => 0,
            };
            let CapturedLaunch { pipeline, dims, grid, .. } = launch;
            let bind = || pipeline.bind(device, launch.bound.iter().map(BoundWindow::resource));
            let group = (!launch.uses(inputs)).then(bind);
            Launch { pipeline: pipeline.clone(), group, dims: dims.clone(), offset, grid: *grid }
        };
        let launches = captured.iter().map(launch).collect();
        dims.iter_mut().for_each(|ring| ring.write(queue));
        Self { launches, dims }
    }

    pub(in crate::gpu) fn len(&self) -> usize {
        self.launches.len()
    }

    /// Encodes all launches.
    pub(in crate::gpu) fn encode(&self, bindings: &Bindings, pass: &mut wgpu::ComputePass<'_>) {
        let mut of_inputs = bindings.groups.iter();
        for launch in &self.launches {
            let group = launch.group.as_ref().or_else(|| of_inputs.next());
            pass.set_pipeline(&launch.pipeline.pipeline);
            pass.set_bind_group(0, group, &[]);
            match (launch.pipeline.dims, &self.dims) {
                (DimsPassing::Ring, Some(ring)) => pass.set_bind_group(1, ring.group(), &[launch.offset]),
                _ => pass.set_immediates(0, &launch.dims),
            }
            let [x, y, z] = launch.grid;
            pass.dispatch_workgroups(x, y, z);
        }
    }
}

impl Bindings {
    /// Binds the captured launches that use the inputs `from` to the inputs `to`. The caller opens an error scope around this.
    pub(in crate::gpu) fn new(
        captured: &[CapturedLaunch],
        [from, to]: [&[ReplayInput]; 2],
        device: &wgpu::Device,
    ) -> Self {
        let group = |launch: &CapturedLaunch| {
            let moved = launch.bound.iter().map(|bound| {
                let input = from.iter().zip(to).find(|(from, _)| from.has(bound));
                input.map_or_else(|| bound.clone(), |(from, to)| from.moved(bound, to))
            });
            let moved: Vec<_> = moved.collect();
            launch.pipeline.bind(device, moved.iter().map(BoundWindow::resource))
        };
        let groups = captured.iter().filter(|launch| launch.uses(from)).map(group).collect();
        Self { places: to.iter().map(ReplayInput::place).collect(), groups }
    }

    /// Whether these inputs are bound.
    pub(in crate::gpu) fn are_of(&self, inputs: &[ReplayInput]) -> bool {
        self.places.iter().zip(inputs).all(|(place, input)| input.is_at(place))
    }

    /// The buffers of the inputs.
    pub(in crate::gpu) fn buffers(&self) -> impl Iterator<Item = &wgpu::Buffer> {
        self.places.iter().map(|(buffer, _)| buffer)
    }
}
