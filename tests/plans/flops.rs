//! What plans say that they compute, by unit, against formulas of their shapes: of every family, on every device.

use support::families::{FAMILIES, Of};
use support::operand::View;
use support::wgsl;
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::{CoopRow, DeviceType};
use tilewise::planning::fixtures;
use tilewise::planning::gemm::{
    Distribution, GemmDims, GemmTypes, GeneratedOperand, HalfAxis, HalfPosition, OuterAxis, Pin, SeedSource,
    Side, SignHalf,
};
use tilewise::planning::ops::ChannelDims;
use tilewise::planning::{Plan, Problem, Step};
use tilewise::{DType, Error};

/// Operations on cooperative matrices, f32, f16 and integers.
type Units = [f64; 4];

/// Integer operations of a call of Philox: ten rounds of two upper words of products of 16 each, two lower ones, four exclusive
/// ors and two sums.
const PHILOX: usize = 10 * (2 * 16 + 2 + 4 + 2);
/// Grades, blades, terms of the geometric product and pairs of a path and a blade that it ends in.
const CL2: [usize; 4] = [3, 4, 16, 14];
const CL3: [usize; 4] = [4, 8, 64, 44];
/// A GELU's gate, its slope, a sigmoid, the smooth norm of a square and its slope, as their shaders have them.
const GATE: usize = 26;
const GATE_SLOPE: usize = 29;
const SIGMOID: usize = 29;
const SMOOTH_NORM: usize = 7;
const SMOOTH_NORM_SLOPE: usize = 3;

fn f32(flops: usize) -> Units {
    [0.0, flops as f64, 0.0, 0.0]
}

/// The sizes of each matrix product of a plan, its blocks of C along both axes.
fn blocks(plan: &Plan, [m, n]: [usize; 2]) -> [usize; 2] {
    let tile = plan.steps().iter().find_map(Tile::of_step).expect("a matrix product");
    [m.div_ceil(tile.bm as usize), n.div_ceil(tile.bn as usize)]
}

/// Additions of the steps that bring parts together: an element of each part.
fn of_parts(plan: &Plan) -> usize {
    let steps = plan.steps().iter().filter(|step| step.kernel.shader() == "gemm/reduce_splits");
    let additions = steps.map(|step| {
        let dims: GemmDims = bytemuck::pod_read_unaligned(&step.dims[..size_of::<GemmDims>()]);
        [dims.batches, dims.m, dims.n, dims.splits].map(|n| n as usize).iter().product::<usize>()
    });
    additions.sum()
}

/// Five for each moment, or each pair of sums, of a chunk of rows of a channel.
fn of_channels(plan: &Plan) -> usize {
    let dims = &plan.steps()[0].dims[..size_of::<ChannelDims>()];
    let dims: ChannelDims = bytemuck::pod_read_unaligned(dims);
    5 * [dims.outer, dims.chunks, dims.channels].map(|n| n as usize).iter().product::<usize>()
}

/// Elements of what the last steps, of reductions, add up: the temporaries, if there are such steps.
fn of_sums(plan: &Plan) -> usize {
    let is_summed = plan.steps().iter().any(|step| step.kernel.shader().starts_with("ops/reduce"));
    let elements = plan.temporaries().iter().map(|bytes| usize::try_from(*bytes).expect("64 bits") / 4);
    if is_summed { elements.sum() } else { 0 }
}

/// The operations that join parts of attention with values of this dim: of each value and of the sum of exponentials of a part.
fn of_joined(plan: &Plan, dim: usize) -> usize {
    let elements = plan.temporaries().iter().map(|bytes| usize::try_from(*bytes).expect("64 bits") / 4);
    2 * elements.sum::<usize>() / (dim + 2) * (dim + 1)
}

/// A number of a step's kernel, ` name=..u `.
fn param(step: &Step, name: &str) -> usize {
    let kernel = step.kernel.to_string();
    let value = kernel.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    value.map_or(0, |value| value.trim_end_matches('u').parse().expect("a number"))
}

/// The operations of a step of a sparse operator of so many lines, of so many nonzeros, on `columns` columns, and rows of the
/// result. `often` is how often a workgroup draws a line of those that it has.
fn sparse(plan: &Plan, [lines, nonzeros, columns, rows]: [usize; 4], is_scattered: bool) -> Units {
    let words: Vec<&str> = plan.steps()[0].tile.split(' ').collect();
    let [rows_of, columns_of] = [words[0], words[2]].map(|word| word.parse::<usize>().expect("a size"));
    let times = columns.div_ceil(columns_of) * if is_scattered { 2 * rows.div_ceil(rows_of) } else { 1 };
    // Four at a time. The upper word of a product, place and sign brought together, and that places differ.
    let drawn = nonzeros.next_multiple_of(4);
    let draw = PHILOX * (drawn / 4) + (20 + 3 + 4) * drawn + 3 * drawn * (drawn - 1) / 2;
    let [matrix, f32, f16, _] = f32(2 * lines * nonzeros * columns + of_parts(plan));
    [matrix, f32, f16, (lines * times * draw) as f64]
}

/// The RMS of grades at a position: the square of each, its magnitude, which is added to the row's; mean, epsilon, root and
/// reciprocal; and what each blade is multiplied by.
fn norm([grades, blades, ..]: [usize; 4]) -> usize {
    (2 * blades - grades) + 2 * grades + 4 * grades + blades
}

/// Its gradient: the sums, also of products with the gradient, and both factors; a product and a multiply-add for each blade.
fn norm_backward([grades, blades, ..]: [usize; 4]) -> usize {
    2 * (2 * blades - grades) + 3 * grades + 4 * grades + 4 * grades + 3 * blades
}

/// A weighted product at a position: a multiply-add for each term and each pair, but for the first of a sum, a product.
fn weighted([_, blades, terms, pairs]: [usize; 4]) -> usize {
    (2 * terms - pairs) + (2 * pairs - blades)
}

/// The gradients of a gated and normalised product: the product again and in front of the norm, the weights' gradient, which
/// is added to what there is, and those of both operands, behind the gates and before.
fn steerable_backward(algebra: [usize; 4]) -> usize {
    let [_, blades, ..] = algebra;
    // Both gates at once, twice; and each for the other operand's gradient.
    let gated = 2 * (1 + blades) + 2 * blades;
    let gates = 2 * (GATE + GATE_SLOPE) + gated + 2 * ((2 * blades - 1) + 3 + (blades - 1));
    gates + norm_backward(algebra) + 4 * weighted(algebra) + blades
}

/// Each grade over its smooth norm, as far as its parameter says: its square, its factor, and each blade; and the parameter's
/// sigmoid.
fn normalization([grades, blades, ..]: [usize; 4]) -> usize {
    2 * blades + grades * (SMOOTH_NORM + 4) + blades + grades * SIGMOID
}

/// Its gradients: the product with the gradient too, what goes back to the norm and to the parameter, and two products for
/// each blade; and both sigmoids.
fn normalization_backward([grades, blades, ..]: [usize; 4]) -> usize {
    let back = 3 + (1 + SMOOTH_NORM_SLOPE) + 4;
    4 * blades + grades * (SMOOTH_NORM + 4 + back) + 4 * blades + 2 * grades * SIGMOID
}

/// What a plan of a family computes.
fn expected(what: &str, plan: &Plan) -> Units {
    let product = |[m, n, k]: [usize; 3]| 2 * m * n * k;
    // Of layers and products in Cl(3).
    let [_, blades, terms, _] = CL3;
    let positions = 300 * 16;
    match what {
        "naive" => f32(product([40, 50, 60])),
        "gemv" => f32(product([1200, 2, 64])),
        "tiled" | "broadcast" => f32(product([200, 260, 40])),
        "tiled, split-k" => f32(product([65, 66, 300]) + 3 * 65 * 66),
        "dot" => [0.0, 0.0, 0.0, product([200, 260, 64]) as f64],
        "coop" => [product([300, 400, 64]) as f64, 0.0, 0.0, 0.0],
        // Devices with the fewest bindings have none for what is scaled back.
        "split product" if plan.steps().len() == 1 => f32(product([64, 96, 64])),
        // The largest of a row; then a product and a difference for each half.
        "fast product" => f32(product([64, 96, 64]) + 3 * (64 + 96) * 64 + of_parts(plan)),
        "split product" => f32(3 * product([64, 96, 64]) + 5 * (64 + 96) * 64 + of_parts(plan)),
        "f16_split" => f32(5 * 100 * 64),
        "product with a generated operand" => {
            // A column of signs is every 16th of a lane's: 256 lanes, 16 of them along the 64 columns of a block. A call has
            // those of 32.
            let signs = 260 * 64 * blocks(plan, [200, 260])[0];
            let [matrix, f32, f16, _] = f32(product([200, 260, 64]) + 2 * signs);
            [matrix, f32, f16, (signs * (PHILOX * 16 / 32 / 4 + 2)) as f64]
        }
        "dense sketch" | "dense sketch, seed in a tensor" => {
            let entries = 192 * 200 * blocks(plan, [192, 256])[1];
            let [matrix, f32, f16, _] = f32(product([192, 256, 200]) + of_parts(plan) + entries);
            [matrix, f32, f16, (entries * (PHILOX / 4 + 21)) as f64]
        }
        // Of each invocation in each iteration: four multiply-adds of each of 32 numbers.
        "multiply-adds" => f32(1000 * 3 * 4 * 32 * 2),
        "addition" => f32(50 * 80),
        "sum" => f32(130 * 256 + of_sums(plan)),
        "sum across" => f32(64 * 2048 + of_sums(plan)),
        "softmax" => f32(40 * 64 * 256),
        "rotary embeddings" => f32(6 * 6 * 40 * 16),
        // Of each element its loss, the slope and the sum; then the sums of the workgroups.
        "squared error and gradient" => f32(6 * 64 * 256 + 16),
        // With few bindings the losses are a step of their own.
        "cross-entropy and gradient" => {
            let steps = plan.steps().iter().filter(|step| step.kernel.shader() == "ops/cross_entropy");
            f32(if steps.count() == 1 { 57 } else { 26 + 57 } * 64 * 256 + 64)
        }
        "attention" => f32(2 * 4 * 100 * 120 * (2 * 16 + 2 * 16 + 1)),
        "attention of one query" => f32(4 * 4096 * (2 * 16 + 2 * 16 + 1) + of_joined(plan, 16)),
        "attention, backward" => {
            // Two numbers of each row; of each score the products of three vectors, and of four.
            f32(2 * 4 * 100 * 2 * 16 + 2 * 4 * 100 * 120 * ((2 * 3 * 16 + 1) + (2 * 4 * 16 + 1)))
        }
        "attention, gradient of a bias" => f32(2 * 4 * 100 * 2 * 16 + 2 * 4 * 100 * 120 * (2 * 2 * 16 + 1)),
        "attention on matrices" => {
            let pairs = (2 * 4 * 100 * 100) as f64;
            [pairs * 64.0, pairs, 0.0, 0.0]
        }
        // Two numbers of each row; of each score three and four products.
        "attention on matrices, backward" => {
            let (rows, pairs) = ((2 * 4 * 100) as f64, (2 * 4 * 100 * 100) as f64);
            [pairs * 7.0 * 32.0, rows * 32.0 + 2.0 * pairs, 0.0, 0.0]
        }
        "layer norm" => f32(7 * 64 * 256),
        "RMS norm of long rows" => f32(4 * 130 * 8200),
        "layer norm, backward" => f32(14 * 640 * 256 + of_sums(plan)),
        "RMS norm of long rows, backward" => f32(14 * 12 * 8200 + of_sums(plan)),
        "group norm" => f32(8 * 4 * 600 * 64),
        "batch norm of many rows" => f32(8 * 40_000 * 4 + of_channels(plan)),
        // Three means of each of 4 x 8 groups are no partial sums, and of three sums of each channel and chunk two are gradients.
        "group norm, backward" => {
            let partial = of_sums(plan) - 3 * 32 - of_channels(plan) / 5;
            f32(12 * 4 * 600 * 64 + of_channels(plan) + partial)
        }
        "cast"
        | "copy"
        | "copy of parts of words"
        | "copy to a position"
        | "copy from a position"
        | "rows by index"
        | "elements by index"
        | "padded"
        | "one-hot"
        | "image written" => f32(0),
        "added to a table" => f32(1300 * 64),
        "added to elements" => f32(65 * 33),
        "normal" => [0.0, 1003.0, 0.0, (1003_usize.div_ceil(4) * PHILOX + 1003 * 21) as f64],
        // Scaled and shifted.
        "image read" => f32(2 * 33 * 64 * 3),
        "sparse sketch" | "sparse sketch, seed in a tensor" => sparse(plan, [2000, 4, 64, 600], true),
        "sparse sketch, adjoint" | "sparse sketch, adjoint, seed in a tensor" => {
            sparse(plan, [2000, 1, 64, 2000], false)
        }
        "hadamard" | "hadamard, seed in a tensor" => {
            let blocks = |step: &Step| step.grid.iter().product::<u32>() as usize;
            let signs = |step: &Step| blocks(step) * param(step, "SLOTS");
            // The last pass permutes: each of its workgroups draws the four rounds of the row order.
            let rounds = if what == "hadamard" { 0 } else { 4 * plan.steps().last().map_or(0, blocks) };
            let calls = plan.steps().iter().map(signs).sum::<usize>() + rounds;
            let [matrix, f32, f16, _] = f32(12 * 4096 * 16);
            [matrix, f32, f16, (PHILOX * calls) as f64]
        }
        "geometric product" => f32(2 * terms * 2000),
        "geometric product by a table" => f32(2 * 64 * 64 * 600),
        "steerable layer" => f32((2 * GATE + 1 + blades + weighted(CL3) + norm(CL3)) * positions),
        "steerable layer, backward" => f32(steerable_backward(CL3) * positions + of_sums(plan)),
        "norm" => f32(norm(CL3) * positions),
        // A strip has one row.
        "features" => f32(normalization(CL3) * 100 * 32),
        "features, backward" => f32(normalization_backward(CL3) * 100 * 32 + of_sums(plan)),
        "connected layer" | "connected layer, backward" => connected(what, plan),
        _ => panic!("no formula for {what}"),
    }
}

/// A fully connected layer, 96 rows of 64 features to as many, and its gradients.
fn connected(what: &str, plan: &Plan) -> Units {
    let [_, blades, terms, pairs] = CL2;
    let (rows, positions) = (96, 96 * 64);
    let gates = (2 * GATE + 1) * positions;
    let product = 2 * pairs * rows * 64 * 64;
    // Where A is staged, for a column of blocks: a sign and a multiply-add for each term, and the gate.
    let formed = (3 * terms + pairs) * positions;
    let products: Vec<&Tile> = plan.steps().iter().filter_map(Tile::of_step).collect();
    assert!(products.iter().all(|tile| tile.bn >= 64), "one column of blocks: {plan}");
    let all = if what == "connected layer" {
        assert_eq!(products.len(), 1, "{plan}");
        gates + product + formed + norm(CL2) * positions
    } else {
        assert_eq!(products.len(), 3, "the product again, that of the weight and that through it: {plan}");
        // Both gates and slopes; a multiply-add of each term for either operand, which then goes through its gate.
        let back = 2 * (GATE + GATE_SLOPE) + 4 * terms + 2 * (3 * blades + 4);
        gates + 3 * product + 2 * formed + (norm_backward(CL2) + back) * positions
    };
    f32(all + of_parts(plan))
}

fn assert_units(plan: &Plan, want: Units, what: &str) {
    let flops = plan.work().flops;
    assert_eq!(flops.integer_matrix, 0.0, "{what}: {plan}");
    let found = [flops.matrix, flops.f32, flops.f16, flops.integer];
    for (found, want) in found.iter().zip(want) {
        // Pieces add up to the whole but for rounding.
        assert!((found - want).abs() <= 1e-12 * want, "{what}: {found:?}, not {want:?}: {plan}");
    }
}

/// Families that need more than Vulkan demands of every device: bindings, or invocations of a workgroup.
const NOT_BARE: [&str; 17] = [
    "attention",
    "attention, backward",
    "attention, gradient of a bias",
    "tiled",
    "tiled, split-k",
    "product with a generated operand",
    "squared error and gradient",
    "group norm",
    "batch norm of many rows",
    "group norm, backward",
    "layer norm",
    "layer norm, backward",
    "RMS norm of long rows, backward",
    "steerable layer, backward",
    "features, backward",
    "connected layer",
    "connected layer, backward",
];

#[test]
fn every_family_computes_what_its_plan_says_by_unit() {
    for (device, caps) in fixtures::ALL {
        let caps = caps();
        for (what, plan) in FAMILIES {
            let is_possible = match what {
                "coop" | "attention on matrices" | "attention on matrices, backward" => {
                    caps.rows.iter().any(CoopRow::is_spelled_in_wgsl)
                }
                "broadcast" => caps.device_type == DeviceType::Software,
                _ => device != "bare-vulkan" || !NOT_BARE.contains(&what),
            };
            match plan(&Of::small(&caps)) {
                Ok(plan) => {
                    assert!(is_possible, "{device}, {what}: {plan}");
                    assert_units(&plan, expected(what, &plan), &format!("{device}, {what}"));
                }
                Err(Error::Unsupported { .. }) => assert!(!is_possible, "{device}, {what}"),
                Err(error) => panic!("{device}, {what}: {error}"),
            }
        }
    }
}

/// Entries of each kind, down columns and along rows.
#[test]
fn what_is_made_counts_its_words_and_what_becomes_of_them() {
    let caps = fixtures::h200();
    let tile = GemmKernel::Tiled.tiles()[0];
    assert_eq!(
        [tile.bm, tile.bn, tile.tm, tile.tn],
        [128, 128, 8, 8],
        "256 lanes, 32 along a block: 8 steps of k"
    );
    let [m, n, k] = [300, 260, 64];
    for (entries, [down, along], [integer, f32]) in [
        (Distribution::Normal, [PHILOX / 4, PHILOX], [21, 1]),
        (Distribution::Uniform, [PHILOX / 4, PHILOX], [3, 1]),
        // Down a column, words for 32 columns, of which a lane has each eighth; along a row one call for each vector.
        (Distribution::Sign, [PHILOX * 8 / 128, PHILOX / 4], [2, 2]),
    ] {
        for (outer, words) in [(OuterAxis::Rows, down), (OuterAxis::Columns, along)] {
            for (side, made) in [(Side::A, m * k * 3), (Side::B, n * k * 3)] {
                let generated = GeneratedOperand { side, entries, outer, tag: 1, seed: SeedSource::Scalars };
                let problem = wgsl::plain([m, n, k], GemmTypes::new(DType::F32, DType::F32));
                let problem = problem.generated(generated).pinned(Pin::Tile(tile)).split_k(SplitK::Splits(1));
                let f32 = 2 * m * n * k + made * f32;
                let want = [0.0, f32 as f64, 0.0, (made * (words + integer)) as f64];
                let what = format!("{entries:?}, {outer:?}, {side:?}");
                assert_units(&problem.plan(&caps).unwrap(), want, &what);
            }
        }
    }
}

/// Of half an operand: on cooperative matrices in units of eight, elsewhere in vectors of four.
#[test]
fn half_an_operand_of_signs_counts_half_of_its_elements() {
    let caps = fixtures::h200();
    let [m, n, k] = [300, 256, 64];
    for (kernel, dtype) in [(GemmKernel::Tiled, DType::F32), (GemmKernel::Coop, DType::F16)] {
        for outer in [OuterAxis::Rows, OuterAxis::Columns] {
            let signs = SignHalf { axis: HalfAxis::K, half: HalfPosition::Second, outer, tag: 1 };
            let whole = wgsl::plain([m, n, k], GemmTypes::new(dtype, DType::F32));
            let problem = wgsl::halved(whole, signs, View::Plain).pinned(Pin::Tile(kernel.tiles()[0]));
            let plan = problem.split_k(SplitK::Splits(1)).plan(&caps).unwrap();
            let tile = Tile::of_step(&plan.steps()[0]).unwrap();
            let made = n * k / 2 * m.div_ceil(tile.bm as usize);
            let product = (2 * m * n * k) as f64;
            let want = if kernel == GemmKernel::Coop {
                // Units along the outer axis: of eight rows two calls, of eight columns one.
                let words = if outer == OuterAxis::Rows { PHILOX / 4 } else { PHILOX / 8 };
                [product, 0.0, (2 * made) as f64, (made * (words + 2)) as f64]
            } else {
                let words = if outer == OuterAxis::Rows { PHILOX * 8 / 128 } else { PHILOX / 4 };
                [0.0, product + (2 * made) as f64, 0.0, (made * (words + 2)) as f64]
            };
            assert_units(&plan, want, &format!("{kernel}, {outer:?}"));
        }
    }
}
