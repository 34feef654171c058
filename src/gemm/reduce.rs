//! Bringing a product's parts of k together: the launch behind the one that sums them.

use super::kernels::Tile;
use super::memory::store;
use super::problem::{GemmDims, GemmProblem, Split};
use super::uniforms;
use crate::Result;
use crate::caps::Caps;
use crate::kernel::{self, Kernel, Needs};
use crate::layout::DType;
use crate::plan::{Access, Bound, Dims, Draft, Flops, MAX_STEP_SECONDS, NewStep, Prediction, Region, Time};
use std::mem::offset_of;

/// Invocations of one workgroup; each brings four elements of a row together.
const LANES: u32 = 64;
/// Parts of k are whole multiples of this, which is one of every tile's steps: no part ends within a step but the last.
const STEP: u32 = 32;

/// More parts than this of k are not considered: the sums of the parts grow with them.
const PARTS_AT_MOST: u32 = 64;

impl Tile {
    /// Into how many parts of k the problem may be split: powers of two as long as there are cores without work, or a workgroup
    /// of half as many keeps the device for too long; or as many as are asked for. Some kernels have none, and i8 has no sums
    /// in f32.
    pub(super) fn splits(&self, problem: &GemmProblem, caps: &Caps) -> impl Iterator<Item = u32> + use<> {
        let whole = !self.kernel.entry().sums_parts(problem);
        let asked = match problem.split {
            Split::Parts(parts) => vec![if whole { 1 } else { problem.parts_of_k(parts) }],
            Split::Free if whole => vec![1],
            Split::Free => {
                let blocks = self.blocks(problem, caps);
                let machine = &caps.machine;
                let wanted = u64::from(machine.groups_per_core) * u64::from(machine.cores);
                let idle = |&parts: &u32| parts == 1 || blocks * u64::from(parts) <= wanted;
                let too_few = |&parts: &u32| self.block_seconds(problem, parts / 2, caps) > MAX_STEP_SECONDS;
                let fits =
                    |&parts: &u32| parts == 1 || scratch_bytes(problem, parts) <= kernel::own_bytes(caps);
                let powers = (0..).map(|i| 1 << i).take_while(|&parts| parts <= PARTS_AT_MOST);
                let mut splits: Vec<u32> = powers
                    .take_while(|parts| idle(parts) || too_few(parts))
                    .map(|parts| problem.parts_of_k(parts))
                    .filter(fits)
                    .collect();
                splits.dedup();
                splits
            }
        };
        asked.into_iter()
    }
}

impl GemmProblem {
    /// Whether the caller may ask for parts of k: i8 has no sums in f32, and the naive kernel no parts.
    pub(super) fn may_be_split(&self) -> bool {
        self.pin.allows_parts(self)
    }

    /// How many parts of k the caller asks for.
    pub(super) fn parts_asked(&self) -> u32 {
        match self.split {
            Split::Parts(parts) if self.may_be_split() => self.parts_of_k(parts),
            Split::Parts(_) | Split::Free => 1,
        }
    }

    /// How many parts of k there are if there should be so many: none is empty.
    pub(super) fn parts_of_k(&self, asked: u32) -> u32 {
        let k = self.dims.k.max(1);
        k.div_ceil(part_of(k, asked))
    }

    /// The product of which each part of k has a matrix of its own, in f32 and without gaps.
    pub(super) fn in_parts(&self, parts: u32) -> Self {
        let d = &self.dims;
        let matrix = d.m * d.n;
        let dims = GemmDims {
            k_part: part_of(d.k.max(1), parts),
            splits: parts,
            ldc: d.n,
            c_offset: 0,
            c_batch0: matrix * d.batch1,
            c_batch1: matrix,
            ..self.plain_dims()
        };
        let mut types = self.types;
        types.c = DType::F32;
        Self { dims, types, epilogue: Default::default(), ..*self }
    }

    /// The dims without an epilogue.
    fn plain_dims(&self) -> GemmDims {
        GemmDims {
            alpha: 1f32.to_bits(),
            beta: 0,
            bias_row: 0,
            bias_col: 0,
            bias_offset: 0,
            residual_row: 0,
            residual_col: 0,
            residual_offset: 0,
            residual_batch0: 0,
            residual_batch1: 0,
            scaled_row: 0,
            ..self.dims
        }
    }
}

/// The number of parts of an inner size `k`: as many as asked for, or fewer if k is too short for that.
pub(super) fn parts_at_most(k: usize, asked: u32) -> u32 {
    let steps = k.div_ceil(STEP as usize).max(1);
    asked.min(u32::try_from(steps).unwrap_or(u32::MAX))
}

fn part_of(k: u32, parts: u32) -> u32 {
    k.div_ceil(parts.max(1)).next_multiple_of(STEP)
}

/// Bytes of the sums of all parts.
pub(super) fn scratch_bytes(problem: &GemmProblem, parts: u32) -> u64 {
    let d = &problem.dims;
    let sizes = [d.batches, d.m, d.n, parts, 4];
    sizes.into_iter().fold(1, |bytes: u64, size| bytes.saturating_mul(size.into()))
}

/// Predicted seconds of bringing the parts together: their sums are read, C is written.
pub(super) fn seconds(problem: &GemmProblem, parts: u32, caps: &Caps) -> f64 {
    caps.machine.launch_seconds + memory_seconds(problem, parts, caps)
}

fn memory_seconds(problem: &GemmProblem, parts: u32, caps: &Caps) -> f64 {
    let bytes = problem.elements() as f64 * (4.0 * f64::from(parts) + problem.types.c.size() as f64);
    bytes / caps.machine.bytes
}

/// The same with what binds it.
fn prediction(problem: &GemmProblem, parts: u32, caps: &Caps) -> Prediction {
    let terms = [
        (caps.machine.launch_seconds, Bound::Latency),
        (memory_seconds(problem, parts, caps), Bound::Memory),
    ];
    Prediction { seconds: seconds(problem, parts, caps), ..Prediction::longest(&terms) }
}

/// Adds the step that brings the parts together: their sums (parts of C one after another), C, and the epilogue's operands.
///
/// # Errors
/// [`Error::Limit`](crate::Error::Limit) or [`Error::Unsupported`](crate::Error::Unsupported) if the device cannot run it.
pub(super) fn step(
    draft: &mut Draft<'_>,
    problem: &GemmProblem,
    parts: u32,
    [sums, c]: [Region; 2],
    extras: &[Region],
) -> Result<()> {
    let (d, caps) = (&problem.dims, draft.caps());
    let kernel = Kernel::new("gemm/reduce").dims(caps, size_of_val(d)).param("LANES", LANES);
    let kernel = if problem.types.ab.is_real() { kernel } else { kernel.param("sum", "i32") };
    let rows = u64::from(d.batches) * u64::from(d.m);
    let quads = rows * u64::from(d.n.div_ceil(4));
    let c = (c, problem.access_of_c());
    let extras = extras.iter().map(|&extra| (extra, Access::Read));
    let additions = problem.elements() as f64 * f64::from(parts);
    let args: Vec<(Region, Access)> = [(sums, Access::Read), c].into_iter().chain(extras).collect();
    draft.step(NewStep {
        kernel: store(kernel, problem, 2, caps),
        tile: format!("{LANES} times 4 elements"),
        needs: needs(problem),
        blocks: quads.div_ceil(u64::from(LANES)),
        dims: uniforms::of_epilogue(&GemmDims { splits: parts, ..*d }, draft),
        args: &args,
        flops: if problem.types.ab.is_real() {
            Flops::of_f32(additions)
        } else {
            Flops::of_integers(additions)
        },
        time: Time::Predicted(prediction(problem, parts, caps)),
    })
}

/// The limits that a workgroup needs: bindings for the sums, C and the epilogue.
pub(super) fn needs(problem: &GemmProblem) -> Needs {
    Needs { bindings: 2 + problem.extra_bindings(), invocations: LANES, workgroup_bytes: 0 }
}

/// Adds the step that adds up so many parts of `elements` each, whatever they are sums of: here they are taken as one row, and
/// multiplied by the scalar with this index.
pub(crate) fn sum_of_parts(
    draft: &mut Draft<'_>,
    [elements, parts]: [u32; 2],
    scalar: usize,
    [sums, total]: [Region; 2],
) -> Result<()> {
    let dims = GemmDims {
        m: 1,
        n: elements,
        batches: 1,
        batch1: 1,
        splits: parts,
        ldc: elements,
        ..GemmDims::default()
    };
    let kernel = Kernel::new("gemm/reduce").dims(draft.caps(), size_of_val(&dims));
    draft.step(NewStep {
        kernel: kernel.param("LANES", LANES).slot("epilogue", "forms"),
        tile: format!("{LANES} times 4 elements"),
        needs: Needs { bindings: 2, invocations: LANES, workgroup_bytes: 0 },
        blocks: u64::from(elements).div_ceil(4).div_ceil(u64::from(LANES)),
        dims: Dims::of(&dims).scalar(offset_of!(GemmDims, alpha), scalar),
        args: &[(sums, Access::Read), (total, Access::Write)],
        flops: Flops::of_f32(f64::from(elements) * f64::from(parts)),
        time: Time::Roofline,
    })
}
