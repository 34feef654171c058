//! The texts of all shaders: legal with their defaults and in every plan, and by the rules of the house. No device.

mod attention;
mod drivers;
mod legal;
mod reports;
mod rules;
#[path = "../support/mod.rs"]
mod support;
mod texts;
mod wraps;
