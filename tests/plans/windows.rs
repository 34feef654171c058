//! Windows: under small bindings, plans of every family respect the limits of the device, and write each element of a result once.

use std::collections::HashMap;
use support::limits::{self, Planned, assert_within};
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{FeatureFunction, LayerProduct};
use tilewise::ops::{Overflow, Reduction, RotaryPairs, TexelFormat};
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::clifford_layer::{
    ConnectedBackward, ConnectedForward, ConnectedProblem, FeaturesProblem, OperandRounding, RowFunction,
    RowOperandLayouts, RowProblem,
};
use tilewise::planning::gemm::Pin;
use tilewise::planning::kernel::{Kernel, Language, Needs, module_needs};
use tilewise::planning::ops::{
    CastProblem, ChannelLayouts, ChannelPass, ChannelProblem, ColourScale, CopyProblem, CrossEntropyProblem,
    Elementwise, ElementwiseProblem, GatherProblem, ImageProblem, ImageTransfer, Longer, LossFunction,
    LossProblem, NormKind, NormLayouts, NormPass, NormProblem, NormalProblem, OneHotProblem, PadProblem,
    ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem, RotaryTable, ScatterProblem, SoftmaxFunction,
    SoftmaxProblem, Taken, Target, TargetKind,
};
use tilewise::planning::sketch::{DenseProblem, HadamardProblem, SparseProblem};
use tilewise::planning::{Access, Buffer, Parameter, Plan, Problem, fixtures};
use tilewise::sketch::{Direction, Sketch, SketchKind};
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

fn attention_problem(statistics: AttentionStatistics, bias: Option<&Layout>) -> Result<AttentionProblem> {
    let (q, k) = (odd(&[5, 7, 33, 40]), odd(&[5, 7, 31, 40]));
    let layouts = AttentionLayouts {
        q: &q,
        k: &k,
        v: &k,
        bias,
        lengths: None,
        keep: Some(&odd(&[5, 31])),
        slopes: None,
    };
    AttentionProblem::new(layouts, AttentionRange::default(), statistics, DType::F16)
}

fn attention_backward(of: AttentionGradientsOf, bias: Option<&Layout>, caps: &Caps) -> Result<Plan> {
    let forward = attention_problem(AttentionStatistics::None, bias)?;
    let (y, lse) = (odd(&[5, 7, 33, 40]), dense(&[5, 7, 33, 2]));
    AttentionBackward::new(forward, [&y, &lse, &y], of)?.plan(caps)
}

fn operator(kind: SketchKind, axis: usize, caps: &Caps) -> Result<Plan> {
    let x = odd(&[9, 61, 101]);
    let sketch = Sketch::new(kind, [8, x.shape()[axis]], 1)?;
    match kind {
        SketchKind::Hadamard => {
            HadamardProblem::new(&sketch, Direction::Forward, &x, axis, DType::F32)?.plan(caps)
        }
        SketchKind::Sign => DenseProblem::new(&sketch, Direction::Forward, &x, axis, DType::F32)?.plan(caps),
        _ => SparseProblem::new(&sketch, Direction::Forward, &x, axis, DType::F32)?.plan(caps),
    }
}

fn of_rows(function: RowFunction, caps: &Caps) -> Result<Plan> {
    let product = LayerProduct::new(Signature::CL2);
    let blades = Signature::CL2.blades();
    let (x, w) = (odd(&[4, 301, 22]), odd(&[22, Signature::CL2.paths().len()]));
    let is_product = matches!(function, RowFunction::Steerable | RowFunction::SteerableBackward);
    let is_backward = matches!(function, RowFunction::SteerableBackward | RowFunction::NormalizeBackward);
    let layouts = RowOperandLayouts {
        x: &x,
        y: Some(&x).filter(|_| is_product),
        g: Some(&x).filter(|_| is_backward),
        w: Some(&w).filter(|_| is_product),
    };
    RowProblem::new(function, product, &blades, layouts, DType::F32)?.plan(caps)
}

fn of_features(function: FeatureFunction, caps: &Caps) -> Result<Plan> {
    let blades = Signature::CL2.blades();
    let (x, a) = (odd(&[4, 301, 22]), odd(&[22, function.parts(&blades)]));
    let parameters = vec![&a; function.parameters()];
    FeaturesProblem::new(function, &blades, &x, Some(&x), &parameters, DType::F32)?.plan(caps)
}

fn connected(is_backward: bool, caps: &Caps) -> Result<Plan> {
    let (x, paths) = (odd(&[4, 301, 22]), Signature::CL2.paths().len());
    let weight = dense(&[paths, 22, 21]);
    let product = LayerProduct::new(Signature::CL2);
    let product = ConnectedProblem::new(product, &Signature::CL2.blades(), [&x, &x], &weight, DType::F32)?;
    let forward = ConnectedForward::new(product, OperandRounding::None, Pin::Free)?;
    if is_backward {
        ConnectedBackward::new(forward, &odd(&[4, 301, 21]))?.plan(caps)
    } else {
        forward.plan(caps)
    }
}

const CASES: [Case; 62] = [
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
    ("attention", |caps| attention_problem(AttentionStatistics::LogSums, None)?.plan(caps)),
    ("attention, backward", |caps| attention_backward(AttentionGradientsOf::Operands, None, caps)),
    ("bias of an attention, backward", |caps| {
        let bias = dense(&[5, 7, 33, 31]);
        attention_backward(AttentionGradientsOf::Bias(bias), Some(&bias), caps)
    }),
    ("bias of heads, backward", |caps| {
        let bias = dense(&[7, 33, 31]);
        attention_backward(AttentionGradientsOf::Bias(bias), Some(&bias), caps)
    }),
    ("parts of a bias, backward", |caps| {
        let (bias, parts) = (dense(&[31]), dense(&[5, 7, 33, 31]));
        attention_backward(AttentionGradientsOf::PartOfBias(parts), Some(&bias), caps)
    }),
    ("group norm of one index", |caps| channels(ChannelPass::Group, [1, 761, 25], 5, caps)),
    ("batch norm, training", |caps| channels(ChannelPass::Training, [1, 761, 25], 25, caps)),
    ("batch norm, training with many channels", |caps| {
        channels(ChannelPass::TrainingWithRunning, [1, 61, 1001], 1001, caps)
    }),
    ("batch norm, training, backward", |caps| {
        channels(ChannelPass::BackwardWithGradients, [1, 2761, 24], 24, caps)
    }),
    ("batch norm of a view with channels first", |caps| {
        let (a, row) = (odd(&[1, 24, 1761]).permute(&[0, 2, 1])?, dense(&[24]));
        let layouts = ChannelLayouts { a: &a, b: Some(&a), gamma: Some(&row), beta: None };
        ChannelProblem::new("test", ChannelPass::Backward, layouts, 24, DType::F32)?.plan(caps)
    }),
    ("dense operator", |caps| operator(SketchKind::Sign, 0, caps)),
    ("sparse operator", |caps| operator(SketchKind::CountSketch, 1, caps)),
    ("Hadamard operator", |caps| operator(SketchKind::Hadamard, 2, caps)),
    ("Hadamard operator along the outermost axis", |caps| operator(SketchKind::Hadamard, 0, caps)),
    ("steerable product", |caps| of_rows(RowFunction::Steerable, caps)),
    ("steerable product, backward", |caps| of_rows(RowFunction::SteerableBackward, caps)),
    ("grade norm", |caps| of_rows(RowFunction::Normalize, caps)),
    ("grade norm, backward", |caps| of_rows(RowFunction::NormalizeBackward, caps)),
    ("norm of multivectors, backward", |caps| of_features(FeatureFunction::Normalization, caps)),
    ("layer norm of multivectors, backward", |caps| of_features(FeatureFunction::LayerNorm, caps)),
    ("silu of multivectors, backward", |caps| of_features(FeatureFunction::Silu, caps)),
    ("connected product", |caps| connected(false, caps)),
    ("connected product, backward", |caps| connected(true, caps)),
    ("added to elements", |caps| {
        let layouts = [&odd(&[170, 130]), &odd(&[160, 131]), &odd(&[160, 131])];
        ScatterProblem::new(Target::Elements(1), layouts, DType::F32)?.plan(caps)
    }),
];

/// What a kernel's text takes of a device, and its immediates in bytes.
fn declared(kernel: &Kernel) -> (Needs, u32) {
    if kernel.language() == Language::Spirv {
        return module_needs(&kernel.words().expect("a module")).expect("a kernel");
    }
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

/// Rows of which each needs more memory between its steps than a binding has: the error is of the smallest window, which tells how
/// much is to be sliced off.
#[test]
fn the_error_of_the_smallest_window_names_an_axis() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 4096;
    let (q, lse) = (dense(&[1, 6, 300, 1]), dense(&[1, 6, 300, 2]));
    let layouts =
        AttentionLayouts { q: &q, k: &q, v: &q, bias: None, lengths: None, keep: None, slopes: None };
    let none = AttentionStatistics::None;
    let forward = AttentionProblem::new(layouts, AttentionRange::default(), none, DType::F32).unwrap();
    let of = AttentionGradientsOf::Operands;
    let found = AttentionBackward::new(forward, [&q, &lse, &q], of).unwrap().plan(&caps).unwrap_err();
    // Four numbers for each of the queries of one head.
    assert!(matches!(found, Error::Limit { needed: 4800, allowed: 4096, .. }), "{found}");
    assert!(found.to_string().contains("a temporary buffer in bytes (slice along axis 2)"), "{found}");
}

/// Each window takes memory of the host.
#[test]
fn there_are_at_most_4096_windows() {
    let mut caps = fixtures::lavapipe();
    caps.limits.binding_bytes = 64 << 10;
    let sum = |rows| {
        let a = odd(&[rows, 15_001]);
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&a; 2], &dense(a.shape()), DType::F32)?
            .plan(&caps)
    };
    assert!(sum(4096).unwrap().steps().len() >= 4096);
    let error = sum(4097).unwrap_err();
    let is_expected = matches!(&error, Error::Limit { what, needed: 4097, allowed: 4096, .. } if what == "the number of windows");
    assert!(is_expected, "{error}");
}
