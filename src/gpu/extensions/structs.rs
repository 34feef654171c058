//! Structs of Vulkan that `ash` does not know yet, with their numbers from Vulkan's headers 1.4.

use ash::vk;
use std::ffi::c_void;
use std::ptr;

/// A struct of `LEN` features with this number, all off by default. It may be in the chain of a query and of a device's
/// creation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features<const NUMBER: i32, const LEN: usize> {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    on: [vk::Bool32; LEN],
}

/// `VkPhysicalDeviceCooperativeMatrix2FeaturesNV`: `workgroupScope`, `flexibleDimensions`, `reductions`, `conversions`,
/// `perElementOperations`, `tensorAddressing`, `blockLoads`.
pub(super) type Matrix2Features = Features<1_000_593_000, 7>;
/// `VkPhysicalDeviceCooperativeMatrixMaintenance1FeaturesEXT`: `properties2`, `reductions`, `conversions`,
/// `perElementOperations`, `getCoordinate`.
pub(super) type Maintenance1Features = Features<1_000_659_000, 5>;
/// `VkPhysicalDeviceShaderBfloat16FeaturesKHR`: `type`, `dotProduct`, `cooperativeMatrix`.
pub(super) type Bfloat16Features = Features<1_000_141_000, 3>;
/// `VkPhysicalDeviceShaderFloat8FeaturesEXT`: `shaderFloat8`, `cooperativeMatrix`.
pub(super) type Float8Features = Features<1_000_567_000, 2>;

impl<const NUMBER: i32, const LEN: usize> Default for Features<NUMBER, LEN> {
    fn default() -> Self {
        let s_type = vk::StructureType::from_raw(NUMBER);
        Self { s_type, p_next: ptr::null_mut(), on: [vk::FALSE; LEN] }
    }
}

impl<const NUMBER: i32, const LEN: usize> Features<NUMBER, LEN> {
    /// The struct outside of any chain, if the features at these places are on; else all off.
    pub(super) fn if_it_has(self, places: &[usize]) -> Self {
        let has_all = places.iter().all(|&place| self.on[place] == vk::TRUE);
        Self { on: if has_all { self.on } else { [vk::FALSE; LEN] }, ..Self::default() }
    }

    /// Whether any feature is on.
    pub(super) fn is_used(&self) -> bool {
        self.on.contains(&vk::TRUE)
    }
}

// SAFETY: the aliases above are the structs of Vulkan with their numbers, which may be in both chains.
unsafe impl<const NUMBER: i32, const LEN: usize> vk::ExtendsPhysicalDeviceFeatures2
    for Features<NUMBER, LEN>
{
}
// SAFETY: as above.
unsafe impl<const NUMBER: i32, const LEN: usize> vk::ExtendsDeviceCreateInfo for Features<NUMBER, LEN> {}

/// `VkPhysicalDeviceCooperativeMatrix2PropertiesNV`.
#[repr(C)]
pub(super) struct Matrix2Properties {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pub(super) workgroup_scope_max_workgroup_size: u32,
    pub(super) flexible_dimensions_max_dimension: u32,
    pub(super) workgroup_scope_reserved_shared_memory: u32,
}

impl Default for Matrix2Properties {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_593_002),
            p_next: ptr::null_mut(),
            workgroup_scope_max_workgroup_size: 0,
            flexible_dimensions_max_dimension: 0,
            workgroup_scope_reserved_shared_memory: 0,
        }
    }
}

// SAFETY: the struct is Vulkan's, which may be in this chain.
unsafe impl vk::ExtendsPhysicalDeviceProperties2 for Matrix2Properties {}

/// `VkCooperativeMatrixFlexibleDimensionsPropertiesNV`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct FlexibleDimensions {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pub(super) m_granularity: u32,
    pub(super) n_granularity: u32,
    pub(super) k_granularity: u32,
    pub(super) a_type: vk::ComponentTypeKHR,
    pub(super) b_type: vk::ComponentTypeKHR,
    pub(super) c_type: vk::ComponentTypeKHR,
    pub(super) result_type: vk::ComponentTypeKHR,
    pub(super) saturating_accumulation: vk::Bool32,
    pub(super) scope: vk::ScopeKHR,
    pub(super) workgroup_invocations: u32,
}

impl Default for FlexibleDimensions {
    fn default() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_593_001),
            p_next: ptr::null_mut(),
            m_granularity: 0,
            n_granularity: 0,
            k_granularity: 0,
            a_type: vk::ComponentTypeKHR::default(),
            b_type: vk::ComponentTypeKHR::default(),
            c_type: vk::ComponentTypeKHR::default(),
            result_type: vk::ComponentTypeKHR::default(),
            saturating_accumulation: vk::FALSE,
            scope: vk::ScopeKHR::default(),
            workgroup_invocations: 0,
        }
    }
}

/// `vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV`.
pub(super) type GetFlexibleDimensions =
    unsafe extern "system" fn(vk::PhysicalDevice, *mut u32, *mut FlexibleDimensions) -> vk::Result;
