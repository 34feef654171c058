//! The self-tests of cooperative matrices: what they find, what is kept of it, and what becomes of a bad file.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use support::TestGpu;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{Assumptions, CacheFolder, CoopRow, CoopScalar, DeviceType, Verdict};
use tilewise::{Caps, Error, Fill, Gemm, Gpu, GpuOptions, f16, matmul, reference, wgpu};

const WRONG: &str = "fenced off: wrong results in the self-test";

fn row(size: u32, ab: CoopScalar, c: CoopScalar) -> CoopRow {
    // What a claim says of its verdict counts for nothing.
    CoopRow { verdict: Verdict::Verified, ..support::rows::row(size, ab, c) }
}

/// Opens a device, and asks for its capabilities, so that its rows are tested.
pub(crate) fn open_at(folder: &Path) -> TestGpu {
    let gpu = support::own(|options| options.cache = CacheFolder::At(folder.into()));
    let gpu = gpu.expect("there was one before");
    assert!(!gpu.caps().rows.is_empty());
    gpu
}

fn claiming(claims: &[CoopRow], cache: CacheFolder) -> TestGpu {
    support::own(|options| (options.cache, options.assume.rows) = (cache, claims.to_vec()))
        .expect("there was one before")
}

/// The lines of a file of verdicts without the speeds of rows and without the digest, sorted.
fn untimed(text: &str) -> Vec<&str> {
    let is_kept = |line: &&str| !line.starts_with("speed of ") && !line.starts_with("sha256 ");
    let mut lines: Vec<&str> = text.lines().filter(is_kept).collect();
    lines.sort_unstable();
    lines
}

/// Whether there is a device that lists rows; says so where there is none.
pub(crate) fn rows_are_listed() -> bool {
    let listed = support::gpu().is_some_and(|gpu| gpu.caps().has_tensor_cores());
    if !listed {
        println!("skipped: no adapter with cooperative matrices");
    }
    listed
}

/// The rows that kernels can be written for, and so the ones that are tested.
fn spelled(gpu: &Gpu) -> Vec<CoopRow> {
    gpu.caps().rows.iter().filter(|row| row.is_spelled_in_wgsl()).copied().collect()
}

fn verdicts(gpu: &Gpu) -> Vec<Verdict> {
    spelled(gpu).iter().map(|row| row.verdict).collect()
}

fn all_verified(gpu: &Gpu) -> bool {
    !verdicts(gpu).is_empty() && verdicts(gpu).iter().all(|verdict| *verdict == Verdict::Verified)
}

/// The one file of verdicts in a folder.
pub(crate) fn file_in(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|path| path.to_string_lossy().contains("verdicts-"));
    let [file] = &files[..] else { panic!("{files:?}") };
    file.clone()
}

/// The text of a file with `from` replaced, and sealed again as if it had always been so.
pub(crate) fn forged(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from} in {text}");
    let (body, _) = text.rsplit_once("sha256 ").expect("a file is sealed");
    let body = body.replace(from, to);
    let digest: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{body}sha256 {digest}\n")
}

pub(crate) fn works(gpu: &Gpu) {
    let shape @ [m, n, k] = [33, 24, 40];
    let (a, b) = (Fill::Integers.values::<f16>(m * k, 1), Fill::Integers.values::<f16>(k * n, 2));
    let want = reference::gemm(&a, &b, shape).value;
    let c = matmul(&gpu.tensor(&a, [m, k]).unwrap(), &gpu.tensor(&b, [k, n]).unwrap()).unwrap();
    assert_eq!(c.to_vec().unwrap().into_iter().map(f64::from).collect::<Vec<_>>(), want);
}

/// Whether a kernel, a text or a module, uses rows of this form.
fn is_tested(row: &CoopRow, caps: &Caps) -> bool {
    row.is_spelled_in_wgsl() || caps.spirv && row.is_used_in_spirv()
}

#[test]
fn the_capabilities_of_a_device_have_a_verdict_on_every_row_that_it_could_use() {
    let Some(gpu) = support::own(|options| options.cache = CacheFolder::Off) else { return };
    support::assert_untouched(&gpu);
    let caps = gpu.caps();
    for row in &caps.rows {
        let is_known = caps.subgroups.is_some_and(|sizes| sizes.matrices.is_some());
        let has_numbers = caps.f16 || ![row.a, row.c].contains(&CoopScalar::F16);
        let usable = is_known && has_numbers && is_tested(row, caps);
        assert_eq!(row.verdict == Verdict::Untested, !usable, "{row}");
    }
    if caps.adapter.contains("llvmpipe") && !caps.rows.is_empty() {
        assert_eq!(verdicts(&gpu), [Verdict::Verified; 2], "{caps}");
        let of_i8 = caps.rows_of(CoopScalar::I8, CoopScalar::I32).map(|row| row.verdict);
        assert!(!caps.spirv || of_i8.eq([Verdict::Verified]), "{caps}");
        assert!(caps.coop(8, CoopScalar::F16, CoopScalar::F32).is_ok());
    }
    works(&gpu);
}

#[test]
fn what_was_found_is_kept_and_believed() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("believed");
    let first = open_at(&folder);
    let text = std::fs::read_to_string(file_in(&folder)).expect("the verdicts are kept");
    for part in [first.caps().adapter.as_str(), &first.caps().driver, env!("CARGO_PKG_VERSION")] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let cached = |row: &CoopRow| text.contains(&row.to_string());
    let caps = first.caps();
    assert!(caps.rows.iter().all(|row| cached(row) == is_tested(row, caps)), "{text}");
    assert_eq!(open_at(&folder).caps(), first.caps());
    assert_eq!(std::fs::read_to_string(file_in(&folder)).unwrap(), text, "nothing to add");

    // A verdict that no test could have found here, so that it must have come from the file.
    let row @ CoopRow { m, a, c, .. } = *spelled(&first).last().expect("there are rows");
    let last = row.to_string();
    let fenced = last.replace("verified", WRONG);
    std::fs::write(file_in(&folder), forged(&text, &last, &fenced)).unwrap();
    let gpu = open_at(&folder);
    assert_eq!(verdicts(&gpu).last(), Some(&Verdict::Wrong));
    assert!(gpu.caps().coop(m, a, c).unwrap_err().ends_with(WRONG));
    assert!(gpu.caps().to_string().contains(&fenced), "{}", gpu.caps());
    works(&gpu);

    std::fs::write(file_in(&folder), forged(&text, "(subgroup), verified", &format!("(subgroup), {WRONG}")))
        .unwrap();
    let gpu = open_at(&folder);
    assert!(!gpu.caps().has_tensor_cores(), "{}", gpu.caps());
    assert!(gpu.caps().to_string().contains("tensor cores     no"), "{}", gpu.caps());
    works(&gpu);
    assert_eq!(support::warnings_with(&folder.display().to_string()), Vec::<String>::new());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_row_that_is_not_in_the_file_is_tested_and_added() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("added");
    let first = open_at(&folder);
    let text = std::fs::read_to_string(file_in(&folder)).unwrap();
    let mut tested = first.caps().rows.iter().filter(|row| is_tested(row, first.caps()));
    let last = format!("{}\n", tested.next_back().expect("there are rows"));
    std::fs::write(file_in(&folder), forged(&text, &last, "")).unwrap();
    assert_eq!(support::untimed(open_at(&folder).caps()), support::untimed(first.caps()));
    assert_eq!(untimed(&std::fs::read_to_string(file_in(&folder)).unwrap()), untimed(&text));
    assert_eq!(support::warnings_with(&folder.display().to_string()), Vec::<String>::new());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_is_not_to_be_relied_on_is_replaced_with_one_warning() {
    if !rows_are_listed() {
        return;
    }
    let folder = support::folder("replaced");
    let caps = support::untimed(open_at(&folder).caps());
    let file = file_in(&folder);
    let text = std::fs::read_to_string(&file).unwrap();
    let version = format!("version {}", env!("CARGO_PKG_VERSION"));
    for (what, contents) in [
        ("empty", Vec::new()),
        ("no text", vec![0xff; 300]),
        ("another text", b"Dear diary\n".to_vec()),
        ("cut short", text.as_bytes()[..text.len() / 2].to_vec()),
        ("changed", text.replace("verified", WRONG).into_bytes()),
        ("of another version", forged(&text, &version, "version 0.0.1").into_bytes()),
        ("of another adapter", forged(&text, &caps.adapter, "NVIDIA H200").into_bytes()),
        ("of another driver", forged(&text, &caps.driver, "a driver of yesterday").into_bytes()),
        ("of another format", forged(&text, "Verdicts", "Judgements").into_bytes()),
    ] {
        let before = support::warnings_with(&folder.display().to_string()).len();
        std::fs::write(&file, contents).unwrap();
        let gpu = open_at(&folder);
        assert!(all_verified(&gpu) && support::untimed(gpu.caps()) == caps, "{what}: {}", gpu.caps());
        let anew = std::fs::read_to_string(&file).unwrap();
        assert_eq!(untimed(&anew), untimed(&text), "{what}: it is written anew");
        let warnings = support::warnings_with(&folder.display().to_string());
        assert_eq!(warnings.len() - before, 1, "{what}: {warnings:?}");
        assert!(warnings[before].contains("tested again"), "{warnings:?}");
        assert_eq!(open_at(&folder).caps(), gpu.caps(), "{what}");
        assert_eq!(support::warnings_with(&folder.display().to_string()).len() - before, 1, "{what}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn where_nothing_can_be_written_there_is_one_warning() {
    if !rows_are_listed() {
        return;
    }
    // A folder where the file should be: it can be neither read nor replaced.
    let folder = support::folder("unwritable");
    drop(open_at(&folder));
    let file = file_in(&folder);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(all_verified(&open_at(&folder)));
    let warnings = support::warnings_with(&folder.display().to_string());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no draft stays behind");
    std::fs::remove_dir_all(&folder).unwrap();

    // A file where the folder should be.
    let folder = support::folder("no-folder");
    std::fs::write(&folder, b"a file where the folder should be").unwrap();
    assert!(all_verified(&open_at(&folder)));
    let warnings = support::warnings_with(&folder.display().to_string());
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("cannot store"), "{warnings:?}");
    std::fs::remove_file(&folder).unwrap();

    // A folder that may not be written to, which says nothing to an administrator.
    let folder = support::folder("read-only");
    std::fs::create_dir(&folder).unwrap();
    let writable = std::fs::metadata(&folder).unwrap().permissions();
    let mut read_only = writable.clone();
    read_only.set_readonly(true);
    std::fs::set_permissions(&folder, read_only).unwrap();
    assert!(all_verified(&open_at(&folder)));
    let warnings = support::warnings_with(&folder.display().to_string()).len();
    let kept = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(warnings + kept, 1, "either it is kept or there is a warning");
    std::fs::set_permissions(&folder, writable).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_claimed_row_is_tested_and_never_kept() {
    if !rows_are_listed() {
        return;
    }
    if support::validates() {
        println!("skipped: the validation layer complains of matrices that are not listed");
        return;
    }
    use CoopScalar::{F16, F32};
    let folder = support::folder("claims");
    let listed = open_at(&folder).caps().clone();
    let text = std::fs::read_to_string(file_in(&folder)).unwrap();
    if listed.device_type != DeviceType::Software {
        println!("skipped: nobody knows what a GPU does with matrices that it does not have");
        return;
    }
    let gpu = claiming(&[row(16, F16, F32), row(8, F16, F32)], CacheFolder::At(folder.clone()));
    assert_eq!(gpu.caps().rows.len(), listed.rows.len() + 1, "what is listed is not there twice");
    let claimed = *gpu.caps().rows.last().expect("the claimed row");
    assert_eq!((claimed.m, claimed.a, claimed.c), (16, F16, F32));
    assert_ne!(claimed.verdict, Verdict::Untested);
    if listed.adapter.contains("llvmpipe") {
        // Not listed, and right all the same.
        assert_eq!(claimed.verdict, Verdict::Verified);
        assert!(gpu.caps().coop(16, F16, F32).is_ok());
    }
    works(&gpu);
    assert_eq!(std::fs::read_to_string(file_in(&folder)).unwrap(), text, "nothing is kept of a claim");
    assert_eq!(open_at(&folder).caps(), &listed, "nor known to the next run");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn rows_that_are_not_there_are_refused_and_change_nothing_else() {
    // A device that was opened without matrices, so that the driver has to refuse them.
    let open = |rows: &[CoopRow]| {
        let (adapter, device, queue) = support::application(|desc| {
            desc.required_features.remove(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
        })?;
        let mut options = GpuOptions::from_env().unwrap();
        (options.cache, options.assume.rows) = (CacheFolder::Off, rows.to_vec());
        Some(Gpu::adopt_with(&adapter, device, queue, options).expect("it can be adopted"))
    };
    let Some(plain) = open(&[]) else { return };
    assert_eq!(plain.caps().rows, []);
    if plain.caps().subgroups.is_none_or(|sizes| sizes.matrices.is_none()) {
        println!("skipped: subgroups of an unknown size");
        return;
    }
    let claims = [8, 16].map(|size| row(size, CoopScalar::F32, CoopScalar::F32));
    let gpu = open(&claims).expect("there was one before");
    assert_eq!(gpu.caps().rows.len(), claims.len());
    for row in &gpu.caps().rows {
        assert_eq!(row.verdict, Verdict::Refused, "{row}");
        let why = gpu.caps().coop(row.m, row.a, row.c).unwrap_err();
        assert!(why.ends_with("fenced off: the driver refuses it"), "{why}");
        assert_eq!(gpu.caps().rows_of(row.a, row.c).count(), 0);
        let warnings = support::warnings_with(&row.to_string());
        assert!(warnings.iter().any(|warning| warning.contains("gemm/coop_verify")), "{row}: {warnings:?}");
    }
    works(&gpu);
}

#[test]
fn rows_that_wgsl_has_no_words_for_are_not_tested_and_not_used() {
    let Some(plain) = support::own(|options| options.cache = CacheFolder::Off) else { return };
    use CoopScalar::{F32, I32};
    let claims = [row(32, F32, F32), row(8, I32, I32)];
    let gpu = claiming(&claims, CacheFolder::Off);
    let (listed, claimed) = gpu.caps().rows.split_at(plain.caps().rows.len());
    assert_eq!(listed.len(), plain.caps().rows.len());
    assert_eq!(support::untimed(gpu.caps()).rows[..listed.len()], support::untimed(plain.caps()).rows);
    assert_eq!(gpu.caps().machine, plain.caps().machine);
    assert_eq!(claimed.len(), claims.len());
    for row in claimed {
        assert_eq!(row.verdict, Verdict::Untested, "{row}");
        let why = gpu.caps().coop(row.m, row.a, row.c).unwrap_err();
        assert!(why.ends_with("which WGSL cannot express"), "{why}");
    }
    works(&gpu);
}

/// A device that computes nothing, with subgroups of these sizes, and a claim on a row.
fn noop([min, max]: [u32; 2]) -> Gpu {
    let adapter = support::noop_adapter_with(wgpu::NoopBackendOptions {
        subgroup_min_size: Some(min),
        subgroup_max_size: Some(max),
        ..Default::default()
    });
    let claims = vec![row(8, CoopScalar::F16, CoopScalar::F32)];
    let assume = Assumptions { rows: claims, ..Default::default() };
    let options = GpuOptions { cache: CacheFolder::Off, assume, ..Default::default() };
    support::noop_on(&adapter, options, |_| ())
}

#[test]
fn a_device_that_computes_something_else_is_found_out() {
    support::watch_validation();
    let gpu = noop([32, 32]);
    assert_eq!(verdicts(&gpu), [Verdict::Wrong], "{}", gpu.caps());
    assert!(!gpu.caps().has_tensor_cores());
    let why = gpu.caps().coop(8, CoopScalar::F16, CoopScalar::F32).unwrap_err();
    assert_eq!(why, format!("cooperative matrices 8x8x8 f16 x f16 -> f32, {WRONG}"));
    let warnings = support::warnings_with(WRONG);
    assert!(warnings.iter().any(|warning| warning.starts_with("noop")), "{warnings:?}");
    // Products go on without it, and one that is pinned to it says what it lacks.
    let a = gpu.tensor(&[f16::ONE; 4096], [64, 64]).unwrap();
    let product = Gemm::new(&a, &a);
    assert_eq!(product.plan().unwrap().steps()[0].kernel.shader(), "gemm/broadcast");
    product.run().unwrap();
    let pinned = product.kernel(GemmKernel::Coop).run().unwrap_err();
    assert!(matches!(&pinned, Error::Unsupported { needs, .. } if needs.contains(&why)), "{pinned}");
}

#[test]
fn subgroups_of_an_unknown_size_are_not_tested_and_not_used() {
    let gpu = noop([16, 32]);
    assert_eq!(verdicts(&gpu), [Verdict::Untested]);
    let why = gpu.caps().coop(8, CoopScalar::F16, CoopScalar::F32).unwrap_err();
    assert!(why.ends_with("and subgroups of a known size, not 16 to 32"), "{why}");
    assert!(!gpu.caps().has_tensor_cores());
}

#[test]
fn a_device_that_was_not_asked_for_matrices_has_no_rows() {
    let feature = wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    let Some(gpu) = support::adopted(|desc| desc.required_features.remove(feature)) else { return };
    assert!(gpu.caps().rows.is_empty() && !gpu.caps().has_tensor_cores(), "{}", gpu.caps());
    works(&gpu);
}
