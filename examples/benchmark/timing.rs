//! Times of the cases of a size, in turns.

use crate::ready::Ready;
use tilewise::gpu::Timing;
use tilewise::{Gpu, Result};

/// Times every case once, so that what disturbs the machine disturbs them all.
pub(crate) fn round<'a>(
    gpu: &Gpu,
    cases: impl Iterator<Item = &'a mut Ready>,
    mut timed: impl FnMut(Timing),
) -> Result<()> {
    for ready in cases {
        timed(ready.time(gpu)?);
    }
    Ok(())
}
