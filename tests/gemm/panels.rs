//! Products of operands that are larger than what a device can bind: panel by panel, without copies.

use support::{TestGpu, wgsl};
use tilewise::gemm::{Accumulator, GemmKernel, Operand, SplitK, Tile};
use tilewise::planning::gemm::Pin;
use tilewise::reference::{self, EpilogueReference};
use tilewise::sketch::{Scaling, Sketch, SketchKind};
use tilewise::{
    Activation, Element, Error, Fill, Gemm, Gpu, GpuOptions, Precision, Real, Result, Tensor, f16, matmul,
    ops,
};

/// A device whose windows are this small.
fn limited(bytes: u64) -> Option<TestGpu> {
    support::adopted(|desc| desc.required_limits.max_storage_buffer_binding_size = bytes)
}

fn exact<T: Real>(gpu: &TestGpu, shape @ [m, n, k]: [usize; 3], transposed: [bool; 2]) -> String {
    let (a, b) = (Fill::Integers.values::<T>(m * k, 1), Fill::Integers.values::<T>(k * n, 2));
    let want: Vec<f32> = reference::gemm(&a, &b, shape).value.iter().map(|&x| f32::from_f64(x)).collect();
    let place = |values: &[T], [rows, cols]: [usize; 2], transposed: bool| {
        if !transposed {
            return gpu.tensor(values, [rows, cols]).unwrap();
        }
        let columns: Vec<T> = (0..rows * cols).map(|i| values[i % rows * cols + i / rows]).collect();
        gpu.tensor(&columns, [cols, rows]).unwrap().t()
    };
    let (a, b) = (place(&a, [m, k], transposed[0]), place(&b, [k, n], transposed[1]));
    let before = gpu.stats();
    let product = matmul(&a, &b).unwrap();
    let after = gpu.stats();
    assert_eq!(product.to_vec().unwrap(), want, "{shape:?} {transposed:?}");
    // C, and where k is cut the sums of a block's parts, whose last blocks are smaller: no operand is copied.
    let buffers = after.buffers_created - before.buffers_created;
    assert!(buffers <= 4, "{shape:?} {transposed:?}: {buffers} buffers");
    let plan = Gemm::new(&a, &b).plan().unwrap();
    let said = plan.reasons().first().cloned().unwrap_or_default();
    // A launch for each panel, and one more where its own parts or those of a block are brought together.
    let panels: u64 = said.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(1);
    let launches = after.launches - before.launches;
    assert!(
        (panels..=2 * panels).contains(&launches),
        "{shape:?} {transposed:?}: {launches} launches, {said}"
    );
    said
}

#[test]
fn operands_beyond_a_binding_are_multiplied_through_windows() {
    let Some(()) = support::first_driver() else { return };
    let Some(gpu) = limited(16 << 10) else { return };
    for shape in [[300, 70, 90], [70, 300, 90], [65, 67, 700], [130, 140, 150], [1, 9000, 3], [3, 5, 9001]] {
        for transposed in [[false, false], [true, false], [false, true], [true, true]] {
            let said = exact::<f32>(&gpu, shape, transposed);
            assert!(said.contains("panels"), "{shape:?} {transposed:?}: {said}");
        }
        exact::<f16>(&gpu, shape, [false, false]);
    }
    let said = exact::<f32>(&gpu, [40, 40, 40], [false, false]);
    assert!(!said.contains("panels"), "{said}");
}

#[test]
fn panels_take_every_form() {
    let Some(gpu) = limited(16 << 10) else { return };
    let shape @ [m, n, k] = [90, 110, 300];
    let fill = |len, seed| Fill::Uniform.values::<f16>(len, seed);
    let (a, b) = (fill(2 * m * k, 1), fill(k * n, 2));
    let (bias, residual, before) = (fill(n, 3), fill(2 * m * n, 4), fill(2 * m * n, 5));
    let at = |values: &[f16], shape: &[usize]| gpu.tensor(values, shape).unwrap();
    let mut c = at(&before, &[2, m, n]);
    let (a_tensor, b_tensor) = (at(&a, &[2, m, k]), at(&b, &[k, n]));
    let (bias_tensor, residual_tensor) = (at(&bias, &[n]), at(&residual, &[2, m, n]));
    let product = Gemm::new(&a_tensor, &b_tensor)
        .out::<f16>()
        .alpha(0.5)
        .beta(2.0)
        .bias(&bias_tensor)
        .residual(&residual_tensor)
        .activation(Activation::Gelu);
    product.run_into(&mut c).unwrap();
    let got = c.to_vec().unwrap();
    let mut rows = Vec::new();
    for matrix in 0..2 {
        let product = reference::gemm(&a[matrix * m * k..][..m * k], &b, shape);
        for i in 0..m * n {
            let form = EpilogueReference {
                alpha: 0.5,
                previous: 2.0 * f64::from(before[matrix * m * n + i]),
                bias: bias[i % n].into(),
                residual: residual[matrix * m * n + i].into(),
                activation: Activation::Gelu,
            };
            let off = reference::sum_tolerance(k, product.magnitude[i], Accumulator::F32);
            let (value, tolerance) = form.apply(product.value[i], off);
            let stored = reference::store_tolerance(value, tilewise::DType::F16);
            rows.push((f64::from(got[matrix * m * n + i]), value, tolerance + stored));
        }
    }
    let found = reference::compare(rows);
    assert!(found.ok(), "{found:?}");
}

#[test]
fn panels_of_integers_are_exact() {
    let Some(gpu) = limited(16 << 10) else { return };
    let [m, n, k] = [50, 60, 2000];
    let (a, b) = (Fill::Uniform.values::<i8>(m * k, 1), Fill::Uniform.values::<i8>(k * n, 2));
    let want: Vec<i32> = (0..m * n)
        .map(|i| (0..k).map(|p| i32::from(a[i / n * k + p]) * i32::from(b[p * n + i % n])).sum())
        .collect();
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    assert_eq!(matmul(&a, &b).unwrap().to_vec().unwrap(), want);
}

#[test]
fn a_panel_that_cannot_fit() {
    let gpu = support::noop_with(Default::default(), |desc| {
        desc.required_limits.max_storage_buffer_binding_size = 512;
    });
    let a: Tensor<f32> = gpu.zeros([40, 40]).unwrap();
    for kernel in [None, Some(GemmKernel::Naive)] {
        let product = Gemm::new(&a, &a);
        let product = if let Some(kernel) = kernel { product.kernel(kernel) } else { product };
        let error = product.run().unwrap_err();
        assert!(matches!(error, Error::Limit { op: "matmul", .. }), "{error:?}");
        assert!(error.to_string().contains("panel"), "{error}");
    }
}

/// A device that computes nothing, whose windows are this small.
fn noop_limited(bytes: u64) -> Gpu {
    support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_storage_buffer_binding_size = bytes;
    })
}

/// Shapes around what a window of 1,024 elements of f32 holds: of operands, of their f16 halves, whose rows are filled up to
/// whole units of eight, of exponents and of cross terms.
fn around_a_window() -> Vec<[usize; 3]> {
    const SIZES: [usize; 9] = [1, 3, 8, 9, 31, 33, 129, 511, 1025];
    let of = |m| SIZES.map(|n| SIZES.map(|k| [m, n, k]));
    let all = SIZES.into_iter().flat_map(of).flatten();
    all.filter(|[m, n, k]| m * n * k <= 1 << 17 && m * n <= 1 << 14).collect()
}

#[test]
fn every_product_that_is_planned_strictly_is_planned_in_every_precision() {
    let Some(()) = support::first_driver() else { return };
    let gpu = noop_limited(4096);
    for [m, n, k] in around_a_window().into_iter().step_by(support::by_sweep(1, 1, 4)) {
        let (a, b) = (gpu.zeros::<f32>([m, k]).unwrap(), gpu.zeros::<f32>([k, n]).unwrap());
        for precision in Precision::ALL {
            let product = Gemm::new(&a, &b).precision(precision);
            product.plan().unwrap_or_else(|error| panic!("{m} {n} {k}, {precision}: plan: {error}"));
            let c = product.run().unwrap_or_else(|error| panic!("{m} {n} {k}, {precision}: {error}"));
            c.to_vec().unwrap_or_else(|error| panic!("{m} {n} {k}, {precision}: read: {error}"));
        }
    }
}

#[test]
fn products_on_f16_operands_are_within_their_bounds_where_halves_outgrow_a_window() {
    let Some(gpu) = limited(4096) else { return };
    // Few columns of A are filled up to eight; rows end on, before and behind the last that a window holds.
    let shapes =
        [[512, 3, 1], [300, 5, 3], [3, 511, 2], [1, 1, 1025], [2, 3, 1023], [33, 31, 33], [64, 32, 129]];
    for (shape @ [m, n, k], precision) in
        shapes.into_iter().flat_map(|shape| [Precision::Fast, Precision::Split].map(|p| (shape, p)))
    {
        let (a, b) = (Fill::Uniform.values::<f32>(m * k, 1), Fill::Uniform.values::<f32>(k * n, 2));
        let (left, right) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        // One kernel: the panels are what is looked at.
        let got = Gemm::new(&left, &right).precision(precision).kernel(GemmKernel::Naive).run();
        let got =
            got.and_then(|c| c.to_vec()).unwrap_or_else(|error| panic!("{shape:?} {precision}: {error}"));
        let found = reference::gemm(&a, &b, shape).precision(precision).compare(&got);
        assert!(found.ok(), "{shape:?}, {precision}: {found:?}");
    }
}

/// What an application may ask of a product, of operands of f32 and of f16.
fn choices(kernels: &[Option<GemmKernel>]) -> Vec<(Precision, SplitK, Accumulator, Option<GemmKernel>)> {
    let mut choices = Vec::new();
    for &kernel in kernels {
        for split in [SplitK::Auto, SplitK::Splits(2), SplitK::Splits(64)] {
            choices.extend(Precision::ALL.map(|precision| (precision, split, Accumulator::F32, kernel)));
            choices.push((Precision::Strict, split, Accumulator::F16, kernel));
        }
    }
    choices
}

/// Runs a product between two sums that have nothing to do with it: it is there, or an error before anything is recorded, and
/// the sums are right in either case.
fn beside_sums<C>(gpu: &Gpu, what: &str, product: impl FnOnce() -> Result<C>) -> Option<C> {
    let ones = gpu.tensor(&[1.0f32; 4], [4]).unwrap();
    let before = ops::add(&ones, &ones).unwrap();
    let launches = gpu.stats().launches;
    let found = product();
    let launched = gpu.stats().launches - launches;
    match &found {
        Ok(_) => assert!(launched > 0, "{what}: nothing is launched"),
        Err(Error::Limit { .. } | Error::Unsupported { .. }) => {
            assert_eq!(launched, 0, "{what}: an error behind a launch");
        }
        Err(error) => panic!("{what}: {error}"),
    }
    let after = ops::add(&ones, &before).unwrap();
    let computes = gpu.caps().backend != "noop";
    for (sums, want) in [(&before, 2.0), (&after, 3.0), (&before, 2.0), (&after, 3.0)] {
        let read = sums.to_vec().unwrap_or_else(|error| panic!("{what}: unrelated work: {error}"));
        assert!(!computes || read == [want; 4], "{what}: unrelated work reads {read:?}");
    }
    found.ok()
}

#[test]
fn what_is_asked_for_explicitly_is_recorded_whole_or_not_at_all() {
    let Some(()) = support::first_driver() else { return };
    let gpu = noop_limited(4096);
    let all: Vec<_> = GemmKernel::ALL.into_iter().map(Some).chain([None]).collect();
    for [m, n, k] in [[30, 30, 250], [4, 250, 300]] {
        let (a, b) = (gpu.zeros::<f32>([m, k]).unwrap(), gpu.zeros::<f32>([k, n]).unwrap());
        let (x, y) = (gpu.zeros::<f16>([m, k]).unwrap(), gpu.zeros::<f16>([k, n]).unwrap());
        let bias = gpu.zeros::<f32>([n]).unwrap();
        // Either shape has every second choice, every seventh in a short sweep (kernels, parts and precisions come by fours and
        // twelves), and all in a full one.
        let (first, step) = support::by_sweep((0, 1), (m % 4 / 2, 2), (m % 8 / 2, 7));
        for (precision, split, sums, kernel) in choices(&all).into_iter().skip(first).step_by(step) {
            let what = format!("{m} {n} {k}: {precision}, {split:?}, {sums:?}, {kernel:?}");
            let product = Gemm::new(&a, &b).precision(precision).split_k(split).bias(&bias);
            let halves = Gemm::new(&x, &y).accumulator(sums).split_k(split);
            let product = if let Some(kernel) = kernel { product.kernel(kernel) } else { product };
            let halves = if let Some(kernel) = kernel { halves.kernel(kernel) } else { halves };
            let found = match sums {
                Accumulator::F32 => beside_sums(&gpu, &what, || product.run()),
                Accumulator::F16 => beside_sums(&gpu, &what, || halves.run()),
            };
            assert!(found.is_some() || kernel.is_some(), "{what}: it has a plan");
        }
        // Small patches: large ones take naga long.
        let tiles = GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
        for tile in tiles.filter(|tile| tile.tm * tile.tn <= 16) {
            let what = format!("{m} {n} {k}: {tile}");
            beside_sums(&gpu, &what, || Gemm::new(&a, &b).tile(*tile).split_k(SplitK::Splits(4)).run());
        }
    }
}

#[test]
fn what_is_asked_for_explicitly_is_right_or_refused() {
    let Some(()) = support::first_driver() else { return };
    let Some(gpu) = limited(4096) else { return };
    let shape @ [m, n, k] = [30, 30, 250];
    let (a, b) = (Fill::Uniform.values::<f32>(m * k, 1), Fill::Uniform.values::<f32>(k * n, 2));
    let (left, right) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    for (precision, split, sums, kernel) in choices(&[None, Some(GemmKernel::Tiled)]) {
        let what = format!("{shape:?}: {precision}, {split:?}, {sums:?}, {kernel:?}");
        let product = Gemm::new(&left, &right).precision(precision).split_k(split).accumulator(sums);
        let product = if let Some(kernel) = kernel { product.kernel(kernel) } else { product };
        let Some(c) = beside_sums(&gpu, &what, || product.run()) else {
            assert!(kernel.is_some(), "{what}: it has a plan");
            continue;
        };
        let found = reference::gemm(&a, &b, shape).precision(precision).compare(&c.to_vec().unwrap());
        assert!(found.ok(), "{what}: {found:?}");
    }
}

/// The tile of a kernel that is the least to compile, of those that the device has matrices for.
fn smallest(gpu: &TestGpu, kernel: GemmKernel) -> Option<Tile> {
    let types = match kernel {
        _ if crate::ON_MATRICES.contains(&kernel) => wgsl::TYPES[1],
        GemmKernel::Dot => wgsl::I8,
        _ => wgsl::TYPES[0],
    };
    let thin = wgsl::plain([4, 64, 64], types).pinned(Pin::Kernel(kernel));
    let fits = kernel.tiles().iter().filter(|tile| tile.fits(&thin, gpu.caps()).is_ok());
    fits.min_by_key(|tile| (tile.tm * tile.tn, tile.bm * tile.bn)).copied()
}

/// A product of integers is exact, or refused; whether the device has computed it.
fn is_computed<T: Operand>(
    gpu: &TestGpu,
    what: &str,
    shape @ [m, n, k]: [usize; 3],
    product: impl FnOnce(&Tensor<T>, &Tensor<T>) -> Result<Tensor<T::Sum>>,
) -> bool {
    let (a, b) = (Fill::Integers.values::<T>(m * k, 1), Fill::Integers.values::<T>(k * n, 2));
    let (left, right) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    let Some(c) = beside_sums(gpu, what, || product(&left, &right)) else { return false };
    let entry = |i: usize| (0..k).map(|p| a[i / n * k + p].to_f64() * b[p * n + i % n].to_f64()).sum::<f64>();
    let want: Vec<f64> = (0..m * n).map(entry).collect();
    let got: Vec<f64> = c.to_vec().unwrap().iter().map(|value| value.to_f64()).collect();
    assert_eq!(got, want, "{shape:?}, {what}");
    true
}

#[test]
fn an_explicit_tile_in_any_number_of_parts_is_exact_or_refused() {
    let Some(gpu) = limited(4096) else { return };
    for kernel in GemmKernel::ALL {
        let on_matrices = crate::ON_MATRICES.contains(&kernel);
        let Some(tile) = smallest(&gpu, kernel) else {
            assert!(on_matrices || kernel == GemmKernel::Broadcast, "others are everywhere");
            continue;
        };
        // Operands that are bound in panels, and the most rows of a thin product.
        let shape = if kernel == GemmKernel::Gemv { [4, 31, 250] } else { [12, 17, 250] };
        let computed = [1, 2, 4, 1000].map(|parts| {
            let (what, split) = (format!("{tile} in {parts} parts"), SplitK::Splits(parts));
            match kernel {
                // Of integers there are no parts.
                GemmKernel::Dot => {
                    is_computed::<i8>(&gpu, &what, shape, |a, b| Gemm::new(a, b).tile(tile).run())
                }
                _ if on_matrices => is_computed::<f16>(&gpu, &what, shape, |a, b| {
                    Gemm::new(a, b).tile(tile).split_k(split).run()
                }),
                _ => is_computed::<f32>(&gpu, &what, shape, |a, b| {
                    Gemm::new(a, b).tile(tile).split_k(split).run()
                }),
            }
        });
        assert_eq!(computed[..3], [true; 3], "{tile}: few parts are computed");
    }
}

/// As Vulkan 1.1 demands: kernels have four storage bindings, workgroups 128 invocations and 16 KiB.
fn minimal() -> Option<TestGpu> {
    support::adopted(|desc| {
        let limits = &mut desc.required_limits;
        limits.max_storage_buffers_per_shader_stage = 4;
        limits.max_compute_invocations_per_workgroup = 128;
        limits.max_compute_workgroup_size_x = 128;
        limits.max_compute_workgroup_storage_size = 16 << 10;
    })
}

#[test]
fn a_device_with_the_least_that_vulkan_demands_computes_every_form_of_a_product() {
    let Some(gpu) = minimal() else { return };
    let shape @ [m, n, k] = [37, 50, 70];
    let fill = |len, seed| Fill::Integers.values::<f32>(len, seed);
    let (a, b, bias, residual) = (fill(m * k, 1), fill(k * n, 2), fill(n, 3), fill(m * n, 4));
    let at = |values: &[f32], shape: &[usize]| gpu.tensor(values, shape).unwrap();
    let (left, right) = (at(&a, &[m, k]), at(&b, &[k, n]));
    let (bias_tensor, residual_tensor) = (at(&bias, &[n]), at(&residual, &[m, n]));
    let sums = reference::gemm(&a, &b, shape).value;
    for (precision, split) in
        Precision::ALL.into_iter().flat_map(|p| [SplitK::Auto, SplitK::Splits(2)].map(|split| (p, split)))
    {
        for (with_bias, with_residual) in [(false, false), (true, false), (true, true)] {
            let mut product = Gemm::new(&left, &right).precision(precision).split_k(split);
            product = if with_bias { product.bias(&bias_tensor) } else { product };
            product = if with_residual { product.residual(&residual_tensor) } else { product };
            let plan = product.plan().unwrap();
            let got = product.run().unwrap().to_vec().unwrap();
            let want = |i: usize| {
                let bias = if with_bias { bias[i % n] } else { 0.0 };
                sums[i] + f64::from(bias + if with_residual { residual[i] } else { 0.0 })
            };
            let wrong = (0..m * n).find(|&i| f64::from(got[i]) != want(i));
            assert_eq!(wrong, None, "{precision}, {split:?}, {with_bias}, {with_residual}: {plan}");
        }
    }
}

#[test]
fn a_device_with_the_least_that_vulkan_demands_sums_rows_and_sketches() {
    let Some(gpu) = minimal() else { return };
    let (rows, length) = (5, 1000);
    let x = Fill::Integers.values::<f32>(rows * length, 1);
    let tensor = gpu.tensor(&x, [rows, length]).unwrap();
    let want: Vec<f32> = x.chunks(length).map(|row| row.iter().sum()).collect();
    assert_eq!(ops::sum(&tensor, 1).unwrap().to_vec().unwrap(), want);
    let softmax = ops::softmax(&tensor, 1).unwrap().to_vec().unwrap();
    assert!(softmax.chunks(length).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4), "rows sum to 1");
    for kind in [SketchKind::Sjlt { nonzeros: 3 }, SketchKind::Hadamard, SketchKind::Sign] {
        let sketch = Sketch::new(kind, [60, length], 2).unwrap().scaled(Scaling::Unscaled);
        let got = sketch.apply(&tensor, 1).unwrap().to_vec().unwrap();
        let entries = sketch.to_vec();
        for (i, y) in got.iter().enumerate() {
            let (row, line) = (&x[i / 60 * length..][..length], &entries[i % 60 * length..][..length]);
            let want: f32 = row.iter().zip(line).map(|(x, s)| x * s).sum();
            assert_eq!(*y, want, "{kind:?}, {i}");
        }
    }
}
