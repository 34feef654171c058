//! What is logged at `debug`, and by whom. In a process of its own, whose logger is this test's.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use support::process;
use tilewise::{Gemm, Gpu, Result, Tensor, f16, matmul, ops};

static RECORDS: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

struct Keep;

impl log::Log for Keep {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }
    fn log(&self, record: &log::Record) {
        let said = format!("{}: {}", record.level(), record.args());
        let mut records = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        records.entry(record.target().to_owned()).or_default().push(said);
    }
    fn flush(&self) {}
}

/// What has been logged since the last call, by target.
fn taken() -> BTreeMap<String, Vec<String>> {
    std::mem::take(&mut RECORDS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Records under this target and those below it.
fn under(records: &BTreeMap<String, Vec<String>>, target: &str) -> Vec<String> {
    let below =
        |name: &str| name.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    records.iter().filter(|(name, _)| below(name)).flat_map(|(_, said)| said.clone()).collect()
}

fn work(gpu: &Gpu, a: &Tensor<f32>) -> Result<()> {
    let c = matmul(a, &a.t())?;
    let c = ops::softmax(&ops::add(&c, a)?, 1)?;
    assert_eq!(c.gpu().stats().pipelines, gpu.stats().pipelines);
    c.cast::<f16>()?.to_vec().map(drop)
}

#[test]
fn at_debug_this_crate_names_each_kernel_that_it_compiles_and_says_no_more() {
    let test = "at_debug_this_crate_names_each_kernel_that_it_compiles_and_says_no_more";
    if !process::is_alone(&format!("{}::{test}", module_path!())) {
        return;
    }
    log::set_logger(&Keep).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    let gpu = support::noop();
    let a = gpu.tensor(&[1.0f32; 4096], [64, 64]).unwrap();
    work(&gpu, &a).unwrap();
    let records = taken();
    let ours = under(&records, "tilewise");
    assert_eq!(ours.len() as u64, gpu.stats().pipelines, "{ours:?}");
    assert!(ours.iter().all(|said| said.starts_with("DEBUG: compiled tilewise ")), "{ours:?}");
    let others = |target: &&String| {
        !["tilewise", "naga", "wgpu_core", "wgpu_hal", "wgpu"]
            .iter()
            .any(|known| target.split("::").next() == Some(known))
    };
    assert_eq!(records.keys().filter(others).collect::<Vec<_>>(), Vec::<&String>::new());

    for _ in 0..10 {
        work(&gpu, &a).unwrap();
        Gemm::new(&a, &a.t()).plan().unwrap();
    }
    let records = taken();
    assert_eq!(under(&records, "tilewise"), Vec::<String>::new(), "what is compiled is not told again");
    assert_eq!(under(&records, "naga"), Vec::<String>::new(), "what is compiled is not parsed again");
    a_kernel_is_parsed_once(&gpu, &a);
}

/// naga logs thousands of lines for each shader that it parses, under targets of its own: wgpu has it parse each once.
fn a_kernel_is_parsed_once(gpu: &Gpu, a: &Tensor<f32>) {
    let plan = Gemm::new(a, a).plan().unwrap();
    let text = plan.steps()[0].kernel.specialize().unwrap();
    let records = |work: &dyn Fn()| {
        taken();
        work();
        under(&taken(), "naga::front").len()
    };
    let parsed = records(&|| drop(naga::front::wgsl::parse_str(&text).unwrap()));
    let compiled = records(&|| gpu.prepare(&plan).unwrap());
    assert!(parsed > 100, "{parsed} records");
    assert!(compiled < parsed + parsed / 4, "{compiled} records to compile it, {parsed} to parse it");
}
