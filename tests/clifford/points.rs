//! Points on the device against those of the CPU, and views of batches.

use crate::batch::{multivectors, shape};
use half::f16;
use support::failure::says;
use support::strided::{Lay, Placed};
use tilewise::clifford::{BladeAxis, Multivectors, Pga, Signature};
use tilewise::{Element, Fill, Gpu, Real, Result};

const AXES: [BladeAxis; 2] = [BladeAxis::First, BladeAxis::Last];

/// Points of random coordinates, with the bits of those of the CPU, and their coordinates.
fn assert_points<T: Real, const N: usize>(gpu: &Gpu, signature: Signature) -> Result<()> {
    let space = Pga::<N>::new(signature)?;
    for (axis, lay) in AXES.into_iter().flat_map(|axis| Lay::ALL.map(|lay| (axis, lay))) {
        let what = format!("{signature} {} {axis:?} {lay:?}", T::DTYPE);
        let positions = [3, 5];
        let of_coordinates = shape(&positions, N, axis);
        let mut values = Fill::Uniform.values::<T>(15 * N, 7);
        (values[0], values[1]) = (T::from_f64(-0.0), T::from_f64(2048.0));
        let xyz = Placed::new(gpu, &values, &of_coordinates, lay).tensor;
        let launches = gpu.stats().launches;
        let points = space.points(&xyz, axis)?;
        assert_eq!(gpu.stats().launches - launches, 2, "{what}");
        assert_eq!(points.blades(), &signature.points(), "{what}");
        let found = multivectors(&points.tensor().to_vec()?, &positions, points.blades(), axis);
        let place = |position: usize, i: usize| match axis {
            BladeAxis::First => 15 * i + position,
            BladeAxis::Last => N * position + i,
        };
        for (position, found) in found.iter().enumerate() {
            let coordinates = std::array::from_fn(|i| values[place(position, i)].to_f64());
            assert_eq!(
                found.select(points.blades()),
                space.point(coordinates).select(points.blades()),
                "{what}"
            );
        }
        let launches = gpu.stats().launches;
        let back = space.coordinates_of(&points)?;
        assert_eq!(gpu.stats().launches - launches, 2, "{what}");
        assert_eq!(back.shape(), of_coordinates, "{what}");
        assert_eq!(back.to_vec()?, values, "{what}");
    }
    Ok(())
}

#[test]
fn points_of_coordinates_are_those_of_the_cpu_and_have_these_coordinates() -> Result<()> {
    let Some(gpu) = support::own(|_| ()) else { return Ok(()) };
    for signature in [Signature::PGA3D, Signature::PGA3D.null_first()] {
        assert_points::<f32, 3>(&gpu, signature)?;
        assert_points::<f16, 3>(&gpu, signature)?;
    }
    for signature in [Signature::PGA2D, Signature::PGA2D.null_first()] {
        assert_points::<f32, 2>(&gpu, signature)?;
    }
    Ok(())
}

#[test]
fn coordinates_are_quotients_by_the_weight_of_any_blades() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let space = Pga::<3>::new(Signature::PGA3D)?;
    let all = space.signature().blades();
    let point = space.point([1.0, -3.0, 0.5]).select(&all);
    let values: Vec<f32> = [2.0, -4.0, 0.0]
        .iter()
        .flat_map(|weight| point.iter().map(move |x| f32::from_f64(weight * x)))
        .collect();
    let points = Multivectors::new(gpu.tensor(&values, [3, all.len()])?, &all, BladeAxis::Last)?;
    let found = space.coordinates_of(&points)?.to_vec()?;
    assert_eq!(found[..6], [1.0, -3.0, 0.5, 1.0, -3.0, 0.5]);
    assert!(found[6..].iter().all(|x| x.is_nan()), "a point of weight 0: {found:?}");
    Ok(())
}

#[test]
fn what_are_no_coordinates_or_no_points_of_the_algebra_is_an_error() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let space = Pga::<3>::new(Signature::PGA3D)?;
    for shape in [&[][..], &[2], &[4, 2], &[3, 4]] {
        says(space.points(&gpu.zeros::<f32>(shape)?, BladeAxis::Last), &["^points: ", &format!("{shape:?}")]);
    }
    assert!(space.points(&gpu.zeros::<f32>([3, 4])?, BladeAxis::First).is_ok());
    let none = space.points(&gpu.zeros::<f32>([0, 3])?, BladeAxis::Last)?;
    assert_eq!(space.coordinates_of(&none)?.shape(), [0, 3]);
    let other = Multivectors::new(gpu.zeros::<f32>([2, 3])?, &Signature::CL3.vectors(), BladeAxis::Last)?;
    says(space.coordinates_of(&other), &["^coordinates_of: ", "Cl(3,0,0)"]);
    Ok(())
}

#[test]
fn views_of_batches_have_the_positions_that_are_asked_for() -> Result<()> {
    let Some(gpu) = support::own(|_| ()) else { return Ok(()) };
    let blades = Signature::CL3.vectors();
    for axis in AXES {
        let values = Fill::Uniform.values::<f32>(6 * 4 * 3, 1);
        let x = Multivectors::new(gpu.tensor(&values, shape(&[6, 4], 3, axis))?, &blades, axis)?;
        let all = multivectors(&values, &[6, 4], &blades, axis);
        let launches = gpu.stats().launches;
        let [reshaped, rows, cols] = [x.reshape([3, 8])?, x.slice(0, 2..5)?, x.slice(1, 1..=1)?];
        assert_eq!(gpu.stats().launches, launches, "views");
        let of = |x: &Multivectors<f32>, want: &[usize]| -> Result<_> {
            assert_eq!((x.positions(), x.axis(), x.blades()), (want.to_vec(), axis, &blades));
            Ok(multivectors(&x.tensor().to_vec()?, want, &blades, axis))
        };
        assert_eq!(of(&reshaped, &[3, 8])?, all);
        assert_eq!(of(&rows, &[3, 4])?, all[8..20]);
        let second: Vec<_> = (0..6).map(|i| all[4 * i + 1].clone()).collect();
        assert_eq!(of(&cols, &[6, 1])?, second);
        for error in [
            x.slice(2, ..1).unwrap_err(), // the axis of blades, or none at all
            x.slice(0, ..7).unwrap_err(),
            x.reshape([5, 5]).unwrap_err(),
            cols.reshape([6]).unwrap_err(), // it has gaps
        ] {
            let error = error.to_string();
            assert!(error.starts_with("slice: ") || error.starts_with("reshape: "), "{error}");
        }
        assert_eq!(of(&x.slice(0, 3..3)?, &[0, 4])?, []);
    }
    Ok(())
}
