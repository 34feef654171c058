//! Tensors from and to textures: values, places, order, and what is refused.

mod failures;
mod mistakes;
mod order;
mod places;
mod values;

use support::app::image;
use support::operand::bits;
use support::{each_device as devices, on_every_device};
use tilewise::ops::TexelFormat;
use tilewise::{Element, Gpu, wgpu};
use wgpu::{TextureFormat, TextureUsages};

const COPIES: TextureUsages = TextureUsages::COPY_SRC.union(TextureUsages::COPY_DST);

/// The formats, as wgpu calls them.
const FORMATS: [TextureFormat; 3] =
    [TextureFormat::Rgba8Unorm, TextureFormat::R32Float, TextureFormat::Rgba16Float];

fn of(format: TextureFormat) -> TexelFormat {
    TexelFormat::of(format).expect("one of the formats")
}

fn texel_bytes(format: TextureFormat) -> u32 {
    u32::try_from(of(format).words()).expect("one or two") * 4
}

fn texture(gpu: &Gpu, format: TextureFormat, size: [u32; 2]) -> wgpu::Texture {
    gpu.device().create_texture(&image(format, size, COPIES))
}

/// Writes the texels of a mip level and layer from the host, without a kernel of this crate.
fn upload(gpu: &Gpu, texture: &wgpu::Texture, [mip_level, layer]: [u32; 2], bytes: &[u8]) {
    let [width, height] = [texture.width(), texture.height()].map(|whole| (whole >> mip_level).max(1));
    let to = wgpu::TexelCopyTextureInfo {
        texture,
        mip_level,
        origin: wgpu::Origin3d { x: 0, y: 0, z: layer },
        aspect: wgpu::TextureAspect::All,
    };
    let row = width * texel_bytes(texture.format());
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: Some(height) };
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    gpu.queue().write_texture(to, bytes, layout, size);
}

/// A texture with these texels.
fn uploaded(gpu: &Gpu, format: TextureFormat, size: [u32; 2], bytes: &[u8]) -> wgpu::Texture {
    let texture = texture(gpu, format, size);
    upload(gpu, &texture, [0, 0], bytes);
    texture
}

/// A buffer that the host can map, and the commands that copy the texels of a mip level and layer to it.
fn copy_out(
    gpu: &Gpu,
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
    [mip_level, layer]: [u32; 2],
) -> wgpu::Buffer {
    let [width, height] = [texture.width(), texture.height()].map(|whole| (whole >> mip_level).max(1));
    let row = (width * texel_bytes(texture.format())).next_multiple_of(256);
    let buffer = support::app::buffer(
        gpu.device(),
        u64::from(row * height),
        wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
    );
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            texture,
            mip_level,
            origin: wgpu::Origin3d { x: 0, y: 0, z: layer },
            aspect: wgpu::TextureAspect::All,
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(height),
            },
        },
        wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
    );
    buffer
}

/// The rows of texels in a buffer of `copy_out`, after its commands were submitted.
fn mapped(gpu: &Gpu, buffer: &wgpu::Buffer, format: TextureFormat, width: u32) -> Vec<u8> {
    buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.expect("it can be mapped"));
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
    let row = width as usize * of(format).words() * 4;
    let bytes = buffer.get_mapped_range(..).expect("it is mapped");
    let rows: Vec<&[u8]> = bytes.chunks(row.next_multiple_of(256)).map(|bytes| &bytes[..row]).collect();
    rows.concat()
}

/// The texels of a mip level and layer, read without a kernel of this crate after everything that is recorded.
fn download_of(gpu: &Gpu, texture: &wgpu::Texture, place @ [mip_level, _]: [u32; 2]) -> Vec<u8> {
    gpu.flush().expect("nothing fails");
    let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let buffer = copy_out(gpu, &mut encoder, texture, place);
    gpu.queue().submit([encoder.finish()]);
    mapped(gpu, &buffer, texture.format(), (texture.width() >> mip_level).max(1))
}

fn download(gpu: &Gpu, texture: &wgpu::Texture) -> Vec<u8> {
    download_of(gpu, texture, [0, 0])
}

/// Random bytes.
fn random_bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[2]
    };
    (0..len).map(|_| byte()).collect()
}

/// Random texels, of all bit patterns.
fn random_texels(format: TextureFormat, [width, height]: [u32; 2], seed: u64) -> Vec<u8> {
    random_bytes((width * height) as usize * of(format).words() * 4, seed)
}

/// Random elements, of all bit patterns.
fn random_elements<T: Element>(len: usize, seed: u64) -> Vec<T> {
    random_bytes(len * size_of::<T>(), seed)
        .chunks(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
        .collect()
}
