//! Steps that would keep a device for too long are launched in pieces: the same bits.

use super::operands::{CONVOLUTIONS, FAMILIES, Family, MODULES, Of, Operands, PROBLEMS, slowed};
use super::own;
use tilewise::planning::{Plan, Step};
use tilewise::{Error, Gpu};

/// Those with products that may be split along k: where one is, there are no pieces to compare.
const FREE: [&str; 3] = ["dense sketch", "connected layer", "connected layer, backward"];

/// What not every device can run.
const OF_SOME: [&str; 4] = ["broadcast", "coop", "attention on matrices", "attention on matrices, backward"];

/// The longest step: its seconds and its workgroups, in all pieces.
fn longest(plan: &Plan) -> (f64, u32) {
    let mut steps: Vec<(f64, u32)> = Vec::new();
    for Step { first_block, seconds, grid, .. } in plan.steps() {
        let before = if *first_block > 0 { steps.pop() } else { None }.unwrap_or_default();
        steps.push((before.0 + seconds, before.1 + grid.iter().product::<u32>()));
    }
    steps.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a step")
}

/// What runs, in words.
fn names(plan: &Plan) -> Vec<String> {
    let steps = plan.steps().iter().filter(|step| step.first_block == 0);
    steps.map(|step| format!("{} {}", step.kernel.shader(), step.tile)).collect()
}

#[test]
fn what_is_launched_in_pieces_has_the_same_bits() {
    let Some(()) = support::first_driver() else { return };
    // With dims as immediates, and with dims in the ring.
    let (Some(gpu), Some(bare)) = (own(), support::bare()) else { return };
    assert_eq!(bare.caps().limits.immediate_bytes, 0);
    check(&gpu, &every(support::by_sweep(1, 1, 4)));
    check(&bare, &every(4)); // what differs there is the same for all
}

/// One in so many families.
fn every(step: usize) -> Vec<Family> {
    FAMILIES.into_iter().chain(PROBLEMS).chain(CONVOLUTIONS).step_by(step).collect()
}

/// A module's dims end with the first workgroup of its piece.
#[test]
fn modules_that_are_launched_in_pieces_have_the_same_bits() {
    let Some(gpu) = own() else { return };
    let is_able =
        |(_, family): &Family| !matches!(family(&Of::small(gpu.caps())), Err(Error::Unsupported { .. }));
    let able: Vec<Family> = MODULES.into_iter().filter(is_able).collect();
    if able.is_empty() {
        println!("unable: {} has no matrices for modules of SPIR-V", gpu.caps().adapter);
        return;
    }
    check(&gpu, &able);
}

/// Compares the bits of whole steps with those of pieces.
fn check(gpu: &Gpu, families: &[Family]) {
    let slow = slowed(gpu.caps(), 1e3);
    let (mut compared, mut not_compared) = (0, Vec::new());
    for &(what, family) in families {
        // So slow that the longest step takes about these seconds. What takes long to compile is taken where it gains more
        // than that: both plans are of slow devices.
        let taking = |seconds: f64| {
            let running = longest(&family(&Of::small(&slow))?).0 - slow.machine.launch_seconds;
            family(&Of::small(&slowed(&slow, seconds / running)))
        };
        let plan = match taking(0.45) {
            Ok(plan) => plan,
            Err(Error::Unsupported { .. }) => {
                assert!(OF_SOME.contains(&what), "{what}");
                not_compared.push(what);
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        let (_, blocks) = longest(&plan);
        let pieces = taking(0.45 * f64::from(blocks.min(4))).unwrap();
        if FREE.contains(&what) && names(&plan) != names(&pieces) {
            not_compared.push(what);
            continue;
        }
        assert_eq!(names(&pieces), names(&plan), "{what}");
        let is_cut = pieces.steps().iter().any(|step| step.first_block > 0);
        assert!(is_cut && blocks > 1, "{what}: {pieces}");
        let mut operands = [(); 2].map(|()| Operands::of(gpu, &plan).unwrap());
        let launched = gpu.stats().launches;
        operands[0].execute(gpu, &plan).unwrap();
        operands[1].execute(gpu, &pieces).unwrap_or_else(|error| panic!("{what}: {error}"));
        let launches = plan.steps().len() + pieces.steps().len();
        assert_eq!(gpu.stats().launches - launched, launches as u64, "{what}");
        let [whole, in_pieces] = operands.map(|operands| operands.written().unwrap());
        assert!(whole.iter().flatten().any(|byte| *byte != 0), "{what}: something is computed");
        assert!(whole == in_pieces, "{what}: other bits in pieces: {pieces}");
        compared += 1;
    }
    println!("{compared} families in pieces, not {not_compared:?}");
    let all = families.len();
    assert_eq!(compared + not_compared.len(), all);
    assert!(compared > 0 && compared + FREE.len() + OF_SOME.len() >= all, "{not_compared:?}");
}
