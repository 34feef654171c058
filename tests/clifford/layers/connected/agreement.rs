//! Products and gradients against the f64 reference, over algebras, shapes, layouts, types, gates and kernels.

use support::strided::{Lay, Placed};
use tilewise::clifford::layer::{Connected, Gate, GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, BladeOrder, Blades, Multivectors, Signature};
use tilewise::gemm::{GemmKernel, Tile};
use tilewise::gpu::CoopScalar::{Bf16, F16, F32};
use tilewise::gpu::{CoopRow, DeviceType};
use tilewise::reference::LayerProductReference;
use tilewise::{DType, Fill, Gpu, Real, bf16, f16};

/// What is computed, of what.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) signature: Signature,
    pub(crate) order: BladeOrder,
    pub(crate) gate: Gate,
    /// Rows, inputs and outputs.
    pub(crate) shape: [usize; 3],
    pub(crate) axis: BladeAxis,
    pub(crate) lays: [Lay; 4],
    pub(crate) tile: Option<Tile>,
    /// What is compared with the reference.
    pub(crate) extent: Extent,
}

/// The product, or its gradients as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extent {
    Forward,
    Both,
}

impl Case {
    pub(crate) fn new(signature: Signature, shape: [usize; 3]) -> Self {
        let (order, gate, axis) = (BladeOrder::ShortLex, Gate::Gelu, BladeAxis::First);
        Self { signature, order, gate, shape, axis, lays: [Lay::Plain; 4], tile: None, extent: Extent::Both }
    }
}

/// Operands on the device and their values, (blade, row, feature).
struct Operand<T: Real> {
    on_device: Multivectors<T>,
    values: Vec<f64>,
}

impl<T: Real> Operand<T> {
    fn random(
        gpu: &Gpu,
        blades: &Blades,
        [rows, features]: [usize; 2],
        axis: BladeAxis,
        lay: Lay,
        seed: u64,
    ) -> Self {
        let n = blades.len();
        let drawn = Fill::Uniform.values::<T>(n * rows * features, seed);
        let placed = match axis {
            BladeAxis::First => Placed::new(gpu, &drawn, &[n, rows, features], lay).tensor,
            BladeAxis::Last => {
                let at = |i: usize| drawn[i % n * rows * features + i / n];
                let last: Vec<T> = (0..drawn.len()).map(at).collect();
                Placed::new(gpu, &last, &[rows, features, n], lay).tensor
            }
        };
        let on_device = Multivectors::new(placed, blades, axis).unwrap();
        Self { on_device, values: drawn.iter().map(|x| x.to_f64()).collect() }
    }
}

/// How far a value that is stored as `T` may be from the reference, relative to the largest of its tensor.
fn tolerance<T: Real>() -> f64 {
    match T::DTYPE {
        DType::F32 => 5e-6,
        DType::F16 => 2e-3,
        // Half a step of what is stored.
        _ => 2f64.powi(-8),
    }
}

pub(crate) fn near(found: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        let off = (found - want).abs();
        assert!(off <= tolerance * largest, "{what}, {i}: {found}, not {want}, of {largest} at most");
    }
}

fn read<T: Real>(x: &Multivectors<T>) -> Vec<f64> {
    x.tensor().to_vec().unwrap().iter().map(|x| x.to_f64()).collect()
}

pub(crate) fn check<T: Real>(gpu: &Gpu, case: &Case) {
    let Case { signature, shape: [rows, inputs, outputs], axis, lays, .. } = *case;
    let what = format!("{} {case:?}", T::DTYPE);
    let blades = signature.blades().ordered(case.order);
    let product = LayerProduct::new(signature).gate(case.gate).norm(GradeNorm::None);
    let operand = |features, lay, seed| Operand::<T>::random(gpu, &blades, [rows, features], axis, lay, seed);
    let (x, y) = (operand(inputs, lays[0], 1), operand(inputs, lays[1], 2));
    let g = operand(outputs, lays[3], 3);
    let paths = signature.paths().len();
    let drawn = Fill::Uniform.values::<T>(paths * inputs * outputs, 4);
    let weight = Placed::new(gpu, &drawn, &[paths, inputs, outputs], lays[2]).tensor;
    let w: Vec<f64> = drawn.iter().map(|w| w.to_f64()).collect();
    let reference = LayerProductReference::new(product, &blades, rows);
    let connected = Connected::new(product, &x.on_device, &y.on_device, &weight).unwrap();
    let connected = match case.tile {
        Some(tile) => connected.tile(tile),
        None => connected,
    };
    let o = connected.run().unwrap();
    assert_eq!(o.positions(), [rows, outputs], "{what}");
    near(&read(&o), &reference.connected(&x.values, &y.values, &w), tolerance::<T>(), &what);
    if case.extent == Extent::Forward {
        return;
    }
    let of = connected.backward(&g.on_device).unwrap();
    let want = reference.connected_backward(&x.values, &y.values, &w, &g.values);
    near(&read(&of.x), &want.x, tolerance::<T>(), &format!("x of {what}"));
    near(&read(&of.y), &want.y, tolerance::<T>(), &format!("y of {what}"));
    let found: Vec<f64> = of.weight.to_vec().unwrap().into_iter().map(f64::from).collect();
    // Sums in f32 of what may be rounded to the type of the operands, where there are matrices of it.
    let is_rounded = match T::DTYPE {
        DType::F16 => true,
        DType::Bf16 => gpu.caps().rows_of(Bf16, F32).next().is_some(),
        _ => false,
    };
    let most = if is_rounded { tolerance::<T>() } else { tolerance::<f32>() };
    near(&found, &want.weight, most, &format!("weight of {what}"));
}

#[test]
fn algebras_and_shapes_agree_with_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    let signatures = [Signature::CL2, Signature::PGA3D, Signature::CL3, Signature::SPACETIME];
    for signature in signatures.into_iter().take(support::by_sweep(4, 4, 2)) {
        let shapes = [[37, 65, 3], [3, 3, 65], [1, 1, 1]];
        for shape in shapes.into_iter().take(support::by_sweep(3, 3, 1)) {
            check::<f32>(&gpu, &Case::new(signature, shape));
        }
    }
    check::<f32>(&gpu, &Case::new(Signature::CGA3D, [3, 5, 4]));
    check::<f32>(&gpu, &Case::new(Signature::CL2, [129, 64, 72]));
}

#[test]
fn types_and_gates_agree_with_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    for gate in Gate::ALL {
        let shapes = [[5, 33, 8], [37, 3, 65]];
        for shape in shapes.into_iter().take(support::by_sweep(2, 2, 1)) {
            let case = Case { gate, ..Case::new(Signature::CL2, shape) };
            check::<f32>(&gpu, &case);
            // Gates are computed in f32, whatever the type is.
            if gate == Gate::Gelu || support::is_full_sweep() {
                check::<f16>(&gpu, &case);
                check::<bf16>(&gpu, &case);
            }
        }
    }
    check::<f16>(&gpu, &Case::new(Signature::CL3, [37, 65, 12]));
}

#[test]
fn any_strides_and_order_of_blades_agree_with_the_reference() {
    let Some(gpu) = support::first_driver().and_then(|()| support::gpu()) else { return };
    for (i, lay) in Lay::ALL.into_iter().enumerate() {
        let [a, b, c] = [1, 2, 3].map(|by| Lay::ALL[(i + by) % 5]);
        for (turn, lays) in [[lay; 4], [lay, a, b, c]].into_iter().enumerate() {
            let axis = [BladeAxis::First, BladeAxis::Last][i % 2];
            let case =
                Case { lays, axis, order: BladeOrder::Ascending, ..Case::new(Signature::CL3, [7, 36, 12]) };
            // Each layout with one of the types, but in the full sweep; in a short one no f16.
            if i % 2 == turn || support::is_full_sweep() {
                check::<f32>(&gpu, &case);
            }
            if support::by_sweep(true, i % 2 != turn, false) {
                check::<f16>(&gpu, &case);
            }
        }
    }
}

/// The device, with cooperative matrices of a size; claimed where it does not list them, which lavapipe computes with all
/// the same (`tests/gemm/coop.rs`).
fn with_coop(size: u32) -> Option<support::TestGpu> {
    let gpu = support::gpu()?;
    if gpu.caps().coop(size, F16, F32).is_ok() {
        return Some(gpu);
    }
    let caps = gpu.caps();
    if caps.rows.is_empty() || caps.device_type != DeviceType::Software || support::validates() {
        println!("unable: {} has no matrices of {size}", caps.adapter);
        return None;
    }
    let claim = CoopRow { m: size, n: size, k: size, a: F16, b: F16, c: F32, ..caps.rows[0] };
    support::own(|options| options.assume.rows = vec![claim])
}

#[test]
fn tensor_cores_agree_with_the_reference() {
    // A software driver takes seconds for a pipeline: one size and the smallest tile, but in the full sweep.
    let sizes = if support::is_full_sweep() { &[16, 8][..] } else { &[16] };
    for &size in sizes {
        let Some(gpu) = with_coop(size) else { continue };
        let is_small = |tile: &&Tile| tile.fragment == size && (support::is_full_sweep() || tile.bm == 32);
        for tile in GemmKernel::Coop.tiles().iter().filter(is_small) {
            let tile = Some(*tile);
            // By units along k and the outer axis; by elements, with ends of segments within a unit.
            // Each of the three products takes lavapipe half a minute to compile: the others in the full sweep.
            let extent = if support::is_full_sweep() { Extent::Both } else { Extent::Forward };
            check::<f16>(&gpu, &Case { tile, extent, ..Case::new(Signature::CL2, [40, 72, 64]) });
            if support::is_full_sweep() {
                let lays = [Lay::Reversed, Lay::Plain, Lay::Gaps, Lay::Reversed];
                check::<f16>(&gpu, &Case { tile, lays, ..Case::new(Signature::CL2, [33, 37, 5]) });
            }
        }
    }
}

/// Products over segments as modules of SPIR-V: A is made while it is staged, or stored, as in the backward pass.
#[test]
fn modules_agree_with_the_reference() {
    let Some((gpu, tile)) = support::coop_khr_of_f16() else { return };
    let tile = Some(tile);
    // By units along k and along the outer axis; then by elements, with ends of segments within a unit, and without gates.
    check::<f16>(&gpu, &Case { tile, ..Case::new(Signature::CL2, [40, 72, 64]) });
    let lays = [Lay::Reversed, Lay::Plain, Lay::Gaps, Lay::Reversed];
    check::<f16>(&gpu, &Case { tile, lays, gate: Gate::None, ..Case::new(Signature::CL2, [33, 37, 5]) });
    check::<f16>(&gpu, &Case { tile, axis: BladeAxis::Last, ..Case::new(Signature::CL3, [5, 8, 40]) });
}

#[test]
fn every_tile_of_patches_agrees_with_the_reference() {
    let Some(gpu) = support::gpu() else { return };
    for tile in GemmKernel::Tiled.tiles() {
        let product = LayerProduct::new(Signature::CL2).norm(GradeNorm::None);
        let probe = gpu.zeros::<f32>([4, 1, 1]).unwrap();
        let probe = Multivectors::new(probe, &product.blades(), BladeAxis::First).unwrap();
        let weight = gpu.zeros([10, 1, 1]).unwrap();
        // What a device cannot run is other tests' matter.
        let is_of_turn = tile.tm * tile.tn <= support::by_sweep(u32::MAX, 64, 16);
        if is_of_turn && Connected::new(product, &probe, &probe, &weight).unwrap().tile(*tile).plan().is_ok()
        {
            check::<f32>(&gpu, &Case { tile: Some(*tile), ..Case::new(Signature::CL2, [70, 36, 68]) });
        }
    }
}
