//! Rows of section `tiles`: a product by one tile, timed, left out, or failed.

use bench::rows::{Outcome, Product};
use serde::Deserialize;

/// A product by a tile, and what came of it.
#[derive(Debug, Deserialize)]
pub(crate) struct TileRow {
    #[serde(flatten)]
    pub(crate) task: Task,
    #[serde(flatten)]
    pub(crate) outcome: Outcome<Timed>,
}

/// A product by a tile.
#[derive(Debug, Deserialize)]
pub(crate) struct Task {
    #[serde(flatten)]
    pub(crate) product: Product,
    pub(crate) layout: String,
    /// None if the row is about every tile.
    kernel: Option<String>,
    tile: Option<String>,
}

/// The times of a tile and its check.
#[derive(Debug, Deserialize)]
pub(crate) struct Timed {
    pub(crate) tflops: f64,
    pub(crate) gpu_seconds_min: f64,
    pub(crate) gpu_seconds_max: f64,
    pub(crate) clock: String,
    /// Whether the plan would choose this tile.
    pub(crate) chosen: bool,
    pub(crate) check: String,
    /// The largest error over its bound. JSON cannot hold an infinite one, which is `null`.
    pub(crate) bound_ratio: Option<f64>,
    pub(crate) ok: bool,
}

impl Task {
    /// The kernel and its tile: block and register or subgroup tile as the example `gemm` takes them, and fragments.
    ///
    /// `tiled 64x64x8/8x8`, `coop 128x128x16/64x32 of 16x16`, `every tile`.
    pub(crate) fn tile(&self) -> String {
        let (Some(kernel), Some(tile)) = (&self.kernel, &self.tile) else { return "every tile".into() };
        let Some((block, rest)) = tile.split_once(" (") else { return format!("{kernel} {tile}") };
        let Some(inner) = sizes(rest) else { return format!("{kernel} {tile}") };
        let fragments = rest.split_once(", of ").and_then(|(_, fragments)| sizes(fragments));
        let fragments = fragments.map_or(String::new(), |fragments| format!(" of {fragments}"));
        format!("{kernel} {block}/{inner}{fragments}")
    }

    /// The product with its layout.
    pub(crate) fn place(&self) -> String {
        format!("{} {} {}", self.product.size(), self.product.types(), self.layout)
    }
}

impl Timed {
    /// Whether the slowest round took more than 1.2 times as long as the fastest.
    pub(crate) fn is_disturbed(&self) -> bool {
        self.gpu_seconds_max > 1.2 * self.gpu_seconds_min
    }
}

/// The `64x32` at the beginning of a text.
fn sizes(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != 'x').unwrap_or(text.len());
    let (rows, columns) = text[..end].split_once('x')?;
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (number(rows) && number(columns)).then_some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(kernel: &str, tile: &str) -> Task {
        Task {
            product: Product::default(),
            layout: "nn".into(),
            kernel: Some(kernel.into()),
            tile: Some(tile.into()),
        }
    }

    #[test]
    fn tiles_are_named_as_the_example_takes_them() {
        let name = |kernel, tile| task(kernel, tile).tile();
        assert_eq!(name("tiled", "64x64x8 (8x8 per invocation)"), "tiled 64x64x8/8x8");
        assert_eq!(
            name("coop", "128x128x16 (64x32 per subgroup, of 16x16)"),
            "coop 128x128x16/64x32 of 16x16"
        );
        assert_eq!(name("naive", "64 elements"), "naive 64 elements");
    }
}
