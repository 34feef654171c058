//! The kernels of the backward pass: `attention_delta.wgsl`, `attention_dq.wgsl`, `attention_dkv.wgsl` and `attention_dbias.wgsl` of
//! `shaders/attention`.

use super::problem::{AttentionBackward, AttentionBackwardDims, AttentionDeltaDims, GradientPass};
use crate::attention::form::WorkDivision;
use crate::attention::kernel::loader;
use crate::attention::problem::width;
use crate::caps::Caps;
use crate::kernel::{Kernel, StorageFormat};
use crate::layout::DType;
use crate::ops::vectors::Moves;
use crate::ops::writer::Writer;

impl AttentionBackward {
    /// The kernel that computes the statistics of each row.
    pub(super) fn delta_kernel(&self, invocations: u32, caps: &Caps) -> Kernel {
        let dtype = self.forward.dtype;
        let width = width(self.delta_moves(), dtype);
        let kernel = Kernel::new("attention/attention_delta")
            .dims::<AttentionDeltaDims>(caps)
            .param("QUADS", width / 4)
            .param("WHOLE", self.delta_dims().dim_v.is_multiple_of(width))
            .param("LANES", invocations);
        let mut to = Writer::new(kernel, self.delta_moves(), StorageFormat::of(dtype, caps));
        to.read("y");
        to.read("g");
        to.array("lse", "read", "f32");
        to.array("stats", "read_write", "vec4<f32>");
        for (name, operand, along) in [("result", "y", "along_y"), ("gradient", "g", "along_g")] {
            loader(&mut to, name, operand, along);
        }
        to.done("statistics".to_owned())
    }

    /// The kernel that computes gradients of queries, or of keys and values.
    pub(super) fn kernel(&self, pass: GradientPass, form: WorkDivision, caps: &Caps) -> Kernel {
        let d = self.forward.dims();
        let width = width(self.moves(), self.forward.dtype);
        let whole = [(d.dim, form.held), (d.dim_v, form.held_v)];
        let name = match pass {
            GradientPass::Queries => "attention/attention_dq",
            GradientPass::KeysAndValues => "attention/attention_dkv",
        };
        let kernel = Kernel::new(name)
            .dims::<AttentionBackwardDims>(caps)
            .param("QUADS", width / 4)
            .param("HELD", form.held)
            .param("HELD_V", form.held_v)
            .param("ROWS", form.rows)
            .param("LANES", form.invocations)
            .param("WHOLE", whole.iter().all(|(dim, held)| *dim == held * form.lanes * width));
        let kernel = match pass {
            GradientPass::Queries => kernel.param("KEEPS", self.forward.keep.is_some()),
            GradientPass::KeysAndValues => kernel,
        };
        let kernel = form.team(kernel, caps);
        let result = match pass {
            GradientPass::Queries => "dq",
            GradientPass::KeysAndValues => "dkv",
        };
        self.written(kernel, self.moves(), (result, self.forward.dtype), caps)
    }

    /// The kernel that computes the gradient of the bias.
    pub(super) fn bias_kernel(&self, invocations: u32, caps: &Caps) -> Kernel {
        let kernel = Kernel::new("attention/attention_dbias")
            .dims::<AttentionBackwardDims>(caps)
            .param("LANES", invocations);
        self.written(kernel, Moves::Elements, ("db", self.bias_dtype()), caps)
    }

    /// A kernel with its operands, masks and result, which has this type.
    fn written(
        &self,
        kernel: Kernel,
        moves: Moves,
        (result, dtype): (&'static str, DType),
        caps: &Caps,
    ) -> Kernel {
        let mut to = Writer::new(kernel, moves, StorageFormat::of(self.forward.dtype, caps));
        for name in ["q", "k", "v", "g"] {
            to.read(name);
        }
        to.array("stats", "read", "vec4<f32>");
        for (name, operand, along) in [
            ("query", "q", "along.x"),
            ("key", "k", "along.y"),
            ("value", "v", "along.z"),
            ("gradient", "g", "along_g"),
        ] {
            loader(&mut to, name, operand, along);
        }
        self.forward.masks(&mut to);
        to.format = StorageFormat::of(dtype, caps);
        to.write(result);
        let words: Vec<_> = std::iter::once(result).chain(self.forward.masks_given()).collect();
        to.done(words.join(" "))
    }
}
