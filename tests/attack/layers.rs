//! Steps of layers: softmax, norms, losses and dense layers, forwards and backwards. Their results are no integers.

use crate::actor::Actor;
use crate::held::{Held, Item, elements};
use crate::model::Model;
use crate::reals::Results;
use tilewise::attention::{AttentionOptions, CausalFrom, attention_backward, attention_with_lse};
use tilewise::gemm::linear_backward;
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, InstanceNorm, LayerNorm, Reduction, RmsNorm, Rotary,
    RotaryPairs, RunningStatistics, Softmax,
};
use tilewise::reference::{
    self, AttentionReference, CrossEntropyReference, LinearReference, LossReference, NormGradientDefinitions,
    SoftmaxReference, TargetValues,
};
use tilewise::{Activation, Element, Gpu, Gradients, Result, Tensor};

/// The largest integers that a layer takes, and the largest number of them.
const LARGEST: i64 = 1 << 9;
const ELEMENTS: usize = 1 << 12;
const EPS: f32 = 0.5;
/// Of attention, so that its scores are of a few units.
const SCALE: f32 = 1e-5;

/// An operand of the walk, and another of its shape.
struct Operands {
    gpu: Gpu,
    shape: Vec<usize>,
    x: Tensor<f32>,
    of_x: Vec<f32>,
    g: Tensor<f32>,
    of_g: Vec<f32>,
}

impl Operands {
    /// The extent of the last axis, and the number of rows along it.
    fn sizes(&self) -> [usize; 2] {
        let length = self.shape.last().copied().unwrap_or(1);
        [length, self.of_x.len() / length]
    }

    /// The extents before an axis, along it and behind it.
    fn along(&self, axis: usize) -> [usize; 3] {
        let [outer, inner] = [&self.shape[..axis], &self.shape[axis + 1..]].map(|n| n.iter().product());
        [outer, self.shape[axis], inner]
    }

    /// A number for each position along the last axis, small and positive.
    fn of_last(&self) -> Result<(Tensor<f32>, Vec<f32>)> {
        let values: Vec<f32> = (0..self.sizes()[0]).map(|i| 0.5 + 0.25 * (i % 5) as f32).collect();
        Ok((self.gpu.tensor(&values, [values.len()])?, values))
    }
}

impl Actor {
    /// A layer of some tensor. Parameters and gradients are new.
    pub(crate) fn layer(&mut self) {
        let fits = |item: &Item| {
            let is_small = item.model.largest() <= LARGEST && item.model.values.len() <= ELEMENTS;
            matches!(item.tensor, Held::F32(_)) && is_small
        };
        let Some(at) = self.find(fits) else { return };
        let Held::F32(x) = self.items[at].whole() else { return };
        let (model, name) = (self.items[at].model.clone(), self.items[at].name());
        let gpu = self.world.gpu.clone();
        let g = Model::random(&mut self.random, &model.shape);
        let of_g = elements::<f32>(&g.values);
        let uploaded = match gpu.tensor(&of_g, &model.shape) {
            Ok(uploaded) => uploaded,
            Err(error) => return self.excuse(error),
        };
        let of_x = elements(&model.values);
        let operands = Operands { gpu, shape: model.shape, x, of_x, g: uploaded, of_g };
        let kind = self.random.below(18);
        let (what, results) = match kind {
            0..3 => ("softmax", self.softmax(&operands)),
            3 | 4 => ("layer norm", layer_norm(&operands, self.random.below(3))),
            5 => ("rms norm", rms_norm(&operands)),
            6 | 7 => ("group norm", self.group_norm(&operands)),
            8 => ("batch norm", batch_norm(&operands, self.random.below(2))),
            9..12 => ("loss", self.loss(&operands)),
            12 | 13 => ("cross-entropy", self.cross_entropy(&operands)),
            14 => ("gradient of a table", self.look_up_backward()),
            15 => ("rotation", self.rotation(&operands)),
            16 => ("attention", self.attention(&operands)),
            _ => ("gradients of a dense layer", self.dense_backward(&operands)),
        };
        self.keep_reals(format!("{what} of {name}, kind {kind}"), results);
    }

    fn softmax(&mut self, of: &Operands) -> Result<Results> {
        let axis = self.random.below(of.shape.len());
        let shape = of.along(axis);
        let kind = self.random.below(5);
        self.say(format!("function {kind} along {axis}"));
        Ok(match kind {
            0 => vec![(ops::softmax(&of.x, axis)?, reference::softmax(&of.of_x, shape))],
            1 => vec![(ops::log_softmax(&of.x, axis)?, reference::log_softmax(&of.of_x, shape))],
            2 => {
                let (mask, values) = of.of_last()?;
                let mask_at = |i: usize| f64::from(values[i % values.len()]);
                let reference = SoftmaxReference {
                    mask: Some((0..of.of_x.len()).map(mask_at).collect()),
                    scale: 0.25,
                    ..SoftmaxReference::new(&of.of_x, shape)
                };
                vec![(Softmax::new(&of.x, axis).mask(&mask).scale(0.25).run()?, reference.softmax())]
            }
            3 => vec![(
                ops::softmax_backward(&of.x, &of.g, axis)?,
                reference::softmax_backward(&of.of_x, &of.of_g, shape),
            )],
            // The result of the forward pass has exponentials of a few units.
            _ => vec![(
                ops::log_softmax_backward(&of.g, &of.x, axis)?,
                reference::log_softmax_backward(&of.of_g, &of.of_x, shape),
            )],
        })
    }

    /// Attention of rows to each other, and its gradients, with a mask of one size for all keys or without. Keys are the other operand, values
    /// the operand itself. The forms of the kernels depend on the length of rows, so only short rows take part.
    fn attention(&mut self, of: &Operands) -> Result<Results> {
        let [length, rows] = of.sizes();
        if length > 8 {
            return Ok(Vec::new());
        }
        let taken = 1 + self.random.below(rows.min(48));
        let mask = [0.0, -1e4, -1e9, f32::MIN][self.random.below(4)];
        self.say(format!("{taken} rows, a mask of {mask:e}"));
        let shape = [1, 1, taken, length];
        let part = |of: &Tensor<f32>| of.contiguous()?.reshape([1, 1, rows, length])?.slice(2, ..taken);
        let (x, g) = (part(&of.x)?, part(&of.g)?);
        let [of_x, of_g] = [&of.of_x, &of.of_g].map(|of| &of[..taken * length]);
        let mut want =
            AttentionReference::new([of_x, of_g, of_x], [1; 3], [taken; 2], [length; 2], f64::from(SCALE));
        want.kept = Some((0..taken * taken).map(|at| at % taken <= at / taken).collect());
        want.bias = Some(vec![f64::from(mask); taken * taken]);
        let bias = of.gpu.tensor(&vec![mask; taken], [taken])?;
        let options = AttentionOptions::new().scale(SCALE).causal(CausalFrom::TopLeft).bias(&bias);
        let (attended, sums) = (want.attention(), want.log_sums());
        let [of_y, of_lse]: [Vec<f32>; 2] =
            [&attended, &sums].map(|of| of.value.iter().map(|&x| f32::from_f64(x)).collect());
        let (y, lse) = (of.gpu.tensor(&of_y, shape)?, of.gpu.tensor(&of_lse, [1, 1, taken, 2])?);
        let gradients = attention_backward(&x, &g, &x, &y, &lse, &g, &options)?;
        let of_all = want.gradients(&of_y, of_g);
        let (y, lse) = attention_with_lse(&x, &g, &x, &options)?;
        let of_gradients = [(gradients.q, of_all.q), (gradients.k, of_all.k), (gradients.v, of_all.v)];
        Ok([(y, attended), (lse, sums)].into_iter().chain(of_gradients).collect())
    }

    /// A rotation by the angles of some positions, or its gradient.
    fn rotation(&mut self, of: &Operands) -> Result<Results> {
        let [outer @ .., length, dim] = &of.shape[..] else { return Ok(Vec::new()) };
        if *dim < 2 {
            return Ok(Vec::new());
        }
        let rotary_dims = 2 * (1 + self.random.below(dim / 2));
        let (pairs, start) = (RotaryPairs::ALL[self.random.below(2)], self.random.below(5000));
        self.say(format!("{pairs:?} of {rotary_dims}, from position {start} on"));
        let positions: Vec<usize> = (start..start + length).collect();
        let rotary = Rotary::at_positions(&of.gpu, pairs, rotary_dims, 1e4, &positions)?;
        let angles = reference::rotary_angles(rotary_dims, 1e4, &positions);
        let shape = [outer.iter().product(), *length, *dim];
        Ok(vec![
            (rotary.apply(&of.x, 0)?, reference::rotary(&of.of_x, shape, pairs, &angles)),
            (rotary.backward(&of.g, 0)?, reference::rotary_backward(&of.of_g, shape, pairs, &angles)),
        ])
    }

    /// A group norm, or an instance norm: that of as many groups as channels.
    fn group_norm(&mut self, of: &Operands) -> Result<Results> {
        let [channels, rows] = of.sizes();
        if of.shape.len() < 2 {
            return Ok(Vec::new());
        }
        let divisors: Vec<usize> = (1..=channels).filter(|groups| channels.is_multiple_of(*groups)).collect();
        let groups = divisors[self.random.below(divisors.len())];
        let planes = [of.shape[0], rows / of.shape[0], channels];
        let (gamma, values) = of.of_last()?;
        let (weights, eps) = ([Some(&values[..]), None], f64::from(EPS));
        let norm = GroupNorm::new(groups).gamma(&gamma).eps(EPS);
        let instance = InstanceNorm::new().gamma(&gamma).eps(EPS);
        let is_instance = groups == channels;
        let normed =
            if is_instance { instance.with_statistics(&of.x)? } else { norm.with_statistics(&of.x)? };
        let found = if is_instance {
            instance.backward(&of.x, &normed, &of.g)?
        } else {
            norm.backward(&of.x, &normed, &of.g)?
        };
        let want = reference::group_norm(&of.of_x, planes, groups, weights, eps);
        let of_backward = reference::group_norm_backward(&of.of_x, planes, groups, weights[0], eps, &of.of_g);
        let mut results = vec![(normed.y, want.y), (normed.mean, want.mean), (normed.rstd, want.rstd)];
        results.extend(gradients(found, of_backward));
        Ok(results)
    }

    fn loss(&mut self, of: &Operands) -> Result<Results> {
        let reduction = self.reduction();
        let (delta, g) = (2.0, -1.5);
        let (weight, values) = of.of_last()?;
        let weights: Vec<f64> = (0..of.of_x.len()).map(|i| f64::from(values[i % values.len()])).collect();
        let (x, target) = (&of.x, &of.g);
        let kind = self.random.below(4);
        self.say(format!("function {kind}, {reduction:?}"));
        let (reference, (loss, gradient)) = match kind {
            0 => (LossReference::Mse, ops::mse_and_gradient(x, target, reduction, g)?),
            1 => (LossReference::L1, ops::l1_and_gradient(x, target, reduction, g)?),
            2 => (
                LossReference::Huber { delta: delta.into() },
                ops::huber_and_gradient(x, target, delta, reduction, g)?,
            ),
            _ => (
                LossReference::BceWithLogits,
                ops::bce_with_logits_and_gradient(x, target, Some(&weight), reduction, g)?,
            ),
        };
        let want = reference.run([&of.of_x, &of.of_g], &weights, &[g.into()], reduction);
        Ok(vec![(loss, want.loss), (gradient, want.gradient)])
    }

    fn cross_entropy(&mut self, of: &Operands) -> Result<Results> {
        let [classes, rows] = of.sizes();
        let reduction = self.reduction();
        // Some rows are ignored; as many classes as there are rows of that many.
        let targets: Vec<i32> = (0..rows)
            .map(|_| i32::try_from(self.random.below(classes + 1)).expect("a small tensor") - 1)
            .collect();
        let of_targets = of.gpu.tensor(&targets, &of.shape[..of.shape.len() - 1])?;
        let entropy = CrossEntropy::new().ignore_index(-1).reduction(reduction).label_smoothing(0.25);
        let (found, gradient) = entropy.run_with_gradient(&of.x, &of_targets, 2.0)?;
        let reference = CrossEntropyReference {
            classes,
            smoothing: 0.25,
            ignored: Some(-1),
            reduction,
            ..CrossEntropyReference::default()
        };
        let want = reference.run(&of.of_x, TargetValues::Classes(&targets), &[2.0]);
        Ok(vec![(found.loss, want.loss), (found.log_sums, want.log_sums), (gradient, want.gradient)])
    }

    fn reduction(&mut self) -> Reduction {
        [Reduction::Mean, Reduction::Sum, Reduction::None][self.random.below(3)]
    }

    /// The gradients of a layer from the last axis to one of some features.
    fn dense_backward(&mut self, of: &Operands) -> Result<Results> {
        let [inputs, batch] = of.sizes();
        if of.shape.len() < 2 {
            return Ok(Vec::new());
        }
        let outputs = 1 + self.random.below(6);
        let weight = Model::random(&mut self.random, &[outputs, inputs]);
        let g = Model::random(&mut self.random, &[batch, outputs]);
        let activation = [Activation::None, Activation::Relu][self.random.below(2)];
        let x = Model { shape: vec![batch, inputs], values: crate::held::integers(&of.of_x) };
        // Sums of integers are exact, so that they tell where the activation is 0.
        let sums = x.matmul(&weight.t(), 1 << 24).map_or(Vec::new(), |sums| elements::<f32>(&sums.values));
        if sums.is_empty() {
            return Ok(Vec::new());
        }
        let of_weight = elements::<f32>(&weight.values);
        let of_g = elements::<f32>(&g.values);
        let mut g_shape = of.shape.clone();
        g_shape.pop();
        g_shape.push(outputs);
        let gpu = &of.gpu;
        let (weight, g) = (gpu.tensor(&of_weight, [outputs, inputs])?, gpu.tensor(&of_g, g_shape)?);
        let (of_x, found) = linear_backward(&of.x, &weight, None, activation, &g)?;
        let weight = of_weight.into_iter().map(f64::from).collect();
        let reference = LinearReference { features: [inputs, outputs], weight, activation };
        let want = reference.backward(&of.of_x, &sums, &of_g);
        Ok(vec![(of_x, want.x), (found.get("weight").expect("it is there").clone(), want.weight)])
    }
}

/// A layer norm, one with a residual, or its gradients.
fn layer_norm(of: &Operands, kind: usize) -> Result<Results> {
    let [length, _] = of.sizes();
    let (gamma, values) = of.of_last()?;
    let norm = LayerNorm::new().gamma(&gamma).beta(&gamma).eps(EPS);
    let (weights, eps) = ([Some(&values[..]); 2], f64::from(EPS));
    let (normed, total) = match kind {
        0 => {
            let (total, normed) = norm.residual(&of.x, &of.g)?;
            (normed, Some(total))
        }
        _ => (norm.with_statistics(&of.x)?, None),
    };
    let sum: Vec<f32> = of.of_x.iter().zip(&of.of_g).map(|(x, g)| x + g).collect();
    let x = if total.is_some() { &sum } else { &of.of_x };
    let want = reference::layer_norm(x, length, weights, eps);
    let mut results = Vec::new();
    if kind == 2 {
        let found = norm.backward(&of.x, &normed, &of.g)?;
        let want = reference::layer_norm_backward(&of.of_x, length, weights[0], eps, &of.of_g);
        results.extend(gradients(found, want));
    }
    results.extend([(normed.y, want.y), (normed.mean, want.mean), (normed.rstd, want.rstd)]);
    results.extend(total.map(|total| (total, reference::add(&of.of_x, &of.of_g))));
    Ok(results)
}

fn rms_norm(of: &Operands) -> Result<Results> {
    let [length, _] = of.sizes();
    let (gamma, values) = of.of_last()?;
    let norm = RmsNorm::new().gamma(&gamma).eps(EPS);
    let (weights, eps) = (Some(&values[..]), f64::from(EPS));
    let normed = norm.with_statistics(&of.x)?;
    let found = norm.backward(&of.x, &normed, &of.g)?;
    let want = reference::rms_norm(&of.of_x, length, weights, eps);
    let mut results = vec![(normed.y, want.y), (normed.rstd, want.rstd)];
    results.extend(gradients(found, reference::rms_norm_backward(&of.of_x, length, weights, eps, &of.of_g)));
    Ok(results)
}

/// A batch norm in training with its gradients, or one with given statistics.
fn batch_norm(of: &Operands, kind: usize) -> Result<Results> {
    let [channels, rows] = of.sizes();
    if of.shape.len() < 2 || rows < 2 {
        return Ok(Vec::new());
    }
    let (gamma, values) = of.of_last()?;
    let norm = BatchNorm::new().gamma(&gamma).beta(&gamma).eps(EPS);
    let (weights, eps) = ([Some(&values[..]); 2], f64::from(EPS));
    if kind == 0 {
        let running = RunningStatistics { mean: gamma.clone(), variance: gamma.clone() };
        let given = [&values[..]; 2];
        let found = norm.backward(&of.x, &running, &of.g)?;
        let mut results =
            vec![(norm.run(&of.x, &running)?, reference::batch_norm(&of.of_x, given, weights, eps))];
        results.extend(gradients(
            found,
            reference::batch_norm_backward(&of.of_x, given, weights[0], eps, &of.of_g),
        ));
        return Ok(results);
    }
    let normed = norm.training(&of.x, None)?;
    let found = norm.training_backward(&of.x, &normed, &of.g)?;
    let planes = [1, rows, channels];
    let want = reference::group_norm(&of.of_x, planes, channels, weights, eps);
    let mut results = vec![(normed.y, want.y), (normed.mean, want.mean), (normed.variance, want.variance)];
    results.extend(gradients(
        found,
        reference::group_norm_backward(&of.of_x, planes, channels, weights[0], eps, &of.of_g),
    ));
    Ok(results)
}

/// The gradients of a norm, with their definitions.
fn gradients((of_x, found): (Tensor<f32>, Gradients), want: NormGradientDefinitions) -> Results {
    let weights = [("gamma", want.gamma), ("beta", want.beta)];
    let weights = weights.into_iter().filter_map(|(name, want)| Some((found.get(name)?.clone(), want)));
    [(of_x, want.x)].into_iter().chain(weights).collect()
}
