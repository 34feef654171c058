//! The cooperative matrices of flexible size that a driver lists.

use super::rows::row;
use super::structs::{FlexibleDimensions, GetFlexibleDimensions, Matrix2Properties};
use crate::caps::{CoopRow, FlexibleLimits, RowSizes};
use ash::vk;
use std::ptr;
use wgpu::hal::vulkan::Adapter;

/// All rows of the driver, in its order. The driver has the extension.
pub(super) fn flexible_rows(hal: &Adapter) -> Vec<CoopRow> {
    let shared = hal.shared_instance();
    let name = c"vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV";
    // SAFETY: the instance is alive, and the name ends with a zero.
    let found =
        unsafe { shared.entry().get_instance_proc_addr(shared.raw_instance().handle(), name.as_ptr()) };
    let Some(found) = found else { return Vec::new() };
    // SAFETY: the address is that of the function with this name.
    let list = unsafe { std::mem::transmute::<unsafe extern "system" fn(), GetFlexibleDimensions>(found) };
    let (mut count, device) = (0, hal.raw_physical_device());
    // SAFETY: the physical device comes from that instance; without a list the function only counts.
    let counted = unsafe { list(device, &mut count, ptr::null_mut()) };
    let mut rows = vec![FlexibleDimensions::default(); count as usize];
    // SAFETY: as above; the list has room for as many rows.
    let filled = unsafe { list(device, &mut count, rows.as_mut_ptr()) };
    if [counted, filled].iter().any(|result| result.result().is_err()) {
        log::warn!("the driver lists no flexible cooperative matrices: {filled}");
        return Vec::new();
    }
    rows.truncate(count as usize);
    rows.iter().filter_map(multiples).collect()
}

/// The row as plain data. None for a row that this crate cannot express.
fn multiples(found: &FlexibleDimensions) -> Option<CoopRow> {
    let types = [found.a_type, found.b_type, found.c_type, found.result_type];
    let row = row([found.m_granularity, found.n_granularity, found.k_granularity], types, found.scope)?;
    Some(CoopRow {
        sizes: RowSizes::Multiples { invocations: found.workgroup_invocations },
        saturating: found.saturating_accumulation == vk::TRUE,
        ..row
    })
}

/// The limits of such matrices. The driver has the extension.
pub(super) fn flexible_limits(hal: &Adapter) -> FlexibleLimits {
    let mut found = Matrix2Properties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
    let instance = hal.shared_instance().raw_instance();
    // SAFETY: the physical device comes from that instance, which has this function since Vulkan 1.1. Both structs live until
    // the call returns.
    unsafe { instance.get_physical_device_properties2(hal.raw_physical_device(), &mut properties) };
    FlexibleLimits {
        dimension: found.flexible_dimensions_max_dimension,
        workgroup_invocations: found.workgroup_scope_max_workgroup_size,
        reserved_bytes: found.workgroup_scope_reserved_shared_memory,
    }
}
