//! Operators whose seed a tensor holds: the bits of the same operator with the seed of the host.

use support::failure::{Kind, fails};
use support::sketches::small;
use tilewise::gpu::DeviceType;
use tilewise::planning::gemm::Pin;
use tilewise::planning::sketch::{apply_dense, apply_hadamard};
use tilewise::sketch::{Direction, Scaling, Sketch, SketchKind, SparseAxis};
use tilewise::{Error, Fill, Gpu, Real, Result, Tensor, bf16, f16};

const KINDS: [SketchKind; 8] = [
    SketchKind::Gaussian,
    SketchKind::Uniform,
    SketchKind::Sign,
    SketchKind::CountSketch,
    SketchKind::Sjlt { nonzeros: 5 },
    SketchKind::SparseSign { axis: SparseAxis::Short, nonzeros: 3 },
    SketchKind::SparseSign { axis: SparseAxis::Long, nonzeros: 3 },
    SketchKind::Hadamard,
];

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Adjoint];

const SEEDS: [u64; 4] = [0, 7, 0xfeed_0000_0003, u64::MAX];

fn bits(tensor: &Tensor<f32>) -> Vec<u32> {
    tensor.to_vec().unwrap().into_iter().map(f32::to_bits).collect()
}

/// Tensors that hold the seed: whole, later in a buffer, with other elements between the words.
fn tensors(gpu: &Gpu, seed: u64) -> [Tensor<i32>; 3] {
    let [low, high] = Sketch::seed_words(seed);
    let mut later = [1; 100];
    later[77..79].copy_from_slice(&[low, high]);
    let mut apart = [2; 240];
    (apart[80], apart[200]) = (low, high);
    [
        gpu.tensor(&[low, high], [2]).unwrap(),
        gpu.tensor(&later, [100]).unwrap().slice(0, 77..79).unwrap(),
        gpu.tensor(&apart, [240]).unwrap().as_strided(&[2], &[120], 80).unwrap(),
    ]
}

/// Applies an operator. Dense ones take a tile that software drivers compile in a second.
fn apply<T: Real>(
    sketch: &Sketch,
    seed: Option<&Tensor<i32>>,
    direction: Direction,
    x: &Tensor<T>,
    axis: usize,
) -> Result<Tensor<f32>> {
    match (sketch.kind(), seed, direction) {
        (SketchKind::Gaussian | SketchKind::Uniform | SketchKind::Sign, ..) => {
            apply_dense(sketch, seed, direction, x, axis, Pin::Tile(small()))
        }
        (_, None, Direction::Forward) => sketch.apply(x, axis),
        (_, None, Direction::Adjoint) => sketch.adjoint(x, axis),
        (_, Some(seed), Direction::Forward) => sketch.seeded_by(seed)?.apply(x, axis),
        (_, Some(seed), Direction::Adjoint) => sketch.seeded_by(seed)?.adjoint(x, axis),
    }
}

fn check<T: Real>(gpu: &Gpu, kind: SketchKind, direction: Direction, axis: usize) {
    let [d, n] = [24, 70];
    let from = if direction == Direction::Forward { n } else { d };
    let shape = if axis == 0 { [from, 5] } else { [5, from] };
    let x = gpu.random::<T>(shape, Fill::Uniform, 3).unwrap();
    for (i, seed) in SEEDS.into_iter().enumerate() {
        let what = format!("{gpu:?}: {kind:?} {direction:?} axis {axis}, {seed}");
        let scaling = [Scaling::Isometry, Scaling::Unscaled][usize::from(kind == SketchKind::Uniform)];
        let want = Sketch::new(kind, [d, n], seed).unwrap().scaled(scaling);
        let like = Sketch::new(kind, [d, n], 99).unwrap().scaled(scaling);
        let want = bits(&apply(&want, None, direction, &x, axis).unwrap());
        let tensors = tensors(gpu, seed);
        let tensors = if i == 2 { &tensors[..] } else { &tensors[i % 3..][..1] };
        for tensor in tensors {
            let got = bits(&apply(&like, Some(tensor), direction, &x, axis).unwrap());
            assert_eq!(got, want, "{what}: {:?}", tensor.layout());
        }
    }
}

#[test]
fn every_kind_has_the_bits_of_the_same_seed_on_the_host() {
    let devices = if support::is_second_driver() {
        support::bare().into_iter().collect()
    } else {
        support::every_device()
    };
    for (device, gpu) in devices.iter().enumerate() {
        for (i, kind) in KINDS.into_iter().enumerate() {
            for (j, direction) in BOTH.into_iter().enumerate() {
                for axis in [0, 1] {
                    // All on the first device, half of them on the others; a quarter in a short sweep.
                    let is_half = (device + i + j) % 2 == axis;
                    let is_quarter = is_half && j == i / 2 % 2;
                    if !(if support::is_short_sweep() { is_quarter } else { device == 0 || is_half }) {
                        continue;
                    }
                    match (device + i + j + axis) % 4 {
                        0 => check::<f16>(gpu, kind, direction, axis),
                        1 => check::<bf16>(gpu, kind, direction, axis),
                        _ => check::<f32>(gpu, kind, direction, axis),
                    }
                }
            }
        }
    }
}

#[test]
fn products_of_the_planned_tile_and_batches_have_the_same_bits() {
    let Some(gpu) = support::gpu() else { return };
    let seed = gpu.tensor(&Sketch::seed_words(1 << 40), [2]).unwrap();
    // Many lines of few columns: the sums are split. 3 x 40 x 2: pairs of columns.
    for (kind, shape, n) in [
        (SketchKind::Sign, [3, 40, 2], 40),
        (SketchKind::Sjlt { nonzeros: 2 }, [1, 5000, 2], 5000),
        (SketchKind::Sjlt { nonzeros: 2 }, [3, 40, 2], 40),
    ] {
        let x = gpu.random::<f32>(shape, Fill::Uniform, 3).unwrap();
        let host = Sketch::new(kind, [16, n], 1 << 40).unwrap();
        let seeded = host.seeded_by(&seed).unwrap();
        assert_eq!((seeded.kind(), seeded.shape()), (kind, [16, n]));
        assert_eq!(bits(&seeded.left(&x).unwrap()), bits(&host.left(&x).unwrap()), "{kind:?}");
        let x = x.t();
        assert_eq!(bits(&seeded.right(&x).unwrap()), bits(&host.right(&x).unwrap()), "{kind:?}");
        let [plan, of_host] = [seeded.plan(Direction::Forward, &x, 2), host.plan(Direction::Forward, &x, 2)]
            .map(Result::unwrap);
        let steps = |plan: &tilewise::Plan| {
            plan.steps().iter().map(|step| (step.tile.clone(), step.grid)).collect::<Vec<_>>()
        };
        assert_eq!(steps(&plan), steps(&of_host), "a seed in a tensor changes neither tile nor grid");
        let names = |plan: &tilewise::Plan| plan.scalars().iter().map(|s| s.name).collect::<Vec<_>>();
        assert!(names(&of_host).contains(&"seed_low") && !names(&plan).contains(&"seed_low"));
        assert_eq!(plan.parameters().last().unwrap().name, "the seed");
    }
}

#[test]
fn transforms_of_several_passes_find_their_row_order() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [d, n] = [100, 5000];
    for direction in BOTH {
        let from = if direction == Direction::Forward { n } else { d };
        let x = gpu.random::<f32>([from, 3], Fill::Uniform, 3).unwrap();
        for workgroup_bytes in support::by_sweep(&[1 << 10, 4 << 10, 16 << 10][..], &[4 << 10], &[4 << 10]) {
            let mut caps = gpu.caps().clone().planned_for(DeviceType::Discrete);
            caps.limits.workgroup_bytes = *workgroup_bytes;
            for seed in [3, 1 << 33, u64::MAX] {
                let host = Sketch::new(SketchKind::Hadamard, [d, n], seed).unwrap();
                let seeds = gpu.tensor(&Sketch::seed_words(seed), [2]).unwrap();
                let want = bits(&apply(&host, None, direction, &x, 0).unwrap());
                let got = apply_hadamard(&host, Some(&seeds), direction, &x, 0, &caps).unwrap();
                assert_eq!(bits(&got), want, "{direction:?} {seed} with {workgroup_bytes}");
            }
        }
    }
}

#[test]
fn kernels_read_the_seed_when_they_run() {
    let Some(gpu) = support::gpu() else { return };
    let x = gpu.random::<f32>([70, 3], Fill::Uniform, 1).unwrap();
    let host = |seed| Sketch::new(SketchKind::CountSketch, [8, 70], seed).unwrap();
    let mut seed = gpu.tensor(&Sketch::seed_words(3), [2]).unwrap();
    let first = host(0).seeded_by(&seed).unwrap().left(&x).unwrap();
    seed.write(&Sketch::seed_words(5)).unwrap();
    let second = host(0).seeded_by(&seed).unwrap().left(&x).unwrap();
    // Copied by a launch, and not read by the host.
    let words = gpu.tensor(&[1, 6, 2, 0], [2, 2]).unwrap();
    let copy = words.slice(1, 1..2).unwrap().contiguous().unwrap().reshape([2]).unwrap();
    let third = host(0).seeded_by(&copy).unwrap().left(&x).unwrap();
    for (got, seed) in [(first, 3), (second, 5), (third, 6)] {
        assert_eq!(bits(&got), bits(&host(seed).left(&x).unwrap()), "{seed}");
    }
}

#[test]
fn a_wrong_seed_is_an_error_that_names_the_rule() {
    let (Some(gpu), Some(other)) = (support::gpu(), support::own(|_| ())) else { return };
    let s = Sketch::new(SketchKind::Sign, [4, 9], 1).unwrap();
    for shape in [&[1][..], &[3], &[2, 1], &[1, 2], &[]] {
        let count: usize = shape.iter().product();
        fails(
            s.seeded_by(&gpu.tensor(&vec![0; count], shape).unwrap()),
            Kind::Shape,
            &["Sketch::seeded_by", "two elements"],
        );
    }
    let seeded = s.seeded_by(&gpu.tensor(&[1, 2], [2]).unwrap()).unwrap();
    let x = other.zeros::<f32>([9, 2]).unwrap();
    for (result, call) in [
        (seeded.apply(&x, 0).map(drop), "SeededSketch::apply"),
        (seeded.left(&x).map(drop), "SeededSketch::left"),
        (seeded.right(&x.t()).map(drop), "SeededSketch::right"),
        (seeded.adjoint(&other.zeros::<f32>([4, 2]).unwrap(), 0).map(drop), "SeededSketch::adjoint"),
        (seeded.plan(Direction::Forward, &x, 0).map(drop), "SeededSketch::plan"),
    ] {
        fails(result, Kind::Gpu, &[call]);
    }
    let x = gpu.zeros::<f32>([8, 2]).unwrap();
    assert!(matches!(seeded.left(&x), Err(Error::Shape { .. })));
    assert_eq!(seeded.left(&gpu.zeros::<f32>([9, 0]).unwrap()).unwrap().shape(), [4, 0]);
}
