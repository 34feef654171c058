//! Test vectors from `.safetensors` files.

use std::path::Path;
use tilewise::io;

pub struct Safetensors(io::Safetensors);

impl Safetensors {
    pub fn read(path: &Path) -> Self {
        Self(io::Safetensors::read(path).unwrap())
    }

    pub fn names(&self) -> Vec<String> {
        self.0.names()
    }

    pub fn reals(&self, name: &str) -> (Vec<usize>, Vec<f64>) {
        (self.0.shape(name).unwrap().to_vec(), self.0.values(name).unwrap())
    }

    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.0.metadata(key)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the values are integers")]
    pub fn integers(&self, name: &str) -> Vec<i64> {
        self.0.values(name).unwrap().into_iter().map(|x| x as i64).collect()
    }
}
