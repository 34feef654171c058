//! Gradients of multi-head attention with key heads and rotations, against differences of the definition in f64.

use super::{Form, ODD, causal, definition, reals};
use tilewise::attention::{AttentionOptions, CausalFrom, MultiHeadAttention};
use tilewise::reference::MultiHeadReference;
use tilewise::{Element, Fill, Gpu, Real, Tensor, f16};

const BATCH: usize = 2;
const LENGTH: usize = 7;
const KEYS: usize = 5;
/// The length of a step, which f16 holds exactly.
const STEP: f64 = 1.0 / 256.0;

/// The operands of a pass, in f64.
#[derive(Clone)]
struct Point {
    layer: MultiHeadReference,
    x: Vec<f64>,
    key_value: Option<Vec<f64>>,
}

impl Point {
    /// The tensors, by name.
    fn parts(&mut self) -> Vec<(&'static str, &mut Vec<f64>)> {
        let Self { layer, x, key_value } = self;
        let mut all = vec![
            ("x", x),
            ("in_proj.weight", &mut layer.in_proj.weight),
            ("out_proj.weight", &mut layer.out_proj.weight),
        ];
        all.extend(layer.in_proj.bias.as_mut().map(|of| ("in_proj.bias", of)));
        all.extend(layer.out_proj.bias.as_mut().map(|of| ("out_proj.bias", of)));
        all.extend(key_value.as_mut().map(|of| ("key_value", of)));
        all
    }

    /// The sum of the results times `grad`.
    #[expect(clippy::cast_possible_truncation, reason = "the operands are f32")]
    fn loss(&self, grad: &[f64]) -> f64 {
        let narrow = |of: &[f64]| of.iter().map(|x| *x as f32).collect::<Vec<_>>();
        let y = match &self.key_value {
            None => self.layer.forward(&narrow(&self.x), [BATCH, LENGTH]),
            Some(of) => self.layer.forward_cross(&narrow(&self.x), &narrow(of), [BATCH, LENGTH, KEYS]),
        };
        y.value.iter().zip(grad).map(|(y, g)| y * g).sum()
    }

    /// The slope of the loss along a direction of one tensor.
    fn slope(&self, name: &str, direction: &[f64], grad: &[f64]) -> f64 {
        let loss_at = |step: f64| {
            let mut moved = self.clone();
            let (_, of) = moved.parts().into_iter().find(|(own, _)| *own == name).unwrap();
            of.iter_mut().zip(direction).for_each(|(x, d)| *x += step * d);
            moved.loss(grad)
        };
        // Of fourth order.
        (8.0 * (loss_at(STEP) - loss_at(-STEP)) - (loss_at(2.0 * STEP) - loss_at(-2.0 * STEP)))
            / (12.0 * STEP)
    }
}

/// Gradients by name.
fn gradients<T: Real>(
    layer: &MultiHeadAttention<T>,
    x: &Tensor<T>,
    key_value: Option<&Tensor<T>>,
    grad: &Tensor<T>,
) -> Vec<(&'static str, Vec<f64>)> {
    let options = AttentionOptions::new().causal(CausalFrom::TopLeft);
    let (_, saved) = match key_value {
        None => layer.forward_saved(x, &options).unwrap(),
        Some(key_value) => layer.forward_cross_saved(x, key_value, &options).unwrap(),
    };
    let (of_x, of_key_value, found) = layer.backward(&saved, grad).unwrap();
    let of = |name| reals(found.get(name).unwrap());
    let mut all = vec![
        ("x", reals(&of_x)),
        ("in_proj.weight", of("in_proj_weight")),
        ("in_proj.bias", of("in_proj_bias")),
        ("out_proj.weight", of("out_proj.weight")),
        ("out_proj.bias", of("out_proj.bias")),
    ];
    all.extend(of_key_value.map(|of| ("key_value", reals(&of))));
    all
}

/// The gradient of each tensor along three directions, within a part of the product of their lengths.
fn check<T: Real>(gpu: &Gpu, form: Form, keys: Option<usize>, tolerance: f64) {
    let layer = form.layer::<T>(gpu, LENGTH);
    let random = |rows, seed| gpu.random::<T>([BATCH, rows, form.embed], Fill::Uniform, seed).unwrap();
    let (x, grad) = (random(LENGTH, 5), random(LENGTH, 6));
    let key_value = keys.map(|keys| random(keys, 7));
    let mut of = definition(&layer, LENGTH);
    of.kept = Some(causal(CausalFrom::TopLeft, [BATCH, form.heads, LENGTH, keys.unwrap_or(LENGTH)]));
    let mut point = Point { layer: of, x: reals(&x), key_value: key_value.as_ref().map(reals) };
    let found = gradients(&layer, &x, key_value.as_ref(), &grad);
    assert_eq!(found.len(), point.parts().len());
    let grad = reals(&grad);
    for (name, found) in &found {
        for seed in 11..14 {
            let direction = Fill::Integers.values::<f32>(found.len(), seed);
            let direction: Vec<f64> = direction.into_iter().map(|d| d.to_f64() / 4.0).collect();
            let slope = point.slope(name, &direction, &grad);
            let length = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>().sqrt();
            let along: f64 = found.iter().zip(&direction).map(|(g, d)| g * d).sum();
            let most = length(found) * length(&direction);
            let off = (along - slope).abs();
            println!("{} {name}: {along} for {slope}, {:.1e}", T::DTYPE, off / most);
            assert!(off <= tolerance * most, "{name} of {form:?} in {}: {along}, not {slope}", T::DTYPE);
        }
    }
}

#[test]
fn gradients_are_slopes_of_the_definition() {
    let Some(gpu) = support::gpu() else { return };
    check::<f32>(&gpu, ODD, None, 2e-7);
    if !support::is_short_sweep() {
        check::<f32>(&gpu, Form { rotary: None, ..ODD }, Some(KEYS), 2e-7);
        check::<f16>(&gpu, ODD, None, 2e-4);
    }
}

/// Nothing in: no gradient but that of parameters, which is 0.
#[test]
fn gradients_of_empty_sequences() {
    let Some(gpu) = support::gpu() else { return };
    let layer = Form { rotary: None, ..ODD }.layer::<f32>(&gpu, 1);
    let options = AttentionOptions::new();
    let (x, none) = (gpu.zeros::<f32>([2, 3, 30]).unwrap(), gpu.zeros::<f32>([2, 0, 30]).unwrap());
    let (_, saved) = layer.forward_saved(&none, &options).unwrap();
    let (of_x, _, found) = layer.backward(&saved, &none).unwrap();
    assert_eq!(of_x.shape(), [2, 0, 30]);
    assert!(reals(found.get("in_proj_weight").unwrap()).iter().all(|g| *g == 0.0));
    // Queries that attend nothing: only the output's bias matters.
    let (_, saved) = layer.forward_cross_saved(&x, &none, &options).unwrap();
    let ones = gpu.tensor(&[1.0f32; 180], [2, 3, 30]).unwrap();
    let (of_x, _, found) = layer.backward(&saved, &ones).unwrap();
    assert!(reals(&of_x).iter().all(|g| *g == 0.0));
    assert_eq!(reals(found.get("out_proj.bias").unwrap()), [6.0; 30]);
}
