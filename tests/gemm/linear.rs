//! The backward pass of linear layers: against the definition, finite differences, and what it costs.

use support::strided::{Lay, Placed};
use support::values::{assert_ok, for_all_types, values};
use tilewise::gemm::{Linear, linear_backward};
use tilewise::ops::{self, Reduction};
use tilewise::reference::{self, LinearReference};
use tilewise::{Activation, Error, Gpu, Parameters, Real, Tensor, linear};

fn parameters<T: Real>(
    gpu: &Gpu,
    [inputs, outputs]: [usize; 2],
    activation: Activation,
) -> (Linear<T>, Vec<T>) {
    let weight = values::<T>(&[outputs, inputs], 0.5, 1);
    let bias = gpu.tensor(&values::<T>(&[outputs], 0.5, 2), [outputs]).unwrap();
    let layer = Linear::new(gpu.tensor(&weight, [outputs, inputs]).unwrap(), Some(bias), activation).unwrap();
    (layer, weight)
}

#[test]
fn gradients_agree_with_their_definition() {
    fn test<T: Real>(gpu: &Gpu) {
        let cases: [(&[usize], [usize; 2], Activation); 3] = [
            (&[33], [17, 9], Activation::Gelu),
            (&[64], [32, 16], Activation::None),
            (&[3, 2, 5], [8, 7], Activation::Softplus),
        ];
        for (case, (leading, features, activation)) in cases.into_iter().enumerate() {
            let [inputs, outputs] = features;
            let (layer, weight) = parameters::<T>(gpu, features, activation);
            let shape = |last: usize| [leading, &[last]].concat();
            let (x, g) = (values::<T>(&shape(inputs), 1.0, 3), values::<T>(&shape(outputs), 1.0, 4));
            let placed_x = Placed::new(gpu, &x, &shape(inputs), Lay::ALL[case % 5]);
            let placed_g = Placed::new(gpu, &g, &shape(outputs), Lay::ALL[(case + 1) % 5]);
            let (x_tensor, g_tensor) = (&placed_x.tensor, &placed_g.tensor);
            let sums = layer.sums(x_tensor).unwrap();
            let (of_x, gradients) = layer.backward_from(x_tensor, &sums, g_tensor).unwrap();
            let weight = weight.iter().map(|w| w.to_f64()).collect();
            let want =
                LinearReference { features, weight, activation }.backward(&x, &sums.to_vec().unwrap(), &g);
            let what = (T::DTYPE, leading, activation);
            assert_eq!(of_x.shape(), shape(inputs), "{what:?}");
            assert_ok(&want.x.compare(&of_x.to_vec().unwrap()), (what, "x"));
            assert_ok(
                &want.weight.compare(&gradients.get("weight").unwrap().to_vec().unwrap()),
                (what, "weight"),
            );
            let of_bias = gradients.get("bias").unwrap();
            assert_ok(&want.bias.compare(&of_bias.to_vec().unwrap()), (what, "bias"));
            // With the sums computed again, by the function, and added to the same once more: the same bits.
            let (again, mut twice) =
                linear_backward(x_tensor, layer.weight(), layer.bias(), activation, g_tensor).unwrap();
            assert_eq!(again.to_vec().unwrap(), of_x.to_vec().unwrap(), "{what:?}");
            assert_eq!(
                twice.get("weight").unwrap().to_vec().unwrap(),
                gradients.get("weight").unwrap().to_vec().unwrap(),
                "{what:?}"
            );
            layer.backward_into(x_tensor, g_tensor, &mut twice).unwrap();
            let doubled: Vec<f32> = of_bias.to_vec().unwrap().iter().map(|x| 2.0 * x).collect();
            assert_eq!(twice.get("bias").unwrap().to_vec().unwrap(), doubled, "{what:?}");
        }
    }
    for_all_types!(test);
}

/// The derivative of a loss of a layer by differences of f64, of every activation.
#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let Some(gpu) = support::gpu() else { return };
    let [batch, inputs, outputs] = [4, 3, 2];
    for activation in Activation::ALL {
        let (layer, weight) = parameters::<f32>(&gpu, [inputs, outputs], activation);
        let (x, t) = (values::<f32>(&[batch, inputs], 1.0, 3), values::<f32>(&[batch, outputs], 1.0, 4));
        let x_tensor = gpu.tensor(&x, [batch, inputs]).unwrap();
        let y = layer.forward(&x_tensor).unwrap();
        let (_, g) =
            ops::mse_and_gradient(&y, &gpu.tensor(&t, [batch, outputs]).unwrap(), Reduction::Mean, 1.0)
                .unwrap();
        let (of_x, gradients) = layer.backward(&x_tensor, &g).unwrap();
        let all = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
        let parameters = [all(&x), all(&weight), all(&layer.bias().unwrap().to_vec().unwrap())];
        let t = all(&t);
        let loss = |of: &[Vec<f64>; 3]| -> f64 {
            let entry = |at: usize| {
                let (row, k) = (at / outputs, at % outputs);
                let sum: f64 = (0..inputs).map(|i| of[0][row * inputs + i] * of[1][k * inputs + i]).sum();
                (reference::activate(activation, sum + of[2][k]) - t[at]).powi(2)
            };
            (0..batch * outputs).map(entry).sum::<f64>() / (batch * outputs) as f64
        };
        let found = [&of_x, gradients.get("weight").unwrap(), gradients.get("bias").unwrap()]
            .map(|of| of.to_vec().unwrap());
        for (which, found) in found.iter().enumerate() {
            for (at, found) in found.iter().enumerate() {
                let moved = |by: f64| {
                    let mut parameters = parameters.clone();
                    parameters[which][at] += by;
                    loss(&parameters)
                };
                let want = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!(
                    (f64::from(*found) - want).abs() < 1e-5,
                    "{activation}, {which}: {found}, not {want}"
                );
            }
        }
    }
}

#[test]
fn a_step_costs_a_product_for_each_gradient_and_no_copy() {
    let Some(_) = support::gpu() else { return };
    let gpu = Gpu::open().unwrap();
    let x = gpu.tensor(&values::<f32>(&[50, 40], 1.0, 1), [50, 40]).unwrap();
    let g = gpu.tensor(&values::<f32>(&[50, 30], 1.0, 2), [50, 30]).unwrap();
    let weight = gpu.tensor(&values::<f32>(&[30, 40], 1.0, 3), [30, 40]).unwrap();
    let bias = gpu.zeros::<f32>([30]).unwrap();
    let launches = |activation, sums: Option<&Tensor<f32>>| {
        let layer = Linear::new(weight.clone(), Some(bias.clone()), activation).unwrap();
        let before = gpu.stats().launches;
        match sums {
            Some(sums) => layer.backward_from(&x, sums, &g).map(drop).unwrap(),
            None => layer.backward(&x, &g).map(drop).unwrap(),
        }
        gpu.stats().launches - before
    };
    let plain = launches(Activation::None, None);
    assert_eq!(launches(Activation::Gelu, Some(&g)), plain + 1, "the slope");
    assert_eq!(launches(Activation::Gelu, None), plain + 2, "the sums again");
    // A residual costs no launch.
    let layer = Linear::new(weight.clone(), Some(bias.clone()), Activation::Mish).unwrap();
    let before = gpu.stats().launches;
    let y = layer.forward_with_residual(&x, &g).unwrap();
    assert_eq!(gpu.stats().launches - before, 1);
    let apart = ops::add(&linear(&x, &weight, Some(&bias), Activation::Mish).unwrap(), &g).unwrap();
    for (found, want) in y.to_vec().unwrap().into_iter().zip(apart.to_vec().unwrap()) {
        assert!((found - want).abs() <= 1e-5 * want.abs().max(1.0), "{found}, not {want}");
    }
}

#[test]
fn mistakes_are_errors_that_say_what_they_are() {
    let (gpu, other) = (support::noop(), support::noop());
    let zeros = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let says = |error: Error, said: &[&str]| {
        let printed = error.to_string();
        assert!(said.iter().all(|said| printed.contains(said)), "{printed}");
    };
    let layer = Linear::new(zeros(&[5, 4]), Some(zeros(&[5])), Activation::Gelu).unwrap();
    let (x, g) = (zeros(&[3, 4]), zeros(&[3, 5]));
    says(layer.backward(&zeros(&[3, 6]), &g).unwrap_err(), &["Linear::backward", "[5, 4]", "[3, 6]"]);
    says(layer.backward(&x, &zeros(&[3, 4])).unwrap_err(), &["shape of the output", "[3, 4]"]);
    says(layer.backward(&x, &other.zeros([3, 5]).unwrap()).unwrap_err(), &["different devices"]);
    says(layer.backward_from(&x, &zeros(&[3, 4]), &g).unwrap_err(), &["Linear::backward_from", "[3, 4]"]);
    let error = linear_backward(&x, &zeros(&[5, 4]), Some(&zeros(&[4])), Activation::None, &g).unwrap_err();
    says(error, &["linear_backward", "bias", "[4]", "[5, 4]"]);
    says(layer.forward_with_residual(&x, &x).unwrap_err(), &["residual", "[3, 4]", "[3, 5]"]);
    let (_, mut gradients) = layer.backward(&x, &g).unwrap();
    let mut without = Linear::new(zeros(&[5, 4]), None, Activation::None).unwrap();
    says(
        without.descend(&gradients, 0.1).unwrap_err(),
        &["Parameters::descend: the gradients: there is no parameter `bias`, only `weight`"],
    );
    says(
        without.backward_into(&x, &g, &mut gradients).unwrap_err(),
        &["Linear::backward_into: the gradients: there is no parameter `bias`"],
    );
    let wider = Linear::new(zeros(&[5, 6]), Some(zeros(&[5])), Activation::None).unwrap();
    says(
        wider.clone().descend(&gradients, 0.1).unwrap_err(),
        &["the gradient of `weight` must", "[5, 4]", "[5, 6]"],
    );
    // No rows: the gradients of the parameters are 0.
    let (of_x, gradients) = layer.backward(&zeros(&[0, 4]), &zeros(&[0, 5])).unwrap();
    assert_eq!((of_x.shape(), gradients.get("weight").unwrap().shape()), (&[0, 4][..], &[5, 4][..]));
}
