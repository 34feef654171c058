//! Lost devices: every public function returns `Error::Device`, whoever knows of the loss and whatever is under way, and
//! nothing hangs, panics or stays behind.

mod under_way;

use support::operations::{self, Row, World};
use support::watchdog::{doing, in_time};
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{AdoptOptions, CoopRow};
use tilewise::{Activation, Error, Gemm, Gpu, matmul};

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

/// What is wrong where the application destroys the device without a word: this row, or a wait after it, tells of the loss, and
/// so does every row later on. With work recorded before, and with none.
fn faults_of_a_destroyed_device(gpu: &Gpu, at: usize, later: &[Row]) -> Vec<String> {
    let rows = operations::all();
    let row = &rows[at % rows.len()];
    let mut world = World::new(gpu).unwrap();
    let c = matmul(&world.a, &world.b).unwrap();
    if at.count_ones().is_multiple_of(2) {
        c.to_vec().unwrap();
    }
    gpu.device().destroy();
    in_time(row.name, || {
        let said = row.call(&mut world).err().filter(|error| !matches!(error, Error::Device(_)));
        let mut faults: Vec<String> = said.iter().map(|error| format!("{}: {error:?}", row.name)).collect();
        for (what, result) in [("wait", gpu.wait()), ("read", c.to_vec().map(drop))] {
            if !matches!(result, Err(Error::Device(_))) {
                faults.push(format!("the {what} after {} went through", row.name));
            }
        }
        faults.extend(later.iter().chain([row]).filter_map(|row| fault(&mut world, "lost", row)));
        faults
    })
}

#[test]
fn every_call_on_a_destroyed_device_says_so_or_its_wait_does() {
    let Some(()) = support::first_driver() else { return };
    let step = if support::is_short_sweep() { 4 } else { 1 };
    let at = (0..operations::all().len()).step_by(step);
    let faults: Vec<String> =
        at.flat_map(|at| faults_of_a_destroyed_device(&support::noop(), at, &[])).collect();
    assert!(faults.is_empty(), "on a destroyed device:\n{}", faults.join("\n"));
}

/// Of every kind, and one that its application polls, which has not polled since.
#[test]
fn every_call_on_a_real_device_that_was_destroyed_says_so() {
    let polled = support::application(|_| ()).map(|(adapter, device, queue)| {
        let options = AdoptOptions::from_env().unwrap().polled_by_application();
        Gpu::adopt_with(&adapter, device, queue, options).unwrap()
    });
    let devices = support::every_device();
    for (at, gpu) in devices.iter().map(|gpu| &**gpu).chain(&polled).enumerate() {
        let faults = faults_of_a_destroyed_device(gpu, 61 * at, &operations::all());
        assert!(faults.is_empty(), "on a destroyed device:\n{}", faults.join("\n"));
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
