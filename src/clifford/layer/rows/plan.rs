//! How to compute a function of rows: one launch where a row fits a workgroup, else two.

use super::operands::{Access, operands};
use super::problem::{RowDims, RowFunction, RowProblem, RowStep};
use super::text::{Texts, texts};
use super::tile::{RowTile, subgroup};
use crate::gpu::{Caps, Problem};
use crate::kernel::{self, Kernel, Launch, Needs, Plan};
use crate::tensor::{DType, dim};
use crate::{Error, Result};

impl RowProblem {
    fn kernel(&self, tile: &RowTile, texts: Texts, caps: &Caps) -> Kernel {
        let lanes = ["f32", "vec2<f32>", "vec4<f32>"][tile.width.ilog2() as usize];
        let sums = if self.is_normalised() { self.sums().max(1) } else { 1 };
        let mut kernel = Kernel::new("clifford_rows")
            .dims(caps, size_of::<RowDims>())
            .param("lanes", lanes)
            .param("WIDTH", format!("{}u", tile.width))
            .param("LANES", format!("{}u", tile.lanes))
            .param("PART", format!("{}u", tile.part))
            .param("UNITS", format!("{}u", tile.units))
            .param("KEPT", format!("{}u", texts.kept.max(1)))
            .param("PATHS", format!("{}u", self.signature().paths().len()))
            .param("SUMS", format!("{sums}u"))
            .param("BUFFERS", format!("{}u", tile.buffers(self, caps)));
        if self.dtype == DType::Bf16 || self.out == DType::Bf16 {
            kernel = kernel.slot("pack_pair", "pack_bf16");
        }
        for operand in operands(self) {
            kernel = Access::of(self, operand, tile, caps).bind(kernel);
        }
        if !self.meets() {
            kernel = kernel.slot("row_memory", "nothing");
        }
        if !self.is_normalised() {
            kernel = kernel.slot("row_totals", "nothing");
        } else if self.step == RowStep::Results {
            kernel = kernel.slot("row_totals", "row_totals_given");
        } else if let Some(subgroup) = subgroup(caps) {
            kernel =
                kernel.slot("row_totals", "row_totals_subgroup").param("SUBGROUP", format!("{subgroup}u"));
        }
        if self.is_gated() {
            kernel = kernel.slot("row_functions", self.product.gate.fragment());
        }
        let texts = [
            ("row_operands", texts.operands),
            ("strip_memory", texts.memory),
            ("strip_begin", texts.begin),
            ("row_sums", texts.sums),
            ("row_results", texts.results),
            ("strip_end", texts.end),
        ];
        let what = |slot| if slot == "row_sums" { self.what() } else { "likewise".to_owned() };
        texts.into_iter().fold(kernel, |kernel, (slot, text)| kernel.generated(slot, what(slot), text))
    }

    /// What is computed, in words.
    fn what(&self) -> String {
        let LayerWords { gate, norm } = LayerWords::of(self);
        let types = if self.dtype == self.out {
            self.dtype.to_string()
        } else {
            format!("{} to {}", self.dtype, self.out)
        };
        format!("{} of {}{gate}{norm}, {types}", self.function.name(), self.signature())
    }

    /// Passes over an operand's elements: what is read and written of tensors of that size.
    #[must_use]
    pub fn passes(&self) -> u32 {
        match (self.function, self.step) {
            (RowFunction::Steerable, _) | (RowFunction::SteerableBackward, RowStep::Sums) => 3,
            (RowFunction::SteerableBackward, _) => 5,
            (RowFunction::Normalize, RowStep::Sums) => 1,
            (RowFunction::Normalize, _) | (RowFunction::NormalizeBackward, RowStep::Sums) => 2,
            (RowFunction::NormalizeBackward, _) => 3,
        }
    }

    /// Predicted bytes from and to memory: the passes, weights and what is between launches.
    #[must_use]
    pub fn bytes(&self, tile: &RowTile) -> u64 {
        let passes = u64::from(self.passes()) * self.elements() * self.dtype.size() as u64;
        let weights = self.signature().paths().len() as u64 * u64::from(self.dims.features);
        let of_weights = match self.function {
            RowFunction::Steerable => weights * self.dtype.size() as u64,
            RowFunction::SteerableBackward => {
                weights * (4 + self.dtype.size() as u64 + 8 * u64::from(tile.slots()))
            }
            _ => 0,
        };
        passes + of_weights
    }
}

/// Gate and norm of a problem, in words, where there are any.
struct LayerWords {
    gate: String,
    norm: String,
}

impl LayerWords {
    fn of(problem: &RowProblem) -> Self {
        let gate =
            if problem.is_gated() { format!(", gated by {}", problem.product.gate) } else { String::new() };
        let norm = match (problem.is_normalised(), problem.step) {
            (false, _) => String::new(),
            (true, RowStep::Sums) => format!(", sums of norm {}", problem.product.norm),
            (true, _) => format!(", norm {}", problem.product.norm),
        };
        Self { gate, norm }
    }
}

/// How to compute a function of rows on a device.
///
/// # Errors
/// [`Error::Limit`] if an operand is larger than this device can bind; [`Error::Shape`] if there is nothing to compute.
pub fn plan_rows(problem: &RowProblem, caps: &Caps) -> Result<Plan> {
    let shape = [problem.blade_count(), problem.dims.rows as usize, problem.dims.features as usize];
    if shape.contains(&0) {
        let rule = "there must be something to compute";
        return Err(Error::shape(problem.function.name(), rule, &shape));
    }
    let tile = RowTile::of(problem, caps);
    if problem.is_whole(&tile) {
        return launch(problem, &tile, caps);
    }
    let sums = problem.step(RowStep::Sums);
    let results = problem.behind();
    let first = launch(&sums, &RowTile::of(&sums, caps), caps)?;
    let then = launch(&results, &RowTile::of(&results, caps), caps)?;
    let seconds = first.seconds + then.seconds;
    let mut reasons = vec!["a row is too long for a workgroup: its sums, and then the result".to_owned()];
    reasons.extend(first.reasons.iter().chain(&then.reasons).cloned());
    let scratch = scratch(problem, &sums, caps);
    let first = first.then(problem.function.name(), then, &scratch, caps)?;
    Ok(Plan { seconds, reasons, ..first })
}

/// Bytes between two launches: sums, and of a product what it is before it is normalised.
fn scratch(problem: &RowProblem, sums: &RowProblem, caps: &Caps) -> [u64; 2] {
    let blocks = RowTile::of(sums, caps).blocks;
    let of_sums = problem.sums() as u64 * u64::from(problem.dims.rows) * u64::from(blocks);
    let product = if problem.function == RowFunction::Steerable { problem.elements() } else { 0 };
    [4 * of_sums, 4 * product]
}

fn launch(problem: &RowProblem, tile: &RowTile, caps: &Caps) -> Result<Plan> {
    let op = problem.function.name();
    for size in [problem.dtype, problem.out] {
        kernel::check_binding(op, caps, problem.span(), size)?;
    }
    if problem.function.is_product() {
        kernel::check_binding(op, caps, problem.weights_span(), problem.dtype)?;
    }
    if problem.function == RowFunction::SteerableBackward {
        kernel::check_scratch(op, caps, problem.slab_bytes(tile))?;
    }
    let texts = texts(problem, tile, caps)?;
    let flops = texts.flops as f64 * f64::from(problem.dims.plane);
    let bytes = problem.bytes(tile);
    let seconds = (bytes as f64 / caps.roofs.bytes).max(flops / caps.roofs.f32_flops);
    let RowTile { width, units, lanes, part, blocks, steps, .. } = *tile;
    let cut = if blocks == 1 { String::new() } else { format!(" of {blocks}") };
    let words = format!(
        "{} rows in {lanes} invocations, {part}{cut} a row with {units} times {width} features each, {steps} rows down, {}",
        lanes / part,
        problem.what()
    );
    let needs = Needs {
        bindings: dim(op, operands(problem).len())?,
        invocations: lanes,
        workgroup_bytes: tile.workgroup_bytes(problem, caps),
    };
    let (kernel, blocks) = (problem.kernel(tile, texts, caps), u64::from(tile.strips) * u64::from(blocks));
    let mut plan = Plan::of_one_launch(op, Launch { kernel, tile: words, needs, blocks, seconds }, caps)?;
    plan.reasons.push(format!(
        "{}: {} passes over an operand's {} elements, {bytes} bytes, {flops:.0} flops",
        op,
        problem.passes(),
        problem.elements()
    ));
    Ok(plan)
}

impl RowProblem {
    /// Elements of the largest binding, to behind the last that is used.
    fn span(&self) -> u64 {
        let d = &self.dims;
        let last = |places: &[u32; 4]| {
            let extents = [self.blade_count() as u64, u64::from(d.rows), u64::from(d.features)];
            let steps = extents.iter().zip(places).map(|(extent, stride)| (extent - 1) * u64::from(*stride));
            u64::from(places[3]) + steps.sum::<u64>() + 1
        };
        [&d.x, &d.y, &d.g].into_iter().map(last).max().unwrap_or(0).max(self.elements())
    }

    /// How many elements the weights' binding must reach: the last index plus one.
    fn weights_span(&self) -> u64 {
        let [path, feature, offset, _] = self.dims.w.map(u64::from);
        let paths = self.signature().paths().len() as u64;
        let features = u64::from(self.dims.features);
        offset + paths.saturating_sub(1) * path + features.saturating_sub(1) * feature + 1
    }

    /// How many bytes the workgroups' sums of weight gradients have.
    fn slab_bytes(&self, tile: &RowTile) -> u64 {
        let weights = self.signature().paths().len() as u64 * u64::from(self.dims.features);
        4 * u64::from(tile.slots()) * weights
    }
}

impl Problem for RowProblem {
    fn plan(&self, caps: &Caps) -> Result<Plan> {
        plan_rows(self, caps)
    }
}
