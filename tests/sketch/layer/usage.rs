//! Sketched linear layers in use: launches and bytes, counted; signs that are made; training; files; and what is refused.

use super::setup::{assert_near, given, layer, staged, wide};
use support::failure::says;
use tilewise::gemm::GemmKernel;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::planning::gemm::Pin;
use tilewise::planning::sketch::pinned_layer;
use tilewise::sketch::{SignStorage, SkLinear};
use tilewise::{Activation, Error, Fill, Gpu, Parameters, Real, Tensor, bf16, f16};

#[test]
fn outputs_take_two_launches_and_gradients_five_and_nothing_of_the_weights_size() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let (features, batch) = (1024, 16);
    let layer = layer::<f32>(&gpu, [features, features, 1, 16], Activation::None);
    let x = gpu.random::<f32>([batch, features], Fill::Uniform, 1).unwrap();
    // Once, so that what is uploaded and the parts of k do not count.
    for memory in [SignStorage::Stored, SignStorage::Generated] {
        let layer = layer.to_sign_storage(memory).unwrap();
        let layer = if memory == SignStorage::Generated { staged(layer) } else { layer };
        let before = gpu.stats();
        let hidden = layer.hidden(&x).unwrap();
        let y = layer.output::<f32>(&hidden).unwrap();
        let forward = gpu.stats();
        let in_parts =
            |plans: &[tilewise::Plan]| plans.iter().map(|plan| plan.steps().len() as u64 - 1).sum::<u64>();
        let plans = layer.plans(&x).unwrap();
        assert_eq!(forward.launches - before.launches, 2 + in_parts(&plans), "{memory:?}: {plans:?}");
        let (dx, gradients) = layer.backward(&x, &hidden, &x).unwrap();
        let after = gpu.stats();
        assert!((5..=10).contains(&(after.launches - forward.launches)), "{memory:?}");
        // The largest of all is far below the weight of 4 MiB: x, y and the factors.
        let weight = 4 * (features * features) as u64;
        assert!(
            after.bytes_peak < weight,
            "{memory:?}: {} bytes at most, the weight has {weight}",
            after.bytes_peak
        );
        drop((y, dx, gradients, hidden));
    }
}

#[test]
fn signs_that_are_made_take_half_the_memory_and_give_the_same_bits() {
    let Some(gpu) = support::own(|_| ()) else { return };
    fn bits<T: Real>(x: &Tensor<T>) -> Vec<u64> {
        wide(x).into_iter().map(f64::to_bits).collect()
    }
    fn check<T: Real>(gpu: &Gpu, size: [usize; 4], batch: usize) {
        let kept = staged(layer::<T>(gpu, size, Activation::None));
        let before = gpu.stats().bytes_in_use;
        let made = kept.to_sign_storage(SignStorage::Generated).unwrap();
        let own = gpu.stats().bytes_in_use - before;
        let numbers = (kept.params() * T::DTYPE.size()) as u64;
        // Buffers are of size classes.
        assert!(own < numbers / 2 + numbers / 8 + 1024, "{own} bytes of {numbers}");
        let x = gpu.random::<T>([batch, size[0]], Fill::Uniform, 1).unwrap();
        let g = gpu.random::<T>([batch, size[1]], Fill::Uniform, 2).unwrap();
        let [one, other] = [&kept, &made].map(|layer| {
            let hidden = layer.hidden(&x).unwrap();
            let (dx, of) = layer.backward(&x, &hidden, &g).unwrap();
            let y = layer.forward(&x).unwrap();
            let [s1, s2, bias] = ["S1s", "S2s", "bias"].map(|name| bits(of.get(name).unwrap()));
            [bits(&hidden), bits(&y), bits(&dx), s1, s2, bias]
        });
        for (part, (one, other)) in one.iter().zip(&other).enumerate() {
            assert!(one == other, "{} {size:?}: part {part} differs", T::DTYPE);
        }
        let again = made.to_sign_storage(SignStorage::Stored).unwrap();
        assert_eq!(bits(&again.forward(&x).unwrap()), one[1]);
    }
    check::<f32>(&gpu, [70, 45, 3, 5], 20);
    if support::is_full_sweep() {
        check::<f16>(&gpu, [64, 96, 1, 16], 3);
        check::<f32>(&gpu, [64, 96, 1, 16], 3);
        check::<f16>(&gpu, [70, 45, 3, 5], 20);
        check::<bf16>(&gpu, [33, 20, 1, 7], 9);
    }
    let given = given::<f32>(&gpu, [30, 40, 1, 2]);
    assert!(matches!(given.to_sign_storage(SignStorage::Generated), Err(Error::Input { .. })));
    assert_eq!(given.seed(), None);
}

#[test]
fn a_step_moves_what_is_trained_and_nothing_that_others_see() {
    let Some(gpu) = support::gpu() else { return };
    let mut layer = layer::<f32>(&gpu, [12, 8, 1, 3], Activation::None);
    let x = gpu.random::<f32>([6, 12], Fill::Uniform, 1).unwrap();
    let (hidden, target) = (layer.hidden(&x).unwrap(), gpu.random::<f32>([6, 8], Fill::Uniform, 2).unwrap());
    let (_, gradients) = layer.backward(&x, &hidden, &target).unwrap();
    let (old, view) = (layer.clone(), layer.s1().unwrap());
    let [before, y] = [wide(&view), wide(&old.forward(&x).unwrap())];
    for memory in [SignStorage::Stored, SignStorage::Generated] {
        let mut stepped = layer.to_sign_storage(memory).unwrap();
        stepped.descend(&gradients, 0.5).unwrap();
        let [s1, s2, bias] = ["S1s", "S2s", "bias"].map(|name| gradients.get(name).unwrap());
        for (now, then, gradient) in [
            (stepped.s1().unwrap(), &view, s1),
            (stepped.s2().unwrap(), &old.s2().unwrap(), s2),
            (stepped.bias().unwrap().clone(), old.bias().unwrap(), bias),
        ] {
            let (now, then, gradient) = (wide(&now), wide(then), wide(gradient));
            assert_near(
                &now,
                &(0..then.len()).map(|i| then[i] - 0.5 * gradient[i]).collect::<Vec<_>>(),
                |i| 1e-6 * then[i].abs().max(1.0),
                "a step",
            );
        }
        assert_eq!(wide(&stepped.u1().unwrap()), wide(&old.u1().unwrap()));
        assert_eq!(wide(&stepped.u2().unwrap()), wide(&old.u2().unwrap()));
    }
    layer.descend(&gradients, 0.5).unwrap();
    assert_eq!(wide(&view), before, "a view keeps what it had");
    assert_eq!(wide(&old.forward(&x).unwrap()), y, "so does a clone");
    assert_ne!(wide(&layer.forward(&x).unwrap()), y);
}

#[test]
fn parameters_have_the_names_and_shapes_of_files() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let [inputs, outputs, terms, rank] = [12, 8, 2, 3];
    let signs = layer::<f32>(&gpu, [inputs, outputs, terms, rank], Activation::None);
    let explicit = given::<f32>(&gpu, [inputs, outputs, terms, rank]);
    let by_term = |x: Tensor<f32>| {
        let terms = x.contiguous().unwrap().reshape([inputs, terms, rank]).unwrap();
        wide(&terms.permute(&[1, 0, 2]).unwrap())
    };
    for layer in [&signs, &signs.to_sign_storage(SignStorage::Generated).unwrap(), &explicit] {
        let (first, second) = ([terms, inputs, rank], [terms, rank, outputs]);
        let mut want = vec![
            ("S1s", first.to_vec(), by_term(layer.s1().unwrap())),
            ("S2s", second.to_vec(), wide(&layer.s2().unwrap())),
        ];
        if layer.seed().is_none() {
            want.push(("U1s", second.to_vec(), wide(&layer.u1().unwrap())));
            want.push(("U2s", first.to_vec(), by_term(layer.u2().unwrap())));
        }
        want.extend(layer.bias().map(|bias| ("bias", vec![outputs], wide(bias))));
        let found = layer.parameters().into_iter();
        let found = found.map(|(name, x)| (name, x.shape().to_vec(), wide(x))).collect::<Vec<_>>();
        let want: Vec<_> = want.into_iter().map(|(name, shape, x)| (name.to_owned(), shape, x)).collect();
        assert_eq!(found, want);
    }
    // An update finds the factors uniquely owned, whether or not their views were asked for.
    let x = gpu.random::<f32>([4, inputs], Fill::Uniform, 1).unwrap();
    let g = gpu.random::<f32>([4, outputs], Fill::Uniform, 2).unwrap();
    let (_, gradients) = signs.backward(&x, &signs.hidden(&x).unwrap(), &g).unwrap();
    let mut layer = signs.cast::<f32>().unwrap();
    layer.descend(&gradients, 0.5).unwrap(); // the first update copies what the cast shares
    let mut launches = || {
        let before = gpu.stats().launches;
        layer.descend(&gradients, 0.5).unwrap();
        let launches = gpu.stats().launches - before;
        (launches, layer.parameters().len())
    };
    assert_eq!(launches(), launches());
}

/// f32 is updated, f16 multiplied: the loss falls far below what a layer of f16 alone comes to.
#[test]
fn mixed_precision_trains() {
    let Some(gpu) = support::gpu() else { return };
    let builder = SkLinear::<f32>::builder(1, 8).seed(1);
    let mut master = pinned_layer(builder.random(&gpu, [48, 40]).unwrap(), Pin::Kernel(GemmKernel::Naive));
    let target = master.clone();
    // The same frozen signs, other S: within reach.
    let shifted = |x: &Tensor<f32>| tilewise::ops::mul(x, &gpu.tensor(&[0.5f32], []).unwrap()).unwrap();
    let x = gpu.random::<f32>([64, 48], Fill::Uniform, 3).unwrap();
    let want = shifted(&target.forward(&x).unwrap());
    let x16 = x.cast::<f16>().unwrap();
    let mut losses = Vec::new();
    for _ in 0..40 {
        let working = master.cast::<f16>().unwrap();
        let hidden = working.hidden(&x16).unwrap();
        let off = tilewise::ops::sub(&working.output::<f32>(&hidden).unwrap(), &want).unwrap();
        losses.push(wide(&off).iter().map(|x| x * x).sum::<f64>() / 64.0);
        let (_, gradients) = working.backward(&x16, &hidden, &off.cast::<f16>().unwrap()).unwrap();
        master.descend(&gradients, 0.01).unwrap();
    }
    println!("loss {} to {}", losses[0], losses[39]);
    assert!(losses[39] < 0.1 * losses[0], "{losses:?}");
}

#[test]
fn random_layers_begin_as_dense_ones_do() {
    let Some(gpu) = support::gpu() else { return };
    for (inputs, outputs, terms, rank) in [(256, 64, 1, 8), (64, 256, 3, 4)] {
        let layer = SkLinear::<f32>::builder(terms, rank).seed(5).random(&gpu, [inputs, outputs]).unwrap();
        let layer = pinned_layer(layer, Pin::Kernel(GemmKernel::Naive));
        let bias = wide(layer.bias().unwrap());
        let bound = 1.0 / (inputs as f64).sqrt();
        let largest = bias.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        assert!(largest <= bound && largest > 0.9 * bound, "{largest} of {bound}: the fan-in");
        let x = gpu.random::<f32>([200, inputs], Fill::Uniform, 6).unwrap();
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let y = wide(&layer.forward(&x).unwrap());
        let variance = squares(&y) / y.len() as f64 - squares(&bias) / bias.len() as f64;
        let law = squares(&wide(&x)) / 200.0 / (3.0 * inputs as f64);
        println!("variance {variance:.4}, of nn.Linear {law:.4}");
        assert!((variance / law - 1.0).abs() < 0.25, "{variance}, not {law}");
        let again = SkLinear::<f32>::builder(terms, rank).seed(5).random(&gpu, [inputs, outputs]).unwrap();
        assert_eq!(wide(&again.s1().unwrap()), wide(&layer.s1().unwrap()), "the same seed");
        let other = SkLinear::<f32>::builder(terms, rank).seed(6).random(&gpu, [inputs, outputs]).unwrap();
        assert_ne!(wide(&other.s1().unwrap()), wide(&layer.s1().unwrap()), "another");
    }
}

#[test]
fn layers_come_back_from_files() {
    let Some(gpu) = support::gpu() else { return };
    let folder = support::folder("layers");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("layers.safetensors");
    let seeded = layer::<f16>(&gpu, [30, 20, 2, 3], Activation::Relu);
    let fitted = given::<bf16>(&gpu, [30, 20, 1, 3]);
    let file = seeded.save(SafetensorsWriter::new(), "a.").unwrap();
    let file = fitted.save(file, "b.").unwrap();
    file.write(&path).unwrap();
    let other = pollster::block_on(async {
        let other = seeded.save_async(SafetensorsWriter::new(), "a.").await?;
        fitted.save_async(other, "b.").await?.to_bytes()
    });
    assert!(other.unwrap() == file.to_bytes().unwrap(), "without blocking, the same file");
    let file = Safetensors::read(&path).unwrap();
    assert_eq!(file.shape("a.S1s").unwrap(), [2, 30, 3]);
    assert_eq!(file.shape("b.U1s").unwrap(), [1, 3, 20]);
    assert!(!file.names().contains(&"a.U1s".into()), "a seed says what signs are");
    let x = gpu.random::<f16>([5, 30], Fill::Uniform, 2).unwrap();
    let back = SkLinear::<f16>::load(&file, &gpu, "a.", Activation::Relu).unwrap();
    let back = pinned_layer(back, Pin::Kernel(GemmKernel::Naive));
    assert_eq!(wide(&back.forward(&x).unwrap()), wide(&seeded.forward(&x).unwrap()));
    let x = gpu.random::<bf16>([5, 30], Fill::Uniform, 2).unwrap();
    let back = SkLinear::<bf16>::load(&file, &gpu, "b.", Activation::None).unwrap();
    let back = pinned_layer(back, Pin::Kernel(GemmKernel::Naive));
    assert_eq!(wide(&back.forward(&x).unwrap()), wide(&fitted.forward(&x).unwrap()));
    let says = |found: tilewise::Result<SkLinear<f32>>, words: &str| {
        says(found, &[words]);
    };
    says(SkLinear::load(&file, &gpu, "a.", Activation::None), "F16");
    says(SkLinear::load(&file, &gpu, "c.", Activation::None), "c.S1s");
    let short = gpu.zeros::<f32>([1, 3, 19]).unwrap();
    let wrong = SafetensorsWriter::new()
        .tensor("S1s", &gpu.zeros::<f32>([1, 30, 3]).unwrap())
        .and_then(|file| file.tensor("U1s", &short)?.tensor("S2s", &gpu.zeros::<f32>([1, 3, 20]).unwrap()))
        .and_then(|file| file.tensor("U2s", &gpu.zeros::<f32>([1, 30, 3]).unwrap()));
    wrong.unwrap().write(&path).unwrap();
    says(SkLinear::load(&Safetensors::read(&path).unwrap(), &gpu, "", Activation::None), "[1, 3, 19]");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let Some(gpu) = support::gpu() else { return };
    let layer = layer::<f32>(&gpu, [12, 8, 1, 3], Activation::None);
    let zeros = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    assert!(matches!(layer.forward(&zeros(&[4, 11])), Err(Error::Shape { .. })));
    assert!(matches!(layer.forward(&zeros(&[])), Err(Error::Shape { .. })));
    assert_eq!(layer.forward(&zeros(&[0, 12])).unwrap().shape(), [0, 8]);
    assert_eq!(layer.forward(&zeros(&[3, 0, 12])).unwrap().shape(), [3, 0, 8]);
    assert!(matches!(layer.plans(&zeros(&[0, 12])), Err(Error::Shape { .. })));
    let (x, hidden, g) = (zeros(&[4, 12]), zeros(&[4, 6]), zeros(&[4, 8]));
    assert!(matches!(layer.backward(&x, &hidden, &zeros(&[3, 8])), Err(Error::Shape { .. })));
    assert!(matches!(layer.backward(&x, &zeros(&[4, 5]), &g), Err(Error::Shape { .. })));
    let (dx, gradients) = layer.backward(&zeros(&[0, 12]), &zeros(&[0, 6]), &zeros(&[0, 8])).unwrap();
    assert_eq!(dx.shape(), [0, 12]);
    assert!(gradients.iter().all(|(_, x)| wide(x).iter().all(|&x| x == 0.0)), "no row, no slope");
    let mut other = self::layer::<f32>(&gpu, [12, 9, 1, 3], Activation::None);
    assert!(matches!(other.descend(&gradients, 1.0), Err(Error::Shape { .. })));
    for sizes in [[0, 8, 1, 3], [12, 0, 1, 3], [12, 8, 0, 3], [12, 8, 1, 0], [12, 8, 1, 9]] {
        let builder = SkLinear::<f32>::builder(sizes[2], sizes[3]).allow_larger();
        assert!(matches!(builder.random(&gpu, [sizes[0], sizes[1]]), Err(Error::Shape { .. })), "{sizes:?}");
    }
    let error = SkLinear::<f32>::builder(2, 3).random(&gpu, [12, 8]).unwrap_err();
    assert!(
        matches!(&error, Error::Input { why, .. } if why.contains("240") && why.contains("96")),
        "{error}"
    );
    let long = zeros(&[9]);
    let biased = SkLinear::<f32>::builder(1, 1).bias(&long);
    assert!(matches!(biased.random(&gpu, [12, 8]), Err(Error::Shape { .. })));
    let Some(elsewhere) = support::own(|_| ()) else { return };
    assert!(matches!(layer.forward(&elsewhere.zeros::<f32>([4, 12]).unwrap()), Err(Error::Gpu { .. })));
}
