//! The window's surface and its frames.

use crate::application::Application;
use crate::network::Network;
use crate::scene::{Scene, Time};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tilewise::gemm::Operand;
use tilewise::{Error, Real, Result, wgpu};
use winit::window::Window;

/// Seconds until the picture repeats.
const PERIOD: f64 = 20.0;
/// Interval at which the title is written.
const TITLE_INTERVAL: Duration = Duration::from_millis(500);

/// A window that shows a scene.
pub(crate) struct Live<T: Real> {
    scene: Scene<T>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    window: Arc<Window>,
    app: Application,
    begun: Instant,
    frames: u64,
    /// Submissions of the library within frames.
    submits: u64,
    /// When the title was written, and the frames until then.
    titled: (Instant, u64),
}

impl<T: Operand + Real> Live<T> {
    pub(crate) fn new(
        app: Application,
        adapter: &wgpu::Adapter,
        network: Rc<Network<T>>,
        window: Arc<Window>,
        surface: wgpu::Surface<'static>,
    ) -> Result<Self> {
        let size = window.inner_size();
        let [width, height] = [size.width.max(1), size.height.max(1)];
        let config = surface.get_default_config(adapter, width, height);
        let mut config = config.ok_or_else(|| Error::Unsupported {
            op: "wgpu_app",
            needs: "a surface that it can present to".into(),
            device: adapter.get_info().name,
        })?;
        // The network's colours are those of the screen: no conversion from linear ones.
        let formats = surface.get_capabilities(adapter).formats;
        let plain = formats.into_iter().find(|format| !format.is_srgb());
        config.format = plain.unwrap_or(config.format);
        config.present_mode = wgpu::PresentMode::AutoVsync;
        surface.configure(&app.device, &config);
        let scene = Scene::new(&app, network, [width, height], config.format)?;
        let now = Instant::now();
        Ok(Self { scene, surface, config, window, app, begun: now, frames: 0, submits: 0, titled: (now, 0) })
    }

    /// Frames that were presented.
    pub(crate) fn frames(&self) -> u64 {
        self.frames
    }

    /// Submissions of the library within all frames.
    pub(crate) fn submits(&self) -> u64 {
        self.submits
    }

    pub(crate) fn request_redraw(&self) {
        self.window.request_redraw();
    }

    /// Another size: other buffers, the same network. A minimised window keeps its last size.
    pub(crate) fn resize(&mut self, size: [u32; 2]) -> Result<()> {
        if size == self.scene.size || size.contains(&0) {
            return Ok(());
        }
        [self.config.width, self.config.height] = size;
        self.surface.configure(&self.app.device, &self.config);
        self.scene = Scene::new(&self.app, self.scene.network.clone(), size, self.config.format)?;
        Ok(())
    }

    /// A frame: one encoder, one submission, one present.
    pub(crate) fn draw(&mut self) -> Result<()> {
        use wgpu::CurrentSurfaceTexture as Current;
        let texture = match self.surface.get_current_texture() {
            Current::Success(texture) | Current::Suboptimal(texture) => texture,
            Current::Outdated | Current::Lost => {
                self.surface.configure(&self.app.device, &self.config);
                return Ok(());
            }
            Current::Timeout | Current::Occluded | Current::Validation => return Ok(()),
        };
        let submits = self.app.gpu.stats().submits;
        let time = Time::at(self.begun.elapsed().as_secs_f64() / PERIOD);
        let view = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = self.app.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.scene.encode(&self.app, &mut encoder, &time, &view)?;
        self.app.queue.submit([encoder.finish()]);
        self.submits += self.app.gpu.stats().submits - submits;
        self.window.pre_present_notify();
        self.app.queue.present(texture);
        self.frames += 1;
        self.title();
        Ok(())
    }

    /// Writes the title, now and then.
    fn title(&mut self) {
        let (at, frames) = self.titled;
        if at.elapsed() < TITLE_INTERVAL && self.frames > 1 {
            return;
        }
        let ms = at.elapsed().as_secs_f64() * 1e3 / (self.frames - frames).max(1) as f64;
        let [width, height] = self.scene.size;
        let plan = self.scene.plans.get(1).map(ToString::to_string).unwrap_or_default();
        let step =
            plan.lines().nth(1).and_then(|step| step.split(", grid").next()).unwrap_or_default().trim();
        let title = format!("tilewise: {width} x {height}, {}, {ms:.1} ms a frame, {step}", T::DTYPE);
        self.window.set_title(&title);
        self.titled = (Instant::now(), self.frames);
    }
}
