//! Errors: each names the call, its operands and the rule, and leaves all else usable. With what is logged. No device.

mod huge;
mod logs;
mod mistakes;
mod words;
