//! The cases of a run, in groups: one operation at one size, whose cases are timed in turn.

use crate::arguments::{Args, Kernels};
use crate::case::{Case, Op, Operator};
use bench::is_software;
use clap::ValueEnum;
use support::dtype::Type;
use support::size::Size;
use tilewise::gemm::GemmKernel;
use tilewise::{DType, Gpu, Precision};

/// Sizes unless the user gives some: quick ones, and all.
const SOFTWARE_SIZES: [&[usize]; 2] = [&[256, 512], &[64, 256, 512, 1024]];
const GPU_SIZES: [&[usize]; 2] = [&[1024, 4096], &[512, 1024, 2048, 4096, 8192]];
/// Features of a Clifford product, and its blades, those of Cl(3).
const FEATURES: usize = 64;
const BLADES: usize = 8;
/// Channels of a convolution.
const CHANNELS: usize = 64;
/// Features of a head of attention.
const HEAD_DIM: usize = 64;

/// Whether a kernel that cannot run a case is worth a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// The user named it.
    Listed,
    /// It is one of all.
    Skipped,
}

/// One operation at one size.
pub(crate) struct Group {
    pub(crate) cases: Vec<(Case, Unfit)>,
}

impl Group {
    /// The names of the rows.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.cases.iter().map(|(case, _)| case.to_string())
    }
}

/// All cases that the arguments ask for.
pub(crate) fn groups(args: &Args, gpu: &Gpu) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for &op in args.ops() {
        for size in sizes(args, gpu) {
            let operators: Vec<Option<Operator>> =
                if op == Op::Sketch { Operator::ALL.map(Some).into() } else { vec![None] };
            for operator in operators {
                let group = Group { cases: of_size(args, op, operator, shape(op, size)) };
                // The same size may be given twice, as 64 and as 64x64x64.
                if !groups.iter().any(|known| known.cases == group.cases) {
                    groups.push(group);
                }
            }
        }
    }
    groups
}

fn sizes(args: &Args, gpu: &Gpu) -> Vec<Size> {
    if !args.sizes.is_empty() {
        return args.sizes.clone();
    }
    let [quick, all] = if is_software(gpu) { SOFTWARE_SIZES } else { GPU_SIZES };
    (if args.quick { quick } else { all }).iter().map(|&edge| Size::Edge(edge)).collect()
}

/// What a size means for an operation: m, n, k, as `Case::shape` says.
fn shape(op: Op, size: Size) -> [usize; 3] {
    match (op, size) {
        (Op::Gemm, Size::Edge(edge)) => [edge; 3],
        (Op::Gemv, Size::Edge(edge)) => [edge, 1, edge],
        (Op::Sketch, Size::Edge(edge)) => [edge.div_ceil(4), edge, edge],
        (Op::Clifford, Size::Edge(edge)) => [edge, FEATURES, BLADES],
        (Op::Attention, Size::Edge(edge)) => [edge, edge, HEAD_DIM],
        (Op::Conv, Size::Edge(edge)) => [edge.div_ceil(4), CHANNELS, CHANNELS],
        (_, Size::Shape(shape)) => shape,
    }
}

/// The types of an operation unless the user gives some.
fn types(args: &Args, op: Op) -> Vec<Type> {
    if !args.dtypes.is_empty() {
        return args.dtypes.clone();
    }
    let has = |dtype: &&Type| match dtype {
        Type::F32 | Type::F16 => true,
        Type::Bf16 => !args.quick,
        Type::I8 => op.is_product(),
        Type::E4m3 | Type::E5m2 => false,
    };
    Type::value_variants().iter().filter(has).copied().collect()
}

fn of_size(args: &Args, op: Op, operator: Option<Operator>, shape: [usize; 3]) -> Vec<(Case, Unfit)> {
    let mut cases = Vec::new();
    for dtype in types(args, op).into_iter().map(DType::from) {
        let precisions: Vec<Option<Precision>> =
            match (op.is_product() && dtype == DType::F32, &args.precisions[..]) {
                (false, _) => vec![None],
                (true, []) => vec![Some(Precision::Strict)],
                (true, precisions) => precisions.iter().copied().map(Some).collect(),
            };
        for precision in precisions {
            let pins = if op.is_product() { pins(&args.kernels) } else { vec![(None, Unfit::Listed)] };
            for (pin, unfit) in pins {
                let case = (Case { op, operator, shape, dtype, precision, pin }, unfit);
                if !cases.contains(&case) {
                    cases.push(case);
                }
            }
        }
    }
    cases
}

/// The kernels to pin; `None` is the plan's choice.
fn pins(kernels: &[Kernels]) -> Vec<(Option<GemmKernel>, Unfit)> {
    let mut pins: Vec<(Option<GemmKernel>, Unfit)> = Vec::new();
    let mut add = |pin, unfit| {
        if !pins.iter().any(|&(known, _)| known == pin) {
            pins.push((pin, unfit));
        }
    };
    for &kernels in if kernels.is_empty() { &[Kernels::Auto] } else { kernels } {
        match kernels {
            Kernels::Auto => add(None, Unfit::Listed),
            Kernels::Pinned(kernel) => add(Some(kernel), Unfit::Listed),
            Kernels::All => {
                add(None, Unfit::Listed);
                GemmKernel::ALL.into_iter().for_each(|kernel| add(Some(kernel), Unfit::Skipped));
            }
        }
    }
    pins
}
