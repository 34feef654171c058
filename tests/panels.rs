//! Products of operands that are larger than what a device can bind: panel by panel, without copies.

mod support;

use support::TestGpu;
use tilewise::gemm::GemmKernel;
use tilewise::reference::{self, Form};
use tilewise::{Activation, Element, Error, Fill, Gemm, Real, Sums, Tensor, f16, matmul};

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
    let said = plan.reasons.first().cloned().unwrap_or_default();
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
            let form = Form {
                alpha: 0.5,
                previous: 2.0 * f64::from(before[matrix * m * n + i]),
                bias: bias[i % n].into(),
                residual: residual[matrix * m * n + i].into(),
                activation: Activation::Gelu,
            };
            let off = reference::sum_tolerance(k, product.magnitude[i], Sums::F32);
            let (value, tolerance) = form.of(product.value[i], off);
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
