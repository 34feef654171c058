//! A replay in words.

use super::runs::Replay;
use crate::plan::Seconds;
use std::fmt;

impl<R> fmt::Display for Replay<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let plans = &self.kept.captured.plans;
        let (launches, operations) =
            (count(self.launches(), "launch").replace("launchs", "launches"), plans.len());
        write!(
            f,
            "replay: {} in {launches}, predicted {}",
            count(operations, "operation"),
            Seconds(self.seconds())
        )?;
        write!(f, ", {} bytes of its own", self.bytes())?;
        for (at, input) in self.captured_inputs().iter().enumerate() {
            write!(f, "\n  input {at}: {} {:?}", input.dtype, input.layout.shape())?;
        }
        for (at, plan) in plans.iter().enumerate() {
            let text = plan.to_string();
            let shown = if f.alternate() { &text[..] } else { text.lines().next().unwrap_or_default() };
            write!(f, "\n  {}. {}", at + 1, shown.replace('\n', "\n  "))?;
        }
        Ok(())
    }
}
