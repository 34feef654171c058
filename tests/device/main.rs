//! Devices: opened or adopted, their caps, tensors and recordings, plans executed, and the runtime under attack.

mod adapters;
mod adopt;
mod adopt_limits;
mod adopt_mistakes;
mod assign;
mod cache_files;
mod caps;
mod drivers;
mod execute;
mod from_buffer;
#[cfg(any(target_os = "linux", target_os = "windows", target_os = "android"))]
mod from_vulkan;
mod hazards;
mod images;
mod lost;
mod manners;
mod matrices;
mod opening;
mod operations;
mod ordering;
mod pipelines;
mod progress;
mod proof;
mod recording;
mod replay;
mod row_speeds;
mod runtime;
mod staging;
mod start_up;
mod tensor;
mod tuning;
mod unchecked_access;
mod validation;
mod verify;
mod warm_up;
mod writable;
