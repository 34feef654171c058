//! Sketched layers.

mod advise;
mod convolution;
mod definition;
mod example;
mod fit;
mod setup;
mod usage;
