//! A frame: the application's passes, and the network between them.

use crate::application::Application;
use crate::network::{COLOURS, INPUTS, Network};
use std::f64::consts::TAU;
use std::rc::Rc;
use tilewise::gemm::Operand;
use tilewise::{DType, Element, Error, Plan, Real, Result, Tensor, wgpu};

/// The picture's height shows the plane from -ZOOM to ZOOM.
pub(crate) const ZOOM: f32 = 2.2;
/// Bytes of `Frame` in the shaders.
const FRAME_BYTES: u64 = 32;
/// Pixels of a workgroup of `inputs.wgsl`, along each axis.
const WORKGROUP: u32 = 8;

/// What pictures of one size need: buffers, passes, and the network.
pub(crate) struct Scene<T: Real> {
    pub(crate) network: Rc<Network<T>>,
    /// (pixel, input), which the application's compute pass writes.
    pub(crate) inputs: Tensor<T>,
    /// (pixel, colour), which the application's render pass reads.
    pub(crate) colours: Tensor<f32>,
    /// The plan of each layer.
    pub(crate) plans: Vec<Plan>,
    pub(crate) size: [u32; 2],
    frame: wgpu::Buffer,
    compute: (wgpu::ComputePipeline, wgpu::BindGroup),
    render: (wgpu::RenderPipeline, wgpu::BindGroup),
}

/// The time, as the shaders and the network see it.
pub(crate) struct Time {
    /// Cosine and sine of the plane's angle.
    pub(crate) turn: [f32; 2],
    /// The last four inputs of every pixel.
    pub(crate) phase: [f32; 4],
}

impl Time {
    /// The time as a part of the period: 0 and 1 are the same picture.
    pub(crate) fn at(part: f64) -> Self {
        let t = TAU * part;
        let angle = 0.35 * t.sin();
        let turn = [angle.cos(), angle.sin()].map(f32::from_f64);
        let phase = [t.cos(), t.sin(), 0.5 * (2.0 * t).cos(), 0.5 * (2.0 * t).sin()].map(f32::from_f64);
        Self { turn, phase }
    }

    /// `Frame` in the shaders.
    fn bytes(&self, size: [u32; 2]) -> Vec<u8> {
        let size = size.iter().flat_map(|x| x.to_ne_bytes());
        size.chain(self.turn.iter().chain(&self.phase).flat_map(|x| x.to_ne_bytes())).collect()
    }
}

impl<T: Operand + Real> Scene<T> {
    /// Creates the buffers and compiles all that a frame runs.
    pub(crate) fn new(
        app: &Application,
        network: Rc<Network<T>>,
        size: [u32; 2],
        format: wgpu::TextureFormat,
    ) -> Result<Self> {
        let pixels = size.iter().map(|&x| x as usize).product::<usize>();
        let largest = (pixels * INPUTS * size_of::<T>()).max(pixels * COLOURS * 4) as u64;
        let allowed = app.device.limits().max_storage_buffer_binding_size;
        if largest > allowed {
            let [width, height] = size;
            let why = format!(
                "{width}x{height} needs a buffer of {largest} bytes, but this device binds {allowed}; choose less"
            );
            return Err(Error::Input { what: "--size".into(), why });
        }
        let (inputs, inputs_buffer) = shared::<T>(app, "inputs", [pixels, INPUTS])?;
        let (mut colours, colours_buffer) = shared::<f32>(app, "colours", [pixels, COLOURS])?;
        let (forward, plans) = app.gpu.plans_of(|| network.forward_into(&inputs, &mut colours));
        forward?;
        app.gpu.flush()?;

        let device = &app.device;
        let frame = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("frame"),
            size: FRAME_BYTES,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let compute = compute_pipeline(device, T::DTYPE);
        let compute_group = group(device, compute.get_bind_group_layout(0), [&frame, &inputs_buffer]);
        let render = render_pipeline(device, format);
        let render_group = group(device, render.get_bind_group_layout(0), [&frame, &colours_buffer]);
        let (compute, render) = ((compute, compute_group), (render, render_group));
        Ok(Self { network, inputs, colours, plans, size, frame, compute, render })
    }

    /// Encodes a frame into the application's encoder. Nothing is submitted, and nothing is waited for. Returns what the
    /// network's hidden layers computed.
    pub(crate) fn encode(
        &mut self,
        app: &Application,
        encoder: &mut wgpu::CommandEncoder,
        time: &Time,
        target: &wgpu::TextureView,
    ) -> Result<Vec<Tensor<T>>> {
        app.queue.write_buffer(&self.frame, 0, &time.bytes(self.size));

        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&self.compute.0);
        pass.set_bind_group(0, &self.compute.1, &[]);
        let [across, down] = self.size.map(|pixels| pixels.div_ceil(WORKGROUP));
        pass.dispatch_workgroups(across, down, 1);
        drop(pass);

        let Self { network, inputs, colours, .. } = self;
        let hidden = app.gpu.record_into(encoder, || network.forward_into(inputs, colours))?;

        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&self.render.0);
        pass.set_bind_group(0, &self.render.1, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        Ok(hidden)
    }
}

/// A buffer of the application's, and a tensor in it: the same memory.
fn shared<T: Element>(
    app: &Application,
    label: &str,
    shape: [usize; 2],
) -> Result<(Tensor<T>, wgpu::Buffer)> {
    let bytes = (shape[0] * shape[1] * size_of::<T>()) as u64;
    let buffer = app.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: bytes.next_multiple_of(16), // as kernels read whole units of 16 bytes
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC, // to be read, too
        mapped_at_creation: false,
    });
    Ok((Tensor::from_buffer(&app.gpu, buffer.clone(), ..bytes, shape)?, buffer))
}

/// The frame, and the buffer that a pass shares with the network.
fn group(
    device: &wgpu::Device,
    layout: wgpu::BindGroupLayout,
    [frame, shared]: [&wgpu::Buffer; 2],
) -> wgpu::BindGroup {
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: frame.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: shared.as_entire_binding() },
        ],
    })
}

fn compute_pipeline(device: &wgpu::Device, dtype: DType) -> wgpu::ComputePipeline {
    let constants = [("is_f16", f64::from(u8::from(dtype == DType::F16))), ("zoom", f64::from(ZOOM))];
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("inputs"),
        layout: None,
        module: &device.create_shader_module(wgpu::include_wgsl!("inputs.wgsl")),
        entry_point: None,
        compilation_options: wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() },
        cache: None,
    })
}

fn render_pipeline(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("picture.wgsl"));
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("picture"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
