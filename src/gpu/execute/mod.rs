//! Executes plans and problems: chooses, prepares and launches.

pub(super) mod plans_of;
pub(super) mod prepare;
pub(super) mod run;
pub(super) mod warm_up;

pub use run::compile;
