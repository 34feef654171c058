//! The launches of a replay as they are encoded in every run.

use super::captured::CapturedLaunch;
use super::pipeline::{Dims, Pipeline};
use super::replay_input::Input;
use super::ring::Ring;
use std::sync::Arc;

/// The launches of a replay: what is the same for all inputs.
pub(super) struct Launches {
    launches: Vec<Launch>,
    /// The dims of all launches, on a device without immediates.
    dims: Option<Ring>,
}

struct Launch {
    pipeline: Arc<Pipeline>,
    dims: Vec<u8>,
    /// The place of its dims in the ring.
    offset: wgpu::DynamicOffset,
    grid: [u32; 3],
}

/// The bind groups of the launches, for one set of inputs.
pub(super) struct Bindings {
    /// Where the inputs lie. Buffers rather than storages: a bind group holds for whatever lies there.
    places: Vec<(wgpu::Buffer, u64)>,
    groups: Vec<wgpu::BindGroup>,
}

impl Launches {
    /// The caller opens an error scope around this.
    pub(super) fn new(captured: &[CapturedLaunch], device: &wgpu::Device, queue: &wgpu::Queue) -> Self {
        let needs_ring = captured.iter().any(|launch| launch.pipeline.dims == Dims::Ring);
        let mut dims = needs_ring.then(|| Ring::new(device, captured.len()));
        let launch = |launch: &CapturedLaunch| {
            let offset = match (launch.pipeline.dims, &mut dims) {
                (Dims::Ring, Some(ring)) => ring.push(&launch.dims),
                _ => 0,
            };
            Launch { pipeline: launch.pipeline.clone(), dims: launch.dims.clone(), offset, grid: launch.grid }
        };
        let launches = captured.iter().map(launch).collect();
        dims.iter_mut().for_each(|ring| ring.write(queue));
        Self { launches, dims }
    }

    pub(super) fn len(&self) -> usize {
        self.launches.len()
    }

    /// Encodes all launches.
    pub(super) fn encode(&self, bindings: &Bindings, pass: &mut wgpu::ComputePass<'_>) {
        for (launch, group) in self.launches.iter().zip(&bindings.groups) {
            pass.set_pipeline(&launch.pipeline.pipeline);
            pass.set_bind_group(0, group, &[]);
            match (launch.pipeline.dims, &self.dims) {
                (Dims::Ring, Some(ring)) => pass.set_bind_group(1, ring.group(), &[launch.offset]),
                _ => pass.set_immediates(0, &launch.dims),
            }
            let [x, y, z] = launch.grid;
            pass.dispatch_workgroups(x, y, z);
        }
    }
}

impl Bindings {
    /// Binds the captured launches to these inputs. Launches that use none of them share the groups of `known`. The caller
    /// opens an error scope around this.
    pub(super) fn new(
        captured: &[CapturedLaunch],
        [from, to]: [&[Input]; 2],
        known: Option<&Self>,
        device: &wgpu::Device,
    ) -> Self {
        let group = |(at, launch): (usize, &CapturedLaunch)| {
            let is_input = |input: &Input| launch.bound.iter().any(|bound| input.has(bound));
            match known {
                Some(known) if !from.iter().any(is_input) => known.groups[at].clone(),
                _ => {
                    let moved = launch.bound.iter().map(|bound| {
                        let input = from.iter().zip(to).find(|(from, _)| from.has(bound));
                        input.map_or_else(|| bound.clone(), |(from, to)| from.moved(bound, to))
                    });
                    let moved: Vec<_> = moved.collect();
                    launch.pipeline.bind(device, moved.iter().map(|bound| bound.resource()))
                }
            }
        };
        let groups = captured.iter().enumerate().map(group).collect();
        Self { places: to.iter().map(Input::place).collect(), groups }
    }

    /// Whether these inputs are bound.
    pub(super) fn are_of(&self, inputs: &[Input]) -> bool {
        self.places.iter().zip(inputs).all(|(place, input)| input.is_at(place))
    }
}
