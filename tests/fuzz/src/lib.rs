//! What comes from outside or from anywhere, mutated: files, expressions, shaders' texts, layouts, problems and devices.
//!
//! Each target is a function of bytes that panics where what it is about does not hold. `tests/bounded.rs` runs them all for
//! seconds, on mutations of valid inputs; `libfuzzer/` runs one for as long as one likes, led by coverage. An input
//! that was found is kept in `corpus/<target>/`, where every run begins.

mod caps;
#[path = "../../../examples/algebra/expression.rs"]
mod expression;
mod expressions;
mod files;
mod kept;
mod layouts;
#[path = "../../support/limits.rs"]
#[allow(dead_code, unreachable_pub, reason = "a file of the library's tests")]
mod limits;
mod mutation;
#[path = "../../../examples/algebra/parser.rs"]
#[expect(dead_code, reason = "a file of the example `algebra`")]
mod parser;
mod plans;
mod shaders;

pub use mutation::Mutations;
pub use plans::{Outcome, outcome};

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name: that of its function, and of its folder in `corpus/`.
    pub name: &'static str,
    /// Checks what it is about with these bytes.
    ///
    /// # Panics
    /// Where it does not hold.
    pub run: fn(&[u8]),
    /// Valid inputs, which are mutated.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

macro_rules! targets {
    ($($room:ident::$name:ident, $seeds:ident;)*) => {
        $(
            /// Checks a target with these bytes.
            ///
            /// # Panics
            /// Where what it is about does not hold.
            pub fn $name(data: &[u8]) {
                $room::$name(data);
            }
        )*
        /// Every target.
        pub const TARGETS: &[Target] =
            &[$(Target { name: stringify!($name), run: $name, seeds: $room::$seeds }),*];
    };
}

targets! {
    files::npy, npy_seeds;
    files::safetensors, safetensors_seeds;
    kept::verdicts, verdict_seeds;
    kept::cache, cache_seeds;
    expressions::expression, seeds;
    shaders::unrolled, unrolled_seeds;
    shaders::specialised, specialised_seeds;
    layouts::layout, seeds;
    plans::plan, seeds;
}

/// Bytes that mean nothing by themselves, as many as a structured target takes.
fn noise(len: usize) -> Vec<Vec<u8>> {
    (1..=8).map(|seed| Mutations::new(seed).bytes(len)).collect()
}
