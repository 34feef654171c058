//! Tensors in the buffers of an application: no copy, no access beyond them, and one storage for each buffer.

use support::failure::{Kind, fails, says};
use support::{every_device as devices, watchdog::in_time};
use tilewise::wgpu::{self, BufferUsages};
use tilewise::{Element, Error, Fill, Gpu, Tensor, f16, matmul, ops};

/// What most tests' buffers can be used for.
const USAGES: BufferUsages =
    BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

fn created(device: &wgpu::Device, size: u64, usage: BufferUsages) -> wgpu::Buffer {
    support::app::buffer(device, size, usage)
}

fn buffer(gpu: &Gpu, size: u64) -> wgpu::Buffer {
    created(gpu.device(), size, USAGES)
}

/// Writes as an application does.
fn write<T: bytemuck::NoUninit>(gpu: &Gpu, buffer: &wgpu::Buffer, start: u64, data: &[T]) {
    gpu.queue().write_buffer(buffer, start, bytemuck::cast_slice(data));
    gpu.queue().submit([]);
}

/// Reads all bytes as an application does.
fn bytes_of(gpu: &Gpu, buffer: &wgpu::Buffer) -> Vec<u8> {
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let staging = created(gpu.device(), buffer.size(), usage);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
    gpu.queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    staging.get_mapped_range(..).unwrap().to_vec()
}

#[test]
fn both_sides_see_what_the_other_has_submitted_and_nothing_is_copied() {
    let (a, b) = (Fill::Integers.values::<f32>(64, 1), Fill::Integers.values::<f32>(64, 2));
    for gpu in devices() {
        let [ours, theirs] = [buffer(&gpu, 256), buffer(&gpu, 512)];
        write(&gpu, &theirs, 256, &a);
        let before = gpu.stats();
        let x = Tensor::<f32>::from_buffer(&gpu, theirs.clone(), 256.., [8, 8]).unwrap();
        let mut y = Tensor::<f32>::from_buffer(&gpu, ours.clone(), 0..256, [8, 8]).unwrap();
        y.assign(|| ops::add(&x, &x)).unwrap();
        let after = gpu.stats();
        assert_eq!(after.buffers_created, before.buffers_created);
        assert_eq!((after.bytes_in_use, after.bytes_cached), (before.bytes_in_use, before.bytes_cached));
        assert_eq!((after.launches - before.launches, after.submits), (1, before.submits));
        gpu.flush().unwrap();
        let doubled: Vec<f32> = a.iter().map(|v| v + v).collect();
        assert_eq!(bytes_of(&gpu, &ours), bytemuck::cast_slice::<f32, u8>(&doubled));
        for round in 0..20u8 {
            // The application writes after what is recorded, and before what is recorded next.
            let old = ops::add(&x, &y).unwrap();
            let (of_x, range) = x.buffer().unwrap();
            assert_eq!((of_x, range), (&theirs, 256..512));
            write(&gpu, &theirs, 256, &b);
            let new = ops::add(&x, &y).unwrap();
            let sum = |x: &[f32]| x.iter().zip(&doubled).map(|(x, y)| x + y).collect::<Vec<_>>();
            assert_eq!(new.to_vec().unwrap(), sum(&b), "round {round}");
            assert_eq!(old.to_vec().unwrap(), sum(&a), "round {round}");
            gpu.flush().unwrap();
            write(&gpu, &theirs, 256, &a);
        }
        let mut x = x;
        x.write(&b).unwrap();
        assert_eq!(x.to_vec().unwrap(), b);
        gpu.flush().unwrap();
        assert_eq!(bytes_of(&gpu, &theirs)[256..], *bytemuck::cast_slice::<f32, u8>(&b));
        assert_eq!(bytes_of(&gpu, &theirs)[..256], [0; 256], "the bytes next to it");
    }
}

/// A buffer that ends with the window of its tensor, as small as is allowed, and garbage around the tensor.
#[test]
fn tensors_of_every_type_lie_anywhere_and_leave_the_bytes_next_to_them() {
    fn check<T: Element>(gpu: &Gpu) {
        let size = T::DTYPE.size();
        for (start, len) in [(0, 1), (1, 3), (3, 5), (63, 1), (64, 64), (127, 130), (257, 1000), (1023, 77)] {
            let end = (start + len) * size;
            let whole = buffer(gpu, end.next_multiple_of(16) as u64);
            let around = vec![0xa5u8; end.next_multiple_of(16)];
            write(gpu, &whole, 0, &around);
            let data: Vec<T> = Fill::Integers.values(len, 3);
            let range = (start * size) as u64..end as u64;
            let mut want = around;
            want[start * size..end].copy_from_slice(bytemuck::cast_slice(&data));
            write(gpu, &whole, 0, &want);
            let x = Tensor::<T>::from_buffer(gpu, whole.clone(), range, [len]).unwrap();
            let case = format!("{} from {start} of {len}", T::DTYPE);
            assert_eq!(x.to_vec().unwrap(), data, "{case}");
            assert_eq!(x.slice(0, len / 2..).unwrap().to_vec().unwrap(), data[len / 2..], "{case}");
            let casts = x.cast::<i32>().unwrap().to_vec().unwrap();
            assert_eq!(casts, gpu.tensor(&data, [len]).unwrap().cast::<i32>().unwrap().to_vec().unwrap());
            gpu.flush().unwrap();
            assert_eq!(bytes_of(gpu, &whole), want, "{case}");
        }
    }
    fn written<T: tilewise::Real>(gpu: &Gpu) {
        let size = T::DTYPE.size();
        for (start, len) in [(0, 1), (1, 3), (3, 5), (8, 24), (127, 130), (257, 1000)] {
            let end = (start + len) * size;
            let whole = buffer(gpu, end.next_multiple_of(16) as u64);
            let mut want = vec![0xa5u8; end.next_multiple_of(16)];
            write(gpu, &whole, 0, &want);
            let data: Vec<T> = Fill::Integers.values(len, 3);
            let range = (start * size) as u64..end as u64;
            let mut x = Tensor::<T>::from_buffer(gpu, whole.clone(), range, [len]).unwrap();
            let [a, zeros] = [gpu.tensor(&data, [len]).unwrap(), gpu.zeros([len]).unwrap()];
            x.assign(|| ops::add(&a, &zeros)).unwrap();
            gpu.flush().unwrap();
            want[start * size..end].copy_from_slice(bytemuck::cast_slice(&data));
            assert_eq!(bytes_of(gpu, &whole), want, "{} from {start} of {len}", T::DTYPE);
        }
    }
    for gpu in support::devices() {
        support::of_every_type!(check, &gpu);
        written::<f32>(&gpu);
        written::<f16>(&gpu);
        written::<tilewise::bf16>(&gpu);
    }
}

/// Products and reductions with operands at the end of their buffers have the bits of those in buffers from the pool.
#[test]
fn an_operand_at_the_end_of_its_buffer_gives_the_same_bits() {
    fn check<T: tilewise::Real>(gpu: &Gpu) {
        for [m, n, k] in [[1, 37, 41], [33, 29, 7], [5, 1, 67]] {
            let data = [Fill::Uniform.values::<T>(m * k, 1), Fill::Uniform.values::<T>(k * n, 2)];
            let place = |data: &[T], shape: [usize; 2]| {
                let end = (3 + data.len()) * size_of::<T>();
                let whole = buffer(gpu, end.next_multiple_of(16) as u64);
                let mut bytes = vec![0xffu8; end.next_multiple_of(16)];
                bytes[3 * size_of::<T>()..end].copy_from_slice(bytemuck::cast_slice(data));
                write(gpu, &whole, 0, &bytes);
                Tensor::<T>::from_buffer(gpu, whole, 3 * size_of::<T>() as u64.., shape).unwrap()
            };
            let ours = [gpu.tensor(&data[0], [m, k]).unwrap(), gpu.tensor(&data[1], [k, n]).unwrap()];
            let theirs = [place(&data[0], [m, k]), place(&data[1], [k, n])];
            let of = |[a, b]: &[Tensor<T>; 2]| {
                let product = matmul(a, b).unwrap().to_vec().unwrap();
                let [sum, shares] =
                    [ops::sum(b, 1).unwrap().cast().unwrap(), ops::softmax(a, 1).unwrap().cast().unwrap()];
                [product, sum.to_vec().unwrap(), shares.to_vec().unwrap()]
            };
            assert_eq!(of(&ours), of(&theirs), "{} {:?}", T::DTYPE, [m, n, k]);
        }
    }
    for gpu in support::devices() {
        check::<f32>(&gpu);
        check::<f16>(&gpu);
    }
}

#[test]
fn tensors_of_one_buffer_are_one_storage() {
    for gpu in devices() {
        let whole = buffer(&gpu, 1024);
        let at = |range| Tensor::<f32>::from_buffer(&gpu, whole.clone(), range, [64]).unwrap();
        let (mut first, second) = (at(0..256), at(512..768));
        assert!(first.shares_buffer(&second));
        let one = gpu.tensor(&[1.0f32; 64], [64]).unwrap();
        says(first.assign(|| ops::add(&one, &second)), &["assign: the output", "shared with 1 other"]);
        says(first.assign(|| ops::add(&one, &one)), &["assign: the output", "shared with 1 other"]);
        says(first.view_mut(), &["view_mut", "1 other tensor (", "of one buffer", "writable_view"]);
        drop(second);
        first.assign(|| ops::add(&one, &one)).unwrap();
        // A tensor that replaces dropped ones is ordered after their recorded work.
        drop(first);
        let again = at(0..256);
        assert_eq!(again.buffer().unwrap().1, 0..256);
        assert_eq!(bytes_of(&gpu, &whole)[..256], *bytemuck::cast_slice::<f32, u8>(&[2.0; 64]));
        // A buffer that a tensor has given away is known, too.
        let ours = gpu.tensor(&[3.0f32; 5], [5]).unwrap();
        let (given, range) = ours.buffer().map(|(buffer, range)| (buffer.clone(), range)).unwrap();
        let same = Tensor::<f32>::from_buffer(&gpu, given.clone(), range, [5]).unwrap();
        assert!(same.shares_buffer(&ours));
        says(
            Tensor::<f32>::from_buffer(&gpu, given.clone(), 0..32, [8]),
            &["from_buffer: the buffer", "a tensor of 20 bytes", "0..32"],
        );
        drop(ours);
        assert_eq!(same.to_vec().unwrap(), [3.0; 5]);
        drop(same);
        // Its own tensors are gone: now it is the application's.
        assert!(Tensor::<f32>::from_buffer(&gpu, given, 0..32, [8]).is_ok());
    }
}

#[test]
fn the_pool_never_takes_an_applications_buffer() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let whole = buffer(&gpu, 256);
    for _ in 0..4 {
        let x = Tensor::<f32>::from_buffer(&gpu, whole.clone(), .., [64]).unwrap();
        ops::add(&x, &x).unwrap().to_vec().unwrap();
        drop(x);
        let fresh: Vec<Tensor<f32>> = (0..4).map(|_| gpu.empty([64]).unwrap()).collect();
        assert!(fresh.iter().all(|tensor| tensor.buffer().unwrap().0 != &whole));
    }
}

#[test]
fn a_buffer_without_copies_is_read_by_a_kernel_and_not_written_by_the_host() {
    for gpu in devices() {
        let data = Fill::Integers.values::<f16>(77, 1);
        let (to, from) =
            (created(gpu.device(), 160, BufferUsages::STORAGE), gpu.tensor(&data, [77]).unwrap());
        let mut x = Tensor::<f16>::from_buffer(&gpu, to, 2.., [77]).unwrap();
        x.assign(|| ops::add(&from, &gpu.zeros([77]).unwrap())).unwrap();
        let launches = gpu.stats().launches;
        assert_eq!(x.to_vec().unwrap(), data);
        assert_eq!(pollster::block_on(x.slice(0, 3..).unwrap().read()).unwrap(), data[3..]);
        assert_eq!(gpu.stats().launches, launches + 2);
        says(x.write(&data), &["write: the output", "COPY_DST"]);
    }
}

#[test]
fn buffers_and_ranges_that_do_not_fit_are_errors() {
    let refused = |gpu: &Gpu, size: u64, usage, range: (u64, u64), words: &[&str]| {
        let whole = created(gpu.device(), size, usage);
        let made = Tensor::<f32>::from_buffer(gpu, whole, range.0..range.1, [5]);
        says(made, &[&["from_buffer: the "], words].concat());
    };
    for gpu in devices() {
        let stats = gpu.stats();
        let copies = BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        refused(&gpu, 64, copies, (0, 20), &["buffer", "STORAGE"]);
        refused(&gpu, 64, USAGES, (2, 22), &["range", "byte 2", "4, the size of f32"]);
        refused(&gpu, 64, USAGES, (0, 24), &["range", "20 bytes", "0..24"]);
        refused(&gpu, 64, USAGES, (20, 0), &["range", "20..0"]);
        refused(&gpu, 16, USAGES, (0, 20), &["buffer", "16 bytes", "0..20"]);
        refused(&gpu, 20, USAGES, (0, 20), &["buffer", "20 bytes", "needs 32", "multiple of 16"]);
        refused(&gpu, 64, USAGES, (u64::MAX - 3, u64::MAX), &["range"]);
        assert!(Tensor::<f32>::from_buffer(&gpu, buffer(&gpu, 16), 4..4, [0]).is_ok_and(|x| x.is_empty()));
        let far = Tensor::<f32>::from_buffer(&gpu, buffer(&gpu, 64), u64::MAX - 3.., [0]);
        says(far, &["from_buffer: the buffer", "it has 64 bytes", "18446744073709551612"]);
        says(
            Tensor::<f32>::from_buffer(&gpu, buffer(&gpu, 64), .., [1; 7]),
            &["from_buffer", "at most 6 axes"],
        );
        assert_eq!((gpu.stats().launches, gpu.stats().bytes_in_use), (stats.launches, stats.bytes_in_use));
    }
    let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
    let able = support::adopted(|desc| desc.required_features |= mappable);
    for usage in [BufferUsages::MAP_READ, BufferUsages::MAP_WRITE] {
        let Some(gpu) = &able else { return };
        refused(gpu, 64, USAGES | usage, (0, 20), &["buffer", "MAP_READ", "MAP_WRITE"]);
    }
}

#[test]
fn a_buffer_that_is_mapped_or_destroyed_or_invalid_is_an_error() {
    for gpu in devices() {
        let desc = wgpu::BufferDescriptor { label: None, size: 64, usage: USAGES, mapped_at_creation: true };
        let whole = gpu.device().create_buffer(&desc);
        let of = |buffer: &wgpu::Buffer| Tensor::<i32>::from_buffer(&gpu, buffer.clone(), .., [16]);
        says(of(&whole), &["from_buffer: the buffer", "mapped", "unmap()"]);
        let mut view = whole.get_mapped_range_mut(..).unwrap();
        says(of(&whole), &["from_buffer: the buffer", "mapped", "unmap()"]);
        view.copy_from_slice(bytemuck::cast_slice(&[7i32; 16]));
        drop(view);
        whole.unmap();
        let x = of(&whole).unwrap();
        assert_eq!(x.to_vec().unwrap(), [7; 16]);
        whole.destroy();
        says(of(&whole), &["from_buffer: the buffer", "destroyed"]);
        in_time("using a destroyed buffer", || {
            says(x.to_vec(), &["destroyed"]);
            says(x.slice(0, 2..).unwrap().t().cast::<f32>().unwrap().to_vec(), &["destroyed"]);
        });
        let _ = gpu.flush();
        let scope = gpu.device().push_error_scope(wgpu::ErrorFilter::Validation);
        let invalid =
            created(gpu.device(), 64, BufferUsages::MAP_READ | USAGES.union(BufferUsages::MAP_WRITE));
        assert!(pollster::block_on(scope.pop()).is_some());
        fails(Tensor::<f32>::from_buffer(&gpu, invalid, .., [16]), Kind::Input, &[]);
        let ok = gpu.tensor(&[1.0f32; 4], [4]).unwrap();
        assert_eq!(ops::add(&ok, &ok).unwrap().to_vec().unwrap(), [2.0; 4], "all else works");
    }
}

/// wgpu's errors contain the application's labels, which may say anything.
#[test]
fn a_label_does_not_change_what_is_said_of_a_buffer() {
    for gpu in devices() {
        for label in ["it doesn't match", "not mapped", "Validation Error"] {
            let create = |mapped_at_creation| {
                let desc = wgpu::BufferDescriptor {
                    label: Some(label),
                    size: 64,
                    usage: USAGES,
                    mapped_at_creation,
                };
                gpu.device().create_buffer(&desc)
            };
            let of = |buffer: &wgpu::Buffer| Tensor::<f32>::from_buffer(&gpu, buffer.clone(), .., [16]);
            let (whole, mapped) = (create(false), create(true));
            assert_eq!(of(&whole).unwrap().to_vec().unwrap(), [0.0; 16], "{label}");
            says(of(&mapped), &["it is mapped"]);
            whole.destroy();
            mapped.destroy();
            says(of(&whole), &["from_buffer: the buffer", "destroyed"]);
            says(of(&mapped), &["from_buffer: the buffer"]);
        }
    }
}

/// Nobody has said that the device is lost. A tensor may be made all the same, but its buffer is not blamed.
#[test]
fn a_buffer_is_not_blamed_for_the_loss_of_the_device() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let before = buffer(&gpu, 64);
    gpu.device().destroy();
    let of = |whole| Tensor::<f32>::from_buffer(&gpu, whole, .., [16]);
    let made = of(before);
    assert!(matches!(made, Ok(_) | Err(Error::Device(_))), "{made:?}");
    fails(of(buffer(&gpu, 64)), Kind::Device, &[]);
}

/// Of another device of the same instance, and of other instances, where the numbers of buffers are those of ours.
#[test]
fn a_buffer_of_another_device_is_an_error() {
    let all = devices();
    for (at, gpu) in all.iter().enumerate() {
        let mine: Vec<wgpu::Buffer> = (0..8).map(|_| buffer(gpu, 64)).collect();
        for other in all.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other) {
            let heard = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
            let count = heard.clone();
            other.device().on_uncaptured_error(std::sync::Arc::new(move |_| {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }));
            for _ in 0..64 {
                fails(
                    Tensor::<f32>::from_buffer(gpu, buffer(other, 64), .., [16]),
                    Kind::Gpu,
                    &["^from_buffer: "],
                );
            }
        }
        says(
            Tensor::<f32>::from_buffer(gpu, buffer(&all[(at + 1) % all.len()], 64), .., [16]),
            &["another device"],
        );
        let x = Tensor::<f32>::from_buffer(gpu, mine[0].clone(), .., [16]).unwrap();
        assert_eq!(x.to_vec().unwrap(), [0.0; 16]);
    }
    let (adapter, device, queue) = match support::application(|_| ()) {
        Some(application) => application,
        None => return,
    };
    let (other, _queue) =
        pollster::block_on(adapter.request_device(&Gpu::device_descriptor(&adapter))).unwrap();
    other.on_uncaptured_error(std::sync::Arc::new(|error| panic!("no error may reach this device: {error}")));
    let gpu = Gpu::adopt(&adapter, device, queue).unwrap();
    let made = Tensor::<f32>::from_buffer(&gpu, created(&other, 64, USAGES), .., [16]);
    says(made, &["from_buffer", "another device"]);
}

#[test]
fn a_failure_spoils_what_it_should_have_written_and_no_other_tensor_of_the_buffer() {
    for gpu in devices() {
        let whole = buffer(&gpu, 512);
        let at = |range| Tensor::<f32>::from_buffer(&gpu, whole.clone(), range, [64]).unwrap();
        let (mut first, good) = (at(0..256), gpu.tensor(&[1.0f32; 64], [64]).unwrap());
        let bad = gpu.tensor(&[1.0f32; 64], [64]).unwrap();
        bad.buffer().unwrap().0.destroy();
        first.assign(|| ops::add(&good, &bad)).unwrap();
        let _ = gpu.flush();
        says(first.to_vec(), &["failed"]);
        let second = at(256..512);
        assert!(second.to_vec().is_ok(), "its bytes were not to be written");
        let both = Tensor::<f32>::from_buffer(&gpu, whole.clone(), .., [128]).unwrap();
        says(both.to_vec(), &["failed"]);
        drop((second, both));
        first.assign(|| ops::add(&good, &good)).unwrap();
        assert_eq!(first.to_vec().unwrap(), [2.0; 64]);
        let both = Tensor::<f32>::from_buffer(&gpu, whole.clone(), .., [128]).unwrap();
        assert!(both.to_vec().is_ok(), "all of it is there again");
        drop((first, both));
        let mut all = Tensor::<f32>::from_buffer(&gpu, whole.clone(), .., [128]).unwrap();
        assert!(all.to_vec().is_ok(), "no tensor was left, so the contents are the application's");
        let pair = gpu.tensor(&[2.0f32; 128], [128]).unwrap();
        all.assign(|| ops::add(&pair, &gpu.tensor(&[1.0f32], [1]).unwrap())).unwrap();
        assert_eq!(all.to_vec().unwrap(), [3.0; 128]);
    }
}
