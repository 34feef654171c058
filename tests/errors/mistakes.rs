//! Every mistake is an error with its values, and costs nothing: operands and device stay usable. On wgpu's noop
//! backend, which validates as the real ones do. Bad files: `tests/ops/io`; bad variables: `src/gpu/options/gpu_options.rs`.

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

/// Asserts that an error is of the kind, and says all of this.
macro_rules! assert_says {
    ($error:expr, $kind:pat, $($said:expr),+) => {
        let error = $error;
        assert!(matches!(error, $kind), "{error:?}");
        let printed = error.to_string();
        $(assert!(printed.contains($said), "no {:?} in: {printed}", $said);)+
    };
}

#[test]
fn inner_sizes_that_differ() {
    let gpu = support::noop();
    let (a, b) = (random(&gpu, [3, 4]), random(&gpu, [5, 6]));
    assert_says!(fails(&gpu, || matmul(&a, &b)), Error::Shape { .. }, "matmul", "[3, 4]", "[5, 6]");
    assert_says!(fails(&gpu, || Gemm::new(&a, &b).plan()), Error::Shape { .. }, "[3, 4]", "[5, 6]");
    let mut c = random(&gpu, [3, 6]);
    assert_says!(fails(&gpu, || Gemm::new(&a, &b).run_into(&mut c)), Error::Shape { .. }, "[3, 4]", "[5, 6]");
    let Error::Shape { lhs, rhs, .. } = fails(&gpu, || matmul(&b, &a)) else { panic!("a shape") };
    assert_eq!((lhs, rhs), (vec![5, 6], Some(vec![3, 4])));
}

#[test]
fn operands_that_are_no_matrices() {
    let gpu = support::noop();
    let (vector, five) = (random(&gpu, [4]), gpu.zeros::<f32>([1, 1, 2, 4, 4]).unwrap());
    assert_says!(fails(&gpu, || matmul(&vector, &vector)), Error::Shape { .. }, "two to four axes", "[4]");
    assert_says!(
        fails(&gpu, || matmul(&five, &five)),
        Error::Shape { .. },
        "two to four axes",
        "[1, 1, 2, 4, 4]"
    );
}

#[test]
fn operands_on_different_devices() {
    let (gpu, other) = (support::noop(), support::noop());
    let (a, b) = (random(&gpu, [4, 4]), random(&other, [4, 4]));
    assert_says!(fails(&gpu, || matmul(&a, &b)), Error::Gpu { op: "matmul", .. }, "different devices");
    let mut c = random(&other, [4, 4]);
    assert_says!(fails(&gpu, || Gemm::new(&a, &a).run_into(&mut c)), Error::Gpu { .. }, "different devices");
    assert!(matmul(&b, &c).is_ok(), "the other device works as before");
}

#[test]
fn views_that_do_not_lie_in_their_tensor() {
    let gpu = support::noop();
    let a = random(&gpu, [3, 4]);
    assert_says!(fails(&gpu, || a.slice(1, 2..6)), Error::Shape { .. }, "slice", "[4]", "[2, 6]");
    #[expect(clippy::reversed_empty_ranges, reason = "the mistake under test")]
    let reversed = fails(&gpu, || a.slice(0, 2..1));
    assert_says!(reversed, Error::Shape { .. }, "[3]", "[2, 1]");
    assert_says!(fails(&gpu, || a.slice(0, ..=usize::MAX)), Error::Shape { .. }, "slice", "[3]");
    assert_says!(fails(&gpu, || a.slice(2, ..)), Error::Shape { .. }, "axis", "[3, 4]", "[2]");
    assert_says!(fails(&gpu, || a.permute(&[0, 0])), Error::Shape { .. }, "permute", "[0, 0]");
    assert_says!(fails(&gpu, || a.permute(&[1])), Error::Shape { .. }, "permute", "[3, 4]", "[1]");
    assert_says!(fails(&gpu, || a.reshape([5, 2])), Error::Shape { .. }, "reshape", "[3, 4]", "[5, 2]");
    assert_says!(fails(&gpu, || a.t().reshape([12])), Error::Shape { .. }, "contiguous()", "[4, 3]");
    assert_says!(fails(&gpu, || a.as_strided(&[3, 4], &[4, 1], 1)), Error::Shape { .. }, "[12]", "[12]");
    assert_says!(fails(&gpu, || a.as_strided(&[2], &[usize::MAX], 1)), Error::Shape { .. }, "as_strided");
    assert_says!(
        fails(&gpu, || a.as_strided(&[2, 2], &[1], 0)),
        Error::Shape { .. },
        "the same length",
        "[1]"
    );
    let half = a.slice(0, ..2).unwrap();
    assert_says!(fails(&gpu, || half.as_strided(&[9], &[1], 0)), Error::Shape { .. }, "[8]");
}

#[test]
fn data_of_another_length_than_the_shape() {
    let gpu = support::noop();
    assert_says!(fails(&gpu, || gpu.tensor(&[1.0f32; 5], [2, 3])), Error::Shape { .. }, "[5]", "[2, 3]");
    assert_says!(fails(&gpu, || gpu.tensor::<f16>(&[], [1])), Error::Shape { .. }, "[0]", "[1]");
    assert!(gpu.tensor::<f32>(&[], [3, 0]).is_ok_and(|tensor| tensor.is_empty()));
}

#[test]
fn shapes_whose_product_overflows_or_that_have_too_many_axes() {
    let gpu = support::noop();
    let (huge, half) = (usize::MAX, 1usize << (usize::BITS / 2));
    assert_says!(
        fails(&gpu, || gpu.empty::<f32>([huge, 2])),
        Error::Shape { .. },
        "overflow",
        "[18446744073709551615, 2]"
    );
    for shape in [vec![half, half], vec![half, half, 0], vec![huge]] {
        assert_says!(fails(&gpu, || gpu.zeros::<f32>(&shape)), Error::Shape { .. }, "zeros", "overflow");
        assert_says!(
            fails(&gpu, || gpu.random::<f16>(&shape, Fill::Uniform, 1)),
            Error::Shape { .. },
            "random"
        );
        assert_says!(fails(&gpu, || gpu.tensor::<f16>(&[], &shape)), Error::Shape { .. }, "tensor");
        assert_says!(fails(&gpu, || random(&gpu, [1]).reshape(&shape)), Error::Shape { .. }, "reshape");
        assert_says!(fails(&gpu, || Layout::contiguous("test", &shape)), Error::Shape { .. }, "test");
    }
    let outer = random(&gpu, [1]).as_strided(&[1 << 31, 1], &[0, 0], 0).unwrap();
    assert_says!(
        fails(&gpu, || matmul(&outer, &outer.t())),
        Error::Shape { .. } | Error::Limit { .. },
        "matmul"
    );
    assert_says!(fails(&gpu, || gpu.empty::<f32>([1; 7])), Error::Shape { .. }, "at most 6", "[7]");
    assert!(gpu.empty::<f32>([1; 6]).is_ok());
}

/// An axis that repeats takes no memory, so it can be longer than shaders count.
#[test]
fn a_size_beyond_what_shaders_count() {
    let gpu = support::noop();
    let one = random(&gpu, [1]);
    let long = |shape: [usize; 2]| one.as_strided(&shape, &[0, 0], 0).unwrap();
    let (row, column) = (long([1, 1 << 31]), long([1 << 31, 1]));
    assert_says!(fails(&gpu, || matmul(&row, &column)), Error::Limit { .. }, "2147483648", "2147483647");
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
    assert_says!(
        fails(&gpu, || ops::softmax(&row, 0)),
        Error::Limit { .. },
        "softmax",
        "4100",
        "4096",
        "axis 0"
    );
    assert_says!(
        fails(&gpu, || ops::cumsum(&row, 0)),
        Error::Limit { .. },
        "cumsum",
        "4100",
        "4096",
        "axis 0"
    );
    assert!(ops::softmax(&row.slice(0, ..1024).unwrap(), 0).is_ok(), "4096 bytes are allowed");
}

#[test]
fn a_buffer_larger_than_the_device_makes() {
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_buffer_size = 1 << 20;
        desc.required_limits.max_storage_buffer_binding_size = 1 << 20;
    });
    let error = fails(&gpu, || gpu.empty::<f32>([(1 << 18) + 1]));
    assert_says!(error, Error::Limit { op: "empty", .. }, "1048580", "1048576");
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
        assert_says!(error, Error::Unsupported { op: "matmul", .. }, "bytes of shared memory", name.as_str());
    }
    let mut c = random(&gpu, [4, 4]);
    let error = fails(&gpu, || tiled.run_into(&mut c));
    assert_says!(error, Error::Unsupported { .. }, "bytes of shared memory");
    assert!(Gemm::new(&a, &a).kernel(GemmKernel::Naive).run().is_ok(), "the other kernel runs");
    let gpu = support::noop_with(GpuOptions::default(), |desc| {
        desc.required_limits.max_compute_invocations_per_workgroup = 4;
    });
    let a = random(&gpu, [40, 40]);
    let error = matmul(&a, &a).expect_err("no kernel has so few");
    assert_says!(error, Error::Unsupported { op: "matmul", .. }, "8 invocations per workgroup");
    let transform = Sketch::new(SketchKind::Hadamard, [8, 10], 1).unwrap();
    let error = transform.apply(&a.slice(0, ..10).unwrap(), 0).expect_err("no pass has so few");
    assert_says!(error, Error::Unsupported { op: "Sketch::apply", .. }, "64 invocations per workgroup");
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
    assert_says!(error, Error::OutOfMemory { .. }, "524288", "262144");
    let tall = held.slice(1, ..1).unwrap();
    assert_says!(fails(&gpu, || matmul(&tall, &tall.t())), Error::OutOfMemory { .. }, "1048576");
    assert_says!(fails(&gpu, || held.t().contiguous()), Error::OutOfMemory { .. }, "786432");
    assert_says!(fails(&gpu, || held.t().to_vec()), Error::OutOfMemory { .. }, "786432");
    assert_says!(fails(&gpu, || pollster::block_on(held.t().read())), Error::OutOfMemory { .. }, "786432");
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
    assert_says!(fails(&gpu, || Gemm::new(&a, &b).run_into(&mut c)), Error::Shape { .. }, "[5, 3]", "[3, 5]");
    let mut transposed = random(&gpu, [5, 3]).t();
    assert_says!(
        fails(&gpu, || Gemm::new(&a, &b).run_into(&mut transposed)),
        Error::Shape { .. },
        "neighbours",
        "[1, 3]"
    );
    for strides in [[4, 1], [0, 1], [10, 2]] {
        let mut view = random(&gpu, [40]).as_strided(&[3, 5], &strides, 0).unwrap();
        assert_says!(
            fails(&gpu, || Gemm::new(&a, &b).run_into(&mut view)),
            Error::Shape { .. },
            "overlap",
            "[3, 5]"
        );
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
    assert_says!(
        fails(&gpu, || Gemm::new(&a, &a).run_into(&mut c)),
        Error::Input { .. },
        "shared with 1 other"
    );
    let row = clone.slice(0, ..1).unwrap();
    assert_says!(
        fails(&gpu, || Gemm::new(&a, &a).run_into(&mut c)),
        Error::Input { .. },
        "shared with 2 other"
    );
    drop((clone, row));
    assert!(Gemm::new(&a, &a).run_into(&mut c).is_ok(), "once nobody else holds it");
    let mut square = random(&gpu, [4, 4]);
    let (left, right) = (square.clone(), square.t());
    assert_says!(
        fails(&gpu, || Gemm::new(&left, &a).run_into(&mut square)),
        Error::Input { .. },
        "an operand"
    );
    assert_says!(
        fails(&gpu, || Gemm::new(&a, &right).run_into(&mut square)),
        Error::Input { .. },
        "an operand"
    );
}

#[test]
fn writing_the_wrong_length_into_a_view_or_into_what_is_shared() {
    let gpu = support::noop();
    let mut a = random(&gpu, [2, 3]);
    assert_says!(fails(&gpu, || a.write(&[0.0; 5])), Error::Shape { op: "write", .. }, "[5]", "[2, 3]");
    let clone = a.clone();
    assert_says!(fails(&gpu, || a.write(&[0.0; 6])), Error::Input { .. }, "write", "shared with 1 other");
    assert_eq!(clone.to_vec().unwrap(), Fill::Uniform.values::<f32>(6, 1), "it is untouched");
    drop(clone);
    a.write(&[7.0; 6]).unwrap();
    assert_eq!(a.to_vec().unwrap(), [7.0; 6]);
    let mut view = random(&gpu, [2, 3]).t();
    assert_says!(fails(&gpu, || view.write(&[0.0; 6])), Error::Input { .. }, "write", "view", "[1, 3]");
    let mut tail = random(&gpu, [6]).slice(0, 2..).unwrap();
    tail.write(&[5.0; 4]).unwrap();
    assert_eq!(tail.to_vec().unwrap(), [5.0; 4], "a view without gaps");
    let halves = || gpu.zeros::<f16>([6]).unwrap();
    let whole = halves();
    let tail = halves().slice(0, 1..).unwrap();
    for mut odd in [tail, whole.slice(0, ..3).unwrap().writable_view()] {
        let new = vec![f16::ONE; odd.len()];
        assert_says!(
            fails(&gpu, || odd.write(&new)),
            Error::Input { .. },
            "write: the output",
            "within a word"
        );
    }
}
