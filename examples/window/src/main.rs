//! The frames of the example `wgpu_app` in a window: one encoder, one submission and one present for each.
//!
//! ```sh
//! cargo run --release -p tilewise-window
//! cargo run --release -p tilewise-window -- --size 1280x720 --seed 3 --dtype f32
//! ```
//! The title shows the size, the type, the time of a frame and the plan of a hidden layer. Escape closes the window. The
//! exit status is 0 only if the library submitted nothing within a frame, and neither wgpu nor a validation layer
//! (`WGPU_VALIDATION=1`) reported an error.

#[path = "../../wgpu_app/application.rs"]
#[allow(dead_code, reason = "`wgpu_app` uses the rest")]
mod application;
mod live;
#[path = "../../wgpu_app/network.rs"]
#[allow(dead_code, reason = "`wgpu_app` uses the rest")]
mod network;
#[path = "../../wgpu_app/options.rs"]
mod options;
#[path = "../../wgpu_app/scene.rs"]
#[allow(dead_code, reason = "`wgpu_app` uses the rest")]
mod scene;

use application::{Application, adapter, failed, faults, flags};
use clap::Parser;
use live::Live;
use network::Network;
use options::{Type, size};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;
use tilewise::gemm::Operand;
use tilewise::{Error, Real, Result, f16, wgpu};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

/// Draws with a neural network in the frames of a window.
#[derive(Parser)]
struct Args {
    /// Number of frames until the window closes by itself
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    frames: Option<u32>,
    /// Size of the window when it opens
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360", value_parser = size)]
    size: [u32; 2],
    /// The seed of the network's weights
    #[arg(long, default_value_t = 14)]
    seed: u64,
    /// Type of the network's weights and hidden values
    #[arg(long, value_enum, default_value_t = Type::F16)]
    dtype: Type,
}

fn main() -> ExitCode {
    let args = Args::parse();
    faults::listen();
    let shown = match args.dtype {
        Type::F16 => show::<f16>(&args),
        Type::F32 => show::<f32>(&args),
    };
    match shown {
        Ok(submits) if submits == 0 && faults::all().is_empty() => ExitCode::SUCCESS,
        Ok(submits) => {
            eprintln!("error: {submits} submissions by the library, {} faults", faults::all().len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Shows frames until the window is closed. Returns the number of submissions of the library within them.
fn show<T: Operand + Real>(args: &Args) -> Result<u64> {
    let events = EventLoop::new().map_err(unopened)?;
    events.set_control_flow(ControlFlow::Poll);
    let mut shown = Shown::<T> { args, live: None, failure: None };
    events.run_app(&mut shown).map_err(failed)?;
    match shown.failure {
        Some(error) => Err(error),
        None => Ok(shown.live.map_or(0, |live| live.submits())),
    }
}

/// No window can be opened.
fn unopened(error: impl std::error::Error) -> Error {
    let why = format!("cannot be opened ({error}); the example `wgpu_app` draws without one");
    Error::Input { what: "the window".into(), why }
}

/// What the event loop drives.
struct Shown<'a, T: Real> {
    args: &'a Args,
    live: Option<Live<T>>,
    failure: Option<Error>,
}

impl<T: Operand + Real> Shown<'_, T> {
    /// The window, the application's device, and the first scene.
    fn open(&self, events: &ActiveEventLoop) -> Result<Live<T>> {
        let [width, height] = self.args.size;
        let attributes = Window::default_attributes()
            .with_title("tilewise")
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(events.create_window(attributes).map_err(unopened)?);
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY,
            flags: flags(),
            ..wgpu::InstanceDescriptor::new_with_display_handle(Box::new(events.owned_display_handle()))
        });
        let surface = instance.create_surface(window.clone()).map_err(failed)?;
        let adapter = adapter(&instance, Some(&surface))?;
        let app = Application::open(&adapter)?;
        let network = Rc::new(Network::new(&app.gpu, self.args.seed)?);
        Live::new(app, &adapter, network, window, surface)
    }

    /// Closes the window if something failed.
    fn settle(&mut self, events: &ActiveEventLoop, outcome: Result<()>) {
        if let Err(error) = outcome {
            self.failure = Some(error);
            events.exit();
        }
    }
}

impl<T: Operand + Real> ApplicationHandler for Shown<'_, T> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.live.is_none() {
            let opened = self.open(events).map(|live| self.live = Some(live));
            self.settle(events, opened);
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(live) = &mut self.live else { return };
        let is_escape = |event: &winit::event::KeyEvent| event.logical_key == Key::Named(NamedKey::Escape);
        let outcome = match event {
            WindowEvent::CloseRequested => {
                events.exit();
                Ok(())
            }
            WindowEvent::KeyboardInput { event, .. } if is_escape(&event) => {
                events.exit();
                Ok(())
            }
            WindowEvent::Resized(size) => live.resize([size.width, size.height]),
            WindowEvent::RedrawRequested => live.draw(),
            _ => Ok(()),
        };
        if self.args.frames.is_some_and(|frames| live.frames() >= u64::from(frames)) {
            events.exit();
        }
        self.settle(events, outcome);
    }

    fn about_to_wait(&mut self, _: &ActiveEventLoop) {
        if let Some(live) = &self.live {
            live.request_redraw();
        }
    }
}
