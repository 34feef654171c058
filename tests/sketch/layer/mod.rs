//! Sketched linear layers.

mod advise;
mod definition;
mod example;
mod fit;
mod setup;
mod usage;
