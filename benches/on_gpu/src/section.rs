//! The sections: what can be run by name, each with one file of results and one part of the page.

use clap::ValueEnum;
use std::fmt;

/// One part of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// The example `info`: devices and the kernels that they would use
    Info,
    /// The tests with the full sweep of kernels, tiles, types and layouts, as users run them
    Sweep,
    /// The same with run-time checks in the shaders
    Checked,
    /// The example `gemm` over sizes, types and layouts; every product is checked
    Gemm,
    /// The bench `tiles`: every tile of every kernel, checked and timed
    Tiles,
    /// The bench `gemm`: products as a share of the device's measured peaks
    Peaks,
    /// The bench `host`: what operations cost the host
    Host,
    /// The bench `variants`: products, each against a baseline
    Variants,
    /// The bench `sketch`: sketches, against stored operators and copies
    Sketch,
    /// The bench `factor`: factorisations through sketches, against those of the CPU
    Factor,
    /// The bench `sketched_layer`: sketched layers, against dense ones and their lower bounds
    SketchedLayers,
    /// The bench `clifford`: products of multivectors, against copies of their bytes
    Clifford,
    /// The bench `clifford_layers`: steerable products, against copies of their bytes
    CliffordLayers,
    /// The bench `connected`: fully connected products, against bare matrix products
    Connected,
    /// flash-clifford's kernels, if its package is here
    Flash,
    /// cuBLAS through PyTorch, if `python3` has it
    Peers,
}

impl Section {
    /// All sections in the order in which they run.
    pub(crate) const ALL: [Self; 16] = [
        Self::Info,
        Self::Sweep,
        Self::Checked,
        Self::Gemm,
        Self::Tiles,
        Self::Peaks,
        Self::Host,
        Self::Variants,
        Self::Sketch,
        Self::Factor,
        Self::SketchedLayers,
        Self::Clifford,
        Self::CliffordLayers,
        Self::Connected,
        Self::Flash,
        Self::Peers,
    ];

    /// Name of its file of results.
    pub(crate) fn file(self) -> String {
        let ending = if self == Self::Info { "txt" } else { "jsonl" };
        format!("{self}.{ending}")
    }

    /// Its heading on the page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Info => "Devices",
            Self::Sweep => "Tests, full sweep",
            Self::Checked => "Tests, full sweep with checked shaders",
            Self::Gemm => "Products",
            Self::Tiles => "Tiles",
            Self::Peaks => "Products and peaks",
            Self::Host => "Host",
            Self::Variants => "Variants of products",
            Self::Sketch => "Sketches",
            Self::Factor => "Factorisations",
            Self::SketchedLayers => "Sketched layers",
            Self::Clifford => "Clifford products",
            Self::CliffordLayers => "Clifford layers",
            Self::Connected => "Fully connected Clifford layers",
            Self::Flash => "flash-clifford",
            Self::Peers => "cuBLAS",
        }
    }
}

/// The name on the command line.
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
