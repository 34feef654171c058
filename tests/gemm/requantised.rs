//! Requantisation to i8, errors of quantised products, panels, small devices, and linear layers of i8.

use tilewise::gemm::{GemmKernel, LinearScales, SplitK, linear_quantised};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Activation, Error, Fill, Gemm, Gpu, Tensor, f16, linear, matmul, reference};

const KERNELS: [GemmKernel; 2] = [GemmKernel::Naive, GemmKernel::Dot];

/// Requantises these numbers: the residuals of sums of nothing.
fn requantised(gpu: &Gpu, values: &[f32], out_scale: f32, kernel: GemmKernel) -> Vec<i8> {
    let (a, b) = (gpu.zeros::<i8>([1, 0]).unwrap(), gpu.zeros::<i8>([0, values.len()]).unwrap());
    let residual = gpu.tensor(values, [1, values.len()]).unwrap();
    let product = Gemm::new(&a, &b).out::<i8>().out_scale(out_scale).residual(&residual).kernel(kernel);
    product.run().unwrap().to_vec().unwrap()
}

/// Numbers at and next to the middle of integers times the scale, numbers next to those, and numbers of all sizes.
fn about(out_scale: f32) -> Vec<f32> {
    let halves = (0..=262).map(|half| 0.5 * half as f32 * out_scale);
    let next = halves.flat_map(|x| [x.next_down(), x, x.next_up()]);
    let powers = (0..60).map(|i| out_scale * 1.37f32 * 2f32.powi(i - 30));
    let ends = [f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 1.0, 3.0];
    let positive: Vec<f32> = next.chain(powers).chain(ends).filter(|x| *x >= f32::MIN_POSITIVE).collect();
    let negative: Vec<f32> = positive.iter().map(|x| -x).collect();
    [&positive[..], &negative, &[0.0, -0.0, f32::NAN]].concat()
}

#[test]
fn the_nearest_integer_of_the_exact_quotient_is_stored() {
    let Some(gpu) = support::gpu() else { return };
    let random = Fill::Uniform.values::<f32>(12, 9);
    let random =
        (-16..).step_by(3).zip(random).map(|(power, x): (i32, f32)| (x.abs() + 0.01) * 10f32.powi(power));
    let fixed = [1.0, 2.0, 0.5, 3.0, 0.1, 1.0 / 3.0, 1e-30, 1e30, f32::MIN_POSITIVE, 1.0f32.next_up()];
    for (i, scale) in fixed.into_iter().chain(random).enumerate() {
        let values = about(scale);
        // A number of elements that is a multiple of four is stored in words.
        let values =
            if i % 2 == 0 { &values[..values.len() / 4 * 4] } else { &values[..values.len() / 4 * 4 - 1] };
        let want: Vec<i8> = values.iter().map(|&y| reference::requantise(y.into(), scale)).collect();
        for kernel in KERNELS {
            let got = requantised(&gpu, values, scale, kernel);
            let wrong = (0..want.len()).find(|&i| got[i] != want[i]);
            let said = wrong.map(|i| (values[i], got[i], want[i]));
            assert_eq!(said, None, "{kernel}, scale {scale:e}: number, stored, nearest");
        }
        assert!([-128, -1, 0, 1, 127].iter().all(|q| want.contains(q)), "scale {scale:e}");
    }
}

#[test]
fn subnormal_scales_divide_too() {
    let Some(gpu) = support::gpu() else { return };
    for scale in [1e-40f32, 1e-45, 1.1e-38] {
        let values = [1.2e-38f32, -1.2e-38, 2e-38, 1e-37, -1.0, 0.0];
        let want: Vec<i8> = values.iter().map(|&y| reference::requantise(y.into(), scale)).collect();
        for kernel in KERNELS {
            assert_eq!(requantised(&gpu, &values, scale, kernel), want, "{kernel}, scale {scale:e}");
        }
    }
}

#[test]
fn the_definition_rounds_ties_to_even_and_saturates() {
    for (y, scale, want) in [
        (0.5, 1.0, 0),
        (1.5, 1.0, 2),
        (-2.5, 1.0, -2),
        (126.5, 1.0, 126),
        (127.5, 1.0, 127),
        (-128.5, 1.0, -128),
        (f64::NAN, 1.0, 0),
        (f64::NEG_INFINITY, 3.0, -128),
        (f64::INFINITY, 3.0, 127),
        (7.5, 3.0, 2),
    ] {
        assert_eq!(reference::requantise(y, scale), want, "{y} over {scale}");
    }
}

#[test]
fn mistakes_are_errors_with_values() {
    let Some(gpu) = support::gpu() else { return };
    let (a, b) = (gpu.zeros::<i8>([4, 5]).unwrap(), gpu.zeros::<i8>([5, 6]).unwrap());
    let of = |len: usize| gpu.zeros::<f32>([len]).unwrap();
    let (four, five, six) = (of(4), of(5), of(6));
    let says = |error: Error, words: &[&str]| {
        let said = error.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
        assert!(matches!(error, Error::Shape { .. } | Error::Input { .. }), "{said}");
    };
    let real = || Gemm::new(&a, &b).out::<f32>();
    says(real().row_scale(&five).run().unwrap_err(), &["row scale", "[5]", "[4]"]);
    says(real().column_scale(&five).run().unwrap_err(), &["column scale", "[5]", "[6]"]);
    says(real().row_scale(&gpu.zeros([4, 1]).unwrap()).plan().unwrap_err(), &["vector", "[4, 1]"]);
    says(real().bias(&four).run().unwrap_err(), &["bias", "[4]", "[6]"]);
    for scale in [0.0, -0.0, -2.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let product = Gemm::new(&a, &b).out::<i8>().out_scale(scale);
        says(product.run().unwrap_err(), &["out_scale", &format!("{scale}"), "above 0"]);
        says(product.plan().unwrap_err(), &["out_scale"]);
        let mut c = gpu.zeros::<i8>([4, 6]).unwrap();
        says(product.run_into(&mut c).unwrap_err(), &["Gemm::run_into", "out_scale"]);
    }
    says(real().out_scale(1.0).run().unwrap_err(), &["out_scale", "f32", "out::<i8>()"]);
    // Exact sums are not scaled.
    says(Gemm::new(&a, &b).alpha(2.0).run().unwrap_err(), &["i32", "out"]);
    says(Gemm::new(&a, &b).row_scale(&four).run().unwrap_err(), &["i32", "out"]);
    says(Gemm::new(&a, &b).column_scale(&six).plan().unwrap_err(), &["i32", "out"]);
    says(Gemm::new(&a, &b).activation(Activation::Relu).run().unwrap_err(), &["i32", "out"]);
    let residual = gpu.zeros::<f16>([4, 6]).unwrap();
    says(real().residual(&residual).run().unwrap_err(), &["residual", "f16", "f32"]);
    assert!(Gemm::new(&a, &b).out::<i8>().residual(&residual).run().is_ok());
    // Tensors of another device.
    let Some(other) = support::bare() else { return };
    let scale = other.zeros::<f32>([4]).unwrap();
    assert!(matches!(real().row_scale(&scale).run(), Err(Error::Gpu { .. })));
    let scale = other.zeros::<f32>([6]).unwrap();
    assert!(matches!(real().column_scale(&scale).run(), Err(Error::Gpu { .. })));
    // Everything is still usable.
    assert_eq!(real().row_scale(&four).column_scale(&six).run().unwrap().to_vec().unwrap(), [0.0; 24]);
}

#[test]
fn the_output_may_not_be_a_scale() {
    let Some(gpu) = support::gpu() else { return };
    let (a, b) = (gpu.zeros::<i8>([1, 5]).unwrap(), gpu.zeros::<i8>([5, 6]).unwrap());
    let mut c = gpu.zeros::<f32>([1, 6]).unwrap();
    let scale = c.reshape([6]).unwrap();
    let error = Gemm::new(&a, &b).out::<f32>().column_scale(&scale).run_into(&mut c).unwrap_err();
    assert!(error.to_string().contains("shares its buffer"), "{error}");
}

#[test]
fn panels_and_panels_of_k_take_scales() {
    let small = support::adopted(|desc| desc.required_limits.max_storage_buffer_binding_size = 16 << 10);
    let Some(gpu) = small else { return };
    // Panels of C; panels of k, whose exact sums a second launch adds.
    for [m, n, k] in [[300, 170, 60], [50, 60, 2000]] {
        let (a, b) = (Fill::Integers.values::<i8>(m * k, 1), Fill::Integers.values::<i8>(k * n, 2));
        let power = |i: usize| [0.5f32, 2.0, 0.25, 1.0][i % 4];
        let (rows, columns): (Vec<f32>, Vec<f32>) =
            ((0..m).map(power).collect(), (1..=n).map(power).collect());
        let bias: Vec<f32> = (0..n).map(|j| j as f32 - 30.0).collect();
        let residual = Fill::Integers.values::<f32>(m * n, 5);
        let at = |values: &[f32]| gpu.tensor(values, [values.len()]).unwrap();
        let (left, right) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        let (of_rows, of_columns, shift) = (at(&rows), at(&columns), at(&bias));
        let added = at(&residual).reshape([m, n]).unwrap();
        let product = Gemm::new(&left, &right).row_scale(&of_rows).column_scale(&of_columns).bias(&shift);
        let product = product.residual(&added);
        let plan = product.clone().out::<f32>().plan().unwrap().to_string();
        assert!(plan.contains("panels"), "{plan}");
        let want: Vec<f64> = (0..m * n)
            .map(|i| {
                let sum: i32 =
                    (0..k).map(|p| i32::from(a[i / n * k + p]) * i32::from(b[p * n + i % n])).sum();
                let scale = f64::from(rows[i / n]) * f64::from(columns[i % n]);
                scale * f64::from(sum) + f64::from(bias[i % n]) + f64::from(residual[i])
            })
            .collect();
        let got = product.clone().out::<f32>().run().unwrap().to_vec().unwrap();
        let wrong = (0..m * n).find(|&i| f64::from(got[i]) != want[i]);
        assert_eq!(wrong, None, "{m} {n} {k}: {plan}");
        let got = product.out::<i8>().out_scale(3.0).run().unwrap().to_vec().unwrap();
        let wrong = (0..m * n).find(|&i| got[i] != reference::requantise(want[i], 3.0));
        assert_eq!(wrong, None, "{m} {n} {k}: {plan}");
    }
}

#[test]
fn a_second_launch_applies_the_epilogue_where_bindings_are_few() {
    let few = support::adopted(|desc| desc.required_limits.max_storage_buffers_per_shader_stage = 4);
    let Some(gpu) = few else { return };
    let [m, n, k] = [37, 50, 70];
    let (a, b) = (Fill::Integers.values::<i8>(m * k, 1), Fill::Integers.values::<i8>(k * n, 2));
    let (left, right) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    let sums = matmul(&left, &right).unwrap().to_vec().unwrap();
    let (rows, columns) =
        (gpu.tensor(&vec![0.5f32; m], [m]).unwrap(), gpu.tensor(&vec![4.0f32; n], [n]).unwrap());
    for kernel in KERNELS {
        let product = Gemm::new(&left, &right).row_scale(&rows).column_scale(&columns).kernel(kernel);
        assert_eq!(product.clone().out::<f32>().plan().unwrap().steps().len(), 2);
        let got = product.clone().out::<f32>().run().unwrap().to_vec().unwrap();
        assert!(got.iter().zip(&sums).all(|(y, sum)| f64::from(*y) == 2.0 * f64::from(*sum)), "{kernel}");
        let got = product.clone().out::<i8>().out_scale(8.0).run().unwrap().to_vec().unwrap();
        let want: Vec<i8> =
            sums.iter().map(|&sum| reference::requantise(2.0 * f64::from(sum), 8.0)).collect();
        assert_eq!(got, want, "{kernel}");
        // More operands than a device has bindings for are refused.
        let bias = gpu.tensor(&vec![1.0f32; n], [n]).unwrap();
        let refused = product.out::<f32>().bias(&bias).run();
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{kernel}: {refused:?}");
    }
}

#[test]
fn plans_name_the_epilogue() {
    let Some(gpu) = support::gpu() else { return };
    let (a, b) = (gpu.zeros::<i8>([64, 64]).unwrap(), gpu.zeros::<i8>([64, 64]).unwrap());
    let scale = gpu.zeros::<f32>([64]).unwrap();
    let product = Gemm::new(&a, &b).row_scale(&scale).column_scale(&scale).bias(&scale).alpha(2.0);
    let product = product.activation(Activation::Relu).out::<i8>().out_scale(0.5);
    let problem = product.problem().unwrap();
    assert_eq!(
        problem.to_string(),
        "matmul 64x64x64 i8, row scale, column scale, alpha, bias, relu, requantised"
    );
    let plan = product.plan().unwrap();
    assert_eq!(plan.steps().len(), 1, "{plan}");
    let said = format!("{plan} {} {:?}", plan.steps()[0].kernel, plan.scalars());
    for word in [
        "the row scale",
        "the column scale",
        "scaled:rows_and_columns",
        "requantised:i8",
        "activation:relu",
        "out_scale",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let plan = problem.split_k(SplitK::Splits(4)).plan(&caps);
        // A launch of sums and one of the epilogue, which alone binds the sums, C and three operands.
        if caps.limits.storage_bindings < 5 {
            assert!(matches!(plan, Err(Error::Unsupported { .. })), "{name}: {plan:?}");
            continue;
        }
        let steps = if caps.limits.storage_bindings < 6 { 2 } else { 1 };
        assert_eq!(plan.unwrap().steps().len(), steps, "{name}");
    }
}

fn filled(gpu: &Gpu, shape: &[usize], seed: u64) -> (Vec<i8>, Tensor<i8>) {
    let values = Fill::Integers.values::<i8>(shape.iter().product(), seed);
    let tensor = gpu.tensor(&values, shape).unwrap();
    (values, tensor)
}

#[test]
fn a_linear_layer_of_i8_is_the_layer_of_its_numbers() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [batch, rows, inputs, outputs] = [3, 17, 40, 21];
    let (_, x) = filled(&gpu, &[batch, rows, inputs], 1);
    let (_, weight) = filled(&gpu, &[outputs, inputs], 2);
    let power = |i: usize| [0.5f32, 2.0, 0.25, 1.0][i % 4];
    let vector = |len: usize| gpu.tensor(&(0..len).map(power).collect::<Vec<_>>(), [len]).unwrap();
    let (of_rows, of_weight, bias) = (vector(rows), vector(outputs), vector(outputs));
    let scales = LinearScales { x: 0.5, rows: Some(&of_rows), weight: Some(&of_weight), out: None };
    let before = gpu.stats().launches;
    let got = linear_quantised::<i8, f32>(&x, &weight, scales, Some(&bias), Activation::Relu).unwrap();
    assert_eq!(gpu.stats().launches - before, 1);
    // The same layer of f32: the operands' numbers.
    let times = |x: &Tensor<i8>, scale: &Tensor<f32>| {
        let x = x.cast::<f32>().unwrap();
        let rows = scale.shape()[0];
        let scale = scale.reshape([rows, 1]).unwrap().broadcast_to(x.shape()).unwrap();
        tilewise::ops::mul(&x, &scale).unwrap()
    };
    let half = tilewise::ops::mul(&times(&x, &of_rows), 0.5).unwrap();
    let want = linear(&half, &times(&weight, &of_weight), Some(&bias), Activation::Relu).unwrap();
    assert_eq!(got.shape(), [batch, rows, outputs]);
    assert_eq!(got.to_vec().unwrap(), want.to_vec().unwrap(), "powers of two are exact");
    let halves = linear_quantised::<i8, f16>(&x, &weight, scales, Some(&bias), Activation::Relu).unwrap();
    assert_eq!(halves.to_vec().unwrap(), want.cast::<f16>().unwrap().to_vec().unwrap());
    let scales = LinearScales { out: Some(0.75), ..scales };
    let got = linear_quantised::<i8, i8>(&x, &weight, scales, Some(&bias), Activation::Relu)
        .unwrap()
        .to_vec()
        .unwrap();
    let want: Vec<i8> =
        want.to_vec().unwrap().into_iter().map(|y| reference::requantise(y.into(), 0.75)).collect();
    assert_eq!(got, want);
    let plain =
        linear_quantised::<i8, f32>(&x, &weight, LinearScales::default(), None, Activation::None).unwrap();
    let sums = matmul(&x, &weight.t()).unwrap().cast::<f32>().unwrap();
    assert_eq!(plain.to_vec().unwrap(), sums.to_vec().unwrap());
}

#[test]
fn mistakes_of_a_linear_layer_of_i8() {
    let Some(gpu) = support::gpu() else { return };
    let (x, weight) = (gpu.zeros::<i8>([4, 5]).unwrap(), gpu.zeros::<i8>([6, 5]).unwrap());
    let (five, six) = (gpu.zeros::<f32>([5]).unwrap(), gpu.zeros::<f32>([6]).unwrap());
    let none = LinearScales::default();
    let says = |error: Error, words: &[&str]| {
        let said = error.to_string();
        assert!(
            said.starts_with("linear_quantised") && words.iter().all(|word| said.contains(word)),
            "{said}"
        );
    };
    let run = |scales| linear_quantised::<i8, f32>(&x, &weight, scales, None, Activation::None);
    says(run(LinearScales { weight: Some(&five), ..none }).unwrap_err(), &["column scale", "[5]", "[6]"]);
    says(run(LinearScales { rows: Some(&six), ..none }).unwrap_err(), &["row scale", "[6]", "[4]"]);
    says(run(LinearScales { out: Some(1.0), ..none }).unwrap_err(), &["out_scale"]);
    let turned = linear_quantised::<i8, f32>(&x, &weight.t(), none, None, Activation::None);
    says(turned.unwrap_err(), &["[5, 6]", "(out, in)", ".t()"]);
    let biased = linear_quantised::<i8, f32>(&x, &weight, none, Some(&five), Activation::None);
    says(biased.unwrap_err(), &["bias", "[5]"]);
    let sums =
        linear_quantised::<i8, i32>(&x, &weight, LinearScales { x: 2.0, ..none }, None, Activation::None);
    says(sums.unwrap_err(), &["i32"]);
    let zero = LinearScales { out: Some(0.0), ..none };
    let quotient = linear_quantised::<i8, i8>(&x, &weight, zero, None, Activation::None);
    says(quotient.unwrap_err(), &["out_scale", "0"]);
}
