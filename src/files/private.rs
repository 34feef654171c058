//! Files that this user alone writes, and that are believed for that reason: caches.

use super::replace::replace_private;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// What lies under a name.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// A file of this user alone: its contents.
    Contents(Vec<u8>),
    /// A file of this user that is not to be relied on, and why: it may be replaced.
    Unfit(String),
    /// Something else, and why it is not read: it is left as it is.
    Foreign(String),
}

/// Reads a file of at most so many bytes, if it is one that nobody but this user can have written. Nothing else is
/// opened: a pipe would be waited for, and a link leads anywhere.
pub(crate) fn read(path: &Path, at_most: u64) -> Found {
    let named = match fs::symlink_metadata(path) {
        Ok(named) => named,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Found::Nothing;
        }
        Err(error) => return Found::Foreign(error.to_string()),
    };
    if let Some(refused) = refused(&named, at_most) {
        return refused;
    }
    let contents = open(path).and_then(|file| {
        // The name may have got another file by now: what counts is what has been opened.
        if let Some(refused) = refused(&file.metadata()?, at_most) {
            return Ok(refused);
        }
        let mut contents = Vec::new();
        file.take(at_most + 1).read_to_end(&mut contents)?;
        if contents.len() as u64 > at_most {
            return Ok(Found::Unfit("it grows while it is read".into()));
        }
        Ok(Found::Contents(contents))
    });
    contents.unwrap_or_else(|error| Found::Unfit(error.to_string()))
}

/// Writes a file for this user alone, as a whole, and makes its folder.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.create(path.parent().unwrap_or(Path::new(".")))?;
    replace_private(path, |file| file.write_all(contents))
}

/// Why something is not read. None for a file of this user alone.
fn refused(metadata: &Metadata, at_most: u64) -> Option<Found> {
    let foreign = |why: &str| Some(Found::Foreign(why.into()));
    match metadata {
        _ if metadata.is_symlink() => foreign("it is a link"),
        _ if metadata.is_dir() => foreign("it is a folder"),
        _ if !metadata.is_file() => foreign("it is a pipe, a socket or a device"),
        _ if !is_own(metadata) => foreign("it belongs to another user"),
        _ if others_write(metadata) => Some(Found::Unfit("other users may write to it".into())),
        _ if metadata.len() > at_most => {
            Some(Found::Unfit(format!("it has {} bytes, {at_most} are allowed", metadata.len())))
        }
        _ => None,
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options.open(path)
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn others_write(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o022 != 0
}

// Elsewhere the user's folder has its own rights, and files inherit them.
#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn others_write(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::{Found, read, write};
    use std::fs;

    #[test]
    fn a_file_of_at_most_so_many_bytes_is_read() {
        let folder = std::env::temp_dir().join(format!("tilewise-private-{}", std::process::id()));
        let path = folder.join("file");
        assert!(matches!(read(&path, 4), Found::Nothing));
        write(&path, b"four").unwrap();
        assert!(matches!(read(&path, 4), Found::Contents(contents) if contents == b"four"));
        assert!(matches!(read(&path, 3), Found::Unfit(why) if why == "it has 4 bytes, 3 are allowed"));
        assert!(matches!(read(&path.join("below"), 4), Found::Nothing), "a file is no folder");
        assert!(matches!(read(&folder, 4), Found::Foreign(why) if why == "it is a folder"));
        fs::remove_dir_all(folder).unwrap();
    }
}
