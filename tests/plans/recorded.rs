//! Plans compared with recorded ones: shader, tile, grid, temporaries, order of steps, predicted time, the
//! text that runs, its uniform and its bindings.
//!
//! `tests/data/plans` holds the records. A change that moves code keeps every line. A change that is meant to alter plans writes
//! the lines again with `TILEWISE_WRITE=1 cargo test --release --test plans recorded`, and its diff shows which.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use support::families::{CONVOLUTIONS, FAMILIES, MODULES, Of, PROBLEMS};
use support::plans;
use tilewise::Caps;
use tilewise::planning::kernel::{Kernel, Language};
use tilewise::planning::{Plan, fixtures};

mod normal_text;

/// The devices of the records, which differ in what a plan depends on.
fn devices() -> [(&'static str, Caps); 8] {
    [
        ("h200", fixtures::h200()),
        ("rtx_4090", fixtures::rtx_4090()),
        ("radv_rdna4", fixtures::radv_rdna4()),
        ("intel_xe2", fixtures::intel_xe2()),
        ("apple_m2", fixtures::apple_m2()),
        ("lavapipe", fixtures::lavapipe()),
        ("bare_webgpu", fixtures::bare_webgpu()),
        ("bare_vulkan", fixtures::bare_vulkan()),
    ]
}

/// Digests of the texts seen, because plans share kernels.
#[derive(Default)]
struct Texts(BTreeMap<String, String>);

impl Texts {
    /// The digest of a kernel's normal text, or of a module's name and parameters.
    fn digest(&mut self, kernel: &Kernel) -> String {
        let known = self.0.entry(kernel.to_string());
        known
            .or_insert_with(|| {
                let text = match kernel.language() {
                    Language::Wgsl => text_of(kernel),
                    Language::Spirv => kernel.to_string(),
                };
                digest(&text)
            })
            .clone()
    }

    /// A plan in one line.
    fn line(&mut self, plan: &Plan) -> String {
        let mut line = String::new();
        for step in plan.steps() {
            let (kernel, [x, y, z]) = (&step.kernel, step.grid);
            let text = self.digest(kernel);
            // The uniform, and what is bound.
            let call = digest(&format!("{:?} {:?} {:?}", step.dims, step.scalars, step.args));
            let (tile, first) = (&step.tile, step.first_block);
            write!(line, "{} {tile}; {x}x{y}x{z} from {first}; {text} {call}; ", kernel.shader()).unwrap();
        }
        write!(line, "{:?} bytes; {:.9e} s", plan.temporaries(), plan.seconds()).unwrap();
        line
    }
}

/// A kernel's text with all parameters set, in normal form.
fn text_of(kernel: &Kernel) -> String {
    normal_text::normal(&kernel.specialize().expect("a planned kernel"))
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Compares lines with a record, or writes it.
fn compare(name: &str, lines: &[String]) {
    let path = support::root().join("tests/data/plans").join(name);
    let text = lines.join("\n") + "\n";
    if std::env::var_os("TILEWISE_WRITE").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap();
    let (mut differing, mut first) = (0, String::new());
    let pairs = recorded.lines().map(Some).chain(std::iter::repeat(None));
    for (line, old) in lines.iter().zip(pairs).filter(|(line, old)| Some(line.as_str()) != *old) {
        differing += 1;
        if differing <= 5 {
            write!(first, "\n  now {line}\n  was {}", old.unwrap_or("nothing")).unwrap();
        }
    }
    assert!(
        differing == 0 && lines.len() == recorded.lines().count(),
        "{differing} of {} plans differ from tests/data/plans/{name} ({} lines):{first}\n\
         If that is meant: TILEWISE_WRITE=1 cargo test --release --test plans recorded",
        lines.len(),
        recorded.lines().count()
    );
}

/// A problem of every family: each plan in a line.
#[test]
fn plans_of_families_are_the_recorded_ones() {
    let mut texts = Texts::default();
    let mut lines = Vec::new();
    for (device, caps) in devices() {
        for (family, planned) in FAMILIES.iter().chain(&MODULES).chain(&PROBLEMS).chain(&CONVOLUTIONS) {
            let plan = match planned(&Of::small(&caps)) {
                Ok(plan) => texts.line(&plan),
                Err(error) => error.to_string(),
            };
            lines.push(format!("{device}, {family}: {plan}"));
        }
    }
    compare("families.txt", &lines);
}

/// Every operation in every variant that changes a kernel: for each device and operation the digest of all plans. The plans
/// themselves are written to `target/plans`, so that those of two commits can be compared line by line.
#[test]
fn plans_of_the_sweep_are_the_recorded_ones() {
    let written = support::root().join("target/plans");
    std::fs::create_dir_all(&written).unwrap();
    let mut texts = Texts::default();
    let (mut lines, mut count) = (Vec::new(), 0);
    for (device, caps) in devices() {
        let mut operations: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for planned in plans::every(&caps) {
            let line = match &planned.plan {
                Ok(plan) => texts.line(plan),
                Err(error) => error.to_string(),
            };
            operations.entry(planned.what).or_default().push(line);
        }
        let all = operations.iter().map(|(what, plans)| format!("{what}\n  {}\n", plans.join("\n  ")));
        std::fs::write(written.join(format!("{device}.txt")), all.collect::<String>()).unwrap();
        count += operations.values().map(Vec::len).sum::<usize>();
        lines.extend(operations.iter().map(|(what, plans)| {
            format!("{device}, {what}: {} plans, {}", plans.len(), digest(&plans.join("\n")))
        }));
    }
    println!("{count} plans of {} kernels", texts.0.len());
    compare("sweep.txt", &lines);
}
