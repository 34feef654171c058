//! The house's rules, read from its sources: floors, sizes, words, the public API, and the registration of operations. No device.

mod additions;
mod book;
mod calls;
mod features;
mod floors;
mod formulas;
mod imports;
mod modules;
mod names;
mod registered;
mod sizes;
mod surface;
mod warm_call;
mod words;
