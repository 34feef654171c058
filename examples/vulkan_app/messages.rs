//! The messages of the Khronos validation layer.
#![expect(unsafe_code, reason = "Vulkan calls a function with pointers")]

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};
use tilewise::gpu::ash::{ext, vk};

/// The errors that the layer has reported.
pub(crate) type Messages = Mutex<Vec<String>>;

/// Ids of messages that wgpu causes and that mean nothing here. naga gives an array in workgroup memory a stride, which the layer
/// refuses and no driver minds (gfx-rs/wgpu#7696).
const OF_WGPU: [&str; 1] = ["VUID-StandaloneSpirv-None-10684"];

/// A messenger that adds errors to `messages`, which must outlive it.
pub(crate) fn info(messages: &Messages) -> vk::DebugUtilsMessengerCreateInfoEXT<'_> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
        )
        .user_data(std::ptr::from_ref(messages).cast_mut().cast())
        .pfn_user_callback(Some(hear))
}

/// The extension's functions and the messenger.
pub(crate) struct Messenger(pub(crate) ext::debug_utils::Instance, pub(crate) vk::DebugUtilsMessengerEXT);

unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes valid data, and the list of `info`, which outlives the messenger.
    let (data, messages) = unsafe { (&*data, &*messages.cast::<Messages>()) };
    // SAFETY: both are null or texts that end with a zero.
    let texts = unsafe { [data.message_id_name_as_c_str(), data.message_as_c_str()] };
    let [id, text] = texts.map(|text| text.map_or(String::new(), |text| text.to_string_lossy().into_owned()));
    if !OF_WGPU.contains(&id.as_str()) {
        messages.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{id}: {text}"));
    }
    vk::FALSE
}
