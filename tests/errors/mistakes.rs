//! Every mistake is an error with its values, and costs nothing: operands and device stay usable. On wgpu's noop
//! backend, which validates as the real ones do. Bad files: `tests/ops/io`; bad variables: `src/gpu/options/gpu_options.rs`.

use support::failure::{self, Kind};
use tilewise::gemm::GemmKernel;
use tilewise::sketch::{Sketch, SketchKind};
use tilewise::{Error, Fill, Gemm, Gpu, GpuOptions, Layout, Result, Tensor, f16, matmul, ops};

/// The error of what must fail. It has launched, kept and broken nothing: a product still works.
fn fails<R>(gpu: &Gpu, what: impl FnOnce() -> Result<R>) -> Error {
    let before = gpu.stats();
    let error = what().err().expect("a mistake is an error");
    let after = gpu.stats();
    assert_eq!((after.launches, after.submits), (before.launches, before.submits), "{error}");
    assert_eq!(after.bytes_in_use, before.bytes_in_use, "{error}");
    works(gpu);
    assert_eq!(gpu.stats().bytes_in_use, before.bytes_in_use, "{error}");
    error
}

fn works(gpu: &Gpu) {
    let a = gpu.tensor(&[1.0f32; 6], [2, 3]).unwrap();
    let launches = gpu.stats().launches;
    let c = matmul(&a, &a.t()).unwrap();
    assert_eq!(c.to_vec().unwrap().len(), 4);
    assert_eq!(gpu.stats().launches, launches + 1);
}

fn random(gpu: &Gpu, shape: impl AsRef<[usize]>) -> Tensor<f32> {
    gpu.random(shape, Fill::Uniform, 1).unwrap()
}

/// Asserts that [the call fails](fails) with an error of this kind that contains these words.
fn wrong<R>(gpu: &Gpu, kind: Kind, words: &[&str], what: impl FnOnce() -> Result<R>) {
    is(fails(gpu, what), kind, words);
}

fn is(error: Error, kind: Kind, words: &[&str]) {
    failure::fails(Err::<(), _>(error), kind, words);
}

#[test]
fn inner_sizes_that_differ() {
    let gpu = support::noop();
    let (a, b) = (random(&gpu, [3, 4]), random(&gpu, [5, 6]));
    wrong(&gpu, Kind::Shape, &["matmul", "[3, 4]", "[5, 6]"], || matmul(&a, &b));
    wrong(&gpu, Kind::Shape, &["[3, 4]", "[5, 6]"], || Gemm::new(&a, &b).plan());
    let mut c = random(&gpu, [3, 6]);
    wrong(&gpu, Kind::Shape, &["[3, 4]", "[5, 6]"], || Gemm::new(&a, &b).run_into(&mut c));
    let Error::Shape { lhs, rhs, .. } = fails(&gpu, || matmul(&b, &a)) else { panic!("a shape") };
    assert_eq!((lhs, rhs), (vec![5, 6], Some(vec![3, 4])));
}

#[test]
fn operands_that_are_no_matrices() {
    let gpu = support::noop();
    let (vector, five) = (random(&gpu, [4]), gpu.zeros::<f32>([1, 1, 2, 4, 4]).unwrap());
    wrong(&gpu, Kind::Shape, &["two to four axes", "[4]"], || matmul(&vector, &vector));
    wrong(&gpu, Kind::Shape, &["two to four axes", "[1, 1, 2, 4, 4]"], || matmul(&five, &five));
}

#[test]
fn operands_on_different_devices() {
    let (gpu, other) = (support::noop(), support::noop());
    let (a, b) = (random(&gpu, [4, 4]), random(&other, [4, 4]));
    wrong(&gpu, Kind::Gpu, &["^matmul: ", "different devices"], || matmul(&a, &b));
    let mut c = random(&other, [4, 4]);
    wrong(&gpu, Kind::Gpu, &["different devices"], || Gemm::new(&a, &a).run_into(&mut c));
    assert!(matmul(&b, &c).is_ok(), "the other device works as before");
}

#[test]
fn views_that_do_not_lie_in_their_tensor() {
    let gpu = support::noop();
    let a = random(&gpu, [3, 4]);
    wrong(&gpu, Kind::Shape, &["slice", "[4]", "[2, 6]"], || a.slice(1, 2..6));
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake under test")]
    let reversed = fails(&gpu, || a.slice(0, 2..1));
    is(reversed, Kind::Shape, &["[3]", "[2, 1]"]);
    wrong(&gpu, Kind::Shape, &["slice", "[3]"], || a.slice(0, ..=usize::MAX));
    wrong(&gpu, Kind::Shape, &["axis", "[3, 4]", "[2]"], || a.slice(2, ..));
    wrong(&gpu, Kind::Shape, &["permute", "[0, 0]"], || a.permute(&[0, 0]));
    wrong(&gpu, Kind::Shape, &["permute", "[3, 4]", "[1]"], || a.permute(&[1]));
    wrong(&gpu, Kind::Shape, &["reshape", "[3, 4]", "[5, 2]"], || a.reshape([5, 2]));
    wrong(&gpu, Kind::Shape, &["contiguous()", "[4, 3]"], || a.t().reshape([12]));
    wrong(&gpu, Kind::Shape, &["[12]", "[12]"], || a.as_strided(&[3, 4], &[4, 1], 1));
    wrong(&gpu, Kind::Shape, &["as_strided"], || a.as_strided(&[2], &[usize::MAX], 1));
    wrong(&gpu, Kind::Shape, &["the same length", "[1]"], || a.as_strided(&[2, 2], &[1], 0));
    let half = a.slice(0, ..2).unwrap();
    wrong(&gpu, Kind::Shape, &["[8]"], || half.as_strided(&[9], &[1], 0));
}

#[test]
fn data_of_another_length_than_the_shape() {
    let gpu = support::noop();
    wrong(&gpu, Kind::Shape, &["[5]", "[2, 3]"], || gpu.tensor(&[1.0f32; 5], [2, 3]));
    wrong(&gpu, Kind::Shape, &["[0]", "[1]"], || gpu.tensor::<f16>(&[], [1]));
    assert!(gpu.tensor::<f32>(&[], [3, 0]).is_ok_and(|tensor| tensor.is_empty()));
}

#[test]
fn shapes_whose_product_overflows_or_that_have_too_many_axes() {
    let gpu = support::noop();
    let (huge, half) = (usize::MAX, 1usize << (usize::BITS / 2));
    wrong(&gpu, Kind::Shape, &["overflow", "[18446744073709551615, 2]"], || gpu.empty::<f32>([huge, 2]));
    for shape in [vec![half, half], vec![half, half, 0], vec![huge]] {
        wrong(&gpu, Kind::Shape, &["zeros", "overflow"], || gpu.zeros::<f32>(&shape));
        wrong(&gpu, Kind::Shape, &["random"], || gpu.random::<f16>(&shape, Fill::Uniform, 1));
        wrong(&gpu, Kind::Shape, &["tensor"], || gpu.tensor::<f16>(&[], &shape));
        wrong(&gpu, Kind::Shape, &["reshape"], || random(&gpu, [1]).reshape(&shape));
        wrong(&gpu, Kind::Shape, &["test"], || Layout::contiguous("test", &shape));
    }
    let outer = random(&gpu, [1]).as_strided(&[1 << 31, 1], &[0, 0], 0).unwrap();
    let error = fails(&gpu, || matmul(&outer, &outer.t()));
    assert!(
        matches!(error, Error::Shape { .. } | Error::Limit { .. }) && error.to_string().contains("matmul"),
        "{error}"
    );
    wrong(&gpu, Kind::Shape, &["at most 6", "[7]"], || gpu.empty::<f32>([1; 7]));
    assert!(gpu.empty::<f32>([1; 6]).is_ok());
}

/// An axis that repeats takes no memory, so it can be longer than shaders count.
#[test]
fn a_size_beyond_what_shaders_count() {
    let gpu = support::noop();
    let one = random(&gpu, [1]);
    let long = |shape: [usize; 2]| one.as_strided(&shape, &[0, 0], 0).unwrap();
    let (row, column) = (long([1, 1 << 31]), long([1 << 31, 1]));
    wrong(&gpu, Kind::Limit, &["2147483648", "2147483647"], || matmul(&row, &column));
    let (row, column) = (long([1, (1 << 31) - 1]), long([(1 << 31) - 1, 1]));
    assert!(matmul(&row, &column).is_ok(), "noop computes nothing, however long it is");
}

#[test]
fn a_row_beyond_the_largest_binding() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_storage_buffer_binding_size = 4096;
    });
    let a = random(&gpu, [25, 41]);
    assert!(a.t().contiguous().is_ok() && a.cast::<f16>().is_ok(), "in windows");
    let row = random(&gpu, [1025]);
    wrong(&gpu, Kind::Limit, &["softmax", "4100", "4096", "axis 0"], || ops::softmax(&row, 0));
    wrong(&gpu, Kind::Limit, &["cumsum", "4100", "4096", "axis 0"], || ops::cumsum(&row, 0));
    assert!(ops::softmax(&row.slice(0, ..1024).unwrap(), 0).is_ok(), "4096 bytes are allowed");
}

#[test]
fn a_buffer_larger_than_the_device_makes() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_buffer_size = 1 << 20;
        desc.required_limits.max_storage_buffer_binding_size = 1 << 20;
    });
    let error = fails(&gpu, || gpu.empty::<f32>([(1 << 18) + 1]));
    is(error, Kind::Limit, &["^empty: ", "1048580", "1048576"]);
    assert!(gpu.empty::<f32>([1 << 18]).is_ok());
}

#[test]
fn a_pinned_kernel_that_the_device_cannot_run() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_compute_workgroup_storage_size = 1024;
    });
    let a = random(&gpu, [4, 4]);
    let tiled = Gemm::new(&a, &a).kernel(GemmKernel::Tiled);
    let name = gpu.caps().adapter.clone();
    for error in [fails(&gpu, || tiled.run()), fails(&gpu, || tiled.plan())] {
        is(error, Kind::Unsupported, &["^matmul cannot run", "bytes of shared memory", name.as_str()]);
    }
    let mut c = random(&gpu, [4, 4]);
    let error = fails(&gpu, || tiled.run_into(&mut c));
    is(error, Kind::Unsupported, &["bytes of shared memory"]);
    assert!(Gemm::new(&a, &a).kernel(GemmKernel::Naive).run().is_ok(), "the other kernel runs");
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_compute_invocations_per_workgroup = 4;
    });
    let a = random(&gpu, [40, 40]);
    let error = matmul(&a, &a).expect_err("no kernel has so few");
    is(error, Kind::Unsupported, &["^matmul cannot run", "8 invocations per workgroup"]);
    let transform = Sketch::new(SketchKind::Hadamard, [8, 10], 1).unwrap();
    let error = transform.apply(&a.slice(0, ..10).unwrap(), 0).expect_err("no pass has so few");
    is(error, Kind::Unsupported, &["^Sketch::apply cannot run", "64 invocations per workgroup"]);
}

#[test]
fn more_memory_than_the_budget() {
    let options = GpuOptions { memory_budget: Some(1 << 20), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    let held = random(&gpu, [512, 384]); // three quarters
    let error = fails(&gpu, || gpu.zeros::<f32>([512, 256]));
    assert!(
        matches!(error, Error::OutOfMemory { op: "zeros", needed: 524_288, available: Some(262_144) }),
        "{error:?}"
    );
    is(error, Kind::OutOfMemory, &["524288", "262144"]);
    let tall = held.slice(1, ..1).unwrap();
    wrong(&gpu, Kind::OutOfMemory, &["1048576"], || matmul(&tall, &tall.t()));
    wrong(&gpu, Kind::OutOfMemory, &["786432"], || held.t().contiguous());
    wrong(&gpu, Kind::OutOfMemory, &["786432"], || held.t().to_vec());
    wrong(&gpu, Kind::OutOfMemory, &["786432"], || pollster::block_on(held.t().read()));
    assert_eq!(held.to_vec().unwrap(), Fill::Uniform.values::<f32>(512 * 384, 1), "it is untouched");
    drop((tall, held));
    assert_eq!(gpu.stats().bytes_in_use, 0);
    assert!(gpu.zeros::<f32>([512, 512]).is_ok(), "all of the budget, once it is free");
}

#[test]
fn an_output_of_the_wrong_shape_or_with_overlapping_rows() {
    let gpu = support::noop();
    let (a, b) = (random(&gpu, [3, 4]), random(&gpu, [4, 5]));
    let mut c = random(&gpu, [5, 3]);
    wrong(&gpu, Kind::Shape, &["[5, 3]", "[3, 5]"], || Gemm::new(&a, &b).run_into(&mut c));
    let mut transposed = random(&gpu, [5, 3]).t();
    wrong(&gpu, Kind::Shape, &["neighbours", "[1, 3]"], || Gemm::new(&a, &b).run_into(&mut transposed));
    for strides in [[4, 1], [0, 1], [10, 2]] {
        let mut view = random(&gpu, [40]).as_strided(&[3, 5], &strides, 0).unwrap();
        wrong(&gpu, Kind::Shape, &["overlap", "[3, 5]"], || Gemm::new(&a, &b).run_into(&mut view));
    }
    let mut gaps = random(&gpu, [40]).as_strided(&[3, 5], &[7, 1], 3).unwrap();
    assert!(Gemm::new(&a, &b).run_into(&mut gaps).is_ok(), "rows may have gaps");
}

#[test]
fn an_output_that_somebody_else_holds_or_that_is_an_operand() {
    let gpu = support::noop();
    let a = random(&gpu, [4, 4]);
    let mut c = random(&gpu, [4, 4]);
    let clone = c.clone();
    wrong(&gpu, Kind::Input, &["shared with 1 other"], || Gemm::new(&a, &a).run_into(&mut c));
    let row = clone.slice(0, ..1).unwrap();
    wrong(&gpu, Kind::Input, &["shared with 2 other"], || Gemm::new(&a, &a).run_into(&mut c));
    drop((clone, row));
    assert!(Gemm::new(&a, &a).run_into(&mut c).is_ok(), "once nobody else holds it");
    let mut square = random(&gpu, [4, 4]);
    let (left, right) = (square.clone(), square.t());
    wrong(&gpu, Kind::Input, &["an operand"], || Gemm::new(&left, &a).run_into(&mut square));
    wrong(&gpu, Kind::Input, &["an operand"], || Gemm::new(&a, &right).run_into(&mut square));
}

#[test]
fn writing_the_wrong_length_into_a_view_or_into_what_is_shared() {
    let gpu = support::noop();
    let mut a = random(&gpu, [2, 3]);
    wrong(&gpu, Kind::Shape, &["^write: ", "[5]", "[2, 3]"], || a.write(&[0.0; 5]));
    let clone = a.clone();
    wrong(&gpu, Kind::Input, &["write", "shared with 1 other"], || a.write(&[0.0; 6]));
    assert_eq!(clone.to_vec().unwrap(), Fill::Uniform.values::<f32>(6, 1), "it is untouched");
    drop(clone);
    a.write(&[7.0; 6]).unwrap();
    assert_eq!(a.to_vec().unwrap(), [7.0; 6]);
    let mut view = random(&gpu, [2, 3]).t();
    wrong(&gpu, Kind::Input, &["write", "view", "[1, 3]"], || view.write(&[0.0; 6]));
    let mut tail = random(&gpu, [6]).slice(0, 2..).unwrap();
    tail.write(&[5.0; 4]).unwrap();
    assert_eq!(tail.to_vec().unwrap(), [5.0; 4], "a view without gaps");
    let halves = || gpu.zeros::<f16>([6]).unwrap();
    let whole = halves();
    let tail = halves().slice(0, 1..).unwrap();
    for mut odd in [tail, whole.slice(0, ..3).unwrap().writable_view()] {
        let new = vec![f16::ONE; odd.len()];
        wrong(&gpu, Kind::Input, &["write: the output", "within a word"], || odd.write(&new));
    }
}
