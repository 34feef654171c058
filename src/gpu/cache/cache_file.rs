//! Cache files. Only this user can access them. Each contains a digest of its contents and of the device that it is
//! for.

use crate::files::private::{self, Found};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cache file that this run may replace. It may exist from an earlier run.
pub(in crate::gpu) struct CacheFile {
    path: PathBuf,
    /// Name of the contents, for warnings.
    what: &'static str,
    /// Whether the path is something other than a file of this user. It is then not replaced.
    foreign: bool,
    /// Why the contents are not used, and the consequence.
    problem: Option<String>,
    /// Whether a warning was logged. A later failure to replace the file is then not logged.
    warned: AtomicBool,
}

impl CacheFile {
    /// Opens the file at `path`. Also returns its contents if no other user can have written it and it has at most
    /// `max_bytes` bytes. Logs nothing: see [`log_problem`](Self::log_problem).
    pub(in crate::gpu) fn open(path: PathBuf, what: &'static str, max_bytes: u64) -> (Self, Option<Vec<u8>>) {
        let found = private::read(&path, max_bytes);
        let mut file = Self { path, what, foreign: false, problem: None, warned: AtomicBool::new(false) };
        let contents = match found {
            Found::Nothing => None,
            Found::Contents(contents) => Some(contents),
            Found::Unfit(why) => {
                file.note(&why, "this run replaces it");
                None
            }
            Found::Foreign(why) => {
                file.foreign = true;
                file.note(&why, "nothing is cached until it is removed");
                None
            }
        };
        (file, contents)
    }

    /// The present contents of the file, which another process may have replaced. None if they cannot be relied on.
    #[cfg(not(target_arch = "wasm32"))]
    pub(in crate::gpu) fn contents(&self, max_bytes: u64) -> Option<Vec<u8>> {
        match private::read(&self.path, max_bytes) {
            Found::Contents(contents) => Some(contents),
            Found::Nothing | Found::Unfit(_) | Found::Foreign(_) => None,
        }
    }

    /// Notes why the contents are not used, and the consequence.
    pub(in crate::gpu) fn note(&mut self, why: &str, then: &str) {
        self.problem = Some(format!("{} in {} are not used: {why}; {then}", self.what, self.path.display()));
    }

    /// Logs why the contents are not used, once. The caller holds no lock: a logger is foreign code.
    pub(in crate::gpu) fn log_problem(&self) {
        if let Some(problem) = self.problem.as_ref().filter(|_| !self.warned.swap(true, Ordering::Relaxed)) {
            log::warn!("{problem}");
        }
    }

    /// Replaces the file, unless it belongs to another user.
    pub(in crate::gpu) fn write(&self, contents: &[u8]) {
        if self.foreign {
            return;
        }
        match private::write(&self.path, contents) {
            Err(error) if !self.warned.swap(true, Ordering::Relaxed) => {
                log::warn!("cannot store {} in {}: {error}", self.what, self.path.display());
            }
            _ => {}
        }
    }
}

/// Length of a digest in bytes.
const DIGEST: usize = 32;

/// Prefixes the data with a digest of it and of `compiled_for`, which names the device, driver and version. So a driver
/// never receives data that is incomplete or that another driver wrote.
#[must_use]
pub fn seal(compiled_for: &str, data: &[u8]) -> Vec<u8> {
    [&digest(compiled_for, data), data].concat()
}

/// The data of a file that [`seal`] wrote. None if the digest is wrong.
#[must_use]
pub fn unseal<'a>(compiled_for: &str, file: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, data) = file.split_first_chunk::<DIGEST>()?;
    (*sum == digest(compiled_for, data)).then_some(data)
}

/// The digest that a file of [`seal`] begins with, right or wrong.
pub(in crate::gpu) fn digest_in(file: &[u8]) -> Option<[u8; DIGEST]> {
    file.first_chunk().copied()
}

/// SHA-256 of the length of `compiled_for`, of `compiled_for` itself and of the data.
pub(in crate::gpu) fn digest(compiled_for: &str, data: &[u8]) -> [u8; DIGEST] {
    let mut digest = Sha256::new();
    digest.update((compiled_for.len() as u64).to_le_bytes());
    digest.update(compiled_for);
    digest.update(data);
    digest.finalize().into()
}

/// SHA-256 of a text in hexadecimal, as `sha256sum` prints it.
pub(in crate::gpu) fn digest_of_text(text: &str) -> String {
    digest_of(text.as_bytes())
}

/// The same of bytes.
pub(in crate::gpu) fn digest_of(bytes: &[u8]) -> String {
    let mut digest = Sha256::new();
    digest.update(bytes);
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{digest_of_text, seal, unseal};

    #[test]
    fn a_file_that_is_damaged_or_made_for_something_else_is_not_used() {
        let file = seal("a device", b"compiled");
        assert_eq!(unseal("a device", &file), Some(&b"compiled"[..]));
        assert_eq!(unseal("another", &file), None);
        assert_eq!(unseal("a devic", &seal("a device", b"")), None);
        assert_eq!(unseal("a devic", &seal("a device", b"compiled")), None);
        assert_eq!(unseal("a device", &file[..file.len() - 1]), None, "cut short");
        assert_eq!(unseal("a device", &[&file[..], b"more"].concat()), None);
        for at in 0..file.len() {
            let mut flipped = file.clone();
            flipped[at] ^= 0x10;
            assert_eq!(unseal("a device", &flipped), None, "bit of byte {at}");
        }
        assert_eq!(unseal("a device", b"short"), None);
        assert_eq!(unseal("a device", b""), None);
    }

    #[test]
    fn a_digest_is_what_sha256sum_prints() {
        assert!(digest_of_text("abc").starts_with("ba7816bf8f01cfea414140de5dae2223"));
    }
}
