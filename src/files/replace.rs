//! Files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 20;

/// Writes a file anew: the name appears, or changes, once all is on the disk. What fails leaves the name as it was.
/// The draft is written in `folder`, which must be on the same disk, or, without one, next to the file.
///
/// A link stays one, and what it leads to is replaced. What is no file, a device or a pipe, cannot be replaced and is
/// written to as it is.
#[cfg(any(feature = "npy", feature = "safetensors"))]
pub(crate) fn replace(
    path: &Path,
    folder: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let Ok(existing) = fs::metadata(path) else {
        let draft = File::options().write(true).create_new(true).to_owned();
        return exchange(path, folder, &draft, |_| Ok(()), write);
    };
    if existing.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // NOTE: a rename replaces even a read-only file, so this is checked here.
    if existing.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it may only be read"));
    }
    if !existing.is_file() {
        return filled(File::options().write(true).open(path)?, write).map(drop);
    }
    // Only this user may read the draft until it gets the file's permissions: so nobody reads it who may not read the file.
    exchange(path, folder, &private(), |file| file.set_permissions(existing.permissions()), write)
}

/// Writes a file anew, as [`replace`] does, that only this user may access. A link is not followed; it is itself replaced.
pub(crate) fn replace_private(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    exchange(path, None, &private(), |_| Ok(()), write)
}

/// Options that create a file that only this user may read and write.
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
    let file = draft.open(&name)?; // fails if anything has this name, even a link
    let replaced =
        prepare(&file).and_then(|()| filled(file, write)?.sync_all()).and_then(|()| fs::rename(&name, path));
    if replaced.is_err() {
        // What could not be written may be there in part; that it cannot be removed either says nothing new.
        let _ = fs::remove_file(&name);
    }
    replaced
}

/// Whether a file of this name is a draft, which only a process that was killed leaves behind.
#[cfg(all(feature = "safetensors", not(target_arch = "wasm32")))]
pub(crate) fn is_draft(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

const PREFIX: &str = ".tilewise-";
const SUFFIX: &str = ".draft";

/// A name that no other draft has, and short: the file's own may be as long as names may be.
fn name() -> String {
    // Random keys, other ones with every call.
    let number = RandomState::new().hash_one(PREFIX);
    format!("{PREFIX}{number:016x}{SUFFIX}")
}

fn filled(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut buffer = BufWriter::with_capacity(BUFFER, file);
    write(&mut buffer)?;
    buffer.into_inner().map_err(io::IntoInnerError::into_error)
}

#[cfg(all(test, feature = "safetensors"))]
mod tests {
    use super::{is_draft, replace};
    use std::fs;
    use std::io::{Error, Write};

    #[test]
    fn what_breaks_off_leaves_the_old_file_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("tilewise-replace-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        let names = || {
            let entries = fs::read_dir(&folder).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let broken = |file: &mut dyn Write| {
            file.write_all(&[1; 3 << 20])?; // more than is gathered
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
