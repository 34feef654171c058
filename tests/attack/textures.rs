//! Steps with textures of the application's: tensors are written to them and read from them, and the application writes
//! some itself.

use crate::actor::Actor;
use crate::held::{Held, Item, elements};
use crate::model::Model;
use tilewise::ops::Pixels;
use tilewise::wgpu::{self, TextureFormat, TextureUsages};
use tilewise::{DType, Error, Gpu, Tensor, f16};

/// Textures that a thread holds at most.
const TEXTURES: usize = 3;

/// A texture, and its colours as (height, width, channels).
pub(crate) struct Image {
    texture: wgpu::Texture,
    model: Model,
}

impl Actor {
    pub(crate) fn texture(&mut self) {
        if self.textures.is_empty() || (self.textures.len() < TEXTURES && self.random.chance(10)) {
            self.create_texture();
        }
        let at = self.random.below(self.textures.len());
        match self.random.below(8) {
            0 => drop(self.textures.swap_remove(at)),
            1..4 => self.write_texture(at),
            4 => self.write_texture_as_application(at),
            5 => self.fill_from_texture(at),
            _ => self.read_texture(at),
        }
    }

    /// A texture, which wgpu fills with zeros.
    fn create_texture(&mut self) {
        let (format, channels) =
            [(TextureFormat::R32Float, 1), (TextureFormat::Rgba16Float, 4)][self.random.below(2)];
        let shape = vec![self.random.extent(), self.random.extent(), channels];
        self.say(format!("a texture of {shape:?}"));
        let [height, width] = [0, 1].map(|axis| u32::try_from(shape[axis]).expect("small"));
        let texture = self.world.gpu.device().create_texture(&support::app::image(
            format,
            [width, height],
            TextureUsages::COPY_SRC | TextureUsages::COPY_DST,
        ));
        let values = vec![0; shape.iter().product()];
        self.textures.push(Image { texture, model: Model { shape, values } });
    }

    /// Writes some tensor of the texture's size to it, or a new one.
    fn write_texture(&mut self, at: usize) {
        let shape = self.textures[at].model.shape.clone();
        let largest = of_texels(&self.textures[at].texture);
        let fits = |model: &Model| model.shape == shape && model.largest() <= largest;
        let found = self.find(|item| fits(&item.model) && matches!(item.tensor, Held::F32(_) | Held::F16(_)));
        let (tensor, model) = match found {
            Some(found) if self.random.chance(70) => {
                (Ok(self.items[found].whole()), self.items[found].model.clone())
            }
            _ => {
                let model = Model::random(&mut self.random, &shape);
                (Held::upload(&self.world.gpu, DType::F32, &model), model)
            }
        };
        self.say(format!("to a texture of {shape:?}"));
        let image = &mut self.textures[at];
        let pixels = Pixels::default();
        let written = tensor.and_then(|tensor| match tensor {
            Held::F32(tensor) => tensor.write_texture(&image.texture, &pixels),
            Held::F16(tensor) => tensor.write_texture(&image.texture, &pixels),
            _ => unreachable!("of a type with colours"),
        });
        match written {
            Ok(()) => image.model = model,
            Err(error) => self.excuse(error),
        }
    }

    /// Writes the texture as an application does. What is recorded and not submitted comes before.
    fn write_texture_as_application(&mut self, at: usize) {
        let gpu = self.world.gpu.clone();
        let image = &mut self.textures[at];
        image.model = Model::random(&mut self.random, &image.model.shape);
        gpu.flush().expect("nothing failed before");
        write_behind(&gpu, image);
        self.say("a texture, by the application");
    }

    /// A new tensor with the colours of some texture, in a frame too.
    pub(crate) fn read_texture(&mut self, at: usize) {
        let (gpu, pixels) = (self.world.gpu.clone(), Pixels::default());
        let Image { texture, model } = &self.textures[at];
        let model = model.clone();
        let is_half = texture.format() == TextureFormat::Rgba16Float
            && self.menu != crate::world::Menu::Plain
            && self.random.chance(50);
        let tensor = if is_half {
            Tensor::<f16>::from_texture(&gpu, texture, &pixels).map(Held::F16)
        } else {
            Tensor::<f32>::from_texture(&gpu, texture, &pixels).map(Held::F32)
        };
        self.say(format!("from a texture of {:?}", model.shape));
        self.keep(tensor, model);
    }

    /// Replaces some tensor by the colours of a texture.
    fn fill_from_texture(&mut self, at: usize) {
        let shape = self.textures[at].model.shape.clone();
        // Elements that overlap are no output, as other steps of the walk know.
        let fits = |item: &Item| item.model.shape == shape && !item.tensor.overlaps();
        let found = self.find(|item| fits(item) && matches!(item.tensor, Held::F32(_)));
        let Some(found) = found else { return self.read_texture(at) };
        let (name, shared) = (self.items[found].name(), self.items[found].is_shared());
        self.say(format!("{name} from a texture"));
        let Held::F32(tensor) = &mut self.items[found].tensor else { return };
        let Image { texture, model } = &self.textures[at];
        match tensor.fill_from_texture(texture, &Pixels::default()) {
            Ok(()) => {
                assert!(!shared, "{name} is shared, but was written");
                self.items[found].model = model.clone();
            }
            Err(Error::Input { .. }) if shared => {}
            Err(error) => self.excuse(error),
        }
    }

    /// The place of some texture, if there is one.
    pub(crate) fn some_texture(&mut self) -> Option<usize> {
        (!self.textures.is_empty()).then(|| self.random.below(self.textures.len()))
    }
}

/// The largest integer up to which the texels hold every one.
fn of_texels(texture: &wgpu::Texture) -> i64 {
    let dtype = if texture.format() == TextureFormat::R32Float { DType::F32 } else { DType::F16 };
    crate::model::largest_of(dtype)
}

fn write_behind(gpu: &Gpu, Image { texture, model }: &Image) {
    let bytes: Vec<u8> = match texture.format() {
        TextureFormat::R32Float => bytemuck::cast_slice(&elements::<f32>(&model.values)).to_vec(),
        _ => bytemuck::cast_slice(&elements::<f16>(&model.values)).to_vec(),
    };
    let row = u32::try_from(bytes.len()).expect("small") / texture.height();
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(row),
        rows_per_image: Some(texture.height()),
    };
    gpu.queue().write_texture(texture.as_image_copy(), &bytes, layout, texture.size());
}
