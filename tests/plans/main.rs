//! What is planned for devices that are not here: which kernel, which tile and grid, within which limits. No device.

mod attention;
mod candidates;
mod choice;
mod clifford;
mod clifford_rows;
mod connected;
mod convolution;
mod features;
mod fixtures;
mod flops;
mod laws;
mod layouts;
mod matrices;
mod modules;
mod needs;
mod norms;
mod pieces;
mod printed;
mod ranking;
mod recorded;
mod samples;
mod windows;
