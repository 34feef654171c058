//! The texts of all shaders: legal in every plan, and by the rules of the house. No device.

mod attention;
mod browsers;
mod conversions;
mod drivers;
mod kernels;
mod legal;
#[allow(dead_code, unreachable_pub, reason = "the program that compiles the plans reads the rest")]
#[path = "../isa/src/plans.rs"]
mod plans;
mod reports;
mod rules;
mod texts;
mod wraps;
