//! An application's own device: adopted with all that helps or with nothing, used by both sides in turn.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use support::app;
use support::operand::{Placed, View};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::{AdoptOptions, CacheFolder, RobustBufferAccess};
use tilewise::{Caps, Error, Fill, Gemm, Gpu, GpuOptions, Real, Tensor, f16, matmul, reference, wgpu};

/// Products by one tile in every type, in ways of loading and storing that differ.
fn sweep(gpu: &Gpu, tile: Tile) {
    for row in support::pairs::sweep(&[4, 2, 2, 2, 2, 2, 2], &[&[0, 4, 5, 6]]) {
        match row[0] {
            0 => check::<f32, f32>(gpu, tile, &row[1..]),
            1 => check::<f16, f32>(gpu, tile, &row[1..]),
            2 => check::<f16, f16>(gpu, tile, &row[1..]),
            _ => check::<f32, f16>(gpu, tile, &row[1..]),
        }
    }
}

/// One product, exact to the bit; what is not C's keeps its bits.
fn check<T: Real, C: Real>(gpu: &Gpu, tile: Tile, row: &[usize]) {
    const VIEWS: [View; 2] = [View::Plain, View::TransposedGaps];
    let shape @ [m, n, k] = [[33, 64][row[0]], [31, 68][row[1]], [7, 36][row[2]]];
    let (a, b) = (Fill::Integers.values::<T>(m * k, 1), Fill::Integers.values::<T>(k * n, 2));
    let want: Vec<C> = reference::gemm(&a, &b, shape).value.iter().map(|&v| C::from_f64(v)).collect();
    let a = Placed::new(gpu, &a, [m, k], VIEWS[row[3]]);
    let b = Placed::new(gpu, &b, [k, n], VIEWS[row[4]]);
    let mut c = Placed::new(gpu, &vec![C::from_f64(f64::NAN); m * n], [m, n], View::OUTPUTS[row[5]]);
    Gemm::new(&a.tensor, &b.tensor).out::<C>().tile(tile).run_into(&mut c.tensor).unwrap();
    let bits = |values: &[C]| bytemuck::cast_slice::<C, u8>(values).to_vec();
    let buffer = c.read_buffer();
    let case = format!("{tile}, {shape:?}, {row:?}, {} to {}", T::DTYPE, C::DTYPE);
    assert_eq!(c.elements(&buffer), want, "{case}");
    assert_eq!(bits(&buffer), bits(&c.expected(&want)), "{case}: beside C");
}

/// The smallest tile of each kernel that runs everywhere: the quickest to compile. `gemm.rs` sweeps them all.
fn small_tiles() -> [Tile; 2] {
    [GemmKernel::Naive, GemmKernel::Tiled].map(|kernel| {
        *kernel.tiles().iter().min_by_key(|tile| (tile.bm, tile.tm)).expect("a kernel has tiles")
    })
}

#[test]
fn a_device_without_any_feature_multiplies_every_type_with_every_kernel() {
    let Some(gpu) = support::bare() else { return };
    let caps = gpu.caps();
    assert!(!caps.f16 && caps.subgroups.is_none() && !caps.timestamps && !caps.pipeline_cache, "{caps}");
    assert_eq!((caps.limits.immediate_bytes, caps.rows.len()), (0, 0), "{caps}");
    for tile in small_tiles() {
        sweep(&gpu, tile);
    }
}

#[test]
fn results_that_f16_cannot_hold_are_infinite_on_every_device() {
    for gpu in [support::bare(), support::adopted(|_| ())].into_iter().flatten() {
        let a = gpu.tensor(&[60_000.0f32, -300.0, 2.0, f32::NAN], [4, 1]).unwrap();
        let b = gpu.tensor(&[1.0f32, 2.0, 300.0, -65_504.0], [1, 4]).unwrap();
        for tile in small_tiles() {
            // Whole vectors, and rows that end within one.
            for b in [b.clone(), b.slice(1, ..3).unwrap()] {
                let c = Gemm::new(&a, &b).out::<f16>().tile(tile).run().unwrap().to_vec().unwrap();
                let (c, columns) = (c.iter().map(|v| v.to_f32()).collect::<Vec<f32>>(), b.len());
                assert_eq!(c[..3], [60_000.0, f32::INFINITY, f32::INFINITY], "{tile}");
                assert_eq!(c[columns..columns + 2], [-300.0, -600.0], "{tile}");
                assert_eq!(c[columns + 2], f32::NEG_INFINITY, "{tile}");
                assert_eq!(c[2 * columns], 2.0, "{tile}");
                assert!(c[3 * columns..].iter().all(|v| v.is_nan()), "{tile}: {c:?}");
            }
        }
    }
}

/// The capabilities that adopting the same device reads: nobody knows how the application opened it.
fn as_adopted(opened: &Gpu) -> Caps {
    let mut caps = support::untimed(&support::without_extensions(opened.caps()));
    caps.robust_buffer_access = RobustBufferAccess::Unknown;
    caps
}

#[test]
fn a_device_with_all_that_helps_can_do_what_an_opened_one_can() {
    let Some(gpu) = support::adopted(|_| ()) else { return };
    let Some(opened) = support::gpu() else { return };
    assert_eq!(support::untimed(gpu.caps()), as_adopted(&opened));
    sweep(&gpu, small_tiles()[0]);
}

/// Products of different sizes in a row: each has its own dims, and its own exact result.
fn products(gpu: &Gpu, count: usize) -> Vec<(Tensor<f32>, Vec<f64>)> {
    let tile = small_tiles()[0];
    let product = |i: usize| {
        let shape @ [m, n, k] = [1 + i % 7, 1 + i % 5, 1 + i % 11];
        let (a, b) = (Fill::Integers.values::<f32>(m * k, i as u64), Fill::Integers.values::<f32>(k * n, 2));
        let want = reference::gemm(&a, &b, shape).value;
        let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
        (Gemm::new(&a, &b).tile(tile).run().unwrap(), want)
    };
    (0..count).map(product).collect()
}

#[test]
fn every_launch_sees_its_own_dims_through_the_ring() {
    let Some(gpu) = support::bare() else { return };
    let before = gpu.stats();
    // Three recordings and a bit fill the ring anew each; nothing is waited for in between.
    let results = products(&gpu, 200);
    assert_eq!(gpu.stats().launches - before.launches, 200);
    assert!(gpu.stats().submits - before.submits >= 3, "{:?}", gpu.stats());
    for (i, (c, want)) in results.iter().enumerate() {
        let got: Vec<f64> = c.to_vec().unwrap().into_iter().map(f64::from).collect();
        assert_eq!(&got, want, "product {i}");
    }
    for (i, (c, want)) in products(&gpu, 3).iter().enumerate() {
        assert_eq!(c.to_vec().unwrap().len(), want.len(), "product {i} of a short recording");
    }
}

/// The application's own compute pass: doubles every element into a buffer of its own.
fn doubled_by_the_application(gpu: &Gpu, tensor: &Tensor<f32>) -> wgpu::Buffer {
    let device = gpu.device();
    const DOUBLE: &str = "
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) at: vec3<u32>) { y[at.x] = 2.0 * x[at.x]; }";
    let (buffer, bytes) = tensor.buffer().unwrap();
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let output = app::buffer(device, bytes.end - bytes.start, usage);
    let resources = [app::window(buffer, bytes), output.as_entire_binding()];
    gpu.queue().submit([app::launched(device, DOUBLE, resources, tensor.len())]);
    output
}

#[test]
fn the_applications_submissions_see_our_results_after_a_flush() {
    let Some(gpu) = support::adopted(|_| ()) else { return };
    let a = gpu.random::<f32>([20, 30], Fill::Integers, 1).unwrap();
    let c = matmul(&a, &a.t()).unwrap();
    gpu.flush().unwrap();
    assert_eq!(gpu.stats().submits, 1, "one submission of ours, and nothing waits");
    gpu.flush().unwrap();
    assert_eq!(gpu.stats().submits, 1, "there is nothing more to submit");
    let output = doubled_by_the_application(&gpu, &c);
    drop(c);
    let bytes = support::operand::read_bytes(&gpu, &output);
    let a = Fill::Integers.values::<f32>(600, 1);
    let transposed: Vec<f32> = (0..600).map(|i| a[i % 20 * 30 + i / 20]).collect();
    let want: Vec<f64> =
        reference::gemm(&a, &transposed, [20, 20, 30]).value.iter().map(|v| 2.0 * v).collect();
    let got: Vec<f64> = bytemuck::pod_collect_to_vec::<u8, f32>(&bytes).into_iter().map(f64::from).collect();
    assert_eq!(got, want);
}

#[test]
fn adopting_without_blocking_completes_when_the_application_polls() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    // Nothing is known of the rows without a cache, so that the self-test runs.
    let options = GpuOptions { cache: CacheFolder::Off, ..GpuOptions::from_env().unwrap() };
    let options = AdoptOptions::from(options).polled_by_application();
    let mut adopting = pin!(Gpu::adopt_with_async(&adapter, device.clone(), queue, options));
    let mut context = Context::from_waker(Waker::noop());
    let gpu = match adopting.as_mut().poll(&mut context) {
        Poll::Ready(gpu) => gpu.unwrap(),
        Poll::Pending => {
            std::thread::sleep(Duration::from_millis(10));
            assert!(adopting.as_mut().poll(&mut context).is_pending(), "nobody has polled the device");
            device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
            let Poll::Ready(gpu) = adopting.as_mut().poll(&mut context) else { panic!("it has been polled") };
            gpu.unwrap()
        }
    };
    let opened = support::gpu().expect("there was one before");
    assert_eq!(support::untimed(gpu.caps()), as_adopted(&opened));
    support::assert_untouched(&gpu);
    sweep(&gpu, small_tiles()[0]);
}

#[test]
fn a_device_that_is_lost_already_leaves_no_verdict_behind() {
    let Some((adapter, device, queue)) = support::application(|_| ()) else { return };
    let folder = support::folder("lost");
    let options = GpuOptions { cache: CacheFolder::At(folder.clone()), ..GpuOptions::from_env().unwrap() };
    device.destroy();
    // The loss may be noticed at once or later; nothing panics, and no row is used.
    let blocking = Gpu::adopt_with(&adapter, device.clone(), queue.clone(), options.clone());
    let waiting = pollster::block_on(Gpu::adopt_with_async(&adapter, device, queue, options));
    for adopted in [blocking, waiting] {
        match adopted {
            Err(error) => assert!(matches!(error, Error::Device(_)), "{error:?}"),
            Ok(gpu) => assert!(!gpu.caps().has_tensor_cores(), "{}", gpu.caps()),
        }
    }
    assert!(!folder.exists(), "the loss says nothing of the driver");
}

#[test]
fn the_applications_error_handler_stays_its_own() {
    let Some(gpu) = support::adopted(|_| ()) else { return };
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let teller = told.clone();
    gpu.device().on_uncaptured_error(std::sync::Arc::new(move |error| {
        teller.lock().unwrap().push(error.to_string());
    }));
    let a = gpu.random::<f32>([9, 9], Fill::Integers, 4).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap().len(), 81);
    assert_eq!(told.lock().unwrap().len(), 0, "our work raises nothing");
    let bad = wgpu::BufferDescriptor {
        label: Some("bad"),
        size: 3,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: true,
    };
    drop(gpu.device().create_buffer(&bad));
    assert_eq!(told.lock().unwrap().len(), 1, "its own mistakes are told to it");
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap().len(), 81, "and not to us");
}
