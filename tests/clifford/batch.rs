//! Batches of multivectors with NaN around them, and the same on the CPU, position by position.

use support::strided::{Lay, Placed, indices};
use tilewise::clifford::{BladeAxis, Blades, Multivector, Multivectors};
use tilewise::{Fill, Gpu, Real};

/// Multivectors on the device, and what they are.
pub(crate) struct Batch<T: Real> {
    pub(crate) on_device: Multivectors<T>,
    positions: Vec<usize>,
    on_cpu: Vec<Multivector>,
}

/// The shape of a tensor of so many blades at these positions.
pub(crate) fn shape(positions: &[usize], blades: usize, axis: BladeAxis) -> Vec<usize> {
    match axis {
        BladeAxis::First => [&[blades], positions].concat(),
        BladeAxis::Last => [positions, &[blades]].concat(),
    }
}

/// The multivectors of a tensor's values, position by position.
pub(crate) fn multivectors<T: Real>(
    values: &[T],
    positions: &[usize],
    blades: &Blades,
    axis: BladeAxis,
) -> Vec<Multivector> {
    let count: usize = positions.iter().product();
    let at = |position: usize, blade: usize| match axis {
        BladeAxis::First => blade * count + position,
        BladeAxis::Last => position * blades.len() + blade,
    };
    let one = |position| {
        let values: Vec<f64> = (0..blades.len()).map(|blade| values[at(position, blade)].to_f64()).collect();
        Multivector::new(blades, &values).unwrap()
    };
    (0..count).map(one).collect()
}

impl<T: Real> Batch<T> {
    /// Random coefficients from -1 to 1, of which those of f32 use all bits.
    pub(crate) fn random(
        gpu: &Gpu,
        positions: &[usize],
        blades: &Blades,
        axis: BladeAxis,
        lay: Lay,
        seed: u64,
    ) -> Self {
        let shape = shape(positions, blades.len(), axis);
        let values = Fill::Uniform.values::<T>(shape.iter().product(), seed);
        Self::of(gpu, &values, positions, blades, axis, lay)
    }

    pub(crate) fn of(
        gpu: &Gpu,
        values: &[T],
        positions: &[usize],
        blades: &Blades,
        axis: BladeAxis,
        lay: Lay,
    ) -> Self {
        let placed = Placed::new(gpu, values, &shape(positions, blades.len(), axis), lay);
        let on_device = Multivectors::new(placed.tensor, blades, axis).unwrap();
        let on_cpu = multivectors(values, positions, blades, axis);
        Self { on_device, positions: positions.to_vec(), on_cpu }
    }

    /// The multivector at an index of the positions that it is repeated to.
    pub(crate) fn at(&self, index: &[usize]) -> &Multivector {
        let missing = index.len() - self.positions.len();
        let place = |at, (&extent, &i): (&usize, &usize)| at * extent + if extent == 1 { 0 } else { i };
        &self.on_cpu[self.positions.iter().zip(&index[missing..]).fold(0, place)]
    }
}

/// What was computed and what it should be: coefficients, and how far each may be off.
pub(crate) struct Wanted {
    pub(crate) value: Multivector,
    pub(crate) tolerance: Multivector,
}

/// Every coefficient within its tolerance; the largest error over it.
pub(crate) fn assert_within<T: Real>(
    found: &Multivectors<T>,
    want: impl Fn(&[usize]) -> Wanted,
    what: &str,
) -> f64 {
    let positions = found.positions();
    let values = found.tensor().to_vec().unwrap();
    let found_at = multivectors(&values, &positions, found.blades(), found.axis());
    let mut worst = 0.0f64;
    for (found_one, index) in found_at.iter().zip(indices(&positions)) {
        let want = want(&index);
        for &blade in found.blades().masks() {
            let [found, value, most] =
                [found_one, &want.value, &want.tolerance].map(|x| x.coefficient(blade));
            let off = (found - value).abs();
            assert!(
                off <= most,
                "{what}, at {index:?}, blade {blade:#b}: {found}, not {value} (+- {most:e})"
            );
            worst = worst.max(if off == 0.0 { 0.0 } else { off / most });
        }
        let left_out = |blade: u8| found.blades().position(blade).is_none();
        for blade in (0..=found.signature().pseudoscalar()).filter(|&blade| left_out(blade)) {
            assert_eq!(want.value.coefficient(blade), 0.0, "{what}: blade {blade:#b} is left out");
        }
    }
    worst
}
