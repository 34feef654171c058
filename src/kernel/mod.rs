//! Kernels: shaders of `shaders/`, specialised by parameters and slots.
//!
//! [`specialize`] documents the directives of the shader files. [`wgsl`] writes the text of generated slots.

mod directive;
mod expand;
mod grid;
mod identifiers;
mod interface;
mod library;
mod limits;
mod numbered_lines;
mod operand_access;
mod params;
mod report;
mod source;
mod specialize;
mod storage_format;
mod unroll;
pub(crate) mod wgsl;

pub use expand::Include;
pub use grid::fold_grid;
pub(crate) use interface::{ShaderInterface, shader_interface};
pub use library::{INCLUDES, KERNELS};
pub use limits::Needs;
pub(crate) use limits::{
    BINDING, WINDOW, check_binding, check_scratch, max_buffer_bytes, slice_along, workgroup_size,
};
pub(crate) use operand_access::OperandAccess;
pub(crate) use report::SubgroupReport;
pub use source::Kernel;
pub(crate) use storage_format::{AccessWidth, StorageFormat};
pub use unroll::{UnrollError, unroll};
