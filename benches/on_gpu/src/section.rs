//! The sections: what can be run by name, each with one file of results and one part of the page.

use clap::ValueEnum;
use std::fmt;

/// One part of the measurements. All are listed in the order in which they run: the most informative first, and those last that may
/// take hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// The example `info`: devices and the kernels that they would use
    Info,
    /// The bench `gemm`: products as a share of the device's measured peaks
    Peaks,
    /// cuBLAS through PyTorch, if `python3` has it
    Peers,
    /// The example `benchmark`: checked products, sketches, Clifford products and attention, against peaks and predictions
    Benchmark,
    /// The bench `attention`: attention and its gradients, against their products and softmax
    Attention,
    /// The bench `conv`: convolutions, against products of their sizes and copies
    Conv,
    /// The bench `norms`: norms of rows and of channels, against copies of their bytes
    Norms,
    /// The bench `rows`: reductions and softmax, against copies of their bytes
    Rows,
    /// The bench `ops`: operations on elements, against copies of their bytes
    Ops,
    /// The bench `windows`: operations on a tensor larger than a binding, against the same on its slices
    Windows,
    /// The bench `variants`: products, each against a baseline
    Variants,
    /// The example `gemm` over sizes, types and layouts; every product is checked
    Gemm,
    /// The bench `tiles`: every tile of every kernel, checked and timed
    Tiles,
    /// The bench `host`: what operations cost the host
    Host,
    /// The bench `staging`: frames that are written, computed and read, by copies and in place
    Staging,
    /// The example `embed`: a sentence encoder, checked, against its bare products
    Embed,
    /// The example `frames`: a network for pictures, captured once and replayed for each frame
    Frames,
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
    /// The example `tune`: which plans are the fastest, and what that gains over the predicted ones
    Tune,
    /// flash-clifford's kernels, if its package is here
    Flash,
    /// The tests with the full sweep of kernels, tiles, types and layouts, as users run them
    Sweep,
    /// The same with run-time checks in the shaders
    Checked,
}

impl Section {
    /// Its share of a run whose time is limited, of the sum of the shares of all sections that are still to run.
    pub(crate) fn share(self) -> u32 {
        match self {
            Self::Info | Self::Host | Self::Staging | Self::Frames => 10,
            Self::Sketch | Self::Factor | Self::Clifford | Self::CliffordLayers | Self::Connected => 15,
            Self::Embed | Self::Windows | Self::Flash => 15,
            Self::Conv | Self::Norms | Self::Rows | Self::Ops | Self::SketchedLayers | Self::Tune => 25,
            Self::Peers | Self::Benchmark | Self::Attention | Self::Variants | Self::Gemm => 35,
            Self::Peaks | Self::Tiles | Self::Sweep | Self::Checked => 60,
        }
    }

    /// Name of its file of results.
    pub(crate) fn file(self) -> String {
        let ending = if self.prints_text() { "txt" } else { "jsonl" };
        format!("{self}.{ending}")
    }

    /// Whether its program prints a text for people, and no JSON lines.
    pub(crate) fn prints_text(self) -> bool {
        matches!(self, Self::Info | Self::Benchmark | Self::Tune)
    }

    /// Its heading on the page.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Info => "Devices",
            Self::Peaks => "Products and peaks",
            Self::Peers => "cuBLAS",
            Self::Benchmark => "Operations, peaks and predictions",
            Self::Attention => "Attention",
            Self::Conv => "Convolutions",
            Self::Norms => "Norms",
            Self::Rows => "Reductions and softmax",
            Self::Ops => "Operations on elements",
            Self::Windows => "Operands larger than a binding",
            Self::Variants => "Variants of products",
            Self::Gemm => "Products",
            Self::Tiles => "Tiles",
            Self::Host => "Host",
            Self::Staging => "Writes and reads",
            Self::Embed => "A sentence encoder",
            Self::Frames => "A network for pictures",
            Self::Sketch => "Sketches",
            Self::Factor => "Factorisations",
            Self::SketchedLayers => "Sketched layers",
            Self::Clifford => "Clifford products",
            Self::CliffordLayers => "Clifford layers",
            Self::Connected => "Fully connected Clifford layers",
            Self::Tune => "Tuned plans",
            Self::Flash => "flash-clifford",
            Self::Sweep => "Tests, full sweep",
            Self::Checked => "Tests, full sweep with checked shaders",
        }
    }
}

/// The name on the command line.
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}
