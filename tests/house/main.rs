//! The house's rules, read from its sources: floors, sizes, words, and the public API. No device.

mod book;
mod calls;
mod features;
mod floors;
mod formulas;
mod imports;
mod modules;
mod names;
mod sizes;
mod surface;
mod words;
