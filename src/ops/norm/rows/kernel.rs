//! The kernels of norms of rows: `shaders/ops/norm.wgsl` and `norm_backward.wgsl`; `norm_long.wgsl` and
//! `norm_backward_long.wgsl` for rows that do not fit into registers.

use super::problem::{LANES, NormDims, NormKind, NormPass, NormProblem};
use crate::caps::Caps;
use crate::kernel::{self, Kernel, StorageFormat};
use crate::ops::subgroups::{lanes_of_row, with_subgroups};
use crate::ops::vectors::Moves;
use crate::ops::writer::{Writer, as_stored};

/// The longest row that invocations hold in registers on any device.
const LONGEST_HELD: u32 = 8192;
/// The longest row that a subgroup of a software device holds.
const LONGEST_VECTORS: u32 = 1024;

impl NormProblem {
    /// Whether a row fits in the registers of its invocations.
    pub(super) fn fits(&self, caps: &Caps) -> bool {
        let most = kernel::workgroup_size(LANES, caps);
        let is_far = caps.machine.is_software() && self.pass.is_forward() && self.length() > LONGEST_VECTORS;
        !is_far && self.length() <= LONGEST_HELD.min(self.held(caps) * 4 * self.quads() * most)
    }

    /// The number of groups of a row that a lane holds. If a row has more invocations than a subgroup, software devices spend
    /// most of their time at barriers. So on them a lane holds more groups of vectors if one subgroup can then hold the row;
    /// for gradients twice as many.
    fn held(&self, caps: &Caps) -> u32 {
        let is_long = (257..=LONGEST_VECTORS).contains(&self.length()) && self.moves() == Moves::Vectors;
        let quads: u32 = match (caps.machine.is_software(), is_long) {
            (false, _) => 4,
            (true, false) => 8,
            (true, true) => 32,
        };
        quads / self.quads()
    }

    /// The number of invocations that share a row.
    pub(super) fn lanes(&self, caps: &Caps) -> u32 {
        let all = kernel::workgroup_size(LANES, caps);
        if self.fits(caps) {
            return self.length().div_ceil(4 * self.quads() * self.held(caps)).next_power_of_two().min(all);
        }
        if self.pass.is_forward() { lanes_of_row(caps, LANES, self.rows()) } else { all }
    }

    /// Whether the row fits and all lanes hold the maximum number of complete groups.
    fn is_even(&self, caps: &Caps) -> bool {
        self.length() == self.lanes(caps) * self.held(caps) * 4 * self.quads()
    }

    /// The kernel on a device.
    pub(super) fn kernel(&self, caps: &Caps) -> Kernel {
        let lanes = kernel::workgroup_size(LANES, caps);
        let shader = match (self.pass.is_forward(), self.fits(caps)) {
            (true, true) => "ops/norm",
            (true, false) => "ops/norm_long",
            (false, true) => "ops/norm_backward",
            (false, false) => "ops/norm_backward_long",
        };
        let kernel = Kernel::new(shader)
            .dims::<NormDims>(caps)
            .param("CENTRED", self.kind == NormKind::Layer)
            .param("QUADS", self.quads())
            .param("HELD", self.held(caps))
            .param("LANES", lanes)
            .param("WHOLE", self.moves() == Moves::Vectors);
        let kernel = if self.fits(caps) { kernel.param("EVEN", self.is_even(caps)) } else { kernel };
        let kernel = if self.fits(caps) || self.pass.is_forward() {
            with_subgroups(kernel, caps, LANES)
        } else {
            kernel
        };
        let format = StorageFormat::of(self.dtype, caps);
        let mut writer = Writer::new(kernel, self.moves(), format);
        if self.pass.is_forward() {
            self.forward(&mut writer)
        } else {
            self.backward(&mut writer, shader)
        }
        writer.done(self.description())
    }

    /// The facts on which the generated text depends.
    fn description(&self) -> String {
        let mut words = vec![self.op()];
        let names = [(self.b.is_some(), "b"), (self.gamma.is_some(), "gamma"), (self.beta.is_some(), "beta")];
        words.extend(names.into_iter().filter_map(|(is_there, name)| is_there.then_some(name)));
        match self.pass {
            NormPass::Forward | NormPass::Backward => {}
            NormPass::ForwardWithStatistics => words.push("statistics"),
            NormPass::BackwardWithGamma => words.push("of gamma"),
            NormPass::BackwardWithBoth => words.push("of gamma and beta"),
        }
        words.join(" ")
    }

    fn forward(&self, to: &mut Writer) {
        if self.b.is_some() {
            // NOTE: software devices load f16 one by one. With loads of words, sums of f16 take 0.83 to 0.92 of the time
            // (llvmpipe).
            to.read_words("a");
            to.read_words("b");
        } else {
            to.read("a");
        }
        self.weights_of(to);
        to.write("y");
        if self.b.is_some() {
            to.write_rounded("total");
        } else {
            to.function("store_total(start: u32, group: u32, count: u32, v: array<vec4<f32>, QUADS>)", "");
        }
        if self.pass == NormPass::ForwardWithStatistics {
            let means = (self.kind == NormKind::Layer).then(|| to.f32s("means", "read_write"));
            to.f32s("rstds", "read_write");
            let mean = if means.is_some() { "    means[row] = mean;\n" } else { "" };
            to.function(
                "store_statistics(row: u32, mean: f32, rstd: f32)",
                &format!("{mean}    rstds[row] = rstd;\n"),
            );
        } else {
            to.function("store_statistics(row: u32, mean: f32, rstd: f32)", "");
        }
        let a = to.loaded("a", "at.x", "dims.a_stride");
        let value = if self.b.is_some() {
            to.text += &as_stored(to.format);
            // The norm is computed from the stored sum, which is also the operand of the backward pass.
            format!("as_stored({a} + {})", to.loaded("b", "at.y", "dims.b_stride"))
        } else {
            a
        };
        to.function(&value_head("value"), &format!("    return {value};\n"));
    }

    fn backward(&self, to: &mut Writer, shader: &str) {
        to.read("a");
        to.read("b");
        self.weights_of(to);
        let mean = if self.kind == NormKind::Layer {
            to.f32s("means", "read");
            "means[row]"
        } else {
            "0.0"
        };
        to.f32s("rstds", "read");
        to.function(
            "statistics(row: u32) -> vec2<f32>",
            &format!("    return vec2<f32>({mean}, rstds[row]);\n"),
        );
        to.write("y");
        to.function(
            &value_head("value"),
            &format!("    return {};\n", to.loaded("a", "at.x", "dims.a_stride")),
        );
        to.function(
            &value_head("gradient"),
            &format!("    return {};\n", to.loaded("b", "at.y", "dims.b_stride")),
        );
        let is_long = shader == "ops/norm_backward_long";
        partials(to, self.pass.partials(), is_long);
    }

    /// Gamma and beta, and the function that applies them.
    fn weights_of(&self, to: &mut Writer) {
        let mut value = "v".to_owned();
        for (name, is_there, sign) in
            [("gamma", self.gamma.is_some(), "*"), ("beta", self.beta.is_some(), "+")]
        {
            if is_there {
                to.read(name);
                value = format!("{value} {sign} {}", to.loaded(name, &format!("dims.{name}_offset"), "1u"));
            }
        }
        let head = "scaled(v: vec4<f32>, group: u32, k: u32, length: u32) -> vec4<f32>";
        to.function(head, &format!("    return {value};\n"));
    }
}

/// Writes the partial sums for the gradients of gamma, and of beta if there are two.
fn partials(to: &mut Writer, count: usize, is_long: bool) {
    let values = "slot: u32, group: u32, k: u32, gamma_sums: vec4<f32>, beta_sums: vec4<f32>";
    let head = if is_long {
        format!("add_partials({values}, is_first: bool)")
    } else {
        format!("store_partials({values})")
    };
    if count == 0 {
        to.function(&head, "");
        return;
    }
    to.f32s("partials", "read_write");
    let [more, before] = match is_long {
        true => [", is_first: bool", "select(partials[at + i], 0.0, is_first) + "],
        false => ["", ""],
    };
    to.function(
        &format!("store_partial(at: u32, count: u32, v: vec4<f32>{more})"),
        &format!(
            "    //#unroll\n    for (var i = 0u; i < 4u; i++) {{\n        \
             if count > i {{ partials[at + i] = {before}v[i]; }}\n    }}\n"
        ),
    );
    let given = if is_long { ", is_first" } else { "" };
    let store = |(which, of): (usize, &&str)| {
        let at = format!("(slot * {count}u + {which}u) * dims.length + col");
        format!("        store_partial({at}, dims.length - col, {of}{given});\n")
    };
    let stores: String = ["gamma_sums", "beta_sums"][..count].iter().enumerate().map(store).collect();
    let col = "    let col = group * WIDTH + 4u * k;\n";
    to.function(&head, &format!("{col}    if col < dims.length {{\n{stores}    }}\n"));
}

/// The head of a function that loads a quad.
fn value_head(name: &str) -> String {
    format!("{name}(at: vec2<u32>, group: u32, k: u32, length: u32) -> vec4<f32>")
}
