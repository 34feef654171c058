//! Multi-head attention: forward, and the gradients of the operands and all parameters.

use crate::oracle::Oracle;
use tilewise::attention::{AttentionOptions, Biases, CausalFrom, MultiHeadAttention};
use tilewise::reference::{MultiHeadReference, WeightAndBias};
use tilewise::{DType, Gpu, Tensor};

pub(crate) fn check(gpu: &Gpu, oracle: &mut Oracle) {
    let (embed, heads): (usize, usize) = (oracle.parameter("embed"), oracle.parameter("heads"));
    let has_bias = oracle.parameter::<u8>("bias") == 1;
    let names = ["in_proj_weight", "out_proj_weight", "in_proj_bias", "out_proj_bias"];
    let names = &names[..if has_bias { 4 } else { 2 }];
    let tensors =
        names.iter().map(|name| (name.replace("out_proj_", "out_proj."), oracle.tensor::<f32>(gpu, name)));
    let biases = if has_bias { Biases::All } else { Biases::None };
    let layer = MultiHeadAttention::builder(embed, heads).biases(biases);
    let layer = layer.from_tensors(tensors.collect::<Vec<_>>()).unwrap();
    let keep = oracle.has("key_keep").then(|| oracle.tensor::<i8>(gpu, "key_keep"));
    let mut options = AttentionOptions::new();
    if let Some(keep) = &keep {
        options = options.keep(keep);
    }
    match oracle.parameter::<String>("causal").as_str() {
        "none" => {}
        "top_left" => options = options.causal(CausalFrom::TopLeft),
        other => panic!("{oracle}: causal is `{other}`"),
    }
    let query = oracle.tensor::<f32>(gpu, "query");
    let key_value =
        (oracle.parameter::<u8>("self_attention") == 0).then(|| oracle.tensor::<f32>(gpu, "key_value"));
    let (y, saved) = match &key_value {
        None => layer.forward_saved(&query, &options).unwrap(),
        Some(key_value) => layer.forward_cross_saved(&query, key_value, &options).unwrap(),
    };
    oracle.assert_output("y", &y);
    let without = match &key_value {
        None => layer.forward(&query, &options).unwrap(),
        Some(key_value) => layer.forward_cross(&query, key_value, &options).unwrap(),
    };
    assert_eq!(y.to_vec().unwrap(), without.to_vec().unwrap());
    let (of_x, of_key_value, gradients) = layer.backward(&saved, &oracle.tensor(gpu, "grad_y")).unwrap();
    oracle.assert_output("grad_query", &of_x);
    assert_eq!(of_key_value.is_some(), key_value.is_some());
    if let Some(of_key_value) = &of_key_value {
        oracle.assert_output("grad_key_value", of_key_value);
    }
    for (name, prefix) in [("in_proj", "in_proj_"), ("out_proj", "out_proj.")] {
        let [weight, bias] = ["weight", "bias"].map(|of| gradients.get(&format!("{prefix}{of}")));
        oracle.assert_output(&format!("grad_{name}_weight"), weight.unwrap());
        assert_eq!(bias.is_some(), has_bias);
        if let Some(bias) = bias {
            oracle.assert_output(&format!("grad_{name}_bias"), bias);
        }
    }
    check_definition(oracle, &layer, &query, key_value.as_ref());
}

/// The definition in f64 gives what PyTorch gives.
fn check_definition(
    oracle: &mut Oracle,
    layer: &MultiHeadAttention<f32>,
    query: &Tensor<f32>,
    key_value: Option<&Tensor<f32>>,
) {
    let [batch, length, keys] = ["b", "l", "s"].map(|size| oracle.parameter::<usize>(size));
    let reals = |of: &Tensor<f32>| of.to_vec().unwrap().into_iter().map(f64::from).collect::<Vec<_>>();
    let both =
        |weight, bias: Option<&Tensor<f32>>| WeightAndBias { weight: reals(weight), bias: bias.map(reals) };
    let is_causal = oracle.parameter::<String>("causal") == "top_left";
    let keep = oracle.has("key_keep").then(|| oracle.values("key_keep").1);
    let heads = layer.heads();
    let kept = (0..batch * heads * length * keys).map(|at| {
        let (j, i, of_batch) = (at % keys, at / keys % length, at / keys / length / heads);
        (!is_causal || j <= i) && keep.as_ref().is_none_or(|keep| keep[of_batch * keys + j] != 0.0)
    });
    let definition = MultiHeadReference {
        heads: [heads, heads],
        in_proj: both(layer.in_proj_weight(), layer.in_proj_bias()),
        out_proj: both(layer.out_proj().weight(), layer.out_proj().bias()),
        rotary: None,
        kept: Some(kept.collect()),
        stored: DType::F32,
    };
    let query = query.to_vec().unwrap();
    let found = match key_value {
        None => definition.forward(&query, [batch, length]),
        Some(key_value) => {
            definition.forward_cross(&query, &key_value.to_vec().unwrap(), [batch, length, keys])
        }
    };
    let (_, want) = oracle.values("y");
    let largest = want.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let off = found.value.iter().zip(&want).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
    assert!(off <= 1e-11 * largest, "{oracle}: the definition is off by {off:e}");
}
