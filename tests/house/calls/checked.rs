//! Calls in small crates: which are found, and which names say nothing.

use super::{Call, calls};
use crate::modules::modules;

const TYPES: &str = "
    pub struct Gpu { pub inner: Arc<Inner> }
    pub struct Inner { pub recorder: Recorder, pub queue: wgpu::Queue }
    pub struct Recorder(pub Texts);
    pub struct Texts;
    pub trait Plans { fn plan(&self); }
    impl Recorder { pub fn lock(&self) {} pub fn submit(&self) {} pub fn plan(&self) {} }
    impl Texts { pub fn len(&self) -> usize { 0 } }";

const VERBS: &str = "
    use crate::types::Gpu;
    impl Gpu { pub fn run(&self) {} pub fn read_back(&self) {} pub fn begin() -> Self { Self } }";

/// The calls in a file with this text.
fn of(text: &str) -> Vec<String> {
    let lib = "mod types; mod verbs; mod user;";
    let files = [("lib.rs", lib), ("types.rs", TYPES), ("verbs.rs", VERBS), ("user.rs", text)];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
    let calls = calls(&modules(&files)).into_iter().filter(|call| call.from == "user.rs");
    calls.map(|Call { to, line, what, .. }| format!("{to}:{line}: {what}")).collect()
}

#[track_caller]
fn one(text: &str, expected: &str) {
    assert_eq!(of(&format!("use crate::types::*; {text}")), [expected], "{text}");
}

#[track_caller]
fn none(text: &str) {
    assert_eq!(of(&format!("use crate::types::*; {text}")), Vec::<String>::new(), "{text}");
}

#[test]
fn a_type_that_is_written_down_decides() {
    one("impl Gpu { fn f(&self) { self.run() } }", "verbs.rs:1: .run()");
    one("impl Drop for Gpu { fn drop(&mut self) {\n self.run() } }", "verbs.rs:2: .run()");
    one("impl Gpu { fn f(&self) { self.inner.recorder.lock() } }", "types.rs:1: .lock()");
    one("impl Gpu { fn f(&self) { self.inner.recorder.0.len(); } }", "types.rs:1: .len()");
    one("fn f(gpu: &Gpu) { gpu.run() }", "verbs.rs:1: .run()");
    one("fn f(gpu: std::sync::Arc<Gpu>) { gpu.run() }", "verbs.rs:1: .run()");
    one("fn f(gpu: &Gpu) { let g = || println!(\"{}\", gpu.run::<u32>()); }", "verbs.rs:1: .run()");
    one("struct User { gpu: Gpu } impl User { fn f(&self) { self.gpu.run() } }", "verbs.rs:1: .run()");
    none("fn f(gpu: Vec<Gpu>) { gpu.run() }");
    none("fn f(gpu: &Gpu) { gpu.lock() }");
    none("fn f(gpu: &Gpu) { gpu.run; run(gpu); }");
    none("impl Gpu { fn f(&self) { self.inner.queue.submit() } }");
    none("struct User; impl User { fn f(&self) { self.read_back() } fn read_back(&self) {} }");
}

#[test]
fn a_name_decides_that_only_one_file_has() {
    one("fn f() { let gpu = open(); gpu.read_back() }", "verbs.rs:1: .read_back()");
    one("fn f() { open()?.read_back() }", "verbs.rs:1: .read_back()");
    // Of a name that is bound anew, the parameter's type says nothing.
    one("fn f(gpu: Vec<Gpu>) { let gpu = gpu[0]; gpu.read_back() }", "verbs.rs:1: .read_back()");
    // Types of other crates have methods of these names, and a trait of the crate.
    none("fn f() { let texts = open(); texts.len(); texts.lock(); texts.run(); }");
    none("fn f() { let problem = open(); problem.plan() }");
    // Two files define it.
    none("struct User; impl User { fn read_back(&self) {} } fn f() { open().read_back() }");
    none("fn f() { 0..read_back() }");
}

#[test]
fn a_function_of_a_type_may_stand_in_another_file() {
    one("fn f() { Gpu::begin(); }", "verbs.rs:1: Gpu::begin");
    one("impl Gpu { fn f() { Self::begin(); } }", "verbs.rs:1: Self::begin");
    none("impl Inner { fn f() { Self::begin(); } }");
}
