//! Files that are kept across runs: whatever lies where one should be, a device opens, works, and says so once.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;
use support::{TestGpu, process, warnings_with};
use tilewise::gpu::{CacheFolder, Stats};
use tilewise::{GpuOptions, matmul};

/// Opens a device that keeps its files in `folder`, and lets it work. None where nothing is kept.
fn opened(folder: &Path) -> Option<TestGpu> {
    let gpu = support::own(|options| options.cache = CacheFolder::At(folder.into()))?;
    gpu.caps().pipeline_cache.then_some(gpu)
}

/// A run: a device, a product, and what has been kept when it ends.
fn run(folder: &Path) -> Option<Stats> {
    let gpu = opened(folder)?;
    let a = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    assert_eq!(matmul(&a, &a).unwrap().to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    Some(gpu.stats())
}

/// As [`run`], which must end: a pipe that nobody writes to is not waited for.
fn ends(folder: &Path) {
    let (sender, ended) = mpsc::channel();
    let folder = folder.to_owned();
    std::thread::spawn(move || sender.send(run(&folder).is_some()));
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true), "it waits for ever, or fails");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// A folder with what a run keeps, and these files. None where nothing is kept.
fn kept(name: &str) -> Option<(PathBuf, Vec<PathBuf>)> {
    let folder = support::folder(name);
    if run(&folder).is_none() {
        println!("skipped: this device keeps nothing");
        return None;
    }
    assert_eq!(warnings_with(&folder.display().to_string()), Vec::<String>::new());
    let files = files(&folder);
    assert!(!files.is_empty());
    Some((folder, files))
}

/// What a run warns of a file, which it does once.
fn one_warning(folder: &Path, file: &Path, what: &str) -> String {
    let warned = || warnings_with(&file.display().to_string());
    let before = warned().len();
    ends(folder);
    let mut warned = warned().split_off(before);
    assert_eq!(warned.len(), 1, "{what}: {warned:?}");
    warned.remove(0)
}

#[test]
fn what_is_kept_is_for_this_user_alone() {
    let folder = support::folder("private").join("and").join("below");
    if run(&folder).is_none() {
        return;
    }
    for made in [&folder, folder.parent().unwrap()] {
        assert_eq!(fs::metadata(made).unwrap().mode() & 0o777, 0o700, "{}", made.display());
    }
    for file in files(&folder) {
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_no_file_of_this_user_is_left_alone_with_one_warning() {
    let Some((folder, files)) = kept("not-ours") else { return };
    let elsewhere = support::folder("elsewhere");
    for file in &files {
        let whole = fs::read(file).unwrap();
        let plant: [(&str, &dyn Fn()); 4] = [
            ("a pipe", &|| assert!(Command::new("mkfifo").arg(file).status().unwrap().success())),
            ("a link", &|| {
                fs::write(&elsewhere, &whole).unwrap();
                symlink(&elsewhere, file).unwrap();
            }),
            ("a link to nothing", &|| symlink(folder.join("nothing"), file).unwrap()),
            ("a folder", &|| fs::create_dir(file).unwrap()),
        ];
        for (what, plant) in plant {
            fs::remove_file(file).unwrap();
            plant();
            one_warning(&folder, file, what);
            let found = fs::symlink_metadata(file).unwrap().file_type();
            assert!(found.is_fifo() || found.is_symlink() || found.is_dir(), "{what} is left alone");
            assert!(!folder.join("nothing").exists(), "nothing is written through {what}");
            if what == "a link" {
                assert_eq!(fs::read(&elsewhere).unwrap(), whole, "nothing is written through {what}");
            }
            if found.is_dir() {
                fs::remove_dir(file).unwrap()
            } else {
                fs::remove_file(file).unwrap()
            }
            fs::write(file, &whole).unwrap();
            fs::set_permissions(file, Permissions::from_mode(0o600)).unwrap();
        }
    }
    assert_eq!(files, self::files(&folder), "no draft stays behind");
    fs::remove_dir_all(&folder).unwrap();
    fs::remove_file(&elsewhere).unwrap();
}

#[test]
fn a_file_that_others_may_write_to_or_that_is_huge_is_replaced_with_one_warning() {
    let Some((folder, files)) = kept("unfit") else { return };
    for file in &files {
        let whole = fs::read(file).unwrap();
        let spoil: [(&str, &dyn Fn()); 3] = [
            ("writable by all", &|| fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap()),
            ("writable by the group", &|| fs::set_permissions(file, Permissions::from_mode(0o620)).unwrap()),
            ("huge", &|| File::options().write(true).open(file).unwrap().set_len(1 << 40).unwrap()),
        ];
        for (what, spoil) in spoil {
            spoil();
            one_warning(&folder, file, what);
            let warned = || warnings_with(&file.display().to_string()).len();
            let before = warned();
            let found = fs::metadata(file).unwrap();
            assert_eq!(found.mode() & 0o777, 0o600, "{what}: it is written anew");
            assert!(found.len() < 1 << 30, "{what}: {} bytes", found.len());
            ends(&folder);
            assert_eq!(warned(), before, "{what}: the next run is quiet");
        }
        assert!(!whole.is_empty());
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Root may give a file away; others cannot make one that is not theirs.
#[test]
fn a_file_of_another_user_is_left_alone_with_one_warning() {
    let Some((folder, files)) = kept("foreign") else { return };
    for file in &files {
        let whole = fs::read(file).unwrap();
        if let Err(error) = std::os::unix::fs::chown(file, Some(65_534), None) {
            println!("skipped: {error}");
            return;
        }
        let warned = one_warning(&folder, file, "of another user");
        assert!(warned.contains("another user"), "{warned:?}");
        let found = fs::metadata(file).unwrap();
        assert_eq!((found.uid(), fs::read(file).unwrap()), (65_534, whole), "it is left alone");
        fs::remove_file(file).unwrap();
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_damaged_file_is_written_anew() {
    let Some((folder, files)) = kept("damaged") else { return };
    for file in &files {
        let whole = fs::read(file).unwrap();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        for damaged in [
            Vec::new(),
            whole[..whole.len() / 2].to_vec(),
            [&whole[..], b"\n"].concat(),
            flipped(0),
            flipped(whole.len() / 2),
            flipped(whole.len() - 1),
        ] {
            File::create(file).unwrap().write_all(&damaged).unwrap();
            ends(&folder);
            assert_ne!(fs::read(file).unwrap(), damaged, "{}", file.display());
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Runs itself again, twice at once: each time both leave whole files and no draft.
#[test]
fn two_processes_may_keep_what_they_found_at_once() {
    if let Some(folder) = process::handed() {
        run(Path::new(&folder)).expect("the device keeps files");
        return;
    }
    let Some((folder, files)) = kept("processes") else { return };
    for _ in 0..2 {
        files.iter().for_each(|file| fs::remove_file(file).unwrap());
        let again = || {
            process::again(
                concat!(module_path!(), "::two_processes_may_keep_what_they_found_at_once"),
                &folder,
            )
        };
        let child = || again().spawn().expect("the test runs again");
        let children = [child(), child()];
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        assert_eq!(self::files(&folder), files, "no draft stays behind");
        // What they left is whole: a third run uses it, and says nothing. (It may write it anew: SwiftShader's data grows.)
        run(&folder);
        assert_eq!(support::told_with(&folder.display().to_string()), Vec::<String>::new());
    }
    assert_eq!(warnings_with(&folder.display().to_string()), Vec::<String>::new());
    fs::remove_dir_all(&folder).unwrap();
}

/// A device that keeps nothing is not asked for any.
#[test]
fn nothing_is_made_where_nothing_is_kept() {
    let folder = support::folder("nothing-kept");
    let options = GpuOptions { cache: CacheFolder::At(folder.clone()), ..GpuOptions::default() };
    drop(support::noop_with(options, |desc| {
        desc.required_features.remove(tilewise::wgpu::Features::PIPELINE_CACHE)
    }));
    assert!(!folder.exists());
}
