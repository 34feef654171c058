//! The kernels of attention: `shaders/attention/attention.wgsl`, and `attention_merge.wgsl`, which joins parts of the keys.

use super::form::WorkDivision;
use super::problem::{AttentionDims, AttentionProblem, AttentionStatistics};
use super::range::AttentionCorner;
use crate::caps::Caps;
use crate::kernel::{Kernel, StorageFormat};
use crate::ops::subgroups::subgroup;
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;

impl WorkDivision {
    /// Fills the slots by which the invocations of a row exchange values.
    pub(super) fn team(self, kernel: Kernel, caps: &Caps) -> Kernel {
        match (self.lanes, subgroup(caps, self.invocations)) {
            (1, _) => kernel,
            (_, None) => kernel.slot("team", "shared"),
            (_, Some(size)) => {
                kernel.slot("team", "subgroups").param("SUBGROUP", size).require_subgroup_size(size)
            }
        }
    }
}

impl AttentionProblem {
    /// The kernel that reads the operands.
    pub(super) fn kernel(&self, form: WorkDivision, caps: &Caps) -> Kernel {
        let whole = [(self.dims().dim, form.held), (self.dims().dim_v, form.held_v)];
        let kernel = Kernel::new("attention/attention")
            .dims::<AttentionDims>(caps)
            .param("QUADS", self.width() / 4)
            .param("HELD", form.held)
            .param("HELD_V", form.held_v)
            .param("ROWS", form.rows)
            .param("LANES", form.invocations)
            .param("WHOLE", whole.iter().all(|(dim, held)| *dim == held * form.lanes * self.width()))
            .param("KEEPS", self.keep.is_some());
        let kernel = form.team(kernel, caps);
        let kernel = if form.parts > 1 { kernel.slot("attention_result", "part") } else { kernel };
        let kernel = self.cornered(kernel);
        let mut to = Writer::new(kernel, self.moves(), StorageFormat::of(self.dtype, caps));
        self.operands(&mut to);
        self.masks(&mut to);
        if form.parts > 1 {
            to.array("parts", "read_write", "f32");
        } else {
            self.results(&mut to);
        }
        to.done(self.described(if form.parts > 1 { "parts" } else { "whole" }))
    }

    /// Fills the slot with the origin of distances.
    pub(super) fn cornered(&self, kernel: Kernel) -> Kernel {
        match self.corner {
            AttentionCorner::Keys => kernel,
            AttentionCorner::Lengths => kernel.slot("attention_range", "moving"),
        }
    }

    /// The kernel that joins parts.
    pub(super) fn merge_kernel(&self, invocations: u32, caps: &Caps) -> Kernel {
        let kernel =
            Kernel::new("attention/attention_merge").dims::<AttentionDims>(caps).param("LANES", invocations);
        let mut to = Writer::new(kernel, Moves::Elements, StorageFormat::of(self.dtype, caps));
        to.array("parts", "read", "f32");
        self.results(&mut to);
        let lse = if self.statistics == AttentionStatistics::LogSums { " and logarithms" } else { "" };
        to.done(format!("results{lse}"))
    }

    /// The facts on which the generated text depends, after `first`, the results that it stores.
    pub(super) fn described(&self, first: &'static str) -> String {
        let mut words = vec![first];
        words.extend(self.masks_given());
        words.extend((self.statistics == AttentionStatistics::LogSums).then_some("logarithms"));
        words.join(" ")
    }

    /// The existing bias and masks.
    pub(super) fn masks_given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            (self.bias.is_some(), "bias"),
            (self.lengths.is_some(), "lengths"),
            (self.corner == AttentionCorner::Lengths, "their corner"),
            (self.keep.is_some(), "keep"),
            (self.slopes.is_some(), "slopes"),
        ];
        given.into_iter().filter_map(|(is_there, word)| is_there.then_some(word))
    }

    /// Q, K and V, and the functions that load quads of them.
    pub(super) fn operands(&self, to: &mut Writer) {
        for name in ["q", "k", "v"] {
            to.read(name);
        }
        for (name, operand, along) in [("query", "q", "x"), ("key", "k", "y"), ("value", "v", "z")] {
            loader(to, name, operand, &format!("along.{along}"));
        }
    }

    /// The bias, lengths, mask and slopes, and the statements that apply them.
    pub(super) fn masks(&self, to: &mut Writer) {
        let mut terms = Vec::new();
        if self.bias.is_some() {
            to.read_elements("bias");
            let at =
                "dims.along.w + batch * dims.bias.x + head * dims.bias.y + i * dims.bias.z + j * dims.bias.w";
            terms.push(format!("load_bias({at})"));
        }
        let mut count = "dims.keys".to_owned();
        if self.lengths.is_some() {
            to.array("lengths", "read", "i32");
            count = "u32(clamp(lengths[dims.lengths + batch * dims.lengths_stride], 0, i32(dims.keys)))"
                .to_owned();
        }
        let mut kept = "    return true;\n".to_owned();
        if self.keep.is_some() {
            to.array("keep", "read", "u32");
            kept = "    let at = dims.keep.x + batch * dims.keep.y + j * dims.keep_along;\n    \
                    return ((keep[at / 4u] >> (8u * (at % 4u))) & 0xffu) != 0u;\n"
                .to_owned();
        }
        if self.slopes.is_some() {
            to.array("slopes", "read", "f32");
            let there = match self.corner {
                AttentionCorner::Keys => "dims.keys",
                AttentionCorner::Lengths => "key_count(batch)",
            };
            let distance = format!("abs(f32(i32(i) + i32({there}) - i32(dims.queries) - i32(j)))");
            terms.push(format!("-slopes[dims.slopes + head * dims.slopes_stride] * {distance}"));
        }
        let terms = if terms.is_empty() { "0.0".to_owned() } else { terms.join(" + ") };
        to.function("added(batch: u32, head: u32, i: u32, j: u32) -> f32", &format!("    return {terms};\n"));
        to.function("key_count(batch: u32) -> u32", &format!("    return {count};\n"));
        to.function("is_kept(batch: u32, j: u32) -> bool", &kept);
    }

    /// The result, and the largest scores with the logarithms.
    pub(super) fn results(&self, to: &mut Writer) {
        to.write("y");
        let wants = self.statistics == AttentionStatistics::LogSums;
        if wants {
            to.array("lse", "read_write", "vec2<f32>");
        }
        let body = if wants { "    lse[row] = value;\n" } else { "" };
        to.function("store_lse(row: u32, value: vec2<f32>)", body);
    }
}

/// The function that loads quads of an operand's groups. `along` is the field of the dims with the stride along the head dim.
/// Groups past the end load the last group again.
pub(super) fn loader(to: &mut Writer, name: &str, operand: &str, along: &str) {
    let value = to.loaded(operand, "start", &format!("dims.{along}"));
    let head = format!("{name}(start: u32, wanted: u32, k: u32, length: u32) -> vec4<f32>");
    to.function(&head, &format!("    let group = inside(wanted, length);\n    return {value};\n"));
}
