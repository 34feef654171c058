//! Layers of convolutional networks, and sketched convolutions.

use super::{Row, row};
use pollster::block_on;
use tilewise::conv::{
    BatchNorm2d, ChannelsFirst, Conv2d, ConvBnAct, ConvOptions, ConvTranspose2d, FoldedConv, Padding,
    SavedConvBnAct,
};
use tilewise::io::SafetensorsWriter;
use tilewise::ops::BatchNormed;
use tilewise::sketch::{Budget, SkConv2d};
use tilewise::{Activation, Fill, Gpu, Gradients, Result, Tensor, f16};

/// Layers of images of 16 channels.
pub struct Networks {
    /// (1, 5, 6, 16).
    pub images: Tensor<f32>,
    /// The same for gradients of results.
    pub grad: Tensor<f32>,
    conv: Conv2d<f32>,
    transposed: ConvTranspose2d<f32>,
    norm: BatchNorm2d<f32>,
    normed: BatchNormed<f32>,
    pub block: ConvBnAct<f32>,
    folded: FoldedConv<f32>,
    saved: SavedConvBnAct<f32>,
    pub sketched: SkConv2d<f32>,
    /// Of the convolution, the norm, the block and the sketched convolution.
    gradients: [Gradients; 4],
}

/// The result has the shape of the images.
fn same() -> ConvOptions {
    ConvOptions::new().padding(Padding::Explicit([[1, 1], [1, 1]]))
}

impl Networks {
    pub(super) fn new(gpu: &Gpu) -> Result<Self> {
        let [images, grad] = [1, 2].map(|seed| gpu.random([1, 5, 6, 16], Fill::Uniform, seed));
        let (images, grad): (Tensor<f32>, Tensor<f32>) = (images?, grad?);
        let conv = Conv2d::random(gpu, [16, 16], [3, 3], same(), 3)?;
        let mut norm = BatchNorm2d::untrained(gpu, 16)?;
        let normed = norm.training(&images)?;
        let of_block = BatchNorm2d::untrained(gpu, 16)?;
        let mut block = ConvBnAct::new(conv.clone(), of_block, Activation::Silu)?;
        let (_, saved) = block.training(&images)?;
        let sketched = SkConv2d::builder().terms(1).rank(2).random(gpu, [16, 16])?;
        let mut gradients = [
            conv.backward(&images, &grad)?.1,
            norm.backward(&images, &grad)?.1,
            block.backward(&images, &grad)?.1,
            sketched.backward(&images, &grad)?.1,
        ];
        // The gradients of a norm share a buffer until they are added to.
        norm.backward_into(&images, &grad, &mut gradients[1])?;
        block.backward_into(&images, &grad, &mut gradients[2])?;
        Ok(Self {
            transposed: ConvTranspose2d::random(gpu, [16, 16], [3, 3], same(), 4)?,
            folded: block.folded()?,
            images,
            grad,
            conv,
            norm,
            normed,
            block,
            saved,
            sketched,
            gradients,
        })
    }
}

/// A row that works on the world's networks alone.
fn of<R: 'static>(name: &'static str, example: fn(&mut Networks) -> Result<R>) -> Row {
    super::row_of(name, |it| &mut it.networks, example)
}

pub(super) fn rows() -> Vec<Row> {
    [convolutions(), norms(), blocks(), sketched()].into_iter().flatten().collect()
}

fn convolutions() -> Vec<Row> {
    vec![
        of("conv::ChannelsFirst::from_channels_last", |n| ChannelsFirst::from_channels_last(&n.images)),
        of("conv::ChannelsFirst::to_channels_last", |n| ChannelsFirst::new(&n.images).to_channels_last()),
        of("conv::Conv2d::backward", |n| n.conv.backward(&n.images, &n.grad)),
        of("conv::Conv2d::backward_into", |n| n.conv.backward_into(&n.images, &n.grad, &mut n.gradients[0])),
        of("conv::Conv2d::cast", |n| n.conv.cast::<f16>()),
        of("conv::Conv2d::forward", |n| n.conv.forward(&n.images)),
        row("conv::Conv2d::load", |it| Conv2d::<f32>::load(&it.file, &it.gpu, "images.conv.", same())),
        row("conv::Conv2d::random", |it| Conv2d::<f32>::random(&it.gpu, [4, 4], [3, 3], same(), 1)),
        of("conv::Conv2d::save", |n| n.conv.save(SafetensorsWriter::new(), "of.")),
        of("conv::Conv2d::save_async", |n| block_on(n.conv.save_async(SafetensorsWriter::new(), "of."))),
        of("conv::ConvTranspose2d::backward", |n| n.transposed.backward(&n.images, &n.grad)),
        of("conv::ConvTranspose2d::backward_into", |n| {
            n.transposed.backward_into(&n.images, &n.grad, &mut n.gradients[0])
        }),
        of("conv::ConvTranspose2d::cast", |n| n.transposed.cast::<f16>()),
        of("conv::ConvTranspose2d::forward", |n| n.transposed.forward(&n.images)),
        row("conv::ConvTranspose2d::load", |it| {
            ConvTranspose2d::<f32>::load(&it.file, &it.gpu, "images.conv.", same())
        }),
        row("conv::ConvTranspose2d::random", |it| {
            ConvTranspose2d::<f32>::random(&it.gpu, [4, 4], [3, 3], same(), 1)
        }),
        of("conv::ConvTranspose2d::save", |n| n.transposed.save(SafetensorsWriter::new(), "of.")),
        of("conv::ConvTranspose2d::save_async", |n| {
            block_on(n.transposed.save_async(SafetensorsWriter::new(), "of."))
        }),
    ]
}

fn norms() -> Vec<Row> {
    vec![
        of("conv::BatchNorm2d::backward", |n| n.norm.backward(&n.images, &n.grad)),
        of("conv::BatchNorm2d::backward_into", |n| {
            n.norm.backward_into(&n.images, &n.grad, &mut n.gradients[1])
        }),
        of("conv::BatchNorm2d::cast", |n| n.norm.cast::<f16>()),
        of("conv::BatchNorm2d::forward", |n| n.norm.forward(&n.images)),
        row("conv::BatchNorm2d::load", |it| BatchNorm2d::<f32>::load(&it.file, &it.gpu, "images.bn.")),
        of("conv::BatchNorm2d::save", |n| n.norm.save(SafetensorsWriter::new(), "of.")),
        of("conv::BatchNorm2d::save_async", |n| block_on(n.norm.save_async(SafetensorsWriter::new(), "of."))),
        of("conv::BatchNorm2d::terms", |n| n.norm.terms().map(<(_, _)>::from)),
        of("conv::BatchNorm2d::training", |n| n.norm.training(&n.images)),
        of("conv::BatchNorm2d::training_backward", |n| {
            n.norm.training_backward(&n.images, &n.normed, &n.grad)
        }),
        of("conv::BatchNorm2d::training_backward_into", |n| {
            n.norm.training_backward_into(&n.images, &n.normed, &n.grad, &mut n.gradients[1])
        }),
        row("conv::BatchNorm2d::untrained", |it| BatchNorm2d::<f32>::untrained(&it.gpu, 4)),
    ]
}

fn blocks() -> Vec<Row> {
    vec![
        of("conv::ConvBnAct::backward", |n| n.block.backward(&n.images, &n.grad)),
        of("conv::ConvBnAct::backward_into", |n| {
            n.block.backward_into(&n.images, &n.grad, &mut n.gradients[2])
        }),
        of("conv::ConvBnAct::cast", |n| n.block.cast::<f16>()),
        of("conv::ConvBnAct::folded", |n| n.block.folded()),
        row("conv::ConvBnAct::load", |it| {
            ConvBnAct::<f32>::load(&it.file, &it.gpu, "images.", same(), Activation::Silu)
        }),
        of("conv::ConvBnAct::save", |n| n.block.save(SafetensorsWriter::new(), "of.")),
        of("conv::ConvBnAct::save_async", |n| block_on(n.block.save_async(SafetensorsWriter::new(), "of."))),
        of("conv::ConvBnAct::training", |n| n.block.training(&n.images).map(|(y, _)| y)),
        of("conv::ConvBnAct::training_backward", |n| n.block.training_backward(&n.saved, &n.grad)),
        of("conv::ConvBnAct::training_backward_into", |n| {
            n.block.training_backward_into(&n.saved, &n.grad, &mut n.gradients[2])
        }),
        of("conv::FoldedConv::forward", |n| n.folded.forward(&n.images)),
    ]
}

fn sketched() -> Vec<Row> {
    vec![
        of("sketch::SkConv2d::backward", |n| n.sketched.backward(&n.images, &n.grad)),
        of("sketch::SkConv2d::backward_into", |n| {
            n.sketched.backward_into(&n.images, &n.grad, &mut n.gradients[3])
        }),
        of("sketch::SkConv2d::cast", |n| n.sketched.cast::<f16>()),
        of("sketch::SkConv2d::forward", |n| n.sketched.forward(&n.images)),
        row("sketch::SkConv2d::from_conv", |it| {
            let weight = it.a.as_strided(&[128, 3, 3, 128], &[0, 0, 0, 0], 0)?;
            SkConv2d::from_conv(&Conv2d::new(weight, None, same())?)
        }),
        row("sketch::SkConv2d::load", |it| {
            SkConv2d::<f32>::load(&it.file, &it.gpu, "sketched_conv.", same())
        }),
        of("sketch::SkConv2d::recommend_rank", |n| SkConv2d::recommend_rank(&n.conv, Budget::Params(0.5))),
        of("sketch::SkConv2d::save", |n| n.sketched.save(SafetensorsWriter::new(), "of.")),
        of("sketch::SkConv2d::save_async", |n| {
            block_on(n.sketched.save_async(SafetensorsWriter::new(), "of."))
        }),
        of("sketch::SkConv2d::to_weight", |n| n.sketched.to_weight()),
        of("sketch::SkConv2dBuilder::fit", |n| SkConv2d::builder().terms(1).rank(2).fit(&n.conv)),
        of("sketch::SkConv2dBuilder::fit_to", |n| {
            SkConv2d::builder().terms(1).rank(2).fit_to(&n.conv, &n.images)
        }),
        of("sketch::SkConv2dBuilder::panther", |n| SkConv2d::builder().terms(1).rank(2).panther(&n.conv)),
        row("sketch::SkConv2dBuilder::random", |it| {
            SkConv2d::<f32>::builder().terms(1).rank(1).random(&it.gpu, [16, 16])
        }),
    ]
}
