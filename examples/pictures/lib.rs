//! Pictures that the examples draw: charts as SVG, images as PNG.
#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "names say enough to the examples, its only users"
)]

pub mod chart;
pub mod picture;
pub mod plot;
