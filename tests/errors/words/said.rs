//! What calls say of mistakes, word by word: a file of `tests/data/errors` for each test has a line for each of its calls.

use super::random;
use std::fmt::Write;
use tilewise::{Gpu, Result, Tensor};

/// Calls that must fail before anything is launched, and what they say.
pub(super) struct Said {
    pub(super) gpu: Gpu,
    lines: String,
}

impl Said {
    pub(super) fn new() -> Self {
        Self { gpu: support::noop(), lines: String::new() }
    }

    pub(super) fn tensor(&self, shape: &[usize]) -> Tensor<f32> {
        random(&self.gpu, shape)
    }

    pub(super) fn integers(&self, shape: &[usize]) -> Tensor<i32> {
        self.gpu.zeros(shape).unwrap()
    }

    pub(super) fn says<R>(&mut self, call: impl FnOnce() -> Result<R>) {
        let launches = self.gpu.stats().launches;
        let said = call().map_or_else(|error| error.to_string(), |_| "no error".into());
        writeln!(self.lines, "{said}").unwrap();
        assert!(
            self.gpu.stats().launches == launches && said != "no error",
            "it launches, or does not fail: {said}"
        );
    }

    /// Compares all lines with the record of this test.
    pub(super) fn compare(self) {
        let thread = std::thread::current();
        let test = thread.name().and_then(|name| name.rsplit("::").next()).expect("the name of a test");
        let path = support::root().join("tests/data/errors").join(format!("{test}.txt"));
        if std::env::var_os("TILEWISE_WRITE").is_some() {
            std::fs::write(&path, self.lines).unwrap();
            return;
        }
        let recorded = std::fs::read_to_string(&path).unwrap_or_default();
        for (at, (said, recorded)) in self.lines.lines().zip(recorded.lines()).enumerate() {
            assert_eq!(said, recorded, "{test}.txt, line {}", at + 1);
        }
        assert_eq!(
            self.lines.lines().count(),
            recorded.lines().count(),
            "if other calls are meant: TILEWISE_WRITE=1 cargo test --release --test errors {test}"
        );
    }
}
