//! Functions of elements, conversions and copies.

use super::{COMPUTED, REALS, Row, ahead, flat};
use tilewise::ops::{Function, Overflow, TexelFormat};
use tilewise::planning::gemm::{F16SplitProblem, Side};
use tilewise::planning::ops::{
    CastProblem, ColourScale, CopyProblem, Elementwise, ElementwiseProblem, ImageProblem, ImageTransfer,
    Longer,
};
use tilewise::{DType, Precision};

pub(super) const ROWS: [Row; 7] = [
    ("cast", &DType::ALL, |on| {
        let (to, overflow) = (on.choose(&DType::ALL), on.choose(&[Overflow::Rust, Overflow::Saturate]));
        on.plan(CastProblem::new(&on.x, on.dtype, to, overflow))
    }),
    ("copy", &DType::ALL, |on| {
        let (x, y) = (on.x, on.y);
        let (a, c) = on.choose(&[(x, y), (y, x), (x, x)]);
        on.plan(CopyProblem::new(&a, &c, on.dtype))
    }),
    ("copy at a position", &DType::ALL, |on| {
        let (x, axis) = (on.x, on.axis());
        let short = flat(x.slice(axis, ..x.shape()[axis].div_ceil(2))?.shape())?;
        let (longer, [a, c]) = on.choose(&[(Longer::C, [short, x]), (Longer::A, [x, short])]);
        on.plan(CopyProblem::at_position(longer, [&a, &c], axis, &ahead(&[1])?, on.dtype))
    }),
    ("elementwise", COMPUTED, |on| {
        let all: Vec<_> = Elementwise::all().into_iter().filter(|of| of.takes(on.dtype)).collect();
        let (x, y) = (on.x, on.y);
        let (function, [second, c]) = (on.choose(&all), on.choose(&[[x, x], [y, x], [x, y]]));
        let operands = &[&x, &second, &x][..function.operands()];
        on.plan(ElementwiseProblem::of_one_type(function, operands, &c, on.dtype))
    }),
    ("elementwise of several types", COMPUTED, |on| {
        let (x, c) = ((on.x, on.dtype), on.either());
        let mask = (on.y, DType::I8);
        let (function, operands, to) = on.choose(&[
            (Function::Select, vec![mask, x, x], on.dtype),
            (Function::ToReal, vec![(x.0, DType::I32)], on.dtype),
            (Function::ToInteger, vec![x], DType::I8),
        ]);
        let operands: Vec<_> = operands.iter().map(|(of, dtype)| (of, *dtype)).collect();
        on.plan(ElementwiseProblem::new(function.into(), &operands, (&c, to)))
    }),
    ("image", REALS, |on| {
        let (transfer, format) =
            (on.choose(&[ImageTransfer::Read, ImageTransfer::Write]), on.choose(&TexelFormat::ALL));
        let scale = on.choose(&[ColourScale::Unscaled, ColourScale::Scaled]);
        on.plan(ImageProblem::new(transfer, format, &on.x, on.dtype, scale))
    }),
    ("f16_split", &[DType::F32], |on| {
        let (side, precision) =
            (on.choose(&[Side::A, Side::B]), on.choose(&[Precision::Fast, Precision::Split]));
        on.plan(F16SplitProblem::new(&on.x, side, precision))
    }),
];
