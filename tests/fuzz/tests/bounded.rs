//! Runs every target for two seconds on seeded mutations of valid inputs. `TILEWISE_FUZZ` sets another time in minutes, and
//! `TILEWISE_FUZZ_SEED` another seed. Needs no device.

use peak_alloc::PeakAlloc;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tilewise_fuzz::{Mutations, Outcome, TARGETS, Target, outcome};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Limit of the bytes that one input may allocate, whatever sizes it declares. naga needs most of them, for an unrolled shader.
const MAX_BYTES: usize = 256 << 20;
/// Limit of the time that one input may take.
const MAX_TIME: Duration = Duration::from_secs(20);

/// A lock that runs one target at a time, and no other test that plans, so that the allocated bytes belong to it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn duration() -> Duration {
    match std::env::var("TILEWISE_FUZZ") {
        Ok(minutes) => Duration::from_secs_f64(
            60.0 * minutes.parse::<f64>().expect("TILEWISE_FUZZ must be a number of minutes"),
        ),
        Err(_) => Duration::from_secs(2),
    }
}

/// Inputs that once failed.
fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let Ok(files) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn check(target: Target, input: &[u8]) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let begun = Instant::now();
    let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = begun.elapsed();
    let bytes = MEMORY.peak_usage().saturating_sub(before);
    if ran.is_ok() && bytes <= MAX_BYTES && took <= MAX_TIME {
        return;
    }
    let stored = std::env::temp_dir().join(format!("tilewise-fuzz-{}-{}", target.name, std::process::id()));
    std::fs::write(&stored, input).unwrap();
    panic!(
        "{}: {took:?}, {bytes} bytes; the input is stored in {}: {}",
        target.name,
        stored.display(),
        input.escape_ascii()
    );
}

fn holds(name: &str) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let target = *TARGETS.iter().find(|target| target.name == name).expect("the target is in the table");
    let seed = std::env::var("TILEWISE_FUZZ_SEED")
        .map_or(1, |seed| seed.parse().expect("TILEWISE_FUZZ_SEED must be a number"));
    let mut seeds = (target.seeds)();
    seeds.extend(corpus(name).into_iter().map(|(_, input)| input));
    seeds.iter().for_each(|input| check(target, input));
    let (mut mutations, mut count) = (Mutations::new(seed), seeds.len());
    let end = Instant::now() + duration();
    while Instant::now() < end {
        check(target, &mutations.of(&seeds));
        count += 1;
    }
    println!("{name}: {count} inputs from seed {seed}");
}

#[test]
fn every_target_has_a_test() {
    let own = include_str!("bounded.rs");
    for Target { name, .. } in TARGETS {
        assert!(own.contains(&format!("holds(\"{name}\")")), "{name}");
        let entry =
            PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("libfuzzer/fuzz_targets/{name}.rs"));
        assert!(entry.exists(), "{}", entry.display());
    }
}

/// Random bytes must give both plans and refusals, or the target `plan` would test nothing.
#[test]
fn noise_is_many_plans_and_some_refusals() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |seed| outcome(&Mutations::new(seed).bytes(256));
    let found: Vec<Outcome> = (0..400).map(of).collect();
    let count = |of| found.iter().filter(|&&outcome| outcome == of).count();
    assert!(count(Outcome::Planned) >= 80 && count(Outcome::Refused) >= 20, "{found:?}");
}

#[test]
fn npy_files_are_read_as_they_are_or_refused() {
    holds("npy");
}

#[test]
fn safetensors_files_are_read_as_they_are_or_refused() {
    holds("safetensors");
}

#[test]
fn verdicts_are_read_as_they_were_sealed_or_refused() {
    holds("verdicts");
}

#[test]
fn cache_files_are_read_as_they_were_sealed_or_refused() {
    holds("cache");
}

#[test]
fn expressions_are_read_or_refused_at_a_place() {
    holds("expression");
}

#[test]
fn loops_are_written_out_in_order() {
    holds("unrolled");
}

#[test]
fn specialised_shaders_have_no_directives() {
    holds("specialised");
}

#[test]
fn modules_are_read_or_refused() {
    holds("module");
}

#[test]
fn layouts_lie_in_their_buffers() {
    holds("layout");
}

#[test]
fn plans_respect_their_devices() {
    holds("plan");
}
