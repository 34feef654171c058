//! Fuzz tests with mutated files, expressions, shader texts, layouts, problems and devices.
//!
//! Each target is a function of bytes that panics if the bytes violate one of its properties. `tests/bounded.rs` runs every
//! target for seconds on mutations of valid inputs. `libfuzzer/` runs one target for any time, guided by coverage. Inputs that
//! once failed are stored in `corpus/<target>/`; every run starts with them.

mod cache_files;
mod caps;
#[path = "../../../examples/algebra/expression.rs"]
mod expression;
mod expressions;
mod files;
mod layouts;
mod modules;
mod mutation;
#[path = "../../../examples/algebra/parser.rs"]
#[expect(dead_code, reason = "a file of the example `algebra`")]
mod parser;
mod plans;
mod shaders;
mod views;

pub use mutation::Mutations;
pub use plans::{Outcome, outcome};

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the target's function and of its folder in `corpus/`.
    pub name: &'static str,
    /// Runs the target with these bytes.
    ///
    /// # Panics
    /// If a property of the target is violated.
    pub run: fn(&[u8]),
    /// Valid inputs to mutate.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($room:ident::$name:ident, $seeds:ident;)*) => {
        $(
            /// Runs a target with these bytes.
            ///
            /// # Panics
            /// If a property of the target is violated.
            pub fn $name(data: &[u8]) {
                $room::$name(data);
            }
        )*
        /// All targets.
        pub const TARGETS: &[Target] =
            &[$(Target { name: stringify!($name), run: $name, seeds: $room::$seeds }),*];
    };
}

targets! {
    files::npy, npy_seeds;
    files::safetensors, safetensors_seeds;
    cache_files::verdicts, verdict_seeds;
    cache_files::cache, cache_seeds;
    expressions::expression, seeds;
    shaders::unrolled, unrolled_seeds;
    shaders::specialised, specialised_seeds;
    modules::module, seeds;
    layouts::layout, seeds;
    plans::plan, seeds;
}

/// Random bytes, as seeds of targets that build their inputs from bytes.
fn noise(len: usize) -> Vec<Vec<u8>> {
    (1..=8).map(|seed| Mutations::new(seed).bytes(len)).collect()
}
