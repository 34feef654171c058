//! What the calls work on: a device, and operands of every kind on it. All of it is made before the device is lost.

use super::networks::Networks;
use crate::folder as folder_of_tests;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tilewise::attention::{
    AttentionOptions, KeyValueCache, MultiHeadAttention, SavedAttention, TransformerBlock,
};
use tilewise::clifford::layer::{
    CliffordLayer, GradeNorm, LayerProduct, MvLayerNorm, MvLinear, MvNormalization, MvSilu, ProductKind,
};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::gemm::Linear;
use tilewise::io::{Npy, Safetensors, SafetensorsWriter, npy_bytes};
use tilewise::ops::{Normed, Rotary, RotaryPairs};
use tilewise::planning::Scalar;
use tilewise::sketch::{
    Budget, Compress, ExplicitSketch, SeededSketch, Selection, SignStorage, SkLinear, Sketch, SketchKind,
    Svd, Timings,
};
use tilewise::{Activation, Fill, Gemm, Gpu, Gradients, Plan, Replay, Result, Tensor, matmul, wgpu};

/// A device and operands on it.
pub struct World {
    pub gpu: Gpu,
    /// Matrices (8, 8).
    pub a: Tensor<f32>,
    pub b: Tensor<f32>,
    pub c: Tensor<f32>,
    /// (8).
    pub row: Tensor<f32>,
    /// A mask: (8, 8).
    pub mask: Tensor<i8>,
    /// Statistics of eight rows.
    pub normed: Normed<f32>,
    /// The sums of the rows of eight queries: (1, 1, 8, 2).
    pub lse: Tensor<f32>,
    /// A position: (1).
    pub at: Tensor<i32>,
    pub linear: Linear<f32>,
    /// Nine positions.
    pub rotary: Rotary,
    /// A product of matrices (8, 8) that has not been compiled, and its scalars.
    pub plan: Plan,
    pub scalars: Vec<Scalar>,
    /// a b, captured, for an input `a`.
    pub replay: Replay<Tensor<f32>>,
    pub space: Space,
    pub sketches: Sketches,
    pub transformer: Transformer,
    pub networks: Networks,
    /// A buffer of an application, of 256 bytes.
    pub buffer: wgpu::Buffer,
    /// A texture of an application, of 8 x 8 texels r32float.
    pub texture: wgpu::Texture,
    /// (8, 8, 1).
    pub image: Tensor<f32>,
    /// A folder of this device's own, with a model file.
    pub folder: PathBuf,
    pub npy: Npy,
    pub file: Safetensors,
}

/// Multivectors of three rows of two features, and layers for them.
pub struct Space {
    pub x: Multivectors<f32>,
    pub y: Multivectors<f32>,
    pub bivectors: Multivectors<f32>,
    pub rotors: Multivectors<f32>,
    pub norms: Multivectors<f32>,
    pub lines: Multivectors<f32>,
    /// (3, 2).
    pub times: Tensor<f32>,
    pub product: LayerProduct,
    /// (paths, 2, 2).
    pub weight: Tensor<f32>,
    pub layer: CliffordLayer<f32>,
    pub gradients: Gradients,
    pub linear: MvLinear<f32>,
    pub linear_gradients: Gradients,
    pub layer_norm: MvLayerNorm<f32>,
    pub normalization: MvNormalization<f32>,
    pub silu: MvSilu<f32>,
    pub silu_gradients: Gradients,
    pub layer_norm_gradients: Gradients,
    pub normalization_gradients: Gradients,
}

/// Layers of 8 features and 2 heads.
pub struct Transformer {
    /// (1, 3, 8).
    pub x: Tensor<f32>,
    /// (1, 2, 4, 4).
    pub keys: Tensor<f32>,
    pub layer: MultiHeadAttention<f32>,
    pub saved: SavedAttention<'static, f32>,
    pub gradients: Gradients,
    pub block: TransformerBlock<f32>,
    /// Of twenty elements.
    pub cache: KeyValueCache<f32>,
    pub replayable: KeyValueCache<f32>,
}

/// Operators, and layers of 32 features.
pub struct Sketches {
    /// Matrices (32, 32), (16, 32), (256, 8) and (256, 1).
    pub square: Tensor<f32>,
    /// A positive definite matrix (2, 2).
    pub definite: Tensor<f32>,
    pub short: Tensor<f32>,
    pub tall: Tensor<f32>,
    pub long: Tensor<f32>,
    /// (8, 8), and (16, 32).
    pub explicit: ExplicitSketch<f32>,
    pub operator: Sketch,
    pub seeded: SeededSketch,
    pub layer: SkLinear<f32>,
    pub hidden: Tensor<f32>,
    pub gradients: Gradients,
    pub generated: SkLinear<f32>,
    pub svd: Svd,
}

impl World {
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let square = || random(gpu, &[8, 8]);
        let (a, b) = (square()?, square()?);
        let (space, sketches) = (Space::new(gpu)?, Sketches::new(gpu)?);
        let (transformer, networks) = (Transformer::new(gpu)?, Networks::new(gpu)?);
        let folder = folder();
        std::fs::create_dir_all(&folder).expect("a folder for tests");
        let writer = SafetensorsWriter::new().tensor("square", &sketches.square)?;
        let writer = space.layer.save(sketches.generated.save(writer, "sketched.")?, "clifford.")?;
        let writer = transformer.block.save(writer, "block.")?;
        let writer = networks.sketched.save(networks.block.save(writer, "images.")?, "sketched_conv.")?;
        writer.write(folder.join("model.safetensors"))?;
        let compress = Compress::new(folder.join("model.safetensors")).select(Selection::name("square"));
        compress.budget(Budget::Params(0.6)).run(gpu, folder.join("compressed.safetensors"))?;
        let world = Self {
            linear: Linear::new(b.clone(), None, Activation::None)?,
            rotary: Rotary::new(gpu, RotaryPairs::Halves, 8, 1e4, 9)?,
            plan: Gemm::new(&a, &b).activation(Activation::Sigmoid).plan()?,
            scalars: Vec::new(),
            replay: gpu.capture(&[a.view()], || matmul(&a, &b))?,
            c: square()?,
            row: random(gpu, &[8])?,
            mask: gpu.tensor(&[1; 64], [8, 8])?,
            normed: Normed { y: random(gpu, &[8, 8])?, mean: random(gpu, &[8])?, rstd: random(gpu, &[8])? },
            lse: random(gpu, &[1, 1, 8, 2])?,
            at: gpu.tensor(&[1], [1])?,
            npy: Npy::from_bytes(&npy_bytes([2, 2], &[1.0f32; 4])?)?,
            file: Safetensors::from_bytes(writer.to_bytes()?)?,
            buffer: crate::app::buffer(gpu.device(), 256, wgpu::BufferUsages::STORAGE),
            texture: gpu.device().create_texture(&crate::app::image(
                wgpu::TextureFormat::R32Float,
                [8, 8],
                wgpu::TextureUsages::COPY_SRC | wgpu::TextureUsages::COPY_DST,
            )),
            image: random(gpu, &[8, 8, 1])?,
            gpu: gpu.clone(),
            a,
            b,
            space,
            sketches,
            transformer,
            networks,
            folder,
        };
        gpu.wait()?;
        Ok(world)
    }
}

impl Space {
    fn new(gpu: &Gpu) -> Result<Self> {
        let space = Signature::CL3;
        let of = |blades: &Blades| {
            Multivectors::new(random(gpu, &[blades.len(), 3, 2])?, blades, BladeAxis::First)
        };
        let product = LayerProduct::new(space).norm(GradeNorm::Rms);
        let (x, y) = (of(&space.blades())?, of(&space.blades())?);
        let layer =
            CliffordLayer::<f32>::builder(product, ProductKind::Steerable).random::<f32>(gpu, [2, 2])?;
        let (_, gradients) = layer.backward(&x, &y)?;
        let linear = MvLinear::new(space, random(gpu, &[4, 2, 2])?)?;
        let (_, linear_gradients) = linear.backward(&x, &y)?;
        Ok(Self {
            bivectors: of(&space.bivectors())?,
            rotors: of(&space.even())?,
            norms: of(&space.scalars())?,
            lines: of(&Signature::PGA3D.lines())?,
            times: random(gpu, &[3, 2])?,
            weight: random(gpu, &[space.paths().len(), 2, 2])?,
            linear,
            linear_gradients,
            layer_norm: MvLayerNorm::new(space, random(gpu, &[2])?)?,
            normalization: MvNormalization::new(space, random(gpu, &[2, 4])?)?,
            silu: MvSilu::new(space, random(gpu, &[2, 4])?, random(gpu, &[2, 4])?)?,
            silu_gradients: gradients_of(gpu, &[("a", &[2, 4]), ("b", &[2, 4])])?,
            layer_norm_gradients: gradients_of(gpu, &[("a", &[2])])?,
            normalization_gradients: gradients_of(gpu, &[("a", &[2, 4])])?,
            x,
            y,
            product,
            layer,
            gradients,
        })
    }
}

impl Transformer {
    fn new(gpu: &Gpu) -> Result<Self> {
        let x = random(gpu, &[1, 3, 8])?;
        let layer = MultiHeadAttention::<f32>::builder(8, 2).random(gpu)?;
        let (y, saved) = layer.forward_saved(&x, &AttentionOptions::new())?;
        let (_, _, gradients) = layer.backward(&saved, &y)?;
        let (block, cache) = (TransformerBlock::builder(8, 2, 4).random(gpu)?, layer.cache(1, 20)?);
        let replayable = layer.replayable_cache(1, 20)?;
        Ok(Self { keys: random(gpu, &[1, 2, 4, 4])?, x, layer, saved, gradients, block, cache, replayable })
    }
}

impl Sketches {
    fn new(gpu: &Gpu) -> Result<Self> {
        let square = random(gpu, &[32, 32])?;
        let builder = SkLinear::<f32>::builder(1, 2);
        let operator = Sketch::new(SketchKind::Gaussian, [16, 32], 1)?;
        let layer = builder.random(gpu, [32, 32])?;
        let hidden = layer.hidden(&square)?;
        let (_, gradients) = layer.backward(&square, &hidden, &square)?;
        Ok(Self {
            short: random(gpu, &[16, 32])?,
            tall: random(gpu, &[256, 8])?,
            long: random(gpu, &[256, 1])?,
            explicit: ExplicitSketch::new(random(gpu, &[8, 8])?)?,
            operator,
            seeded: operator.seeded_by(&gpu.tensor(&Sketch::seed_words(2), [2])?)?,
            generated: builder.signs(SignStorage::Generated).random(gpu, [32, 32])?,
            svd: Svd {
                u: random(gpu, &[8, 2])?,
                s: vec![2.0, 1.0],
                s_errors: vec![0.0, 0.0],
                v: random(gpu, &[8, 2])?,
                rank: 2,
                residual: 0.0,
                rel_residual: 0.0,
                timings: Timings::default(),
            },
            square,
            definite: gpu.tensor(&[4.0f32, 2.0, 2.0, 10.0], [2, 2])?,
            layer,
            hidden,
            gradients,
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn random(gpu: &Gpu, shape: &[usize]) -> Result<Tensor<f32>> {
    gpu.random(shape, Fill::Uniform, shape.iter().sum::<usize>() as u64)
}

/// A path that no other device of this process has.
fn folder() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    folder_of_tests(&format!("lost-device-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// Random gradients of these names and shapes.
fn gradients_of(gpu: &Gpu, shapes: &[(&str, &[usize])]) -> Result<Gradients> {
    let mut gradients = Gradients::new();
    shapes.iter().try_for_each(|(name, shape)| gradients.add(*name, random(gpu, shape)?))?;
    Ok(gradients)
}
