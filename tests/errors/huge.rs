//! Sizes that no device has: errors at once, before anything is allocated or computed.

use tilewise::attention::{
    AttentionOptions, FeedForward, KeyValueCache, MultiHeadAttention, TransformerBlock, alibi_slopes,
    attention, attention_with_lse,
};
use tilewise::ops::{self, CrossEntropy, GroupNorm, LayerNorm, Rotary, RotaryPairs};
use tilewise::sketch::{self, SkLinear, Sketch, SketchKind};
use tilewise::{Result, Tensor};

type Operation = fn(&Tensor<f32>) -> Result<()>;

#[test]
fn sizes_that_no_device_has_are_errors() {
    const HUGE: [usize; 4] = [usize::MAX, usize::MAX / 2 + 1, 1 << 62, 1 << 33];
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([4, 6]).unwrap();
    let ids = gpu.zeros::<i32>([3]).unwrap();
    let one = gpu.zeros::<f32>([1, 1]).unwrap();
    let rotary = Rotary::new(&gpu, RotaryPairs::Halves, 6, 1e4, 9).unwrap();
    let launches = gpu.stats().launches;
    for huge in HUGE {
        let fails = |name: &str, result: Result<()>| {
            assert!(result.is_err(), "{name} of {huge} goes through");
        };
        fails("one_hot", ops::one_hot::<f32>(&ids, huge).map(drop));
        fails("pad", ops::pad(&x, &[(huge, 0), (0, 0)], 0.0).map(drop));
        fails("pad after", ops::pad(&x, &[(1, 1), (huge, huge)], 0.0).map(drop));
        fails("repeat", ops::repeat(&x, 0, huge).map(drop));
        fails("embedding_backward", {
            ops::embedding_backward(&ids, &x.slice(0, ..3).unwrap(), huge, None).map(drop)
        });
        fails("index", ops::index_select(&x, 0, &[huge]).map(drop));
        fails("axis", ops::sum(&x, huge).map(drop));
        fails("axes", ops::mean(&x, [0, huge]).map(drop));
        fails("softmax", ops::softmax(&x, huge).map(drop));
        fails("cumsum", ops::cumsum(&x, huge).map(drop));
        let table = |dims, positions| Rotary::new(&gpu, RotaryPairs::Halves, dims, 1e4, positions).map(drop);
        fails("positions", table(6, huge));
        fails("rotary dims", table(huge, 3));
        fails("start", rotary.apply(&x, huge).map(drop));
        let heads = |heads| MultiHeadAttention::<f32>::builder(huge, heads).random(&gpu).map(drop);
        fails("features", heads(1));
        fails("heads", heads(huge));
        let block = |inner| TransformerBlock::<f32>::builder(6, 2, inner).feed_forward(FeedForward::SwiGlu);
        fails("inner features", block(huge).random(&gpu).map(drop));
        fails("slopes", alibi_slopes(huge).map(drop));
        fails("slice_at", ops::slice_at(&x, 0, &ids.slice(0, ..1).unwrap(), huge).map(drop));
        fails("capacity", KeyValueCache::<f32>::new(&gpu, [1, 1, huge, 2]).map(drop));
        fails("unsqueeze", x.unsqueeze(huge).map(drop));
        fails("squeeze", x.squeeze(huge).map(drop));
        fails("groups", GroupNorm::new(huge).run(&x).map(drop));
        fails("normed axes", LayerNorm::new().axes(huge).run(&x).map(drop));
        // A view repeats an element for nothing, but no kernel counts so many.
        if let Ok(wide) = one.broadcast_to([huge, 2]) {
            let each: [(&str, Operation); 11] = [
                ("exp", |x| ops::exp(x).map(drop)),
                ("map", |x| ops::map::<f32, 2>(&[x, x], |[a, b]| a + b).map(drop)),
                ("sum", |x| ops::sum(x, 0).map(drop)),
                ("argmax", |x| ops::argmax(x, 0).map(drop)),
                ("softmax", |x| ops::softmax(x, 0).map(drop)),
                ("rotary", |x| Rotary::new(x.gpu(), RotaryPairs::Halves, 2, 1e4, 9)?.apply(x, 0).map(drop)),
                ("attention", |x| {
                    let x = x.unsqueeze(0)?.unsqueeze(0)?;
                    attention(&x, &x, &x, &AttentionOptions::new()).map(drop)
                }),
                ("attention of heads", |x| {
                    let x = x.unsqueeze(0)?.unsqueeze(2)?;
                    attention_with_lse(&x, &x, &x, &AttentionOptions::new()).map(drop)
                }),
                ("LayerNorm::run", |x| LayerNorm::new().run(x).map(drop)),
                ("BatchNorm::run", |x| ops::BatchNorm::new().training(x, None).map(drop)),
                ("mse", |x| ops::mse(x, x, ops::Reduction::Sum).map(drop)),
            ];
            for (name, operation) in each {
                fails(name, operation(&wide));
            }
            let targets = gpu.zeros::<i32>([1]).unwrap().broadcast_to([huge]).unwrap();
            fails("cross_entropy", CrossEntropy::new().run(&wide, &targets).map(drop));
            fails("embedding", ops::embedding(&x, &targets).map(drop));
        }
    }
    assert_eq!(gpu.stats().launches, launches);
}

/// Counts of sketches and layers.
#[test]
fn counts_that_no_device_has_are_errors() {
    const HUGE: [usize; 4] = [usize::MAX, usize::MAX / 2 + 1, 1 << 62, 1 << 33];
    let gpu = support::noop();
    let x = gpu.zeros::<f32>([4, 6]).unwrap();
    for huge in HUGE {
        let fails = |name: &str, result: Result<()>| {
            assert!(result.is_err(), "{name} of {huge} goes through");
        };
        fails("rank", sketch::rsvd(&x, huge).map(drop));
        fails("columns", sketch::range(&x, huge).map(drop));
        fails("samples", sketch::trace(&x.slice(1, ..4).unwrap(), huge, 1).map(drop));
        let layer = |terms, rank| SkLinear::<f32>::builder(terms, rank).random(&gpu, [8, 8]).map(drop);
        fails("terms", layer(huge, 1));
        fails("rank of a layer", layer(1, huge));
        fails("sketch", Sketch::new(SketchKind::Gaussian, [huge, 4], 1).and_then(|of| of.left(&x)).map(drop));
    }
}
