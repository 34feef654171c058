//! Windows: under small bindings, plans of every family respect the limits of the device, and write each element of a result once.

use crate::support::limits::{self, Planned, assert_within};
use std::collections::HashMap;
use tilewise::ops::{Overflow, Reduction, RotaryPairs, TexelFormat};
use tilewise::planning::kernel::{Kernel, Needs};
use tilewise::planning::ops::{
    CastProblem, ChannelLayouts, ChannelPass, ChannelProblem, ColourScale, CopyProblem, CrossEntropyProblem,
    Elementwise, ElementwiseProblem, GatherProblem, ImageProblem, ImageTransfer, Longer, LossFunction,
    LossProblem, NormKind, NormLayouts, NormPass, NormProblem, NormalProblem, OneHotProblem, PadProblem,
    ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem, RotaryTable, ScatterProblem, SoftmaxFunction,
    SoftmaxProblem, Taken, Target, TargetKind,
};
use tilewise::planning::{Access, Buffer, Parameter, Plan, Problem, fixtures};
use tilewise::{Caps, DType, Error, Layout, Result};

fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous("test", shape).unwrap()
}

/// A row-major view with gaps between the rows, from an odd element on.
fn odd(shape: &[usize]) -> Layout {
    let (mut strides, mut next) = (vec![0; shape.len()], 1);
    for (stride, extent) in strides.iter_mut().zip(shape).rev() {
        *stride = next;
        next = next * extent + 3;
    }
    Layout::new("test", shape, &strides, 13, usize::MAX).unwrap()
}

fn reduced(function: ReduceFunction, axes: &[usize], caps: &Caps) -> Result<Plan> {
    ReduceProblem::new(function, &odd(&[9, 61, 101]), axes, DType::F16)?.plan(caps)
}

fn normed(kind: NormKind, pass: NormPass, caps: &Caps) -> Result<Plan> {
    let (a, row) = (odd(&[7, 61, 101]), dense(&[101]));
    let layouts = NormLayouts { a: &a, b: Some(&a), gamma: Some(&row), beta: Some(&row) };
    NormProblem::new(kind, pass, layouts, DType::F32)?.plan(caps)
}

fn channels(pass: ChannelPass, shape: [usize; 3], groups: usize, caps: &Caps) -> Result<Plan> {
    let (a, row) = (odd(&shape), dense(&shape[2..]));
    let layouts = ChannelLayouts { a: &a, b: Some(&a), gamma: Some(&row), beta: Some(&row) };
    ChannelProblem::new("test", pass, layouts, groups, DType::F32)?.plan(caps)
}

type Case = (&'static str, fn(&Caps) -> Result<Plan>);

const CASES: [Case; 39] = [
    ("addition", |caps| {
        let (x, y) = (odd(&[230, 101]), odd(&[101, 230]).t());
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &y], &dense(&[230, 101]), DType::F32)?
            .plan(caps)
    }),
    ("addition of bytes", |caps| {
        let x = odd(&[330, 301]);
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &x], &dense(&[330, 301]), DType::I8)?
            .plan(caps)
    }),
    ("sum of everything", |caps| reduced(ReduceFunction::Sum, &[0, 1, 2], caps)),
    ("sum of outer axes", |caps| reduced(ReduceFunction::Sum, &[0, 1], caps)),
    ("sum of the outermost axis", |caps| reduced(ReduceFunction::Sum, &[0], caps)),
    ("sum of rows", |caps| reduced(ReduceFunction::Sum, &[2], caps)),
    ("variance", |caps| reduced(ReduceFunction::Variance { correction: 1 }, &[0, 2], caps)),
    ("place", |caps| reduced(ReduceFunction::ArgMin, &[1], caps)),
    ("place in the outermost axis", |caps| reduced(ReduceFunction::ArgMax, &[0], caps)),
    ("softmax", |caps| {
        let x = odd(&[7, 61, 101]);
        SoftmaxProblem::new(SoftmaxFunction::Softmax, &x, Some(&dense(&[61, 1])), 1, DType::F32)?.plan(caps)
    }),
    ("softmax, backward", |caps| {
        let x = odd(&[7, 61, 101]);
        SoftmaxProblem::new(SoftmaxFunction::LogSoftmaxBackward, &x, Some(&x), 2, DType::Bf16)?.plan(caps)
    }),
    ("cast", |caps| {
        CastProblem::new(&odd(&[230, 101]), DType::F32, DType::F16, Overflow::Saturate)?.plan(caps)
    }),
    ("copy", |caps| CopyProblem::new(&odd(&[101, 230]).t(), &odd(&[230, 101]), DType::F16)?.plan(caps)),
    ("copy from a position", |caps| {
        let [a, c, at] = [odd(&[90, 101, 3]), odd(&[90, 70, 3]), dense(&[1])];
        CopyProblem::at_position(Longer::A, [&a, &c], 1, &at, DType::F32)?.plan(caps)
    }),
    ("rows by index", |caps| {
        GatherProblem::new(Taken::Rows, &odd(&[30, 64]), &odd(&[9, 61]), DType::F32)?.plan(caps)
    }),
    ("positions by index", |caps| {
        GatherProblem::new(Taken::Positions(1), &odd(&[70, 30, 7]), &dense(&[61]), DType::F16)?.plan(caps)
    }),
    ("elements by index", |caps| {
        GatherProblem::new(Taken::Elements(1), &odd(&[465, 77]), &odd(&[460, 33]), DType::F16)?.plan(caps)
    }),
    ("ones and zeros", |caps| OneHotProblem::new(&odd(&[9, 61]), 101, DType::Bf16)?.plan(caps)),
    ("padding", |caps| PadProblem::new(&odd(&[90, 101]), &[(75, 3), (1, 8)], DType::F32)?.plan(caps)),
    ("rotation", |caps| {
        let table = RotaryTable { pairs: RotaryPairs::Halves, rotary_dims: 16, positions: 40 };
        RotaryProblem::new(RotaryPass::Forward, table, &odd(&[9, 5, 33, 21]), DType::F32)?.plan(caps)
    }),
    ("image", |caps| {
        let x = dense(&[61, 101, 4]);
        let format = TexelFormat::Rgba8Unorm;
        ImageProblem::new(ImageTransfer::Read, format, &x, DType::F32, ColourScale::Scaled)?.plan(caps)
    }),
    ("to an image", |caps| {
        let x = odd(&[61, 101, 4]);
        let format = TexelFormat::Rgba8Unorm;
        ImageProblem::new(ImageTransfer::Write, format, &x, DType::F16, ColourScale::Unscaled)?.plan(caps)
    }),
    ("normal numbers", |caps| NormalProblem::new(50_001, DType::F16)?.plan(caps)),
    ("layer norm", |caps| normed(NormKind::Layer, NormPass::ForwardWithStatistics, caps)),
    ("RMS norm", |caps| normed(NormKind::Rms, NormPass::Forward, caps)),
    ("layer norm, backward", |caps| normed(NormKind::Layer, NormPass::BackwardWithBoth, caps)),
    ("RMS norm, backward", |caps| normed(NormKind::Rms, NormPass::Backward, caps)),
    ("group norm", |caps| channels(ChannelPass::Group, [61, 13, 24], 4, caps)),
    ("group norm, backward", |caps| channels(ChannelPass::BackwardWithGradients, [61, 13, 24], 4, caps)),
    ("batch norm", |caps| channels(ChannelPass::Evaluation, [1, 761, 24], 24, caps)),
    ("batch norm, backward", |caps| {
        channels(ChannelPass::EvaluationBackwardWithGradients, [1, 761, 24], 24, caps)
    }),
    ("losses and gradients", |caps| {
        let (x, y) = (odd(&[261, 101]), odd(&[101, 261]).t());
        let problem = LossProblem::new(LossFunction::Mse, [&x, &y], None, DType::F16)?;
        problem.reduced(Reduction::None).with_gradient(Some(&dense(&[261, 101]))).plan(caps)
    }),
    ("mean loss", |caps| {
        let x = odd(&[261, 101]);
        LossProblem::new(LossFunction::Mse, [&x, &x], None, DType::F32)?.with_gradient(None).plan(caps)
    }),
    ("cross-entropy", |caps| {
        let (x, targets) = (odd(&[9, 61, 101]), (TargetKind::Classes, &dense(&[9, 61])));
        let problem = CrossEntropyProblem::new(&x, targets, Some(&dense(&[101])), DType::F32)?;
        problem.with_gradient(None).plan(caps)
    }),
    ("cross-entropy of rows", |caps| {
        let x = odd(&[9, 61, 101]);
        let problem = CrossEntropyProblem::new(&x, (TargetKind::Probabilities, &x), None, DType::F32)?;
        problem.reduced(Reduction::None).plan(caps)
    }),
    ("added to a table", |caps| {
        let layouts = [&dense(&[300, 33]), &odd(&[5, 9]), &odd(&[5, 9, 33])];
        ScatterProblem::new(Target::Rows { padding: Some(200) }, layouts, DType::F32)?.plan(caps)
    }),
    ("added to a table, of many rows", |caps| {
        let layouts = [&dense(&[30, 33]), &odd(&[5, 90]), &odd(&[5, 90, 33])];
        ScatterProblem::new(Target::Rows { padding: None }, layouts, DType::F32)?.plan(caps)
    }),
    ("added to positions", |caps| {
        let layouts = [&odd(&[30, 70, 9]), &dense(&[50]), &odd(&[30, 50, 9])];
        ScatterProblem::new(Target::Positions(1), layouts, DType::F16)?.plan(caps)
    }),
    ("added to elements", |caps| {
        let layouts = [&odd(&[170, 130]), &odd(&[160, 131]), &odd(&[160, 131])];
        ScatterProblem::new(Target::Elements(1), layouts, DType::F32)?.plan(caps)
    }),
];

/// What a kernel's text takes of a device, and its immediates in bytes.
fn declared(kernel: &Kernel) -> (Needs, u32) {
    let text = kernel.specialize().unwrap_or_else(|error| panic!("{kernel}: {error}"));
    let parsed = naga::front::wgsl::parse_str(&text);
    limits::taken(&parsed.unwrap_or_else(|error| panic!("{kernel}: {}", error.emit_to_string(&text))))
}

#[test]
fn windows_respect_the_limits_and_write_each_element_once() {
    let mut known: HashMap<Kernel, (Needs, u32)> = HashMap::new();
    let mut taken = |kernel: &Kernel| *known.entry(kernel.clone()).or_insert_with(|| declared(kernel));
    for (name, caps) in fixtures::ALL {
        let unlimited = caps();
        for binding_bytes in [64 << 10, 96 << 10] {
            let mut caps = caps();
            caps.limits.binding_bytes = binding_bytes;
            for (what, case) in CASES {
                let whole = match case(&unlimited) {
                    // It has fewer bindings than the kernel takes.
                    Err(Error::Unsupported { .. }) => continue,
                    whole => whole.unwrap_or_else(|error| panic!("{name}, {what}: {error}")),
                };
                let plan = case(&caps).unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
                let planned = Planned { what, plan: Ok(plan.clone()) };
                assert_within(&plan, &planned, &caps, &mut taken);
                let is_large = |parameter: &Parameter| {
                    limits::window_bytes(&parameter.layout, parameter.dtype) > binding_bytes
                };
                let is_cut = whole.parameters().iter().any(is_large);
                // Temporaries may be too large, too.
                assert!(!is_cut || plan.to_string().contains("windows"), "{name}, {what}: {plan}");
                assert!(!whole.to_string().contains("windows"), "{what}: {whole}");
                for (index, parameter) in plan.parameters().iter().enumerate() {
                    assert_eq!(parameter.access, whole.parameters()[index].access, "{what}");
                    if parameter.access == Access::Write {
                        let bytes = (parameter.layout.len() * parameter.dtype.size()) as u64;
                        assert_eq!(written(&plan, index), bytes, "{name}, {what}: operand {index}: {plan}");
                    }
                }
            }
        }
    }
}

/// The bytes of an operand that all steps write.
fn written(plan: &Plan, operand: usize) -> u64 {
    let of_step = plan.steps().iter().flat_map(|step| step.args.iter().zip(&step.work.written));
    of_step.filter(|(arg, _)| arg.buffer == Buffer::Operand(operand)).map(|(_, bytes)| bytes).sum()
}

/// A table that is larger than a binding: rows are taken window by window, each from the window that has it.
#[test]
fn a_table_is_read_in_windows() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 16 << 10;
    let problem = GatherProblem::new(Taken::Rows, &dense(&[1000, 64]), &dense(&[50]), DType::F32).unwrap();
    let plan = problem.plan(&caps).unwrap();
    let shaders: Vec<&str> = plan.steps().iter().map(|step| step.kernel.shader()).collect();
    assert_eq!(shaders.len(), 16, "{plan}");
    assert_eq!(shaders[0], "ops/gather_vectors");
    assert!(shaders[1..].iter().all(|&shader| shader == "ops/gather_more"), "{plan}");
}
