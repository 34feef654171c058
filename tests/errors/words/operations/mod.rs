//! Operations by axis, index and shape: what each says of every mistake, word by word.

mod axes;
mod indices;
mod operands;
mod rotary;

use super::random;
use tilewise::{Gpu, Result, Tensor};

/// Calls that must fail, and what was wrong with their errors.
struct Said {
    gpu: Gpu,
    wrong: Vec<String>,
}

impl Said {
    fn new() -> Self {
        Self { gpu: support::noop(), wrong: Vec::new() }
    }

    fn tensor(&self, shape: &[usize]) -> Tensor<f32> {
        random(&self.gpu, shape)
    }

    fn integers(&self, shape: &[usize]) -> Tensor<i32> {
        self.gpu.zeros(shape).unwrap()
    }

    /// A call that must fail before anything is launched. Its error has these words, and the operands' shapes if it is about
    /// them.
    fn says<R>(&mut self, call: impl FnOnce() -> Result<R>, words: &str, shapes: &str) {
        let words = if shapes.is_empty() { words.to_owned() } else { format!("{words}; got {shapes}") };
        let launches = self.gpu.stats().launches;
        match call() {
            Ok(_) => self.wrong.push(format!("no error, but: {words}")),
            Err(error) if error.to_string() == words => {}
            Err(error) => self.wrong.push(format!("{error}\n    not: {words}")),
        }
        if self.gpu.stats().launches > launches {
            self.wrong.push(format!("it launches: {words}"));
        }
    }

    fn none(self) {
        let (wrong, count) = (self.wrong.join("\n"), self.wrong.len());
        assert!(count == 0, "{count} errors are in other words:\n{wrong}");
    }
}
