//! Kernels: shaders of `shaders/`, specialised by parameters and slots.
//!
//! [`specialize`] documents the directives of the shader files. [`wgsl`] writes the text of generated slots.

mod code;
mod directive;
mod expand;
mod grid;
mod identifiers;
mod interface;
mod library;
mod limits;
mod module;
mod module_constants;
mod module_features;
mod module_instructions;
mod module_interface;
#[cfg(all(test, feature = "spirv"))]
mod module_tests;
mod numbered_lines;
mod operand_access;
mod operands;
mod params;
mod report;
mod shader_dims;
mod source;
mod specialize;
mod storage_format;
mod unroll;
pub(crate) mod wgsl;

pub(crate) use code::Code;
pub use expand::Include;
pub use grid::fold_grid;
pub use interface::{ShaderInterface, shader_interface};
pub use library::{INCLUDES, KERNELS, MODULES};
pub use limits::Needs;
pub(crate) use limits::{
    BINDING, WINDOW, check_binding, check_scratch, max_buffer_bytes, slice_along, workgroup_size,
};
pub use module::specialized;
pub use module_interface::module_needs;
pub(crate) use operand_access::OperandAccess;
pub(crate) use report::SubgroupReport;
pub(crate) use shader_dims::{DimsMember, MemberType, OfMember, ShaderDims, shader_dims};
pub use source::{Kernel, Language};
pub(crate) use storage_format::{AccessWidth, StorageFormat};
pub use unroll::{UnrollError, unroll};
