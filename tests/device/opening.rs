//! A device: opened more than once, shared by threads, checked, kept on disk, broken.

use std::path::PathBuf;
use std::sync::Arc;
use support::failure::{Kind, fails, says};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{CacheFolder, Checks};
use tilewise::planning::Plan;
use tilewise::planning::kernel::{Kernel, compile};
use tilewise::{Error, Fill, Gemm, Gpu, f16, matmul, reference};

/// The kernels that run everywhere, in every type.
const KERNELS: [GemmKernel; 2] = [GemmKernel::Naive, GemmKernel::Tiled];

/// One exact product by each kernel.
fn works(gpu: &Gpu) {
    let shape @ [m, n, k] = [37, 29, 41];
    let (a, b) = (Fill::Integers.values::<f32>(m * k, 1), Fill::Integers.values::<f32>(k * n, 2));
    let want = reference::gemm(&a, &b, shape).value;
    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
    for kernel in KERNELS {
        let c = Gemm::new(&a, &b).kernel(kernel).run().unwrap().to_vec().unwrap();
        assert_eq!(c.into_iter().map(f64::from).collect::<Vec<_>>(), want, "{kernel}");
    }
}

#[test]
fn devices_side_by_side_work_and_count_on_their_own() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let Some(other) = support::own(|_| ()) else { return };
    support::assert_untouched(&gpu);
    works(&gpu);
    assert_eq!((gpu.stats().launches, other.stats().launches), (2, 0));
    works(&other);
    let clone = gpu.clone();
    assert!(clone.is_same(&gpu) && !clone.is_same(&other));
    assert_eq!(clone.stats(), gpu.stats());
    assert_eq!(support::untimed(gpu.caps()), support::untimed(other.caps()));
    drop(gpu);
    works(&other);
    works(&clone);
}

#[test]
fn tensors_keep_their_device_alive() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let c = matmul(&a, &a).unwrap();
    drop((gpu, a));
    assert_eq!(c.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

/// A device that another thread destroys later may meet a driver that the end of the process has taken down already.
#[test]
fn a_device_is_gone_when_its_last_gpu_is() {
    let Some(gpu) = support::own(|_| ()) else { return };
    // The device owns this callback, and the callback a share of this.
    let shared = Arc::new(());
    let device = Arc::downgrade(&shared);
    gpu.device().set_device_lost_callback(move |_, _| assert_eq!(*shared, (), "it is kept"));
    let a = gpu.random::<f32>([16, 16], Fill::Integers, 1).unwrap();
    // The thread that waits for reads holds the device as well: left to itself, it might be the last.
    pollster::block_on(matmul(&a, &a).unwrap().read()).unwrap();
    assert_eq!(device.strong_count(), 1, "the device is open");
    drop((a, gpu));
    assert_eq!(device.strong_count(), 0, "the device is closed");
}

#[test]
fn four_threads_share_one_device() {
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    let Some(gpu) = support::own(|_| ()) else { return };
    shared::<Gpu>(&gpu);
    shared(&gpu.zeros::<f16>([1]).unwrap());
    let before = gpu.stats().launches;
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let gpu = &gpu;
            scope.spawn(move || {
                for round in 0..25 {
                    let shape @ [m, n, k] = [3 + seed, 9, 1 + round % 13];
                    let a = Fill::Integers.values::<f32>(m * k, (100 * round + seed) as u64);
                    let b = Fill::Integers.values::<f32>(k * n, round as u64);
                    let want = reference::gemm(&a, &b, shape).value;
                    let (a, b) = (gpu.tensor(&a, [m, k]).unwrap(), gpu.tensor(&b, [k, n]).unwrap());
                    let c = matmul(&a, &b).unwrap();
                    drop((a, b));
                    let c = match round % 2 {
                        0 => c.to_vec().unwrap(),
                        _ => pollster::block_on(c.read()).unwrap(),
                    };
                    assert_eq!(
                        c.into_iter().map(f64::from).collect::<Vec<_>>(),
                        want,
                        "thread {seed}, round {round}"
                    );
                }
            });
        }
    });
    assert_eq!(gpu.stats().launches - before, 100);
    assert_eq!(gpu.stats().bytes_in_use, 0, "every buffer came back");
}

#[test]
fn checked_and_trusted_shaders_give_the_same_results() {
    let Some(checked) = support::own(|options| options.checks = Checks::Checked) else { return };
    let Some(trusted) = support::own(|options| options.checks = Checks::Trusted) else { return };
    works(&checked);
    works(&trusted);
    let run = |gpu: &Gpu| {
        let a = gpu.random::<f16>([65, 33], Fill::Integers, 1).unwrap();
        KERNELS.map(|kernel| Gemm::new(&a, &a.t()).kernel(kernel).run().unwrap().to_vec().unwrap())
    };
    assert_eq!(run(&checked), run(&trusted));
}

fn prepared(gpu: &Gpu) -> Plan {
    let a = gpu.zeros::<f32>([64, 64]).unwrap();
    Gemm::new(&a, &a).kernel(GemmKernel::Naive).plan().unwrap()
}

#[test]
fn a_plan_is_compiled_ahead_and_once() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let plan = prepared(&gpu);
    assert_eq!(gpu.stats().pipelines, 0, "planning compiles nothing");
    gpu.prepare(&plan).unwrap();
    gpu.prepare(&plan).unwrap();
    assert_eq!(gpu.stats().pipelines, 1);
    let a = gpu.zeros::<f32>([64, 64]).unwrap();
    let c = Gemm::new(&a, &a).kernel(GemmKernel::Naive).run().unwrap();
    assert_eq!(gpu.stats().pipelines, 1, "the launch finds it");
    assert_eq!(c.to_vec().unwrap(), [0.0; 64 * 64]);
}

#[test]
fn a_kernel_that_does_not_compile_is_an_error_that_names_it() {
    let Some(gpu) = support::own(|_| ()) else { return };
    for (name, kernel) in [
        ("nonsense", Kernel::new("gemm/coop_verify").param("ab_unit", "nonsense")),
        ("LANES=4096u", Kernel::new("ops/run_starts").param("LANES", "4096u")), // more than any device has
        ("ROWS=0u", Kernel::new("gemm/scalar_verify").param("ROWS", "0u")),
    ] {
        fails(compile(&gpu, &kernel), Kind::Device, &["does not compile", name]);
    }
    fails(compile(&gpu, &Kernel::new("magic")), Kind::Input, &[]);
    assert_eq!(gpu.stats().pipelines, 0);
    works(&gpu);
}

#[test]
fn recorded_work_and_reads_end_with_the_device_and_the_next_one_works() {
    let Some(gpu) = support::own(|_| ()) else { return };
    works(&gpu);
    let a = gpu.random::<f32>([16, 16], Fill::Integers, 1).unwrap();
    let c = matmul(&a, &a).unwrap();
    // Enough work that some of it is still under way below.
    let heavy = gpu.zeros::<f32>([384, 384]).unwrap();
    let pending: Vec<_> = (0..4).map(|_| matmul(&heavy, &heavy).unwrap().read()).collect();
    let recorded = matmul(&a, &c).unwrap();
    gpu.device().destroy();
    // What was under way may have come through; all else has not. Nothing panics or waits for ever.
    for read in pending {
        match pollster::block_on(read) {
            Ok(values) => assert_eq!(values, vec![0.0; 384 * 384]),
            Err(error) => assert!(matches!(error, Error::Device(_)), "{error:?}"),
        }
    }
    fails(recorded.to_vec(), Kind::Device, &["lost"]);
    fails(pollster::block_on(recorded.read()), Kind::Device, &["lost"]);
    drop((recorded, heavy, c, a, gpu));
    let Some(next) = support::own(|_| ()) else { return };
    works(&next);
}

#[test]
fn a_loss_that_is_told_late_is_still_named() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.random::<f32>([16, 16], Fill::Integers, 1).unwrap();
    let recorded = matmul(&a, &a).unwrap();
    // The thread that polls first calls back, in its own time: here it never does.
    gpu.device().set_device_lost_callback(|_, _| ());
    gpu.device().destroy();
    says(recorded.to_vec(), &["lost"]);
}

#[test]
fn compiled_pipelines_are_kept_on_disk_and_a_damaged_file_is_survived() {
    let folder = support::folder("pipelines");
    let open = || support::own(|options| options.cache = CacheFolder::At(folder.clone()));
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let paths = entries.map(|entry| entry.expect("the folder can be read").path());
        // What the self-tests found lies here too: see verify.rs.
        let paths = paths.filter(|path| !path.to_string_lossy().contains("verdicts-"));
        paths.map(|path| (path.clone(), std::fs::read(path).expect("the file can be read"))).collect()
    };
    let Some(gpu) = open() else { return };
    let able = gpu.caps().pipeline_cache;
    drop(gpu);
    assert_eq!(files(), [], "a run that compiles nothing leaves nothing");
    let run = || {
        let gpu = open().expect("there was one before");
        works(&gpu);
        drop(gpu);
        files()
    };
    let kept = run();
    if !able {
        assert_eq!(kept, [], "the device cannot");
        return;
    }
    let [(path, first)] = &kept[..] else { panic!("{} files", kept.len()) };
    assert!(first.len() > 8, "{} bytes", first.len());
    assert_eq!(run().len(), 1, "one file, and no drafts");
    for damage in [&b""[..], b"not a cache", &first[..first.len() / 2], &[&first[..], b"more"].concat()] {
        std::fs::write(path, damage).unwrap();
        let [(_, repaired)] = &run()[..] else { panic!("one file") };
        assert_ne!(repaired, damage, "it is written anew");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, b"a file where the folder should be").unwrap();
    works(&open().expect("there was one before"));
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn no_pipelines_are_kept_where_that_is_switched_off() {
    let Some(gpu) = support::own(|options| options.cache = CacheFolder::Off) else { return };
    works(&gpu);
    assert_eq!(gpu.stats().pipelines, 2);
}
