//! Translates WGSL to the SPIR-V that wgpu passes to a Vulkan driver for a trusted module: without run-time checks and without
//! zero-initialised shared memory.

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use tilewise::planning::kernel::{Needs, module_needs};

/// A kernel's SPIR-V, and the properties of its pipeline layout.
pub(crate) struct Spirv {
    /// The module's words.
    pub(crate) words: Vec<u32>,
    /// The number of storage bindings.
    pub(crate) storage_bindings: u32,
    /// Bytes of immediates.
    pub(crate) immediate_bytes: u32,
    /// Whether dims are in a uniform buffer with a dynamic offset.
    pub(crate) has_ring: bool,
    /// Bytes of shared memory that the text declares.
    pub(crate) shared_bytes: u32,
}

impl Spirv {
    /// Translates a text as `wgpu_hal::vulkan` 30 does (`Device::compile_stage`, with the options of `Adapter::device_from_raw`)
    /// on a device with every feature that the crate requests.
    ///
    /// # Errors
    /// A message if the text is not valid WGSL, or if naga cannot translate it.
    pub(crate) fn of(text: &str) -> Result<Self, String> {
        let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
        let validated = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = validated.map_err(|error| error.emit_to_string(text))?;
        let entry =
            spv::PipelineOptions { entry_point: "main".into(), shader_stage: naga::ShaderStage::Compute };
        let words = spv::write_vec(&module, &info, &options(), Some(&entry));
        let words = words.map_err(|error| format!("naga cannot translate the text to SPIR-V: {error}"))?;
        let mut spirv =
            Self { words, storage_bindings: 0, immediate_bytes: 0, has_ring: false, shared_bytes: 0 };
        for (_, variable) in module.global_variables.iter() {
            let bytes = module.types[variable.ty].inner.size(module.to_ctx());
            match variable.space {
                naga::AddressSpace::Storage { .. } => spirv.storage_bindings += 1,
                naga::AddressSpace::Immediate => spirv.immediate_bytes = bytes,
                naga::AddressSpace::Uniform => spirv.has_ring = true,
                naga::AddressSpace::WorkGroup => spirv.shared_bytes += bytes,
                _ => {}
            }
        }
        Ok(spirv)
    }
}

impl Spirv {
    /// A module as it is.
    ///
    /// # Errors
    /// A message if it is not the module of a kernel.
    pub(crate) fn of_module(words: Vec<u32>) -> Result<Self, String> {
        let (Needs { bindings, workgroup_bytes, .. }, immediate_bytes) = module_needs(&words)?;
        Ok(Self {
            words,
            storage_bindings: bindings,
            immediate_bytes,
            has_ring: false,
            shared_bytes: workgroup_bytes,
        })
    }
}

fn options() -> spv::Options<'static> {
    use spv::Capability as C;
    let unchecked = BoundsCheckPolicy::Unchecked;
    // The features that the library requests (subgroups, f16, 64-bit integers, cooperative matrices), and those that wgpu enables
    // by itself.
    let subgroups = [
        C::GroupNonUniform,
        C::GroupNonUniformVote,
        C::GroupNonUniformArithmetic,
        C::GroupNonUniformBallot,
        C::GroupNonUniformShuffle,
        C::GroupNonUniformShuffleRelative,
        C::GroupNonUniformQuad,
    ];
    let dots = [
        C::DotProductInputAllKHR,
        C::DotProductInput4x8BitKHR,
        C::DotProductInput4x8BitPackedKHR,
        C::DotProductKHR,
    ];
    let others =
        [C::Shader, C::Matrix, C::Int64, C::Int8, C::Float16, C::CooperativeMatrixKHR, C::VulkanMemoryModel];
    let capabilities = subgroups.into_iter().chain(dots).chain(others);
    spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        capabilities: Some(capabilities.collect()),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ray_query_initialization_tracking: false,
        emit_int_div_checks: false,
        ..Default::default()
    }
}
