//! All rows of cooperative matrices that a driver lists. wgpu reports few of them.

use crate::caps::{CoopRow, CoopScalar, CoopScope};
use ash::vk;
use wgpu::hal::vulkan::Adapter;

/// All rows of the driver, in its order. The driver has the extension.
pub(super) fn rows(hal: &Adapter) -> Vec<CoopRow> {
    let shared = hal.shared_instance();
    let functions = ash::khr::cooperative_matrix::Instance::new(shared.entry(), shared.raw_instance());
    // SAFETY: the physical device comes from that instance.
    let found =
        unsafe { functions.get_physical_device_cooperative_matrix_properties(hal.raw_physical_device()) };
    let found = found.unwrap_or_else(|error| {
        log::warn!("the driver lists no cooperative matrices: {error}");
        Vec::new()
    });
    found.iter().filter_map(exact).collect()
}

/// Numbers of `VkComponentTypeKHR` that `ash` does not know yet, with the extensions that define them.
const BFLOAT16: i32 = 1_000_141_000; // VK_KHR_shader_bfloat16
const FLOAT8_E4M3: i32 = 1_000_491_002; // VK_EXT_shader_float8
const FLOAT8_E5M2: i32 = 1_000_491_003;

/// The row as plain data. None for a row that this crate cannot express.
fn exact(found: &vk::CooperativeMatrixPropertiesKHR<'_>) -> Option<CoopRow> {
    let types = [found.a_type, found.b_type, found.c_type, found.result_type];
    let row = row([found.m_size, found.n_size, found.k_size], types, found.scope)?;
    Some(CoopRow { saturating: found.saturating_accumulation == vk::TRUE, ..row })
}

/// The row with the types of A, B, C and the result. None for a row that this crate cannot express, which is logged.
pub(super) fn row(size: [u32; 3], types: [vk::ComponentTypeKHR; 4], of: vk::ScopeKHR) -> Option<CoopRow> {
    match (types.map(scalar), scope(of)) {
        // A loop cannot use a row whose result has another type than its sums.
        ([Some(a), Some(b), Some(c), Some(result)], Some(scope)) if c == result => {
            Some(CoopRow { scope, ..CoopRow::untested(size, [a, b, c]) })
        }
        _ => {
            log::debug!("a row of cooperative matrices is left out: {size:?} {types:?} {of:?}");
            None
        }
    }
}

fn scalar(component: vk::ComponentTypeKHR) -> Option<CoopScalar> {
    Some(match component {
        vk::ComponentTypeKHR::FLOAT16 => CoopScalar::F16,
        vk::ComponentTypeKHR::FLOAT32 => CoopScalar::F32,
        vk::ComponentTypeKHR::FLOAT64 => CoopScalar::F64,
        vk::ComponentTypeKHR::SINT8 => CoopScalar::I8,
        vk::ComponentTypeKHR::UINT8 => CoopScalar::U8,
        vk::ComponentTypeKHR::SINT32 => CoopScalar::I32,
        vk::ComponentTypeKHR::UINT32 => CoopScalar::U32,
        other => match other.as_raw() {
            BFLOAT16 => CoopScalar::Bf16,
            FLOAT8_E4M3 => CoopScalar::E4m3,
            FLOAT8_E5M2 => CoopScalar::E5m2,
            _ => return None,
        },
    })
}

fn scope(scope: vk::ScopeKHR) -> Option<CoopScope> {
    match scope {
        vk::ScopeKHR::SUBGROUP => Some(CoopScope::Subgroup),
        vk::ScopeKHR::WORKGROUP => Some(CoopScope::Workgroup),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of Vulkan's headers.
    #[test]
    fn numbers_of_types_and_scopes_are_vulkans() {
        let names = |raw| scalar(vk::ComponentTypeKHR::from_raw(raw)).map(|scalar| scalar.to_string());
        for (raw, name) in [
            (0, "f16"),
            (1, "f32"),
            (2, "f64"),
            (3, "i8"),
            (5, "i32"),
            (7, "u8"),
            (9, "u32"),
            (1_000_141_000, "bf16"),
            (1_000_491_002, "e4m3"),
            (1_000_491_003, "e5m2"),
        ] {
            assert_eq!(names(raw).as_deref(), Some(name), "{raw}");
        }
        // Integers of 16 and 64 bits, and packed ones of another extension.
        for raw in [4, 6, 8, 10, 1_000_491_000, 1_000_491_001] {
            assert_eq!(names(raw), None, "{raw}");
        }
        let scopes = [1, 2, 3, 5].map(|raw| scope(vk::ScopeKHR::from_raw(raw)));
        assert_eq!(scopes, [None, Some(CoopScope::Workgroup), Some(CoopScope::Subgroup), None]);
    }

    #[test]
    fn a_row_keeps_its_form_and_one_without_words_is_left_out() {
        let found = vk::CooperativeMatrixPropertiesKHR::default()
            .m_size(8)
            .n_size(16)
            .k_size(32)
            .a_type(vk::ComponentTypeKHR::UINT8)
            .b_type(vk::ComponentTypeKHR::SINT8)
            .c_type(vk::ComponentTypeKHR::SINT32)
            .result_type(vk::ComponentTypeKHR::SINT32)
            .saturating_accumulation(true)
            .scope(vk::ScopeKHR::WORKGROUP);
        let told = exact(&found).expect("it has words").to_string();
        assert_eq!(told, "8x16x32 u8 x i8 -> i32 (workgroup saturating), not tested");
        assert_eq!(exact(&found.scope(vk::ScopeKHR::DEVICE)), None);
        assert_eq!(exact(&found.b_type(vk::ComponentTypeKHR::from_raw(4))), None);
        assert_eq!(exact(&found.result_type(vk::ComponentTypeKHR::FLOAT32)), None, "another type than C's");
    }
}
