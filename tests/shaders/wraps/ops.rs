//! Copies, elementwise operations, operations along an axis and the f16 split, as large as they may be.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::laid;
use support::laid::flat;
use support::wgsl::COMPUTED;
use tilewise::gpu::DeviceType;
use tilewise::ops::Overflow;
use tilewise::ops::{Function, RotaryPairs, TexelFormat};
use tilewise::planning::Problem;
use tilewise::planning::gemm::{F16SplitProblem, Side};
use tilewise::planning::ops::{
    CastProblem, ChannelPass, ChannelProblem, ColourScale, CopyProblem, CumsumProblem, Elementwise,
    ElementwiseProblem, ImageProblem, ImageTransfer, Longer, NormKind, NormLayouts, NormPass, NormProblem,
    ReduceFunction, ReduceProblem, RotaryPass, RotaryProblem, RotaryTable, SoftmaxFunction, SoftmaxProblem,
};
use tilewise::{Caps, DType, Layout, Precision};

/// Shapes and strides of views of up to six axes, which span so many elements: without gaps, permuted, with an axis far
/// apart, with many of extent 2, with one that is repeated.
pub(crate) fn views(elements: usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let row = |shape: &[usize]| {
        let strides = (0..shape.len()).map(|axis| shape[axis + 1..].iter().product()).collect::<Vec<usize>>();
        (shape.to_vec(), strides)
    };
    let reversed = |shape: &[usize]| {
        let strides = (0..shape.len()).map(|axis| shape[..axis].iter().product()).collect::<Vec<usize>>();
        (shape.to_vec(), strides)
    };
    let edge = elements.isqrt();
    vec![
        row(&[elements]),
        row(&[elements / 5, 5]),
        row(&[5, elements / 5]),
        reversed(&[edge, edge]),
        reversed(&[5, elements / 5]),
        reversed(&[3, 5, 7, 2, 3, elements / 630]),
        row(&[elements / 630, 3, 5, 7, 2, 3]),
        (vec![2, 3], vec![elements - 5, 2]),
        (vec![3, 2], vec![2, elements - 5]),
        (vec![2, 2, 2], vec![elements / 2, elements / 3, 1]),
        (vec![1000, 1000], vec![elements / 1001, 1]),
        (vec![7, 9, 11], vec![elements / 8, elements / 100, 0]),
    ]
}

pub(crate) fn layouts(dtype: DType) -> Vec<Layout> {
    let elements = WINDOW / dtype.size();
    let layout = |(i, (shape, strides)): (usize, (Vec<usize>, Vec<usize>))| {
        laid::view(&shape, &strides, [0, 63, 6][i % 3])
    };
    views(elements).into_iter().enumerate().map(layout).collect()
}

/// The bytes to which windows are aligned.
const WINDOW_END: usize = 256;

const REALS: [DType; 3] = [DType::F32, DType::F16, DType::Bf16];

pub(crate) fn launches() -> Vec<Launch> {
    let mut launches = Vec::new();
    let devices = [caps().planned_for(DeviceType::Discrete), bare()];
    let [caps, _] = &devices;
    for (i, from) in DType::ALL.into_iter().enumerate() {
        for (at, view) in layouts(from).into_iter().enumerate() {
            let to = DType::ALL[(i + at) % DType::ALL.len()];
            let overflow = [Overflow::Rust, Overflow::Saturate][at % 2];
            let plan = CastProblem::new(&view, from, to, overflow)
                .and_then(|problem| problem.plan(&devices[at / 2 % 2]));
            launches.extend(Launch::planned(&format!("{from} {view:?} to {to}"), plan));
        }
    }
    for dtype in DType::ALL {
        for (at, view) in layouts(dtype).into_iter().enumerate() {
            let dense = flat(view.shape());
            for (a, c) in [(&view, &dense), (&dense, &view), (&view, &view)] {
                let plan = CopyProblem::new(a, c, dtype).and_then(|problem| problem.plan(&devices[at % 2]));
                launches.extend(Launch::planned(&format!("copy of {dtype} {a:?} to {c:?}"), plan));
            }
            let position = laid::view(&[1], &[1], 63);
            let axis = (at + dtype.size()) % view.rank();
            let slice = view.slice(axis, ..view.shape()[axis].div_ceil(2)).expect("within the axis");
            let dense = flat(slice.shape());
            for (longer, operands) in [(Longer::C, [&dense, &view]), (Longer::A, [&view, &dense])] {
                let problem = CopyProblem::at_position(longer, operands, axis, &position, dtype);
                let plan = problem.and_then(|problem| problem.plan(&devices[at % 2]));
                let what = format!("copy of {dtype}, {longer:?} is {view:?}, axis {axis}");
                launches.extend(Launch::planned(&what, plan));
            }
        }
    }
    for format in TexelFormat::ALL {
        for (at, dtype) in REALS.into_iter().enumerate() {
            let channels = if at == 1 { format.channels().min(3) } else { format.channels() };
            let edge = (WINDOW / 16).isqrt();
            for (shape, strides, offset) in [
                ([edge, edge, channels], [edge * channels, channels, 1], 0),
                ([edge, edge, channels], [edge, 1, edge * edge], 63),
                ([1, edge * edge / 2, channels], [0, channels, 1], 6),
                ([edge * edge / 16, 1, channels], [2 * channels, 0, 1], 1),
            ] {
                let image = laid::view(&shape, &strides, offset);
                for transfer in [ImageTransfer::Read, ImageTransfer::Write] {
                    let problem = ImageProblem::new(transfer, format, &image, dtype, ColourScale::Scaled);
                    let plan = problem.and_then(|problem| problem.plan(&devices[at % 2]));
                    launches
                        .extend(Launch::planned(&format!("{transfer:?} {format:?} {dtype} {image:?}"), plan));
                }
            }
        }
    }
    launches.extend(elementwise(&devices));
    for dtype in REALS {
        for view in layouts(dtype) {
            for axis in 0..view.rank() {
                if let Ok(problem) = CumsumProblem::new(&view, axis, dtype)
                    && let Ok(plan) = problem.plan(&devices[axis % 2])
                {
                    launches
                        .extend(Launch::steps(&format!("cumsum along {axis} of {dtype} {view:?}"), &plan));
                }
                for function in SoftmaxFunction::ALL {
                    let second = if function.is_backward() || axis % 2 == 0 { Some(&view) } else { None };
                    let problem = SoftmaxProblem::new(function, &view, second, axis, dtype);
                    let plan = problem.and_then(|problem| problem.plan(&devices[axis % 2]));
                    let what = format!("{function:?} along {axis} of {dtype} {view:?}");
                    launches.extend(Launch::planned(&what, plan));
                }
            }
        }
    }
    rotations(&mut launches, &devices);
    reductions(&mut launches, &devices);
    launches.extend(norms(&devices));
    launches.extend(norms_of_channels(&devices));
    for view in layouts(DType::F32) {
        for (side, precision) in
            [(Side::A, Precision::Fast), (Side::A, Precision::Split), (Side::B, Precision::Split)]
        {
            let plan = F16SplitProblem::new(&view, side, precision).and_then(|problem| problem.plan(caps));
            launches.extend(Launch::planned(&format!("{precision:?} of {side:?} {view:?}"), plan));
        }
    }
    launches.extend(super::losses::launches());
    launches
}

/// Elementwise functions of every type. Functions and views take turns.
fn elementwise(devices: &[Caps; 2]) -> Vec<Launch> {
    let mut launches = Vec::new();
    let mut case = 0;
    let mut add = |function: &Elementwise, operands: &[(&Layout, DType)], c: (&Layout, DType), caps| {
        let plan =
            ElementwiseProblem::new(function.clone(), operands, c).and_then(|problem| problem.plan(caps));
        launches.extend(Launch::planned(&format!("{function:?} of {operands:?} in {c:?}"), plan));
    };
    for dtype in COMPUTED {
        let functions: Vec<Elementwise> =
            Elementwise::all().into_iter().filter(|function| function.takes(dtype)).collect();
        for view in layouts(dtype) {
            let dense = flat(view.shape());
            for c in [&dense, &view] {
                case += 1;
                let function = &functions[case % functions.len()];
                let caps = &devices[case / functions.len() % 2];
                let operands = vec![(&view, dtype); function.operands()];
                // Masks are i8.
                add(function, &operands, (c, dtype), caps);
                add(function, &operands, (c, DType::I8), caps);
                // Here functions and views do not take turns: an update.
                add(&Elementwise::ADD_ASSIGN, &[(c, dtype)], (c, dtype), &devices[case / 2 % 2]);
            }
            let select = Elementwise::from(Function::Select);
            add(
                &select,
                &[(&dense, DType::I8), (&view, dtype), (&dense, dtype)],
                (&dense, dtype),
                &devices[0],
            );
        }
    }
    let rows = flat(&[7, 32]);
    for (function, from, to) in
        [(Function::ToReal, DType::I32, DType::F32), (Function::ToInteger, DType::F32, DType::I8)]
    {
        add(&function.into(), &[(&rows, from)], (&rows, to), &devices[0]);
    }
    launches
}

/// Rotations of all of a row, or of its first elements, by tables of as many positions as it has, and of as many as there may be.
fn rotations(launches: &mut Vec<Launch>, devices: &[Caps; 2]) {
    for dtype in REALS {
        let elements = WINDOW / dtype.size();
        // Rows of whole vectors.
        let rows = flat(&[3, elements / 192, 64]);
        for (at, view) in layouts(dtype).into_iter().chain([rows]).enumerate() {
            let [.., length, width] = *view.shape() else { continue };
            for (i, pairs) in RotaryPairs::ALL.into_iter().enumerate() {
                for rotary_dims in [width / 2 * 2, width / 32 * 16].into_iter().filter(|&dims| dims > 0) {
                    for positions in [length, (WINDOW / 4 / rotary_dims).max(length)] {
                        let of = RotaryTable { pairs, rotary_dims, positions };
                        let problem = RotaryProblem::new(RotaryPass::ALL[(at + i) % 2], of, &view, dtype);
                        // The start is a number, or a tensor has it.
                        let start = laid::view(&[1], &[1], 63);
                        let problem = problem.and_then(|problem| {
                            if at % 2 == 1 { problem.at_position(&start) } else { Ok(problem) }
                        });
                        let plan = problem.and_then(|problem| problem.plan(&devices[(at + i) % 2]));
                        launches.extend(Launch::planned(&format!("{of:?} of {dtype} {view:?}"), plan));
                    }
                }
            }
        }
    }
}

/// Reductions of every type along each axis, along all, and along all but one.
fn reductions(launches: &mut Vec<Launch>, devices: &[Caps; 2]) {
    let mut case = 0;
    for dtype in DType::ALL {
        for view in layouts(dtype) {
            let all: Vec<usize> = (0..view.rank()).collect();
            let but_one = all[..all.len() - 1].to_vec();
            for axes in all.iter().map(|&axis| vec![axis]).chain([all.clone(), but_one]) {
                // Functions take turns.
                for function in
                    ReduceFunction::ALL.into_iter().cycle().skip(case % ReduceFunction::ALL.len()).take(3)
                {
                    case += 1;
                    let plan = ReduceProblem::new(function, &view, &axes, dtype)
                        .and_then(|problem| problem.plan(&devices[case % 2]));
                    let what = format!("{function:?} along {axes:?} of {dtype} {view:?}");
                    launches.extend(Launch::planned(&what, plan));
                }
            }
        }
    }
}

/// Norms of views, with gamma and beta from the last elements of a window on.
fn norms(devices: &[Caps; 2]) -> Vec<Launch> {
    let passes = [
        (NormKind::Layer, NormPass::ForwardWithStatistics),
        (NormKind::Rms, NormPass::Forward),
        (NormKind::Layer, NormPass::BackwardWithBoth),
        (NormKind::Rms, NormPass::BackwardWithGamma),
    ];
    let mut launches = Vec::new();
    for dtype in REALS {
        for (at, view) in layouts(dtype).into_iter().enumerate() {
            let length = view.shape()[view.rank() - 1];
            let offset = if at % 3 == 0 { 0 } else { WINDOW_END / dtype.size() - 1 };
            let weights = laid::view(&[length], &[1], offset);
            let dense = flat(view.shape());
            for (i, (kind, pass)) in passes.into_iter().enumerate() {
                let b = (i > 0).then_some(if at % 2 == 0 { &dense } else { &view });
                let beta = (kind == NormKind::Layer).then_some(&weights);
                let layouts = NormLayouts { a: &view, b, gamma: Some(&weights), beta };
                let Ok(problem) = NormProblem::new(kind, pass, layouts, dtype) else { continue };
                // Devices store sums in different ways.
                let stores_sums = pass == NormPass::Forward;
                let of = |device: &usize| stores_sums || *device == (at + i) % 2;
                for device in (0..devices.len()).filter(of) {
                    let plan = problem.plan(&devices[device]);
                    launches.extend(Launch::planned(&format!("{kind:?} {pass:?} of {dtype} {view:?}"), plan));
                }
            }
        }
    }
    launches
}

/// Norms of channels of views with three axes, of many channels and of few.
fn norms_of_channels(devices: &[Caps; 2]) -> Vec<Launch> {
    let passes = [
        ChannelPass::TrainingWithRunning,
        ChannelPass::Group,
        ChannelPass::BackwardWithGradients,
        ChannelPass::Evaluation,
        ChannelPass::EvaluationBackwardWithGradients,
    ];
    let mut launches = Vec::new();
    for dtype in REALS {
        let elements = WINDOW / dtype.size();
        for (at, (shape, strides)) in [
            ([1, elements / 8, 8], [0, 8, 1]),
            ([7, elements / 7 / 65, 65], [elements / 7, 65, 1]),
            ([1, 3, elements / 3], [0, elements / 3, 1]),
            ([elements / 64, 1, 64], [64, 0, 1]),
            ([2, 3, 5], [elements / 3, elements / 7, elements / 31]),
            ([1000, 1000, 4], [4, 4000, 1]),
        ]
        .into_iter()
        .enumerate()
        {
            let view = laid::view(&shape, &strides, 0);
            let offset = WINDOW_END / dtype.size() - 1;
            let weights = laid::view(&shape[2..], &[1], offset);
            let layouts =
                NormLayouts { a: &view, b: Some(&view), gamma: Some(&weights), beta: Some(&weights) };
            for (i, pass) in passes.into_iter().enumerate() {
                let groups = if i == 1 { 1 } else { shape[2] };
                let problem = ChannelProblem::new("test", pass, layouts, groups, dtype);
                let plan = problem.and_then(|problem| problem.plan(&devices[(at + i) % 2]));
                launches.extend(Launch::planned(&format!("{pass:?} of {dtype} {view:?}"), plan));
            }
        }
    }
    launches
}
