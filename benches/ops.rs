//! Operations on elements, and choices of elements by index, each timed in turn with a copy that moves as many bytes as it reads and writes. One JSON object per
//! line; the exit status says whether everything ran.
//!
//! - `TILEWISE_SIZES=2048` sets the edge of the matrices.
//! - `TILEWISE_ONLY=add,map` selects cases by name.

use bench::paired::{Paired, Side, TOGETHER};
use bench::turns::Turns;
use bench::{ByDevice, Session, ran};
use std::process::ExitCode;
use tilewise::ops::{self, AvgPool2d, Corners, Expr, Interpolation, MaxPool2d};
use tilewise::{Activation, Fill, Gpu, Real, Result, Tensor, f16};

/// Edges of the matrices, larger than the caches.
const SIZES: ByDevice<&[usize]> = ByDevice { software: &[2048], gpu: &[8192] };

/// An operation, and how many matrices it reads.
type Operation<T> = (&'static str, usize, fn(&[Tensor<T>]) -> Result<()>);

fn operations<T: Real>() -> [Operation<T>; 7] {
    [
        ("add", 2, |x| ops::add(&x[0], &x[1]).map(drop)),
        ("div", 2, |x| ops::div(&x[0], &x[1]).map(drop)),
        ("scale", 1, |x| ops::mul(&x[0], 0.5).map(drop)),
        ("exp", 1, |x| ops::exp(&x[0]).map(drop)),
        ("gelu", 1, |x| ops::activate(&x[0], Activation::Gelu).map(drop)),
        ("map of 5", 2, |x| {
            let five = |[a, b]: [Expr; 2]| ((&a * &b + a) * 0.5 - b).maximum(0.0);
            ops::map::<T, 2>(&[&x[0], &x[1]], five).map(drop)
        }),
        ("map of 5, 4 operands", 4, |x| {
            let five = |[a, b, c, d]: [Expr; 4]| (a * b + c) * d - 0.5;
            ops::map::<T, 4>(&[&x[0], &x[1], &x[2], &x[3]], five).map(drop)
        }),
    ]
}

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let mut ok = true;
        for size in session.sizes(64, &SIZES)? {
            for case in operations::<f32>().into_iter().filter(|(name, ..)| bench::wants(name)) {
                ok &= ran(case.0, size, measure(&session, size, case));
            }
            for case in operations::<f16>().into_iter().filter(|(name, ..)| bench::wants(name)) {
                ok &= ran(case.0, size, measure(&session, size, case));
            }
            for case in CHOICES.into_iter().filter(|(name, ..)| bench::wants(name)) {
                ok &= ran(case.0, size, choose::<f32>(&session, size, case));
                ok &= ran(case.0, size, choose::<f16>(&session, size, case));
            }
        }
        for case in of_images::<f32>().into_iter().filter(|(name, ..)| bench::wants(name)) {
            ok &= ran(case.0, case.1, measure_images(&session, case));
        }
        for case in of_images::<f16>().into_iter().filter(|(name, ..)| bench::wants(name)) {
            ok &= ran(case.0, case.1, measure_images(&session, case));
        }
        Ok(ok)
    })
}

fn measure<T: Real>(session: &Session, size: usize, (name, reads, run): Operation<T>) -> Result<()> {
    let gpu: &Gpu = &session.gpu;
    let bytes = size * size * T::DTYPE.size();
    let operands = Turns::of(gpu, bytes * (reads + 1)).sets(|| {
        (1..)
            .take(reads)
            .map(|seed| gpu.random::<T>([size, size], Fill::Uniform, seed))
            .collect::<Result<Vec<_>>>()
    })?;
    let (done, plans) = gpu.plans_of(|| run(&operands[0]));
    done?;
    let own = Side::launches(gpu, &plans[0], TOGETHER, |at| run(&operands[at % operands.len()]))?;
    let copy = Side::lower_bound(gpu, bytes * (reads + 1), 0.0);
    let (size, types) = ([size, size, 1], [T::DTYPE; 2]);
    Paired { case: "ops", variant: name, baseline: "copy of as many bytes", size, types }
        .run(session, own, copy)
}

/// How elements are chosen by index.
#[derive(Clone, Copy)]
enum Choice {
    /// Rows of 128 elements of a table.
    Embedding,
    /// Whole positions along this axis of a square matrix.
    Select(usize),
    /// As many single elements as the matrix has, along this axis.
    Gather(usize),
}

const CHOICES: [(&str, Choice); 5] = [
    ("embedding", Choice::Embedding),
    ("index_select of rows", Choice::Select(0)),
    ("index_select of columns", Choice::Select(1)),
    ("gather along columns", Choice::Gather(0)),
    ("gather along rows", Choice::Gather(1)),
];

/// Operations on images of 112 x 112 with 64 channels, and the height and width of what they become.
type OfImages<T> = (&'static str, usize, fn(&Tensor<T>) -> Result<()>);

fn of_images<T: Real>() -> [OfImages<T>; 3] {
    [
        ("max pool 3 x 3", 56, |x| MaxPool2d::new([3, 3]).stride([2, 2]).padding([1, 1]).run(x).map(drop)),
        ("average pool 2 x 2", 56, |x| AvgPool2d::new([2, 2]).run(x).map(drop)),
        ("bilinear", 224, |x| {
            ops::interpolate(x, [224, 224], Interpolation::Bilinear(Corners::HalfPixel)).map(drop)
        }),
    ]
}

/// What is read and written once counts as moved.
fn measure_images<T: Real>(session: &Session, (name, edge, run): OfImages<T>) -> Result<()> {
    let gpu: &Gpu = &session.gpu;
    let shape = [4, 112, 112, 64];
    let elements = shape.iter().product::<usize>() + 4 * edge * edge * 64;
    let bytes = elements * T::DTYPE.size();
    let operands = Turns::of(gpu, bytes).sets(|| gpu.random::<T>(shape, Fill::Uniform, 1))?;
    let (done, plans) = gpu.plans_of(|| run(&operands[0]));
    done?;
    let own = Side::launches(gpu, &plans[0], TOGETHER, |at| run(&operands[at % operands.len()]))?;
    let copy = Side::lower_bound(gpu, bytes, 0.0);
    let (size, types) = ([112, 112, 64], [T::DTYPE; 2]);
    Paired { case: "ops", variant: name, baseline: "copy of as many bytes", size, types }
        .run(session, own, copy)
}

/// Elements of a square matrix by random indices in range. What is read, indices included, and written counts as moved.
fn choose<T: Real>(session: &Session, size: usize, (name, choice): (&str, Choice)) -> Result<()> {
    let gpu = &session.gpu;
    let (shape, extent, indices) = match choice {
        Choice::Embedding => {
            let rows = size * size / 128;
            ([rows, 128], rows, vec![rows])
        }
        Choice::Select(_) => ([size, size], size, vec![size]),
        Choice::Gather(_) => ([size, size], size, vec![size, size]),
    };
    let count = indices.iter().product::<usize>();
    let bytes = 2 * size * size * T::DTYPE.size() + count * 4;
    let mut state = 1_u32;
    let numbers: Vec<i32> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); // Numerical Recipes
        i32::try_from((u64::from(state) * extent as u64) >> 32).expect("less than the extent")
    })
    .take(count)
    .collect();
    let operands = Turns::of(gpu, bytes)
        .sets(|| Ok((gpu.random::<T>(shape, Fill::Uniform, 1)?, gpu.tensor(&numbers, &indices[..])?)))?;
    let run = |(x, indices): &(Tensor<T>, Tensor<i32>)| match choice {
        Choice::Embedding => ops::embedding(x, indices).map(drop),
        Choice::Select(axis) => ops::index_select(x, axis, indices).map(drop),
        Choice::Gather(axis) => ops::gather(x, axis, indices).map(drop),
    };
    let (done, plans) = gpu.plans_of(|| run(&operands[0]));
    done?;
    let own = Side::launches(gpu, &plans[0], TOGETHER, |at| run(&operands[at % operands.len()]))?;
    let copy = Side::lower_bound(gpu, bytes, 0.0);
    let (size, types) = ([size, size, 1], [T::DTYPE; 2]);
    Paired { case: "ops", variant: name, baseline: "copy of as many bytes", size, types }
        .run(session, own, copy)
}
