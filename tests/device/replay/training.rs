//! A step of training in a replay: forward pass, gradient of the loss, backward pass, gradient step.

use super::{bits, on_every_device, random};
use support::failure::says;
use tilewise::clifford::layer::{
    BiasOn, CliffordLayer, LayerProduct, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind,
    Residual,
};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::ops::Rate;
use tilewise::sketch::SkLinear;
use tilewise::{Activation, Error, Fill, Gpu, Gradients, Parameters, Real, Result, Tensor, f16, ops};

const STEPS: u16 = 20;
const ALGEBRA: Signature = Signature::CL3;

/// What a step reads. The loss is half the sum of squares times `scale`.
struct Batch {
    x: Tensor<f32>,
    target: Tensor<f32>,
    scale: Tensor<f32>,
}

impl Batch {
    fn new(gpu: &Gpu, [x, target]: [&[usize]; 2]) -> Self {
        let scale = gpu.tensor(&[0.125f32], [1]).unwrap();
        Self { x: random(gpu, x, 100), target: random(gpu, target, 200), scale }
    }

    /// The gradient of the loss with respect to `y`.
    fn gradient(&self, y: &Tensor<f32>) -> Result<Tensor<f32>> {
        ops::mul(&ops::sub(y, &self.target)?, &self.scale)
    }
}

trait Network {
    /// One step. Returns the results from before it.
    fn step(&mut self, batch: &Batch, rate: Rate<'_>) -> Result<Tensor<f32>>;

    fn bits(&self) -> Vec<Vec<u8>>;
}

fn bits_of<T: Real>(layer: &impl Parameters<T>) -> Vec<Vec<u8>> {
    layer.parameters().into_iter().map(|(_, parameter)| bits(parameter)).collect()
}

impl<T: Real> Network for SkLinear<T> {
    fn step(&mut self, batch: &Batch, rate: Rate<'_>) -> Result<Tensor<f32>> {
        let x = batch.x.cast::<T>()?;
        let hidden = self.hidden(&x)?;
        let y = self.output::<f32>(&hidden)?;
        let (_, gradients) = self.backward(&x, &hidden, &batch.gradient(&y)?.cast::<T>()?)?;
        self.descend(&gradients, rate)?;
        Ok(y)
    }

    fn bits(&self) -> Vec<Vec<u8>> {
        bits_of(self)
    }
}

/// A layer of every kind that has parameters.
struct Layers<T: Real> {
    linear: MvLinear<T>,
    layer_norm: MvLayerNorm<T>,
    silu: MvSilu<T>,
    layer: CliffordLayer<T>,
    normalization: MvNormalization<T>,
}

impl<T: Real> Layers<T> {
    fn new(gpu: &Gpu) -> Self {
        let grades = ALGEBRA.dimension() + 1;
        let weight = random::<T>(gpu, &[grades, 3, 4], 1);
        let linear = MvLinear::builder(ALGEBRA, weight).bias(random(gpu, &[4], 2), BiasOn::EveryBlade);
        let layer = CliffordLayer::<T>::builder(LayerProduct::new(ALGEBRA), ProductKind::Connected);
        Self {
            linear: linear.build().unwrap(),
            layer_norm: MvLayerNorm::new(ALGEBRA, random(gpu, &[4], 3)).unwrap(),
            silu: MvSilu::new(ALGEBRA, random(gpu, &[4, grades], 4), random(gpu, &[4, grades], 5)).unwrap(),
            layer: layer.residual(Residual::Operand).seed(6).random(gpu, [4, 4]).unwrap(),
            normalization: MvNormalization::new(ALGEBRA, random(gpu, &[4, grades], 7)).unwrap(),
        }
    }
}

impl<T: Real> Network for Layers<T> {
    fn step(&mut self, batch: &Batch, rate: Rate<'_>) -> Result<Tensor<f32>> {
        let multivectors = |x: Tensor<T>| Multivectors::new(x, &ALGEBRA.blades(), BladeAxis::First);
        let x = multivectors(batch.x.cast()?)?;
        let a = self.linear.forward(&x)?;
        let b = self.layer_norm.forward(&a)?;
        let c = self.silu.forward(&b)?;
        let d = self.layer.forward(&c)?;
        let y = self.normalization.forward(&d)?.tensor().cast::<f32>()?;
        let g = multivectors(batch.gradient(&y)?.cast()?)?;
        let (g, of_normalization) = self.normalization.backward(&d, &g)?;
        let (g, of_layer) = self.layer.backward(&c, &g)?;
        let (g, of_silu) = self.silu.backward(&b, &g)?;
        let (g, of_layer_norm) = self.layer_norm.backward(&a, &g)?;
        let (_, of_linear) = self.linear.backward(&x, &g)?;
        self.normalization.descend(&of_normalization, rate)?;
        self.layer.descend(&of_layer, rate)?;
        self.silu.descend(&of_silu, rate)?;
        self.layer_norm.descend(&of_layer_norm, rate)?;
        self.linear.descend(&of_linear, rate)?;
        Ok(y)
    }

    fn bits(&self) -> Vec<Vec<u8>> {
        let norms = [bits_of(&self.layer_norm), bits_of(&self.normalization)].concat();
        [bits_of(&self.linear), bits_of(&self.silu), bits_of(&self.layer), norms].concat()
    }
}

/// The rate of a step.
fn rate_of(step: u16) -> f32 {
    0.5 / f32::from(step + 1)
}

/// The network trained by a replay has the bits of one that is trained eagerly, with rates from the host.
fn trains_as_eager<N: Network>(gpu: &Gpu, new: impl Fn() -> N, shapes: [&[usize]; 2]) {
    let mut batch = Batch::new(gpu, shapes);
    let len = batch.x.layout().len();
    let x = |step: u16| Fill::Uniform.values::<f32>(len, step.into());
    let (mut eager, mut want) = (new(), Vec::new());
    for step in 0..STEPS {
        batch.x.write(&x(step)).unwrap();
        let y = eager.step(&batch, Rate::Number(rate_of(step))).unwrap();
        want.push((bits(&y), eager.bits()));
    }
    let mut network = new();
    let before = network.bits();
    let rate = gpu.zeros::<f32>([1]).unwrap();
    let captured = gpu.capture(&[batch.x.view(), rate.view()], || network.step(&batch, Rate::Tensor(&rate)));
    let mut replay = captured.unwrap();
    assert_eq!(network.bits(), before, "a capture trains nothing");
    for (step, want) in (0..STEPS).zip(want) {
        replay.write(0, &x(step)).unwrap();
        replay.write(1, &[rate_of(step)]).unwrap();
        gpu.flush().unwrap();
        let before = gpu.stats();
        let y = replay.run(&[batch.x.view(), rate.view()]).unwrap().clone();
        let after = gpu.stats();
        assert_eq!(after.launches - before.launches, u64::try_from(replay.launches()).unwrap());
        assert_eq!(after.bytes_staged, before.bytes_staged, "a run uploads nothing");
        assert_eq!((after.plans, after.buffers_created), (before.plans, before.buffers_created));
        assert_eq!(after.bytes_in_use, before.bytes_in_use, "a run allocates nothing");
        assert!((bits(&y), network.bits()) == want, "{gpu:?}, step {step}");
    }
}

#[test]
fn a_sketched_layer_is_trained_by_a_replay() {
    on_every_device("training a sketched layer", |gpu| {
        let new = || {
            let layer = SkLinear::<f32>::builder(2, 3).allow_larger().seed(3).activation(Activation::Silu);
            layer.bias(&random(gpu, &[5], 9)).random(gpu, [12, 5]).unwrap()
        };
        trains_as_eager(gpu, new, [&[7, 12], &[7, 5]]);
        let half = SkLinear::<f16>::builder(1, 4).allow_larger().seed(4);
        trains_as_eager(gpu, || half.random(gpu, [12, 8]).unwrap(), [&[7, 12], &[7, 8]]);
    });
}

#[test]
fn clifford_layers_are_trained_by_a_replay() {
    on_every_device("training Clifford layers", |gpu| {
        trains_as_eager(gpu, || Layers::<f32>::new(gpu), [&[8, 5, 3], &[8, 5, 4]]);
    });
}

/// The factors that the replay trains would not be those of the layer.
#[test]
fn a_shared_parameter_is_an_error_in_a_capture() {
    on_every_device("shared parameters", |gpu| {
        let mut layer = SkLinear::<f32>::builder(1, 3).allow_larger().seed(3).random(gpu, [12, 8]).unwrap();
        let batch = Batch::new(gpu, [&[7, 12], &[7, 8]]);
        let rate = gpu.tensor(&[0.25f32], [1]).unwrap();
        let clone = layer.clone();
        let before = [bits_of(&layer), bits_of(&clone)];
        let captured = gpu.capture(&[batch.x.view()], || layer.step(&batch, Rate::Tensor(&rate)));
        says(captured, &["Parameters::descend: a parameter of shape [1, 12, 3]"]);
        assert_eq!([bits_of(&layer), bits_of(&clone)], before);
        // As the error says: a step before the capture gives the layer parameters of its own.
        layer.step(&batch, Rate::Tensor(&rate)).unwrap();
        let mut want = layer.clone();
        want.step(&batch, Rate::Number(0.25)).unwrap();
        let mut replay = gpu.capture(&[batch.x.view()], || layer.step(&batch, Rate::Tensor(&rate))).unwrap();
        replay.run(&[batch.x.view()]).unwrap();
        assert_eq!(bits_of(&layer), bits_of(&want), "{gpu:?}");
        assert_eq!(bits_of(&clone), before[1], "the clone keeps what it had");
    });
}

/// Of several parameters, the last one does not match.
#[test]
fn a_gradient_that_does_not_match_changes_nothing() {
    on_every_device("gradients of another layer", |gpu| {
        let mut layer = CliffordLayer::<f32>::builder(LayerProduct::new(ALGEBRA), ProductKind::Steerable)
            .random::<f32>(gpu, [4, 4])
            .unwrap();
        let x = Multivectors::new(random(gpu, &[8, 5, 4], 1), &ALGEBRA.blades(), BladeAxis::First).unwrap();
        let (_, gradients) = layer.backward(&x, &x).unwrap();
        let before = bits_of(&layer);
        let mut wrong = Gradients::new();
        for (name, gradient) in gradients.iter() {
            let is_wrong = name == "gp_weight";
            wrong.add(name, if is_wrong { random(gpu, &[4, 3], 2) } else { gradient.clone() }).unwrap();
        }
        assert!(matches!(layer.descend(&wrong, 0.5), Err(Error::Shape { .. })));
        let rates = random::<f32>(gpu, &[2], 3);
        says(layer.descend(&gradients, &rates), &["the rate must have one element"]);
        assert_eq!(bits_of(&layer), before);
        // A rate of any shape with one element: here a view of an odd place.
        let clone = layer.clone();
        let rate = gpu.tensor(&[0.0f32, 0.5, 0.0], [1, 3, 1]).unwrap().slice(1, 1..2).unwrap();
        let (mut numbered, addresses) = (layer.clone(), gpu.stats().bytes_in_use);
        numbered.descend(&gradients, 0.5).unwrap();
        layer.descend(&gradients, &rate).unwrap();
        assert_eq!(bits_of(&layer), bits_of(&numbered), "{gpu:?}");
        assert_eq!(bits_of(&clone), before, "a clone is not changed");
        assert!(gpu.stats().bytes_in_use > addresses, "shared parameters are copied");
        let held = gpu.stats().bytes_in_use;
        layer.descend(&gradients, &rate).unwrap();
        gpu.wait().unwrap();
        assert_eq!(gpu.stats().bytes_in_use, held, "others are updated in place");
    });
}

/// A step in place has the bits of the same arithmetic in new tensors.
#[test]
fn a_step_has_the_bits_of_plain_operations() {
    on_every_device("plain operations", |gpu| {
        let (a, gradient) = (random::<f32>(gpu, &[5, 4], 1), random::<f32>(gpu, &[5, 4], 2));
        let minus = gpu.tensor(&[-0.3f32], [1]).unwrap();
        let want = ops::add(&a, &ops::mul(&gradient, &minus).unwrap()).unwrap();
        let mut layer = MvNormalization::new(ALGEBRA, a).unwrap();
        let mut gradients = Gradients::new();
        gradients.add("a", gradient).unwrap();
        let before = gpu.stats().launches;
        layer.descend(&gradients, 0.3).unwrap();
        assert_eq!(gpu.stats().launches - before, 2);
        assert_eq!(bits(layer.a()), bits(&want), "{gpu:?}");
    });
}

/// A number is captured as it is.
#[test]
fn a_number_as_the_rate_is_the_same_in_all_runs() {
    on_every_device("a number", |gpu| {
        let new = || SkLinear::<f32>::builder(1, 3).allow_larger().seed(3).random(gpu, [12, 8]).unwrap();
        let batch = Batch::new(gpu, [&[7, 12], &[7, 8]]);
        let (mut eager, mut network) = (new(), new());
        let mut replay = gpu.capture(&[batch.x.view()], || network.step(&batch, 0.25.into())).unwrap();
        gpu.trim();
        for _ in 0..3 {
            drop(random::<f32>(gpu, &[1], 5));
            eager.step(&batch, 0.25.into()).unwrap();
            replay.run(&[batch.x.view()]).unwrap();
        }
        assert_eq!(bits_of(&network), bits_of(&eager), "{gpu:?}");
    });
}
