//! Other forms of families, which are planned and not executed.

use super::Family;
use super::shapes::{
    bias_backward, channels, connected_by, features, flat, hadamard, normed, of_rows, operator, reduced,
};
use tilewise::clifford::layer::{FeatureFunction, Gate};
use tilewise::clifford::{BladeAxis, Signature};
use tilewise::ops::{Reduction, RotaryPairs};
use tilewise::planning::Problem;
use tilewise::planning::clifford::{CliffordProblem, Function, MvLayout};
use tilewise::planning::clifford_layer::{ConnectedBackward, GatesProblem, RowFunction};
use tilewise::planning::gemm::Pin;
use tilewise::planning::ops::{
    ChannelPass, ChannelProblem, CopyProblem, CrossEntropyProblem, Elementwise, ElementwiseProblem,
    GatherProblem, Longer, LossFunction, LossProblem, NormKind, NormLayouts, NormPass, ReduceFunction,
    RotaryPass, RotaryProblem, RotaryTable, ScatterProblem, SoftmaxFunction, SoftmaxProblem, Taken, Target,
    TargetKind,
};
use tilewise::sketch::{Direction, SketchKind};
use tilewise::{Activation, DType};

/// Other forms, and what goes back through them, which are only planned.
pub const MORE: [Family; 44] = [
    ("addition of bytes", |of| {
        let x = of.rows(330, &[301])?;
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &x], &flat(x.shape())?, DType::I8)?
            .plan(of.caps)
    }),
    ("addition of a transposed view", |of| {
        let [x, y] = [of.rows(230, &[101])?, of.view(&[101, of.many(230, 101)])?.t()];
        ElementwiseProblem::of_one_type(Elementwise::ADD, &[&x, &y], &flat(x.shape())?, DType::F32)?
            .plan(of.caps)
    }),
    ("activation", |of| {
        let [x, gelu] = [of.rows(230, &[101])?, flat(&[of.many(230, 101), 101])?];
        ElementwiseProblem::of_one_type(Elementwise::Activate(Activation::Gelu), &[&x], &gelu, DType::F32)?
            .plan(of.caps)
    }),
    ("sum of everything", |of| reduced(ReduceFunction::Sum, &[0, 1, 2], of)),
    ("sum of outer axes", |of| reduced(ReduceFunction::Sum, &[0, 1], of)),
    ("variance", |of| reduced(ReduceFunction::Variance { correction: 1 }, &[0, 2], of)),
    ("place", |of| reduced(ReduceFunction::ArgMin, &[1], of)),
    ("place in the outermost axis", |of| reduced(ReduceFunction::ArgMax, &[0], of)),
    ("softmax across", |of| {
        let [x, mask] = [of.rows(7, &[61, 101])?, flat(&[61, 1])?];
        SoftmaxProblem::new(SoftmaxFunction::Softmax, &x, Some(&mask), 1, DType::F32)?.plan(of.caps)
    }),
    ("softmax, backward", |of| {
        let x = of.rows(7, &[61, 101])?;
        SoftmaxProblem::new(SoftmaxFunction::LogSoftmaxBackward, &x, Some(&x), 2, DType::Bf16)?.plan(of.caps)
    }),
    ("copy of a transposed view", |of| {
        let n = of.many(230, 101);
        CopyProblem::new(&of.view(&[101, n])?.t(), &of.view(&[n, 101])?, DType::F16)?.plan(of.caps)
    }),
    ("copy from a position within", |of| {
        let (n, at) = (of.many(90, 303), flat(&[1])?);
        let [a, c] = [of.view(&[n, 101, 3])?, of.view(&[n, 70, 3])?];
        CopyProblem::at_position(Longer::A, [&a, &c], 1, &at, DType::F32)?.plan(of.caps)
    }),
    ("positions by index", |of| {
        GatherProblem::new(Taken::Positions(1), &of.rows(70, &[30, 7])?, &flat(&[61])?, DType::F16)?
            .plan(of.caps)
    }),
    ("added to positions", |of| {
        let n = of.many(30, 630);
        let layouts = [&of.view(&[n, 70, 9])?, &flat(&[50])?, &of.view(&[n, 50, 9])?];
        ScatterProblem::new(Target::Positions(1), layouts, DType::F16)?.plan(of.caps)
    }),
    ("rotation", |of| {
        let table = RotaryTable { pairs: RotaryPairs::Halves, rotary_dims: 16, positions: 40 };
        RotaryProblem::new(RotaryPass::Forward, table, &of.rows(9, &[5, 33, 21])?, DType::F32)?.plan(of.caps)
    }),
    ("RMS norm, backward", |of| normed(NormKind::Rms, NormPass::Backward, [427, 101], of)),
    ("group norm of one index", |of| channels(ChannelPass::Group, [1, 761, 25], 5, of)),
    ("group norm of many", |of| channels(ChannelPass::Group, [61, 13, 24], 4, of)),
    ("group norm of many, backward", |of| channels(ChannelPass::BackwardWithGradients, [61, 13, 24], 4, of)),
    ("batch norm", |of| channels(ChannelPass::Evaluation, [1, 761, 24], 24, of)),
    ("batch norm, backward", |of| {
        channels(ChannelPass::EvaluationBackwardWithGradients, [1, 761, 24], 24, of)
    }),
    ("batch norm, training", |of| channels(ChannelPass::Training, [1, 761, 25], 25, of)),
    ("batch norm, training with many channels", |of| {
        channels(ChannelPass::TrainingWithRunning, [1, 61, 1001], 1001, of)
    }),
    ("batch norm, training, backward", |of| {
        channels(ChannelPass::BackwardWithGradients, [1, 2761, 24], 24, of)
    }),
    ("batch norm of a view with channels first", |of| {
        let (a, row) = (of.view(&[1, 24, of.many(1761, 24)])?.permute(&[0, 2, 1])?, flat(&[24])?);
        let layouts = NormLayouts { a: &a, b: Some(&a), gamma: Some(&row), beta: None };
        ChannelProblem::new("test", ChannelPass::Backward, layouts, 24, DType::F32)?.plan(of.caps)
    }),
    ("losses and gradients", |of| {
        let n = of.many(261, 101);
        let [x, y] = [of.view(&[n, 101])?, of.view(&[101, n])?.t()];
        let problem = LossProblem::new(LossFunction::Mse, [&x, &y], None, DType::F16)?;
        problem.reduced(Reduction::None).with_gradient(Some(&flat(&[n, 101])?)).plan(of.caps)
    }),
    ("cross-entropy of rows", |of| {
        let x = of.rows(9, &[61, 101])?;
        let problem = CrossEntropyProblem::new(&x, (TargetKind::Probabilities, &x), None, DType::F32)?;
        problem.reduced(Reduction::None).plan(of.caps)
    }),
    ("bias of heads, backward", |of| bias_backward(&[7, 33, 31], false, of)),
    ("parts of a bias, backward", |of| bias_backward(&[31], true, of)),
    ("dense sketch, adjoint", |of| operator(SketchKind::Sign, Direction::Adjoint, 0, of)),
    ("dense sketch of rows", |of| operator(SketchKind::Gaussian, Direction::Forward, 1, of)),
    ("sparse sketch of rows", |of| operator(SketchKind::CountSketch, Direction::Forward, 1, of)),
    ("hadamard of rows", |of| operator(SketchKind::Hadamard, Direction::Forward, 2, of)),
    ("hadamard, adjoint", |of| hadamard(Direction::Adjoint, of)?.plan(of.caps)),
    ("sandwich", |of| {
        let (motors, points, n) = (Signature::PGA3D.even(), Signature::PGA3D.points(), of.many(2000, 8));
        let [m, x] = [flat(&[motors.len(), n])?, flat(&[points.len(), n])?];
        let [m, x] = [(&m, &motors), (&x, &points)].map(|(layout, blades)| MvLayout { layout, blades });
        CliffordProblem::new(Function::Sandwich, &[m, x], x, BladeAxis::First, DType::F32)?.plan(of.caps)
    }),
    ("norm, backward", |of| of_rows(RowFunction::NormalizeBackward, of)),
    ("layer norm of multivectors", |of| features(FeatureFunction::LayerNorm, false, of)),
    ("layer norm of multivectors, backward", |of| features(FeatureFunction::LayerNorm, true, of)),
    ("norm of multivectors, backward", |of| features(FeatureFunction::Normalization, true, of)),
    ("silu of multivectors", |of| features(FeatureFunction::Silu, false, of)),
    ("silu of multivectors, backward", |of| features(FeatureFunction::Silu, true, of)),
    ("narrow connected layer", |of| connected_by(DType::F32, 22, of, Pin::Free)?.plan(of.caps)),
    ("narrow connected layer, backward", |of| {
        let (forward, g) =
            (connected_by(DType::F32, 22, of, Pin::Free)?, of.view(&[4, of.many(96, 88), 22])?);
        ConnectedBackward::new(forward, &g)?.plan(of.caps)
    }),
    ("gates", |of| {
        let x = of.view(&[1, of.many(40, 1024), 1024])?;
        GatesProblem::new(Gate::Gelu, [&x, &x], DType::F32)?.plan(of.caps)
    }),
];
