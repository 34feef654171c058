//! Parameters of layers: names, gradients by the same names, and steps of an optimiser.

use support::failure::says;
use support::values::values;
use tilewise::attention::{AttentionOptions, MultiHeadAttention, TransformerBlock};
use tilewise::clifford::layer::{
    BiasOn, CliffordLayer, LayerProduct, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind,
};
use tilewise::clifford::{BladeAxis, Multivectors, Signature};
use tilewise::conv::{BatchNorm2d, Conv2d, ConvBnAct, ConvOptions, ConvTranspose2d, Padding};
use tilewise::gemm::Linear;
use tilewise::ops::{self, Reduction};
use tilewise::sketch::{SkConv2d, SkLinear};
use tilewise::{Activation, Error, Fill, Gpu, Gradients, ParameterMut, Parameters, Result, Tensor};

const SPACE: Signature = Signature::CL3;

/// Adds the gradients of a layer's parameters, from the gradient of its result.
type BackwardInto<'a, L> = &'a dyn Fn(&L, &Tensor<f32>, &mut Gradients) -> Result<()>;

/// A layer, its results for one batch, and the addition of its gradients.
struct Trained<'a, L> {
    layer: L,
    forward: &'a dyn Fn(&L) -> Result<Tensor<f32>>,
    backward_into: BackwardInto<'a, L>,
}

fn tensor(gpu: &Gpu, shape: &[usize], seed: u64) -> Tensor<f32> {
    gpu.random(shape, Fill::Normal, seed).unwrap()
}

fn read(of: &Gradients) -> Vec<(String, Vec<f32>)> {
    of.iter().map(|(name, gradient)| (name.to_owned(), gradient.to_vec().unwrap())).collect()
}

/// Gradients of zeros with one more, or with another shape of one.
fn wrong(gpu: &Gpu, name: &str, shape: &[usize]) -> Gradients {
    let mut gradients = Gradients::new();
    gradients.add(name, gpu.zeros(shape).unwrap()).unwrap();
    gradients
}

/// A step of Adam for each pair, by expressions of elements.
fn adam<L: Parameters<f32>>(
    layer: &mut L,
    gradients: &Gradients,
    moments: &mut Vec<[Tensor<f32>; 2]>,
) -> Result<()> {
    for (at, (_, mut parameter, gradient)) in layer.pairs(gradients)?.into_iter().enumerate() {
        if at == moments.len() {
            let zeros = ops::mul(gradient, 0.0)?;
            moments.push([zeros.clone(), zeros]);
        }
        let [m, v] = &mut moments[at];
        *m = ops::map(&[&*m, gradient], |[m, g]| m * 0.9 + g * 0.1)?;
        *v = ops::map(&[&*v, gradient], |[v, g]| v * 0.99 + &g * &g * 0.01)?;
        let next = ops::map(&[&parameter.tensor(), m, v], |[w, m, v]| w - m / (v.sqrt() + 1e-6) * 0.01)?;
        parameter.set(&next)?;
    }
    Ok(())
}

fn check<L: Parameters<f32> + Clone>(gpu: &Gpu, names: &[&str], trained: Trained<'_, L>) {
    let Trained { mut layer, forward, backward_into } = trained;
    let own: Vec<String> = layer.parameters().into_iter().map(|(name, _)| name).collect();
    let of_trained: Vec<String> = layer.parameters_mut().into_iter().map(|(name, _)| name).collect();
    assert_eq!(of_trained, names);
    assert!(of_trained.iter().all(|name| own.contains(name)), "{own:?}");
    let y = forward(&layer).unwrap();
    let target = tensor(gpu, y.shape(), 77);
    let slope = |layer: &L| ops::mse_and_gradient(&forward(layer)?, &target, Reduction::Mean, 1.0);
    let (_, g) = slope(&layer).unwrap();

    // A gradient for each trained parameter; added twice, all are doubled.
    let mut gradients = Gradients::new();
    backward_into(&layer, &g, &mut gradients).unwrap();
    let once = read(&gradients);
    assert_eq!(layer.pairs(&gradients).unwrap().len(), names.len());
    assert_eq!(gradients.len(), names.len());
    backward_into(&layer, &g, &mut gradients).unwrap();
    for (name, gradient) in once {
        let doubled: Vec<f32> = gradient.iter().map(|g| 2.0 * g).collect();
        assert_eq!(gradients.get(&name).unwrap().to_vec().unwrap(), doubled, "{name}");
    }

    // Wrong shapes and names are errors that name the gradient, and change nothing.
    let first = names[0];
    for (mut of, said) in [
        (wrong(gpu, first, &[3, 1, 4]), format!("the gradient of `{first}` must have the shape")),
        (wrong(gpu, "unknown", &[2]), format!("there is no parameter `unknown`, only `{first}`")),
    ] {
        let errors = [
            layer.pairs(&of).map(drop).unwrap_err(),
            layer.descend(&of, 1.0).unwrap_err(),
            backward_into(&layer, &g, &mut of).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains(&said), "{error}");
        }
    }
    let (_, mut parameter) = layer.parameters_mut().swap_remove(0);
    assert!(matches!(parameter.set(&gpu.zeros([3, 1, 4]).unwrap()), Err(Error::Shape { .. })));

    // Steps lower the loss; a clone keeps what it had.
    let (before, mut losses, mut moments) = (layer.clone(), Vec::new(), Vec::new());
    for _ in 0..10 {
        let (loss, g) = slope(&layer).unwrap();
        losses.push(loss.to_vec().unwrap()[0]);
        let mut gradients = Gradients::new();
        backward_into(&layer, &g, &mut gradients).unwrap();
        adam(&mut layer, &gradients, &mut moments).unwrap();
    }
    assert!(losses[9] < losses[0], "{names:?}: {losses:?}");
    assert_eq!(forward(&before).unwrap().to_vec().unwrap(), y.to_vec().unwrap());
}

#[test]
fn a_linear_layer() {
    let Some(gpu) = support::gpu() else { return };
    let x = tensor(&gpu, &[9, 6], 1);
    let layer = Linear::new(tensor(&gpu, &[5, 6], 2), Some(tensor(&gpu, &[5], 3)), Activation::Gelu).unwrap();
    let trained = Trained {
        layer,
        forward: &|layer| layer.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &["weight", "bias"], trained);
}

#[test]
fn multi_head_attention() {
    let Some(gpu) = support::gpu() else { return };
    let (x, other) = (tensor(&gpu, &[2, 5, 8], 1), tensor(&gpu, &[2, 4, 8], 2));
    let layer = MultiHeadAttention::<f32>::builder(8, 2).seed(3).random(&gpu).unwrap();
    let names = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"];
    let options = AttentionOptions::new();
    let of_itself = Trained {
        layer: layer.clone(),
        forward: &|layer| layer.forward(&x, &options),
        backward_into: &|layer, g, to| {
            layer.backward_into(&layer.forward_saved(&x, &options)?.1, g, to).map(drop)
        },
    };
    check(&gpu, &names, of_itself);
    let of_another = Trained {
        layer,
        forward: &|layer| layer.forward_cross(&x, &other, &options),
        backward_into: &|layer, g, to| {
            layer.backward_into(&layer.forward_cross_saved(&x, &other, &options)?.1, g, to).map(drop)
        },
    };
    check(&gpu, &names, of_another);
}

#[test]
fn a_sketched_layer() {
    let Some(gpu) = support::gpu() else { return };
    let x = tensor(&gpu, &[9, 12], 1);
    let layer = SkLinear::<f32>::builder(2, 3).allow_larger().seed(2).activation(Activation::Silu);
    let layer = layer.bias(&tensor(&gpu, &[8], 3)).random(&gpu, [12, 8]).unwrap();
    let [s1, s2, u1, u2] =
        [&[2, 12, 3][..], &[2, 3, 8], &[2, 3, 8], &[2, 12, 3]].map(|shape| tensor(&gpu, shape, 4));
    let explicit = SkLinear::from_factors([&s1, &s2, &u1, &u2], None, Activation::None).unwrap();
    for (layer, names) in [(layer, &["S1s", "S2s", "bias"][..]), (explicit, &["S1s", "S2s"])] {
        let trained = Trained {
            layer,
            forward: &|layer| layer.forward(&x),
            backward_into: &|layer, g, to| layer.backward_into(&x, &layer.hidden(&x)?, g, to).map(drop),
        };
        check(&gpu, names, trained);
    }
}

#[test]
fn layers_of_convolutions() {
    let Some(gpu) = support::gpu() else { return };
    let x = tensor(&gpu, &[2, 4, 5, 3], 1);
    let options = ConvOptions::new().padding(Padding::Explicit([[1, 0], [1, 1]]));
    let conv = Conv2d::random(&gpu, [3, 4], [2, 3], options, 2).unwrap();
    let trained = Trained {
        layer: conv.clone(),
        forward: &|layer| layer.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &["weight", "bias"], trained);
    let layer = ConvTranspose2d::random(&gpu, [3, 4], [3, 2], ConvOptions::new().stride([2, 1]), 3).unwrap();
    let trained = Trained {
        layer: layer.output_padding([1, 0]),
        forward: &|layer| layer.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &["weight", "bias"], trained);
    let norm = BatchNorm2d::untrained(&gpu, 4).unwrap();
    let names = ["conv.weight", "bn.weight", "bn.bias"];
    let block = ConvBnAct::new(conv.without_bias(), norm, Activation::Silu).unwrap();
    let in_evaluation = Trained {
        layer: block.clone(),
        forward: &|layer| layer.folded()?.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &names, in_evaluation);
    let in_training = Trained {
        layer: block,
        forward: &|layer: &ConvBnAct<f32>| Ok(layer.clone().training(&x)?.0),
        backward_into: &|layer, g, to| {
            layer.training_backward_into(&layer.clone().training(&x)?.1, g, to).map(drop)
        },
    };
    check(&gpu, &names, in_training);
}

#[test]
fn a_batch_norm() {
    let Some(gpu) = support::gpu() else { return };
    let x = tensor(&gpu, &[2, 3, 3, 5], 1);
    let layer = BatchNorm2d::untrained(&gpu, 5).unwrap();
    let in_evaluation = Trained {
        layer: layer.clone(),
        forward: &|layer| layer.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &["weight", "bias"], in_evaluation);
    let in_training = Trained {
        layer,
        forward: &|layer: &BatchNorm2d<f32>| Ok(layer.clone().training(&x)?.y),
        backward_into: &|layer, g, to| {
            layer.training_backward_into(&x, &layer.clone().training(&x)?, g, to).map(drop)
        },
    };
    check(&gpu, &["weight", "bias"], in_training);
}

#[test]
fn a_sketched_convolution() {
    let Some(gpu) = support::gpu() else { return };
    let x = tensor(&gpu, &[2, 4, 4, 3], 1);
    let builder = SkConv2d::<f32>::builder().terms(1).rank(2).seed(2).allow_larger();
    let trained = Trained {
        layer: builder.random(&gpu, [3, 4]).unwrap(),
        forward: &|layer| layer.forward(&x),
        backward_into: &|layer, g, to| layer.backward_into(&x, g, to).map(drop),
    };
    check(&gpu, &["S1s", "bias"], trained);
}

fn of_multivectors(x: &Tensor<f32>) -> Result<Multivectors<f32>> {
    Multivectors::new(x.clone(), &SPACE.blades(), BladeAxis::First)
}

/// The checks of a layer of multivectors; `backward_into` is the layer's own.
macro_rules! check_multivectors {
    ($gpu:expr, $names:expr, $layer:expr) => {{
        let x = of_multivectors(&tensor($gpu, &[8, 5, 3], 1)).unwrap();
        let trained = Trained {
            layer: $layer,
            forward: &|layer| Ok(layer.forward(&x)?.into_tensor()),
            backward_into: &|layer, g, to| layer.backward_into(&x, &of_multivectors(g)?, to).map(drop),
        };
        check($gpu, $names, trained);
    }};
}

#[test]
fn layers_of_multivectors() {
    let Some(gpu) = support::gpu() else { return };
    let gpu = &gpu;
    let of_grades = |seed| tensor(gpu, &[3, 4], seed);
    let linear = MvLinear::builder(SPACE, tensor(gpu, &[4, 3, 3], 2));
    let linear = linear.bias(tensor(gpu, &[3], 3), BiasOn::Scalar).build().unwrap();
    check_multivectors!(gpu, &["linear_weight", "linear_bias"], linear);
    check_multivectors!(gpu, &["a", "b"], MvSilu::new(SPACE, of_grades(4), of_grades(5)).unwrap());
    check_multivectors!(gpu, &["a"], MvNormalization::new(SPACE, of_grades(6)).unwrap());
    check_multivectors!(gpu, &["a"], MvLayerNorm::new(SPACE, tensor(gpu, &[3], 7)).unwrap());
    let builder = CliffordLayer::<f32>::builder(LayerProduct::new(SPACE), ProductKind::Steerable);
    let layer = builder.seed(8).random::<f32>(gpu, [3, 3]).unwrap();
    let names: Vec<String> = layer.parameters().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.last().unwrap(), "gp_weight");
    check_multivectors!(gpu, &names.iter().map(String::as_str).collect::<Vec<_>>(), layer);
}

#[test]
fn a_block_lists_what_its_layers_have() {
    let gpu = support::noop();
    let mut block = TransformerBlock::<f32>::builder(8, 2, 4).random(&gpu).unwrap();
    let shapes: Vec<(String, Vec<usize>)> =
        block.parameters().into_iter().map(|(name, of)| (name, of.shape().to_vec())).collect();
    assert!(shapes.iter().any(|(name, _)| name == "self_attn.out_proj.weight"));
    let trained = block.parameters_mut().into_iter();
    assert_eq!(trained.map(|(name, of)| (name, of.shape().to_vec())).collect::<Vec<_>>(), shapes);
}

#[test]
fn a_parameter_is_changed_in_place_or_replaced() {
    let Some(gpu) = support::gpu() else { return };
    let of = values::<f32>(&[2, 3], 1.0, 1);
    let mut weight = gpu.tensor(&of, [2, 3]).unwrap();
    let shared = weight.clone();
    let two = gpu.tensor(&[2.0f32], []).unwrap();
    let mut parameter = ParameterMut::new(&mut weight);
    parameter.update(|w| ops::mul_assign(w, &two)).unwrap();
    let doubled: Vec<f32> = of.iter().map(|x| 2.0 * x).collect();
    assert_eq!(parameter.tensor().to_vec().unwrap(), doubled);
    assert_eq!(shared.to_vec().unwrap(), of, "others keep what they had");
    let launches = gpu.stats().launches;
    parameter.update(|w| ops::mul_assign(w, &two)).unwrap();
    assert_eq!(gpu.stats().launches - launches, 1, "in place");
    parameter.update(|w| ops::neg(w).map(|next| *w = next)).unwrap();
    let want: Vec<f32> = of.iter().map(|x| -4.0 * x).collect();
    assert_eq!(parameter.tensor().to_vec().unwrap(), want);
    let longer = gpu.zeros::<f32>([4]).unwrap();
    let replace = |w: &mut Tensor<f32>| {
        *w = longer;
        Ok(())
    };
    says(parameter.update(replace), &["^ParameterMut::update: the values must have the shape"]);
    assert_eq!(weight.to_vec().unwrap(), want, "the shape stays");
}
