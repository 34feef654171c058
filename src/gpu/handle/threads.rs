//! Declares that any thread may use a `Gpu` and a tensor's buffer.
//!
//! The compiler would infer this by itself. But it would follow wgpu's types down to the last one, again for every type of
//! an application that holds a tensor, and it gives up at its default limit of recursion ("overflow evaluating the
//! requirement") if such a type is nested a few levels deep. These declarations stop it here. Instead, each field is
//! checked once, when this crate is built. In a browser, where wgpu's types belong to one thread, nothing is declared.
//!
//! ```standalone_crate
//! use std::collections::HashMap;
//! use std::sync::{Arc, Mutex, RwLock};
//! use tilewise::{Gpu, Tensor};
//!
//! struct Layer(Tensor<f32>, Option<Tensor<f32>>);
//! struct Model(Vec<Layer>, HashMap<String, Arc<RwLock<Vec<Layer>>>>);
//! struct App(Arc<Mutex<Option<Model>>>, Gpu);
//!
//! fn is_shared<T: Send + Sync>() {}
//!
//! is_shared::<Arc<Mutex<Vec<Option<Arc<App>>>>>>();
//! is_shared::<Model>();
//! ```
#![expect(unsafe_code, reason = "the compiler would look through wgpu's types instead")]

use super::gpu::{Allocation, Inner};

// SAFETY: `fields_of_inner` checks that every field is `Send` and `Sync`.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

// SAFETY: `fields_of_allocation` checks that every field is `Send` and `Sync`.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

const fn is_shared<T: Send + Sync>(_: &T) {}

const _: fn(&Inner) = fields_of_inner;
const _: fn(&Allocation) = fields_of_allocation;

fn fields_of_inner(inner: &Inner) {
    let Inner {
        device,
        queue,
        caps,
        options,
        status,
        clock,
        pipelines,
        proofs,
        untested,
        plans,
        tuning,
        constants,
        captures,
        pool,
        reads,
        uploads,
        recorder,
        spares,
        known_buffers,
        progress,
        buffers_created,
        waiter,
    } = inner;
    is_shared(device);
    is_shared(queue);
    is_shared(caps);
    is_shared(options);
    is_shared(status);
    is_shared(clock);
    is_shared(pipelines);
    is_shared(proofs);
    is_shared(untested);
    is_shared(plans);
    is_shared(tuning);
    is_shared(constants);
    is_shared(captures);
    is_shared(pool);
    is_shared(reads);
    is_shared(uploads);
    is_shared(recorder);
    is_shared(spares);
    is_shared(known_buffers);
    is_shared(progress);
    is_shared(buffers_created);
    is_shared(waiter);
}

fn fields_of_allocation(allocation: &Allocation) {
    let Allocation { pooled, gpu } = allocation;
    is_shared(pooled);
    is_shared(gpu);
}
