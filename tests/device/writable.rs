//! Writes into parts of tensors that others hold, and tensors in buffers with further usages.

use support::every_device as devices;
use support::failure::{Kind, fails, says};
use tilewise::wgpu::{self, BufferUsages};
use tilewise::{Fill, Gemm, Tensor, matmul, ops};

#[test]
fn a_cache_that_grows_by_rows_shows_each_reader_what_was_there() {
    const ROWS: usize = 40;
    const WIDTH: usize = 7;
    for gpu in devices() {
        let cache = gpu.zeros::<f32>([ROWS, WIDTH]).unwrap();
        let rows: Vec<Vec<f32>> = (0..ROWS as u64).map(|seed| Fill::Integers.values(WIDTH, seed)).collect();
        let before = gpu.stats();
        let mut sums = Vec::new();
        for (n, row) in rows.iter().enumerate() {
            let row = gpu.tensor(row, [1, WIDTH]).unwrap();
            ops::copy_into(&row, &mut cache.slice(0, n..=n).unwrap().writable_view()).unwrap();
            // Of the rows up to this one, and of all: later ones are still zero.
            let filled = cache.slice(0, ..=n).unwrap();
            sums.push((ops::sum(&filled, 0).unwrap(), ops::sum(&cache, 0).unwrap()));
        }
        assert_eq!(gpu.stats().launches - before.launches, 3 * ROWS as u64);
        let started = cache.read();
        ops::add_assign(&mut cache.writable_view(), &gpu.tensor(&[1.0f32], [1]).unwrap()).unwrap();
        let mut want = vec![0.0; WIDTH];
        for (row, (filled, all)) in rows.iter().zip(&sums) {
            want.iter_mut().zip(row).for_each(|(sum, row)| *sum += row);
            assert_eq!(filled.to_vec().unwrap(), want);
            assert_eq!(all.to_vec().unwrap(), want);
        }
        assert_eq!(pollster::block_on(started).unwrap(), rows.concat(), "a read that started before the sum");
        let more: Vec<f32> = rows.concat().iter().map(|v| v + 1.0).collect();
        assert_eq!(cache.to_vec().unwrap(), more);
    }
}

#[test]
fn every_operation_with_an_output_writes_into_a_part() {
    for gpu in devices() {
        let whole = gpu.zeros::<f32>([4, 4]).unwrap();
        let part = |rows: std::ops::Range<usize>| {
            whole.slice(0, rows).unwrap().slice(1, 1..3).unwrap().writable_view()
        };
        let (a, b) = (
            gpu.tensor(&[1.0f32, 2.0], [1, 2]).unwrap(),
            gpu.tensor(&[3.0f32, 4.0, 5.0, 6.0], [2, 2]).unwrap(),
        );
        part(0..1).assign(|| matmul(&a, &b)).unwrap();
        part(1..2).assign(|| ops::add(&a, &a)).unwrap();
        ops::bias_add_assign(&mut part(0..2), &a.reshape([2]).unwrap()).unwrap();
        Gemm::new(&a, &b).beta(1.0).run_into(&mut part(3..4)).unwrap();
        let mut row = whole.slice(0, 2..3).unwrap().writable_view();
        row.write(&[9.0; 4]).unwrap();
        let want = [0.0, 14.0, 18.0, 0.0, 0.0, 3.0, 6.0, 0.0, 9.0, 9.0, 9.0, 9.0, 0.0, 13.0, 16.0, 0.0];
        assert_eq!(whole.to_vec().unwrap(), want);
        // Without the word of the caller, nothing of it is written.
        let mut unnamed = whole.slice(0, ..1).unwrap().slice(1, ..2).unwrap();
        says(unnamed.assign(|| ops::add(&a, &a)), &["assign: the output", "shared", "writable_view"]);
        says(whole.clone().view_mut(), &["view_mut", "writable_view"]);
        assert_eq!(whole.to_vec().unwrap(), want);
    }
}

#[test]
fn an_output_in_the_buffer_of_an_operand_is_refused() {
    for gpu in devices() {
        let whole = gpu.random::<f32>([8, 4], Fill::Integers, 1).unwrap();
        let rows = |range: std::ops::Range<usize>| whole.slice(0, range).unwrap();
        let other = gpu.random::<f32>([4, 4], Fill::Integers, 2).unwrap();
        let mut c = rows(4..8).writable_view();
        let launches = gpu.stats().launches;
        says(ops::add_assign(&mut c, &rows(0..4)), &["add_assign: the output", "an operand"]);
        says(ops::copy_into(&rows(0..4), &mut c), &["copy_into: the output", "an operand"]);
        let bias = whole.slice(0, ..1).unwrap().reshape([4]).unwrap();
        says(
            Gemm::new(&other, &other).bias(&bias).run_into(&mut c),
            &["Gemm::run_into: the output", "an operand"],
        );
        let residual = rows(0..4);
        says(
            Gemm::new(&other, &other).residual(&residual).run_into(&mut c),
            &["Gemm::run_into: the output", "an operand"],
        );
        assert_eq!(gpu.stats().launches, launches);
        let before = Fill::Integers.values::<f32>(32, 1);
        assert_eq!(whole.to_vec().unwrap(), before);
        // `assign` computes the result before it writes to a buffer that others share, so operands may lie there.
        let [sum, product] = [ops::add(&rows(0..4), &other), matmul(&rows(4..8), &other)];
        let [sum, product] = [sum, product].map(|of| of.unwrap().to_vec().unwrap());
        c.assign(|| matmul(&rows(4..8), &other)).unwrap();
        assert_eq!(whole.to_vec().unwrap(), [&before[..16], &product].concat());
        c.assign(|| ops::add(&rows(0..4), &other)).unwrap();
        assert_eq!(whole.to_vec().unwrap(), [&before[..16], &sum].concat());
    }
}

#[test]
fn a_part_that_was_not_written_is_an_error_until_it_is_written_anew() {
    for gpu in devices() {
        let whole = gpu.zeros::<f32>([4, 16]).unwrap();
        let one = gpu.tensor(&[1.0f32; 16], [1, 16]).unwrap();
        let bad = gpu.tensor(&[1.0f32; 16], [1, 16]).unwrap();
        bad.buffer().unwrap().0.destroy();
        let row = |n: usize| whole.slice(0, n..=n).unwrap();
        ops::copy_into(&one, &mut row(0).writable_view()).unwrap();
        let before = ops::add(&row(0), &one).unwrap();
        ops::copy_into(&bad, &mut row(1).writable_view()).unwrap();
        let after = ops::add(&row(0), &one).unwrap();
        assert_eq!(before.to_vec().unwrap(), [2.0; 16], "it was recorded before the failure");
        assert_eq!(row(0).to_vec().unwrap(), [1.0; 16], "the failure was not to write it");
        assert_eq!(after.to_vec().unwrap(), [2.0; 16], "nor what is computed of it");
        says(row(1).to_vec(), &["copy", "failed"]);
        says(whole.to_vec(), &["failed"]);
        says(ops::add(&row(1), &one).and_then(|sum| sum.to_vec()), &["failed"]);
        // Half of the part does not make it good; all of it does.
        row(1).slice(1, ..8).unwrap().writable_view().write(&[5.0; 8]).unwrap();
        says(row(1).to_vec(), &["failed"]);
        row(1).slice(1, 8..).unwrap().writable_view().write(&[6.0; 8]).unwrap();
        assert_eq!(ops::sum(&whole, 1).unwrap().to_vec().unwrap(), [16.0, 88.0, 0.0, 0.0]);
        ops::copy_into(&gpu.zeros([4, 16]).unwrap(), &mut whole.writable_view()).unwrap();
        ops::copy_into(&one, &mut row(1).writable_view()).unwrap();
        assert_eq!(ops::sum(&whole, 1).unwrap().to_vec().unwrap(), [0.0, 16.0, 0.0, 0.0]);
        let _ = gpu.flush();
        says(ops::concat(&[&one, &bad], 0).and_then(|joined| joined.to_vec()), &["failed"]);
    }
}

#[test]
fn a_buffer_with_further_usages_is_one_of_its_own() {
    let Some(gpu) = support::own(|options| options.memory_budget = Some(1 << 16)) else { return };
    let usages = BufferUsages::VERTEX | BufferUsages::UNIFORM;
    drop(gpu.zeros::<f32>([64]).unwrap());
    let before = gpu.stats();
    assert!(before.bytes_cached > 0, "a buffer waits in the pool");
    let tensor = gpu.empty_with::<f32>([64], usages).unwrap();
    assert_eq!(gpu.stats().buffers_created, before.buffers_created + 1);
    assert_eq!(gpu.stats().bytes_in_use, before.bytes_in_use + 256);
    let buffer = tensor.buffer().unwrap().0.clone();
    assert!(
        buffer
            .usage()
            .contains(usages | BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST)
    );
    drop(tensor);
    assert_eq!(
        (gpu.stats().bytes_in_use, gpu.stats().bytes_cached),
        (before.bytes_in_use, before.bytes_cached)
    );
    let next: Vec<Tensor<f32>> = (0..4).map(|_| gpu.empty([64]).unwrap()).collect();
    assert!(next.iter().all(|tensor| tensor.buffer().unwrap().0 != &buffer), "it is never handed out again");
    for usage in [BufferUsages::MAP_READ, BufferUsages::MAP_WRITE] {
        says(gpu.empty_with::<f32>([64], usage), &["empty_with: the usages", "to_vec"]);
    }
    fails(gpu.empty_with::<f32>([1 << 15], usages), Kind::OutOfMemory, &["^empty_with: "]);
}

const DRAW: &str = "
@vertex fn corner(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4<f32>(at, 0.0, 1.0); }
@fragment fn white() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }";

/// Draws a triangle whose corners are a result, as often as an indirect buffer says that is one too.
#[test]
fn results_are_drawn_without_a_copy() {
    for gpu in devices() {
        let mut corners = gpu.empty_with::<f32>([3, 2], BufferUsages::VERTEX).unwrap();
        let half = gpu.tensor(&[-0.5f32, -0.5, 1.5, -0.5, -0.5, 1.5], [3, 2]).unwrap();
        corners.assign(|| ops::add(&half, &half)).unwrap(); // the whole of the screen
        let mut count = gpu.empty_with::<i32>([4], BufferUsages::INDIRECT).unwrap();
        ops::copy_into(&gpu.tensor(&[3, 1, 0, 0], [4]).unwrap(), &mut count).unwrap();
        let device = gpu.device();
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(DRAW.into()),
        });
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let attributes = wgpu::vertex_attr_array![0 => Float32x2];
        let layout = wgpu::VertexBufferLayout {
            array_stride: 8,
            step_mode: wgpu::VertexStepMode::Vertex,
            attributes: &attributes,
        };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[Some(layout)],
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
        });
        let size = wgpu::Extent3d { width: 64, height: 4, depth_or_array_layers: 1 };
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let pixels = gpu.empty::<i32>([256]).unwrap();
        let launches = gpu.stats().launches;
        let (vertices, bytes) = corners.buffer().unwrap();
        let (indirect, _) = count.buffer().unwrap();
        let mut encoder = device.create_command_encoder(&Default::default());
        let view = texture.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        pass.set_pipeline(&pipeline);
        pass.set_vertex_buffer(0, vertices.slice(bytes));
        pass.draw_indirect(indirect, 0);
        drop(pass);
        let (to, _) = pixels.buffer().unwrap();
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(256), rows_per_image: None };
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer: to, layout },
            size,
        );
        gpu.queue().submit([encoder.finish()]);
        assert_eq!(gpu.stats().launches, launches);
        assert_eq!(pixels.to_vec().unwrap(), [-1; 256], "every pixel is white");
    }
}
