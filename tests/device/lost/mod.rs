//! Lost devices: every public function returns `Error::Device`, whoever knows of the loss and whatever is under way, and
//! nothing hangs, panics or stays behind.

mod under_way;

use support::failure::{Kind, fails};
use support::operations::{self, Row, World};
use support::watchdog::{doing, in_time};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::CoopRow;
use tilewise::{Activation, Error, Gemm, Gpu};

/// The fault of a call that does not say that the device is lost, and why.
fn fault(world: &mut World, why: &str, row: &Row) -> Option<String> {
    let name = row.name;
    let _doing = doing(name);
    match row.call(world) {
        Ok(_) => Some(format!("{name} went through")),
        Err(error @ Error::Device(_)) if error.to_string().contains(why) => None,
        Err(error) => Some(format!("{name}: {error:?}")),
    }
}

/// Every call says that the device is lost, and why.
fn assert_lost(world: &mut World, why: &str) {
    let faults: Vec<String> = operations::all().iter().filter_map(|row| fault(world, why, row)).collect();
    assert!(faults.is_empty(), "on a lost device:\n{}", faults.join("\n"));
}

fn marked(gpu: &Gpu) {
    in_time("a device that is marked as lost", || {
        let mut world = World::new(gpu).unwrap();
        gpu.mark_lost("the cable was pulled");
        assert_lost(&mut world, "the cable was pulled");
    });
}

#[test]
fn every_call_on_a_device_that_is_marked_as_lost_says_so() {
    marked(&support::noop());
}

#[test]
fn every_call_on_a_real_device_that_is_marked_as_lost_says_so() {
    let Some(gpu) = support::adopted(|_| ()) else { return };
    marked(&gpu);
}

/// Nobody says that the device is lost. The call says so, or has only recorded work: then waiting for it does. Each call needs a
/// device that nothing has happened on; a short sweep has every fourth.
#[test]
fn every_call_on_a_destroyed_device_says_so_or_its_wait_does() {
    let Some(()) = support::first_driver() else { return };
    let mut faults = Vec::new();
    let step = if support::is_short_sweep() { 4 } else { 1 };
    for row in operations::all().iter().step_by(step) {
        let name = row.name;
        let gpu = support::noop();
        let mut world = World::new(&gpu).unwrap();
        gpu.device().destroy();
        in_time(name, || {
            let said = row.call(&mut world).err();
            faults.extend(
                said.filter(|error| !matches!(error, Error::Device(_)))
                    .map(|error| format!("{name}: {error:?}")),
            );
            if !matches!(gpu.wait(), Err(Error::Device(_))) {
                faults.push(format!("the wait after {name} went through"));
            }
            faults.extend(fault(&mut world, "lost", row));
        });
    }
    assert!(faults.is_empty(), "on a destroyed device:\n{}", faults.join("\n"));
}

#[test]
fn every_call_on_a_real_device_that_was_destroyed_says_so() {
    for gpu in support::every_device() {
        let mut world = World::new(&gpu).unwrap();
        gpu.device().destroy();
        fails(gpu.wait(), Kind::Device, &[]);
        assert_lost(&mut world, "lost");
    }
}

/// A module is compiled, and its row tested, on a device that is already gone: before and after anybody knows it.
#[test]
fn a_module_on_a_destroyed_device_says_so() {
    let Some(gpu) = support::own(|_| ()) else { return };
    if !(gpu.caps().spirv && gpu.caps().rows.iter().any(CoopRow::is_used_in_spirv)) {
        println!("unable: {} has no matrices for modules of SPIR-V", gpu.caps().adapter);
        return;
    }
    in_time("a module on a destroyed device", || {
        let a = gpu.zeros::<i8>([64, 64]).unwrap();
        let layer =
            || Gemm::new(&a, &a).kernel(GemmKernel::CoopKhr).activation(Activation::Gelu).out::<f32>();
        gpu.device().destroy();
        let said = layer().run();
        assert!(said.is_ok() || matches!(said, Err(Error::Device(_))), "{said:?}");
        assert!(matches!(gpu.wait(), Err(Error::Device(_))), "the wait went through");
        assert!(matches!(layer().run(), Err(Error::Device(_))), "a product after it went through");
    });
}
