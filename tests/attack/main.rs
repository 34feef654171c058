//! Attacks on the runtime through the public, safe API: a seeded random walk of several threads on several devices, of
//! which every result is compared with a plain model on the host; and what a walk meets rarely, each as a test of its own.
//!
//! | variable | what it sets |
//! |---|---|
//! | `TILEWISE_ATTACK` | minutes that the walk takes, unless set `0.5`, and 10 s where tests take few cases; each operation and type from the first step on |
//! | `TILEWISE_ATTACK_SEED` | the seed of the walk, which a failure prints with the thread and the step |
//! | `TILEWISE_ATTACK_DEVICES` | devices that the walk is restricted to, such as `opened,tiny` |
//! | `TILEWISE_ATTACK_WITHOUT` | steps that the walk leaves out, such as `callback,destroy` |
//!
//! What a thread does is given by seed, device, thread and step; in which order threads run is the scheduler's. A step
//! that takes half a minute, more on a busy machine, is stuck: the process says what each thread was doing, and aborts.

mod actor;
mod api;
mod application;
mod caches;
mod callbacks;
mod compute;
mod convolutions;
mod dropped_reads;
mod frame;
mod held;
mod layers;
mod mistakes;
mod model;
mod parts;
mod random;
mod reads;
mod reals;
mod reductions;
mod replays;
mod rough;
mod shapes;
mod textures;
mod walk;
mod world;
mod wrong;
