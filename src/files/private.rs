//! Cache files. They are trusted because only this user can have written them.

use super::replace::replace_private;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The result of reading a cache file.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    /// The contents of a file that only this user can have written.
    Contents(Vec<u8>),
    /// Why a file of this user is not trusted. It may be replaced.
    Unfit(String),
    /// Why something else was not read. It must not be replaced.
    Foreign(String),
}

/// Reads a file if only this user can have written it and if it has at most `max_bytes` bytes. Only a regular file is
/// opened: opening a pipe would wait for its writer, and a link may lead anywhere.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Found {
    let named = match fs::symlink_metadata(path) {
        Ok(named) => named,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Found::Nothing;
        }
        Err(error) => return Found::Foreign(error.to_string()),
    };
    if let Some(refused) = refused(&named, max_bytes) {
        return refused;
    }
    let contents = open(path).and_then(|file| {
        // The name may now belong to another file, so the open file is checked again.
        if let Some(refused) = refused(&file.metadata()?, max_bytes) {
            return Ok(refused);
        }
        let mut contents = Vec::new();
        file.take(max_bytes + 1).read_to_end(&mut contents)?;
        if contents.len() as u64 > max_bytes {
            return Ok(Found::Unfit("it grew while it was read".into()));
        }
        Ok(Found::Contents(contents))
    });
    contents.unwrap_or_else(|error| Found::Unfit(error.to_string()))
}

/// Writes a file that only this user may access, atomically, and creates its folder.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut folders = DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    folders.create(path.parent().unwrap_or(Path::new(".")))?;
    replace_private(path, |file| file.write_all(contents))
}

/// Why a file is not read. None if only this user can have written it.
fn refused(metadata: &Metadata, max_bytes: u64) -> Option<Found> {
    let foreign = |why: &str| Some(Found::Foreign(why.into()));
    match metadata {
        _ if metadata.is_symlink() => foreign("it is a link"),
        _ if metadata.is_dir() => foreign("it is a folder"),
        _ if !metadata.is_file() => foreign("it is a pipe, a socket or a device"),
        _ if !is_own(metadata) => foreign("it belongs to another user"),
        _ if others_write(metadata) => Some(Found::Unfit("other users may write to it".into())),
        _ if metadata.len() > max_bytes => {
            Some(Found::Unfit(format!("it has {} bytes, {max_bytes} are allowed", metadata.len())))
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

// On other systems files inherit the permissions of the user's folder.
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
    fn a_file_up_to_the_limit_is_read() {
        let folder = std::env::temp_dir().join(format!("tilewise-private-{}", std::process::id()));
        let path = folder.join("file");
        assert!(matches!(read(&path, 4), Found::Nothing));
        write(&path, b"four").unwrap();
        assert!(matches!(read(&path, 4), Found::Contents(contents) if contents == b"four"));
        assert!(matches!(read(&path, 3), Found::Unfit(why) if why == "it has 4 bytes, 3 are allowed"));
        assert!(matches!(read(&path.join("below"), 4), Found::Nothing), "a file is not a folder");
        assert!(matches!(read(&folder, 4), Found::Foreign(why) if why == "it is a folder"));
        fs::remove_dir_all(folder).unwrap();
    }
}
