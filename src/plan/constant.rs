//! Constant buffers of a plan.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Constant data of a plan, such as a table, as 32-bit words. Clones share the data.
#[derive(Clone, Debug)]
pub struct Constant {
    words: Arc<[u32]>,
    /// A hash of the words, computed once.
    digest: u64,
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.words, &other.words);
        same || (self.digest == other.digest && self.words == other.words)
    }
}

impl Eq for Constant {}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl Constant {
    pub(crate) fn new(words: &[u32]) -> Self {
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        Self { words: Arc::from(words), digest: hasher.finish() }
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        size_of_val(self.words()) as u64
    }
}
