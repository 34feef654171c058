//! Layers for images: their files, which PyTorch reads and writes, statistics of batches, and the border of a network.

use support::failure::says;
use tilewise::conv::{
    BatchNorm2d, ChannelsFirst, Conv2d, ConvBnAct, ConvOptions, ConvTranspose2d, Convolution, Padding,
};
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::ops::{self, RunningStatistics};
use tilewise::{Activation, Fill, Gpu, Parameters, Tensor, f16};

fn numbers(gpu: &Gpu, shape: &[usize]) -> Tensor<f32> {
    let len = shape.iter().product::<usize>();
    gpu.tensor(&(0..len).map(|i| i as f32).collect::<Vec<_>>(), shape).unwrap()
}

fn file(of: SafetensorsWriter) -> Safetensors {
    Safetensors::from_bytes(of.to_bytes().unwrap()).unwrap()
}

fn all_values(file: &Safetensors) -> Vec<(String, Vec<usize>, Vec<f64>)> {
    let names = file.names().into_iter();
    names
        .map(|name| {
            let (shape, values) = (file.shape(&name).unwrap().to_vec(), file.values(&name).unwrap());
            (name, shape, values)
        })
        .collect()
}

/// Element (o, c, r, s) of the file is element (o, r, s, c) of the layer, and comes to its place again when the layer is saved.
#[test]
fn weights_of_files_are_channels_first_and_those_of_layers_channels_last() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let given = SafetensorsWriter::new().tensor("of.weight", &numbers(&gpu, &[2, 3, 2, 2])).unwrap();
    let given = file(given.tensor("of.bias", &numbers(&gpu, &[2])).unwrap());
    let launches = gpu.stats().launches;
    let conv = Conv2d::<f32>::load(&given, &gpu, "of.", ConvOptions::new()).unwrap();
    assert_eq!(gpu.stats().launches - launches, 1, "a copy of the weight");
    assert!(conv.weight().layout().is_contiguous());
    let want: Vec<f32> = (0..24).map(|at| (at / 12 * 12 + at % 3 * 4 + at / 3 % 4) as f32).collect();
    assert_eq!(conv.weight().to_vec().unwrap(), want);
    assert_eq!(all_values(&file(conv.save(SafetensorsWriter::new(), "of.").unwrap())), all_values(&given));
    // Of a transposed convolution, the first axis is that of the channels.
    let options = ConvOptions::new().stride([2, 2]);
    let no_bias = file(SafetensorsWriter::new().copied(&given, "of.weight").unwrap());
    let transposed = ConvTranspose2d::<f32>::load(&no_bias, &gpu, "of.", options).unwrap();
    assert_eq!(transposed.forward(&numbers(&gpu, &[1, 2, 2, 2])).unwrap().shape(), [1, 4, 4, 3]);
    let saved = pollster::block_on(transposed.save_async(SafetensorsWriter::new(), "of.")).unwrap();
    assert_eq!(all_values(&file(saved)), all_values(&no_bias));
    let flat = file(SafetensorsWriter::new().tensor("weight", &numbers(&gpu, &[2, 3])).unwrap());
    says(
        Conv2d::<f32>::load(&flat, &gpu, "", ConvOptions::new()),
        &["^Conv2d::load: `weight` must have four axes, height and width last", "[2, 3]"],
    );
    says(Conv2d::<f16>::load(&given, &gpu, "of.", ConvOptions::new()), &["`of.weight` has elements of F32"]);
}

#[test]
fn a_block_is_saved_and_loaded_with_its_statistics() {
    let Some(gpu) = support::gpu() else { return };
    let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]])).groups(2);
    let conv = Conv2d::<f32>::random(&gpu, [4, 6], [3, 3], options, 1).unwrap();
    let mut block = ConvBnAct::new(conv, BatchNorm2d::untrained(&gpu, 6).unwrap(), Activation::Silu).unwrap();
    let x = gpu.random::<f32>([2, 5, 4, 4], Fill::Normal, 2).unwrap();
    for _ in 0..2 {
        block.training(&x).unwrap();
    }
    let saved = file(block.save(SafetensorsWriter::new(), "stem.").unwrap());
    let shapes: Vec<_> = all_values(&saved).into_iter().map(|(name, shape, _)| (name, shape)).collect();
    let want: [(&str, &[usize]); 7] = [
        ("stem.bn.bias", &[6]),
        ("stem.bn.num_batches_tracked", &[]),
        ("stem.bn.running_mean", &[6]),
        ("stem.bn.running_var", &[6]),
        ("stem.bn.weight", &[6]),
        ("stem.conv.bias", &[6]),
        ("stem.conv.weight", &[6, 2, 3, 3]),
    ];
    assert_eq!(shapes, want.map(|(name, shape)| (name.to_owned(), shape.to_vec())));
    let loaded = ConvBnAct::<f32>::load(&saved, &gpu, "stem.", options, Activation::Silu).unwrap();
    assert_eq!(loaded.norm().batches(), 2);
    let result = |of: &ConvBnAct<f32>| of.folded().unwrap().forward(&x).unwrap().to_vec().unwrap();
    assert_eq!(result(&loaded), result(&block));
    assert_eq!(loaded.parameters().len(), 4);
    let saved_again = pollster::block_on(loaded.save_async(SafetensorsWriter::new(), "stem.")).unwrap();
    assert_eq!(all_values(&file(saved_again)), all_values(&saved));
    let unlike = BatchNorm2d::<f32>::untrained(&gpu, 5).unwrap();
    says(
        ConvBnAct::new(loaded.conv().clone(), unlike, Activation::None),
        &["^ConvBnAct::new: the norm must have a channel for each output channel"],
    );
}

/// Convolution with bias, norm, activation and residual: one launch, which has the bits of the epilogue as users write it.
#[test]
fn a_folded_block_is_one_launch_with_its_residual() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let options = ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]));
    let conv = Conv2d::<f32>::random(&gpu, [8, 8], [3, 3], options, 1).unwrap();
    let mut norm = BatchNorm2d::untrained(&gpu, 8).unwrap();
    let x = gpu.random::<f32>([2, 6, 6, 8], Fill::Normal, 2).unwrap();
    norm.training(&conv.forward(&x).unwrap()).unwrap();
    let block = ConvBnAct::new(conv.clone(), norm.clone(), Activation::Silu).unwrap();
    let launches = gpu.stats().launches;
    let folded = block.folded().unwrap();
    assert_eq!(gpu.stats().launches - launches, 3, "scale, shift, and its bias");
    let convolution = folded.convolution(&x).residual(&x);
    assert_eq!(convolution.plan().unwrap().steps().len(), 1);
    let launches = gpu.stats().launches;
    let y = convolution.run().unwrap();
    assert_eq!(gpu.stats().launches - launches, 1);
    let [scale, shift] = norm.terms().unwrap();
    let shift = ops::map(&[&shift, &scale, conv.bias().unwrap()], |[t, a, b]| t + a * b).unwrap();
    let by_hand = Convolution::new(&x, conv.weight()).options(options).scale_shift(&scale, &shift);
    let by_hand = by_hand.activation(Activation::Silu).residual(&x).run().unwrap();
    assert_eq!(y.to_vec().unwrap(), by_hand.to_vec().unwrap());
    // Near what the three operations give one after the other.
    let apart = ops::activate(&norm.forward(&conv.forward(&x).unwrap()).unwrap(), Activation::Silu).unwrap();
    let apart = ops::add(&apart, &x).unwrap().to_vec().unwrap();
    let off = y.to_vec().unwrap().iter().zip(&apart).fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
    assert!(off < 1e-4, "{off}");
    let of_f16 = block.cast::<f16>().unwrap().folded().unwrap();
    let of_f16 = of_f16.convolution(&x.cast().unwrap()).residual(&x.cast().unwrap()).run().unwrap();
    let off = of_f16
        .to_vec()
        .unwrap()
        .iter()
        .zip(&apart)
        .fold(0.0f32, |most, (a, b)| most.max((a.to_f32() - b).abs()));
    assert!(off < 0.02, "{off}");
}

/// With no momentum, running statistics are averages of all batches; an error changes none.
#[test]
fn statistics_of_batches_are_averaged() {
    let Some(gpu) = support::gpu() else { return };
    let mut norm = BatchNorm2d::<f32>::untrained(&gpu, 1).unwrap().momentum(None);
    for (row, mean, variance) in
        [([1.0f32, 3.0], 2.0, 2.0), ([5.0, 7.0], 4.0, 2.0), ([1.0, 13.0], 5.0, 25.333)]
    {
        let normed = norm.training(&gpu.tensor(&row, [1, 2, 1, 1]).unwrap()).unwrap();
        assert!(normed.running.is_none());
        let of = |x: &Tensor<f32>| x.to_vec().unwrap()[0];
        let RunningStatistics { mean: found, variance: of_variance } = norm.running();
        assert!((of(found) - mean).abs() < 1e-5, "{}, not {mean}", of(found));
        assert!((of(of_variance) - variance).abs() < 1e-2, "{}, not {variance}", of(of_variance));
    }
    let before = norm.running().mean.to_vec().unwrap();
    says(
        norm.training(&gpu.zeros([1, 1, 1, 1]).unwrap()),
        &["^BatchNorm2d::training: there must be at least"],
    );
    assert_eq!((norm.batches(), norm.running().mean.to_vec().unwrap()), (3, before));
}

/// Every run of a replay updates the statistics in place.
#[test]
fn a_replay_updates_running_statistics() {
    let Some(gpu) = support::gpu() else { return };
    // A capture wants running statistics that nothing shares.
    let start = || {
        let running =
            RunningStatistics { mean: gpu.zeros([4]).unwrap(), variance: gpu.full([4], 1.0f32).unwrap() };
        BatchNorm2d::<f32>::new(None, None, running).unwrap()
    };
    let (mut norm, mut eager) = (start(), start());
    let x = gpu.random::<f32>([2, 3, 3, 4], Fill::Normal, 1).unwrap();
    eager.training(&x).unwrap();
    eager.training(&x).unwrap();
    let mut replay = gpu.capture(&[x.view()], || norm.training(&x).map(|normed| normed.y)).unwrap();
    for _ in 0..2 {
        replay.run(&[x.view()]).unwrap();
    }
    assert_eq!(norm.running().mean.to_vec().unwrap(), eager.running().mean.to_vec().unwrap());
    assert_eq!(norm.running().variance.to_vec().unwrap(), eager.running().variance.to_vec().unwrap());
}

#[test]
fn images_are_converted_by_one_copy_that_has_a_plan() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let x = numbers(&gpu, &[2, 3, 4, 5]);
    let images = ChannelsFirst::new(&x);
    let plan = images.plan().unwrap().expect("a copy");
    assert_eq!(plan.steps().len(), 1);
    let launches = gpu.stats().launches;
    let last = images.to_channels_last().unwrap();
    assert_eq!(gpu.stats().launches - launches, 1);
    assert_eq!(last.shape(), [2, 4, 5, 3]);
    assert!(last.layout().is_contiguous());
    assert_eq!(last.to_vec().unwrap(), x.permute(&[0, 2, 3, 1]).unwrap().to_vec().unwrap());
    let back = ChannelsFirst::from_channels_last(&last).unwrap();
    assert_eq!((back.shape(), back.to_vec().unwrap()), (x.shape(), x.to_vec().unwrap()));
    let grey = numbers(&gpu, &[2, 1, 4, 5]);
    let launches = gpu.stats().launches;
    assert!(ChannelsFirst::new(&grey).plan().unwrap().is_none());
    assert_eq!(ChannelsFirst::new(&grey).to_channels_last().unwrap().shape(), [2, 4, 5, 1]);
    assert_eq!(gpu.stats().launches, launches, "a view");
    says(
        ChannelsFirst::new(&numbers(&gpu, &[2, 3])).to_channels_last(),
        &["^ChannelsFirst::to_channels_last:"],
    );
}
