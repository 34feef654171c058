//! Atomic writes: a file appears or changes only when all of it is on the disk.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::Path;
#[cfg(any(feature = "npy", feature = "safetensors"))]
use std::path::PathBuf;

/// The largest number of links that are followed one after the other; the same as on Linux.
#[cfg(any(feature = "npy", feature = "safetensors"))]
const MAX_LINKS: usize = 40;
/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Writes or replaces a file atomically: it appears or changes when all of it is on the disk. If the write fails, an
/// existing file is unchanged. A draft is written first, in `folder` if there is one (it must be on the same disk),
/// else next to the file.
///
/// If `path` is a link, the linked file is replaced, or created if it does not exist yet. A device or a pipe cannot be
/// replaced, so it is written to directly.
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub(crate) fn replace(
    path: &Path,
    folder: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = &followed(path)?;
    let Ok(existing) = fs::metadata(path) else {
        let draft = File::options().write(true).create_new(true).to_owned();
        return exchange(path, folder, &draft, |_| Ok(()), write);
    };
    if existing.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // NOTE: a rename replaces even a read-only file, so this is checked here.
    if existing.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    if !existing.is_file() {
        return filled(File::options().write(true).open(path)?, write).map(drop);
    }
    // Only this user may read the draft until it gets the permissions of the file, so that no other user can read its contents
    // early.
    exchange(path, folder, &private(), |file| file.set_permissions(existing.permissions()), write)
}

/// The path after following links.
#[cfg(any(feature = "npy", feature = "safetensors"))]
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match (fs::canonicalize(&path), fs::read_link(&path)) {
            (Ok(path), _) => return Ok(path),
            // A link to a file that does not exist yet.
            (Err(_), Ok(next)) => path = path.parent().unwrap_or(Path::new("")).join(next),
            (Err(_), Err(_)) => return Ok(path),
        }
    }
    Err(io::Error::other("it is a link that leads to no file, through too many links"))
}

/// Like [`replace`], for a file that only this user may access. A link is not followed but replaced.
pub(crate) fn replace_private(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    exchange(path, None, &private(), |_| Ok(()), write)
}

/// Options to create a file that only this user may read and write.
fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a draft under a random name, then renames it to `path`.
fn exchange(
    path: &Path,
    folder: Option<&Path>,
    draft: &OpenOptions,
    prepare: impl FnOnce(&File) -> io::Result<()>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let name = folder.or(path.parent()).unwrap_or(Path::new("")).join(name());
    let file = draft.open(&name)?; // fails if the name exists, even as a link
    let mut draft = DraftFile { path: &name, is_renamed: false };
    prepare(&file)?;
    filled(file, write)?.sync_all()?;
    fs::rename(&name, path)?;
    draft.is_renamed = true;
    Ok(())
}

/// A draft. Its drop removes the incomplete file, even after a panic of a callback.
struct DraftFile<'a> {
    path: &'a Path,
    is_renamed: bool,
}

impl Drop for DraftFile<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // If this fails too, the first error is the one to report.
            let _ = fs::remove_file(self.path);
        }
    }
}

/// Whether a file name is that of a draft. Only a process that was killed leaves one behind.
#[cfg(all(feature = "factorisations", feature = "safetensors", not(target_arch = "wasm32")))]
pub(crate) fn is_draft(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

const PREFIX: &str = ".tilewise-";
const SUFFIX: &str = ".draft";

/// A unique, short name. NOTE: the name of the file itself may already have the maximum length.
fn name() -> String {
    // Each call has new random keys.
    let number = RandomState::new().hash_one(PREFIX);
    format!("{PREFIX}{number:016x}{SUFFIX}")
}

fn filled(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut buffer = BufWriter::with_capacity(BUFFER, file);
    write(&mut buffer)?;
    buffer.into_inner().map_err(io::IntoInnerError::into_error)
}

#[cfg(all(test, feature = "factorisations", feature = "safetensors"))]
mod tests {
    use super::{is_draft, replace};
    use std::fs;
    use std::io::{Error, Write};

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("tilewise-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        let names = || {
            let entries = fs::read_dir(&folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let broken = |file: &mut dyn Write| {
            file.write_all(&[1; 3 << 20])?; // more than the buffer
            assert!(names().iter().any(|name| is_draft(name)), "{:?}", names());
            Err(Error::other("the disk is full"))
        };
        let whole = |file: &mut dyn Write| file.write_all(b"whole");
        assert!(replace(&path, None, broken).is_err());
        assert_eq!(names(), Vec::<String>::new());
        replace(&path, None, whole).unwrap();
        assert!(replace(&path, None, broken).is_err());
        assert_eq!((names(), fs::read(&path).unwrap()), (vec!["file".into()], b"whole".to_vec()));
        fs::remove_dir_all(folder).unwrap();
    }
}
