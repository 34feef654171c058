//! Products of i8: exact, whatever the kernel, the tile and how the operands lie.

use std::collections::BTreeMap;
use support::operand::View;
use support::product::{Case, check_integers};
use support::wgsl::{self, I8};
use tilewise::gemm::{GemmKernel, SplitK, Tile};
use tilewise::gpu::{CoopRow, CoopScalar, DeviceType};
use tilewise::planning::gemm::{GemmProblem, MAX_I8_K, Pin};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Error, Fill, Gemm, Gpu, Layout, Tensor, matmul, reference};

const KERNELS: [GemmKernel; 2] = [GemmKernel::Naive, GemmKernel::Dot];
const OUTER: [usize; 8] = [1, 3, 31, 32, 64, 65, 127, 130]; // below, on and above every tile edge
const INNER: [usize; 9] = [0, 1, 3, 4, 31, 32, 66, 67, 132]; // and of words and steps

fn tiles() -> Vec<Tile> {
    KERNELS.iter().flat_map(|kernel| kernel.tiles()).copied().collect()
}

#[test]
fn every_kernel_and_tile_is_exact_in_every_layout() {
    let Some(gpu) = support::gpu() else { return };
    let tiles = tiles();
    let views = View::ALL.len();
    let levels = [tiles.len(), OUTER.len(), OUTER.len(), INNER.len(), views, views, View::OUTPUTS.len()];
    let case = |row: &[usize]| Case {
        tile: tiles[row[0]],
        shape: [OUTER[row[1]], OUTER[row[2]], INNER[row[3]]],
        views: [View::ALL[row[4]], View::ALL[row[5]], View::OUTPUTS[row[6]]],
    };
    let kernel = |row: &[usize]| case(row).kernel(I8, gpu.caps());
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    let before = gpu.stats();
    let shapes_and_views: [&[usize]; 2] = [&[0, 1, 2, 3], &[0, 4, 5, 6]];
    for row in support::pairs::sweep_sharing(&levels, &shapes_and_views, kernel) {
        let case = case(&row);
        let done = check_integers(&gpu, &case);
        *launches.entry(format!("{} {}", case.tile.kernel, case.tile)).or_default() += done;
    }
    let pipelines = gpu.stats().pipelines - before.pipelines;
    println!("{}: {pipelines} pipelines, launches {launches:#?}", gpu.caps().adapter);
    assert!(launches.len() == tiles.len() && launches.values().all(|&count| count > 0), "{launches:?}");
}

#[test]
fn a_device_that_was_asked_for_nothing_is_exact_too() {
    let Some(gpu) = support::bare() else { return };
    for tile in tiles() {
        for views in [[View::Plain; 3], [View::Transposed, View::Gaps, View::Gaps]] {
            assert!(check_integers(&gpu, &Case { tile, shape: [129, 68, 100], views }) > 0, "{tile}");
        }
    }
    let a = gpu.random::<i8>([128, 128], Fill::Uniform, 1).unwrap();
    let largest =
        Gemm::new(&a, &a).tile(GemmKernel::Dot.tiles()[0]).plan().unwrap().steps()[0].kernel.to_string();
    assert!(largest.contains("STAGES=1") && largest.contains("dims:ring"), "{largest}");
}

#[test]
fn the_largest_sums_fit_and_larger_ones_are_refused() {
    let Some(gpu) = support::gpu() else { return };
    let k = usize::try_from(MAX_I8_K).unwrap();
    let row = |value: i8, k: usize| gpu.tensor(&vec![value; 3 * k], [3, k]).unwrap();
    for (a, b) in [(-128, -128), (-128, 127), (127, 127), (-1, -128)] {
        let want = i32::try_from(i64::from(a) * i64::from(b) * k as i64).unwrap();
        for kernel in KERNELS {
            let c = Gemm::new(&row(a, k), &row(b, k).t()).kernel(kernel).run().unwrap();
            assert_eq!(c.to_vec().unwrap(), [want; 9], "{kernel}: {a} times {b}");
        }
    }
    let (a, b) = (row(-128, k + 1), row(-128, k + 1));
    let error = matmul(&a, &b.t()).unwrap_err();
    let Error::Limit { op: "matmul", needed: 131_072, allowed: 131_071, .. } = error else {
        panic!("{error:?}")
    };
}

#[test]
fn extremes_beside_each_other_keep_to_their_bytes() {
    let Some(gpu) = support::gpu() else { return };
    let [m, n, k] = [66, 67, 70];
    let extremes = |len: usize, seed: u64| -> Vec<i8> {
        let of = |x: i8| [-128, 127, -1, 0, 1][usize::from(x.unsigned_abs()) % 5];
        Fill::Uniform.values::<i8>(len, seed).into_iter().map(of).collect()
    };
    let (a, b) = (extremes(m * k, 1), extremes(k * n, 2));
    let want = reference::gemm(&a, &b, [m, n, k]);
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    for tile in tiles() {
        let got = Gemm::new(&a, &b).tile(tile).run().unwrap().to_vec().unwrap();
        let found = want.compare(&got);
        assert!(found.ok() && found.max_abs_err == 0.0, "{tile}: {found:?}");
    }
}

/// Every matrix of a batch by definition: operand matrices that are found at these places, row-major.
fn expected(
    [batch0, batch1]: [usize; 2],
    a: impl Fn(usize, usize) -> Vec<i8>,
    b: impl Fn(usize, usize) -> Vec<i8>,
    size: [usize; 3],
) -> Vec<i32> {
    let mut want = Vec::new();
    for (i, j) in (0..batch0).flat_map(|i| (0..batch1).map(move |j| (i, j))) {
        let matrix = reference::gemm(&a(i, j), &b(i, j), size).value;
        #[expect(clippy::cast_possible_truncation, reason = "exact integers, of which i32 holds every one")]
        want.extend(matrix.into_iter().map(|sum| sum as i32));
    }
    want
}

#[test]
fn batches_broadcast_and_start_at_any_byte() {
    let Some(gpu) = support::gpu() else { return };
    let size @ [m, n, k] = [35, 66, 37];
    // Where the matrices of A lie: (batch strides, offset), words and bytes; B is one for each of the inner batch.
    let places = [([m * k + 1, 0], 3), ([2 * m * 40, m * 40], 8)];
    for (place, ([a0, a1], a_offset)) in places.into_iter().enumerate() {
        let a_data = Fill::Uniform.values::<i8>(12 * m * k + 3000, 5);
        let b_data = Fill::Uniform.values::<i8>(2 * n * k, 6);
        let (a_row, a_batch1) = if a1 == 0 { (k, 1) } else { (40, 2) };
        let a: Tensor<i8> = gpu.tensor(&a_data, [a_data.len()]).unwrap();
        let a = a.as_strided(&[3, a_batch1, m, k], &[a0, a1, a_row, 1], a_offset).unwrap();
        let b = gpu.tensor(&b_data, [2, n, k]).unwrap(); // transposed matrices
        let b = b.as_strided(&[2, k, n], &[n * k, 1, k], 0).unwrap();
        let want = expected(
            [3, 2],
            |i, j| {
                let start = a_offset + i * a0 + j * a1;
                (0..m * k).map(|at| a_data[start + at / k * a_row + at % k]).collect()
            },
            |_, j| (0..k * n).map(|at| b_data[j * n * k + at % n * k + at / n]).collect(),
            size,
        );
        // In a short sweep tiles take turns.
        let (first, step) = support::by_sweep((0, 1), (0, 1), (place, 2));
        for tile in tiles().into_iter().skip(first).step_by(step) {
            let got = Gemm::new(&a, &b).tile(tile).run().unwrap();
            assert_eq!(got.shape(), [3, 2, m, n], "{tile}");
            assert!(got.to_vec().unwrap() == want, "{tile}, A from {a_offset}");
        }
    }
}

#[test]
fn repeated_and_overlapping_operands_are_read_as_they_lie() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    let data = Fill::Uniform.values::<i8>(300, 12);
    let flat = gpu.tensor(&data, [300]).unwrap();
    let b = Fill::Uniform.values::<i8>(64 * 32, 13);
    let b_tensor = gpu.tensor(&b, [64, 32]).unwrap();
    for (strides, offset) in
        [([0, 1], 5), ([1, 0], 5), ([1, 1], 5), ([3, 2], 5), ([4, 1], 4), ([1, 4], 8), ([0, 0], 2)]
    {
        let a_tensor = flat.as_strided(&[16, 64], &strides, offset).unwrap();
        let a: Vec<i8> =
            (0..16 * 64).map(|i| data[offset + i / 64 * strides[0] + i % 64 * strides[1]]).collect();
        let want = reference::gemm(&a, &b, [16, 32, 64]);
        for kernel in KERNELS {
            let got = Gemm::new(&a_tensor, &b_tensor).kernel(kernel).run().unwrap().to_vec().unwrap();
            assert!(want.compare(&got).ok(), "{kernel}, strides {strides:?} from {offset}");
        }
    }
}

#[test]
fn any_product_of_i8_finds_a_kernel_and_empty_sums_are_zero() {
    let Some(gpu) = support::gpu() else { return };
    let product = |gpu: &Gpu, [m, n, k]: [usize; 3]| {
        let (a, b) = (Fill::Uniform.values::<i8>(m * k, 7), Fill::Uniform.values::<i8>(k * n, 8));
        let want = reference::gemm(&a, &b, [m, n, k]);
        let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        let mut c = matmul(&a, &b).unwrap();
        assert!(want.compare(&c.to_vec().unwrap()).ok(), "{m} {n} {k}");
        c.assign(|| matmul(&a, &b)).unwrap();
        assert!(want.compare(&c.to_vec().unwrap()).ok(), "{m} {n} {k}");
    };
    for shape in [[1, 1, 1], [2, 3, 0], [0, 4, 4], [1, 300, 200], [300, 1, 200], [200, 190, 180]] {
        product(&gpu, shape);
    }
}

#[test]
fn products_of_i8_are_on_matrix_units_or_dot_products_of_words_or_naive() {
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let found = wgsl::plain([2048; 3], I8).explain(&caps).unwrap();
        // A processor's matrices are slower than its dot products.
        let has_matrices = caps.rows_of(CoopScalar::I8, CoopScalar::I32).any(CoopRow::is_used_in_spirv);
        let want = match caps.device_type {
            DeviceType::Discrete if caps.spirv && has_matrices => "spirv/gemm_coop_khr.i8",
            _ => "gemm/dot",
        };
        assert_eq!(found.steps()[0].kernel.shader(), want, "{name}: {found}");
        let reasons = found.reasons().join(", ");
        for reason in [
            "naive: slower",
            "tiled: needs operands with a fraction, not i8",
            "coop: needs operands of f16, not i8",
        ] {
            assert!(reasons.contains(reason), "{name}: {reasons}");
        }
        for (types, kernel) in
            [(I8, GemmKernel::Tiled), (I8, GemmKernel::Coop), (wgsl::TYPES[1], GemmKernel::Dot)]
        {
            let refused = wgsl::plain([64; 3], types).pinned(Pin::Kernel(kernel)).plan(&caps);
            assert!(matches!(refused, Err(Error::Unsupported { .. })), "{name}, {kernel}: {refused:?}");
        }
        // Sums in parts are in f32, which i8 does not have: no part is split off, whoever asks.
        let asked = wgsl::plain([16, 16, 100_000], I8).split_k(SplitK::Splits(4));
        assert_eq!(asked.plan(&caps).unwrap().steps().len(), 1, "{name}");
    }
}

/// How the operands of a product of i8 are staged when A (64, k) is a view of these strides and offset: the numbers in
/// the kernel's text. B (k, 64) is row-major.
fn stages_of_i8(k: usize, strides: [usize; 2], offset: usize) -> (String, String) {
    let a = Layout::new("test", &[64, k], &strides, offset, 1 << 30).unwrap();
    let b = Layout::contiguous("test", &[k, 64]).unwrap();
    let c = Layout::contiguous("test", &[64, 64]).unwrap();
    let problem = GemmProblem::new(&a, &b, &c, I8).unwrap().pinned(Pin::Kernel(GemmKernel::Dot));
    let kernel = problem.plan(&fixtures::rtx_4090()).unwrap().steps()[0].kernel.to_string();
    let stage = |name: &str| {
        let number = kernel.split(name).nth(1).and_then(|rest| rest.chars().next()).expect("it is staged");
        ["elements along k", "elements along m", "words along k", "words along m"]
            [number as usize - '0' as usize]
            .to_owned()
    };
    (stage("A_STAGE="), stage("B_STAGE="))
}

#[test]
fn words_of_i8_are_loaded_only_where_every_line_starts_with_one() {
    for (k, strides, offset, want) in [
        (64, [64, 1], 0, "words along k"),
        (61, [64, 1], 4, "words along k"), // wherever lines end
        (64, [65, 1], 0, "elements along k"),
        (64, [64, 1], 2, "elements along k"),
        (64, [1, 64], 0, "words along m"),
        (61, [1, 64], 4, "words along m"),
        (64, [1, 66], 0, "elements along m"),
        (64, [1, 64], 1, "elements along m"),
        (64, [128, 2], 0, "elements along k"), // nothing is contiguous
        (1, [64, 1], 0, "words along k"),
    ] {
        let (a, b) = stages_of_i8(k, strides, offset);
        assert_eq!(a, want, "k = {k}, strides {strides:?}, offset {offset}");
        assert_eq!(b, "words along m", "rows of 64");
    }
}
