//! Files that are kept across runs: sealed with a checksum, replaced as a whole.

use std::hash::Hasher;
use std::path::Path;

/// Writes `data` into the file of this name, making its folder.
pub(super) fn replace(file: &Path, data: &[u8]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Another process or thread may be reading or writing: the name appears with the whole file behind it.
    let writer = format!("{}-{:?}.draft", std::process::id(), std::thread::current().id());
    let draft = file.with_extension(writer);
    let replaced = std::fs::write(&draft, data).and_then(|()| std::fs::rename(&draft, file));
    if replaced.is_err() {
        // What could not be written may be there in part; that it cannot be removed either says nothing new.
        let _ = std::fs::remove_file(&draft);
    }
    replaced
}

/// The data with its checksum in front: a driver should not be handed a file that was cut short.
pub(crate) fn seal(data: &[u8]) -> Vec<u8> {
    [&checksum(data).to_le_bytes(), data].concat()
}

/// The data behind a checksum that is right.
pub(crate) fn unseal(file: &[u8]) -> Option<&[u8]> {
    let (sum, data) = file.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*sum) == checksum(data)).then_some(data)
}

/// A number that tells damaged data from whole.
pub(super) fn checksum(data: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{seal, unseal};

    #[test]
    fn a_damaged_cache_file_is_not_used() {
        let file = seal(b"compiled");
        assert_eq!(unseal(&file), Some(&b"compiled"[..]));
        assert_eq!(unseal(&file[..file.len() - 1]), None, "cut short");
        assert_eq!(unseal(b"short"), None);
        assert_eq!(unseal(b""), None);
    }
}
