//! Proofs of subgroup sizes, on lavapipe: its subgroups have 8 invocations, and these tests claim that there are other
//! sizes too.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Barrier, mpsc};
use std::time::Duration;
use support::failure::{Kind, fails, says};
use support::{TestGpu, watchdog};
use tilewise::attention::{AttentionKernel, AttentionOptions, attention_backward, attention_with_lse};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::CoopScalar::{F16, F32};
use tilewise::gpu::{AdoptOptions, Assumptions, CacheFolder, CoopScope, DeviceType, SubgroupSizes, Verdict};
use tilewise::planning::Problem;
use tilewise::{Element, Error, Fill, Gemm, Gpu, GpuOptions, Plan, Result, f16, ops, reference, wgpu};

const FENCED: &str = "fenced off: the driver gives its kernels subgroups of another size";

/// What is claimed: this range of sizes, this size of kernels on matrices, and the speed of a device whose matrices are so
/// fast that a plan chooses them for a small product too.
fn claim(sizes: Option<[u32; 3]>) -> Assumptions {
    Assumptions {
        subgroups: sizes.map(|[min, max, matrices]| SubgroupSizes { min, max, matrices: Some(matrices) }),
        device_type: Some(DeviceType::Discrete),
        speed_of: Some("NVIDIA A100-SXM4-40GB".into()),
        ..Assumptions::default()
    }
}

/// The device with this claim. None, and a message, if its subgroups have another size than lavapipe's, or it has no
/// matrices.
fn claiming(sizes: Option<[u32; 3]>, cache: &CacheFolder) -> Option<TestGpu> {
    if !support::gpu()?.caps().to_string().contains("subgroups        8\n")
        || !support::gpu()?.caps().has_tensor_cores()
    {
        println!("skipped: a device with matrices and subgroups of 8");
        return None;
    }
    let gpu = untested(sizes, cache)?;
    assert!(!gpu.caps().rows.is_empty(), "this call tests the rows");
    Some(gpu)
}

/// The same device, whose rows are tested when they are needed.
fn untested(sizes: Option<[u32; 3]>, cache: &CacheFolder) -> Option<TestGpu> {
    support::own(|options| (options.assume, options.cache) = (claim(sizes), cache.clone()))
}

/// A product of integers, 32 x 64 x 16, so that the smallest tile is chosen. Returns the shader that computes it.
fn multiply(gpu: &Gpu) -> &'static str {
    let (a, b, want) = operands();
    let (a, b) = (gpu.tensor(&a, [32, 16]).unwrap(), gpu.tensor(&b, [16, 64]).unwrap());
    let product = Gemm::new(&a, &b);
    let c = product.run().unwrap();
    assert_eq!(c.to_vec().unwrap(), want);
    product.plan().unwrap().steps()[0].kernel.shader()
}

/// The same product with a result in f16: another kernel.
fn multiply_to_f16(gpu: &Gpu) -> &'static str {
    let (a, b, want) = operands();
    let (a, b) = (gpu.tensor(&a, [32, 16]).unwrap(), gpu.tensor(&b, [16, 64]).unwrap());
    let product = Gemm::new(&a, &b).out::<f16>();
    let c = product.run().unwrap().to_vec().unwrap();
    assert_eq!(c.into_iter().map(f32::from).collect::<Vec<_>>(), want);
    product.plan().unwrap().steps()[0].kernel.shader()
}

fn operands() -> (Vec<f16>, Vec<f16>, Vec<f32>) {
    let (a, b) = (Fill::Integers.values::<f16>(32 * 16, 1), Fill::Integers.values::<f16>(16 * 64, 2));
    let want = reference::gemm(&a, &b, [32, 64, 16]).value;
    // Small integers, which f16 holds exactly.
    (a, b, want.into_iter().map(|x| <f16 as Element>::from_f64(x).to_f32()).collect())
}

fn verdict(gpu: &Gpu) -> Verdict {
    let rows = &gpu.caps().rows;
    rows.iter().find(|row| (row.a, row.c) == (F16, F32)).expect("it is listed").verdict
}

/// The error of a product that is pinned to the kernel on matrices.
fn pinned(gpu: &Gpu) -> String {
    let a = gpu.tensor(&[f16::ONE; 32 * 32], [32, 32]).unwrap();
    let error = Gemm::new(&a, &a).kernel(GemmKernel::Coop).run().expect_err("it is fenced off");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    error.to_string()
}

/// The warnings about sizes so far. The other tests of this process cause none with these words.
fn warnings(words: &str) -> usize {
    support::warnings_with(words).len()
}

/// The file of verdicts in a folder, and its lines about kernels.
fn file_in(folder: &Path) -> (PathBuf, String, Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut paths = entries.map(|entry| entry.expect("it can be read").path());
    let path = paths.find(|path| path.to_string_lossy().contains("verdicts-")).expect("the file");
    let text = std::fs::read_to_string(&path).expect("it is a text");
    let kernels = text.lines().filter(|line| line.starts_with("gemm/coop ")).map(ToOwned::to_owned).collect();
    (path, text, kernels)
}

/// Replaces a part of the file and seals it again as if it had always been so.
fn forge(folder: &Path, from: &str, to: &str) {
    let (path, text, _) = file_in(folder);
    assert!(text.contains(from), "no {from} in {text}");
    let (body, _) = text.rsplit_once("sha256 ").expect("a file is sealed");
    let body = body.replace(from, to);
    let digest: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(path, format!("{body}sha256 {digest}\n")).unwrap();
}

#[test]
fn kernels_of_the_expected_size_are_used_and_each_is_asked_once() {
    let Some(gpu) = claiming(Some([4, 8, 8]), &CacheFolder::Off) else { return };
    support::assert_untouched(&gpu);
    assert_eq!(verdict(&gpu), Verdict::Verified, "{}", gpu.caps());
    // Two threads may compile and ask at the same time.
    let barrier = Barrier::new(2);
    let first = || {
        barrier.wait();
        assert_eq!(multiply(&gpu), "gemm/coop");
    };
    std::thread::scope(|scope| [scope.spawn(first), scope.spawn(first)].map(|thread| thread.join().unwrap()));
    let first = gpu.stats().proofs;
    assert!((1..=2).contains(&first), "{first} proofs");
    multiply(&gpu);
    assert_eq!(gpu.stats().proofs, first, "it has been asked");
    // A proof in the middle of recorded work neither submits it nor disturbs it.
    let x = gpu.tensor(&[1.0f32, 2.0], [2]).unwrap();
    let before = gpu.stats();
    let y = ops::add(&x, &x).unwrap();
    let a = gpu.tensor(&[f16::ONE; 12 * 16], [12, 16]).unwrap();
    let product = Gemm::new(&a, &a.t()).out::<tilewise::bf16>().kernel(GemmKernel::Coop).run().unwrap();
    let after = gpu.stats();
    assert_eq!((after.proofs, after.submits), (before.proofs + 1, before.submits));
    assert_eq!(after.launches, before.launches + 2);
    assert!(product.to_vec().unwrap().iter().all(|x| x.to_f32() == 16.0));
    assert_eq!(y.to_vec().unwrap(), [2.0, 4.0]);
}

#[test]
fn a_callback_inside_a_proof_may_need_another_proof() {
    let Some(gpu) = claiming(Some([4, 8, 8]), &CacheFolder::Off) else { return };
    let (sender, inside) = mpsc::channel();
    let callback = gpu.clone();
    gpu.queue().submit([]);
    // wgpu runs this where it next submits or polls, which is in the upload or in the proof.
    gpu.queue().on_submitted_work_done(move || sender.send(multiply_to_f16(&callback)).unwrap());
    let _doing = watchdog::doing("a proof inside a proof");
    assert_eq!((multiply(&gpu), inside.recv()), ("gemm/coop", Ok("gemm/coop")));
    assert_eq!(gpu.stats().proofs, 2);
}

/// A module reports a word, whatever its results are: of i8 a product's are integers, attention's are numbers of 16 bits.
#[test]
fn modules_are_asked_as_texts_are() {
    let Some(gpu) = claiming(Some([4, 8, 8]), &CacheFolder::Off) else { return };
    let proofs = || gpu.stats().proofs;
    let tile =
        GemmKernel::CoopKhr.tiles().iter().find(|tile| tile.tm == 16 && tile.bm == 32).expect("a small one");
    let a = gpu.tensor(&[1i8; 32 * 32], [32, 32]).unwrap();
    let product = Gemm::new(&a, &a).tile(*tile).run().unwrap();
    assert!(product.to_vec().unwrap().iter().all(|sum| *sum == 32) && proofs() == 1);
    if gpu.caps().flexible_rows_of(F16, F32, CoopScope::Subgroup).next().is_none() {
        return;
    }
    let x = gpu.tensor(&[f16::ONE; 16 * 8], [1, 1, 16, 8]).unwrap();
    let options = AttentionOptions::new().kernel(AttentionKernel::CoopNv2);
    let (y, lse) = attention_with_lse(&x, &x, &x, &options).unwrap();
    assert!(y.to_vec().unwrap().iter().all(|y| *y == f16::ONE) && proofs() == 2);
    let gradients = attention_backward(&x, &x, &x, &y, &lse, &x, &options).unwrap();
    assert!(gradients.q.to_vec().unwrap().iter().all(|dq| dq.to_f32().abs() < 1e-2) && proofs() == 4);
    assert!(gpu.caps().rows.iter().all(|row| row.verdict != Verdict::OtherSubgroups), "{}", gpu.caps());
}

#[test]
fn a_device_with_one_size_is_asked_nothing() {
    let Some(gpu) = claiming(None, &CacheFolder::Off) else { return };
    assert_eq!(multiply(&gpu), "gemm/coop");
    assert_eq!(gpu.stats().proofs, 0);
}

#[test]
fn an_adopted_device_is_asked_too_with_dims_in_a_ring() {
    if claiming(None, &CacheFolder::Off).is_none() {
        return;
    }
    let change = |desc: &mut wgpu::DeviceDescriptor| {
        desc.required_features.remove(wgpu::Features::IMMEDIATES);
        desc.required_limits.max_immediate_size = 0;
    };
    let Some((adapter, device, queue)) = support::application(change) else { return };
    let options =
        GpuOptions { assume: claim(Some([4, 8, 8])), cache: CacheFolder::Off, ..Default::default() };
    let options = AdoptOptions::from(options).polled_by_application();
    let gpu = Gpu::adopt_with(&adapter, device, queue, options).unwrap();
    assert_eq!(gpu.caps().limits.immediate_bytes, 0);
    assert_eq!((multiply(&gpu), gpu.stats().proofs), ("gemm/coop", 1));
}

#[test]
fn a_size_that_the_self_test_does_not_have_fences_the_row_off() {
    for matrices in [4, 16] {
        let Some(gpu) = claiming(Some([4, 16, matrices]), &CacheFolder::Off) else { return };
        assert_eq!(verdict(&gpu), Verdict::OtherSubgroups, "{}", gpu.caps());
        assert_eq!(multiply(&gpu), "gemm/tiled");
        assert_eq!(gpu.stats().proofs, 0);
        assert!(pinned(&gpu).contains(FENCED), "{}", pinned(&gpu));
    }
}

#[test]
fn a_row_is_tested_and_fenced_off_before_its_first_kernel_is_compiled() {
    if claiming(None, &CacheFolder::Off).is_none() {
        return;
    }
    let other_sizes = || untested(Some([4, 16, 16]), &CacheFolder::Off).expect("there was one before");
    let gpu = other_sizes();
    assert_eq!(multiply(&gpu), "gemm/tiled");
    assert_eq!((gpu.stats().pipelines, gpu.stats().proofs), (1, 0), "no kernel on matrices");
    assert!(gpu.driver_times().self_tests > Duration::ZERO);
    assert_eq!(verdict(&gpu), Verdict::OtherSubgroups);
    assert!(pinned(&other_sizes()).contains(FENCED));
    // A plan that an application made for such a device before its rows were tested.
    let mut caps = gpu.caps().clone();
    caps.rows.iter_mut().for_each(|row| row.verdict = Verdict::Untested);
    let a = gpu.tensor(&[f16::ONE; 32 * 32], [32, 32]).unwrap();
    let plan = Gemm::new(&a, &a).kernel(GemmKernel::Coop).problem().unwrap().plan(&caps).unwrap();
    let calls: [fn(&Gpu, &Plan) -> Result<()>; 2] =
        [|gpu, plan| gpu.prepare(plan), |gpu, plan| gpu.warm_up(&[plan.clone(), plan.clone()])];
    for call in calls {
        let gpu = other_sizes();
        let error = call(&gpu, &plan).expect_err("it is fenced off");
        assert!(matches!(&error, Error::Unsupported { needs, .. } if needs.contains(FENCED)), "{error}");
        assert_eq!(gpu.stats().pipelines, 0);
    }
}

#[test]
fn a_kernel_of_another_size_than_the_self_test_is_not_used_and_the_next_plan_is_taken() {
    let folder = support::folder("changed-mind");
    let cache = CacheFolder::At(folder.clone());
    let sizes = Some([4, 16, 16]);
    let Some(gpu) = claiming(sizes, &cache) else { return };
    drop(gpu);
    // As if the self-test had had subgroups of 16.
    forge(&folder, FENCED, "verified");
    let gpu = claiming(sizes, &cache).unwrap();
    assert_eq!(verdict(&gpu), Verdict::Verified);
    let caps = gpu.caps();
    const WHY: &str = "subgroups of 16 in gemm/coop, to which the driver gives 8";
    let before = warnings(WHY);
    let barrier = Barrier::new(2);
    let product = || {
        barrier.wait();
        assert_eq!(multiply(&gpu), "gemm/tiled");
    };
    std::thread::scope(|scope| [scope.spawn(product), scope.spawn(product)].map(|t| t.join().unwrap()));
    assert_eq!(warnings(WHY), before + 1, "{:?}", support::warnings_with(WHY));
    assert!((1..=2).contains(&gpu.stats().proofs));
    assert!(caps.coop(8, F16, F32).is_ok(), "what was handed out does not change");
    assert_eq!(verdict(&gpu), Verdict::OtherSubgroups);
    assert!(pinned(&gpu).contains(FENCED), "{}", pinned(&gpu));
    assert_eq!(multiply_to_f16(&gpu), "gemm/tiled");
    drop(gpu);
    // The next run knows.
    let gpu = claiming(sizes, &cache).unwrap();
    assert_eq!(
        (verdict(&gpu), multiply(&gpu), gpu.stats().proofs),
        (Verdict::OtherSubgroups, "gemm/tiled", 0)
    );
    assert_eq!(warnings(WHY), before + 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn sizes_are_kept_for_the_same_driver_and_kernel() {
    let folder = support::folder("sizes");
    let cache = CacheFolder::At(folder.clone());
    let open = || claiming(Some([4, 8, 8]), &cache);
    let Some(gpu) = open() else { return };
    assert_eq!([multiply(&gpu), multiply_to_f16(&gpu)], ["gemm/coop"; 2]);
    assert_eq!(gpu.stats().proofs, 2);
    drop(gpu);
    let (_, text, kernels) = file_in(&folder);
    assert!(kernels.len() == 2 && kernels.iter().all(|line| line.ends_with(", subgroups of 8")), "{text}");
    // One proof shows that the driver still does what the file says; the other kernels are believed.
    let gpu = open().unwrap();
    assert_eq!([multiply(&gpu), multiply_to_f16(&gpu)], ["gemm/coop"; 2]);
    assert_eq!(gpu.stats().proofs, 1);
    assert_eq!(file_in(&folder).1, text);
    drop(gpu);
    // A kernel that the driver gave another size.
    let other = kernels[1].replace("of 8", "of 4");
    forge(&folder, &kernels[1], &other);
    let gpu = open().unwrap();
    assert_eq!([multiply(&gpu), multiply_to_f16(&gpu)], ["gemm/coop", "gemm/tiled"]);
    assert_eq!((gpu.stats().proofs, verdict(&gpu)), (1, Verdict::OtherSubgroups));
    drop(gpu);
    // A file of another driver.
    let driver = support::gpu().unwrap().caps().driver.clone();
    std::fs::write(&file_in(&folder).0, &text).unwrap();
    forge(&folder, &driver, "a driver of yesterday");
    let gpu = open().unwrap();
    assert_eq!([multiply(&gpu), multiply_to_f16(&gpu)], ["gemm/coop"; 2]);
    assert_eq!(gpu.stats().proofs, 2);
    assert_eq!(support::warnings_with(&folder.display().to_string()).len(), 1, "it was not used");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_device_that_is_lost_during_a_proof_is_an_error_and_nothing_is_concluded() {
    let folder = support::folder("lost-proof");
    let cache = CacheFolder::At(folder.clone());
    let Some(gpu) = claiming(Some([4, 8, 8]), &cache) else { return };
    let (a, b, _) = operands();
    let (a, b) = (gpu.tensor(&a, [32, 16]).unwrap(), gpu.tensor(&b, [16, 64]).unwrap());
    gpu.wait().unwrap();
    let text = file_in(&folder).1;
    // wgpu runs this where it next submits or polls, which is in the proof.
    let device = gpu.device().clone();
    gpu.queue().submit([]);
    gpu.queue().on_submitted_work_done(move || device.destroy());
    let _doing = watchdog::doing("a proof on a lost device");
    fails(Gemm::new(&a, &b).run(), Kind::Device, &["lost"]);
    says(Gemm::new(&a, &b).run(), &["lost"]);
    assert_eq!((gpu.stats().proofs, verdict(&gpu)), (0, Verdict::Verified));
    drop((a, b, gpu));
    assert_eq!(file_in(&folder).1, text, "nothing is cached");
    std::fs::remove_dir_all(&folder).unwrap();
}
