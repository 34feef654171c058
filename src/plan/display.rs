//! A plan in words: its steps, what lies between them, and why it is so.

use super::work::Seconds;
use super::{Content, Plan, Step};
use std::fmt;

/// ```text
/// matmul: 2 steps, predicted 21.3 us: 33.6 MFLOP, 1.57 MB read, 524 kB written, bound by memory
///   gemm_tiled 64x64x16 (4x4 per invocation), grid 8 x 4 x 1, 12.1 us: ..
///   gemm_reduce 64 times 4 elements, grid 64 x 1 x 1, 9.2 us: ..
///   between steps: 1 temporary of 1048576 bytes
///   coop: needs a 16x16x16 row of f16 -> f32
/// ```
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Content { op, steps, temporaries, constants, reasons, .. } = &*self.0;
        let several = if steps.len() == 1 { "1 step".to_owned() } else { format!("{} steps", steps.len()) };
        write!(f, "{op}: {several}, predicted {}: {}", Seconds(self.seconds()), self.work())?;
        steps.iter().try_for_each(|step| write!(f, "\n  {step}"))?;
        if !temporaries.is_empty() {
            let sizes: Vec<String> = temporaries.iter().map(u64::to_string).collect();
            write!(f, "\n  between steps: {} bytes", sizes.join(", "))?;
        }
        if !constants.is_empty() {
            let sizes: Vec<String> = constants.iter().map(|constant| constant.bytes().to_string()).collect();
            write!(f, "\n  constants: {} bytes", sizes.join(", "))?;
        }
        reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, tile, grid: [x, y, z], first_block, work, seconds, .. } = self;
        write!(f, "{} {tile}, grid {x} x {y} x {z}", kernel.shader())?;
        if *first_block > 0 {
            write!(f, " from workgroup {first_block} on")?;
        }
        write!(f, ", {}: {work}", Seconds(*seconds))
    }
}
