//! Products and duals of Clifford algebras, on every pair of a vector and a blade.

use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::{Gpu, Result};

const ALGEBRAS: [Signature; 5] =
    [Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::PGA3D, Signature::SPACETIME];

/// A batch with one basis blade in each row: the blades of `of` in the order of `rows`, written on all blades.
fn basis(gpu: &Gpu, blades: &Blades, rows: &[usize]) -> Result<Multivectors<f32>> {
    let size = blades.len();
    let data: Vec<f32> =
        rows.iter().flat_map(|&row| (0..size).map(move |at| if at == row { 1.0 } else { 0.0 })).collect();
    Multivectors::new(gpu.tensor(&data, [rows.len(), size])?, blades, BladeAxis::Last)
}

/// All coefficients, on all blades.
fn read(x: &Multivectors<f32>) -> Result<Vec<f32>> {
    x.select(&x.signature().blades())?.tensor().to_vec()
}

fn sum(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// tBuLi/kingdon#65, pygae/galgebra#514, enkimute/ganja.js#104, pygae/clifford#426: products with scalars differ, the dual of a
/// degenerate algebra and its inverse disagree.
#[test]
fn vectors_split_products_and_duals_complete_blades() -> Result<()> {
    let turn = support::turn();
    for gpu in turn.iter() {
        for signature in ALGEBRAS {
            let (all, vectors) = (signature.blades(), signature.vectors());
            let size = all.len();
            let pairs: Vec<[usize; 2]> =
                (0..vectors.len()).flat_map(|v| (0..size).map(move |m| [v, m])).collect();
            let v = basis(gpu, &vectors, &pairs.iter().map(|pair| pair[0]).collect::<Vec<_>>())?;
            let m = basis(gpu, &all, &pairs.iter().map(|pair| pair[1]).collect::<Vec<_>>())?;
            // v M = v . M + v ^ M.
            let parts = sum(&read(&v.left_contraction(&m)?)?, &read(&v.outer(&m)?)?);
            assert_eq!(read(&v.geometric(&m)?)?, parts, "{signature}");
            // M v = M . v + M ^ v.
            let parts = sum(&read(&m.right_contraction(&v)?)?, &read(&m.outer(&v)?)?);
            assert_eq!(read(&m.geometric(&v)?)?, parts, "{signature}");

            let rows: Vec<usize> = (0..size).collect();
            let blades = basis(gpu, &all, &rows)?;
            // A scalar scales, from either side, in the geometric and the outer product.
            let scalars = signature.scalars();
            let three = gpu.tensor(&vec![3.0f32; size], [size, 1])?;
            let three = Multivectors::new(three, &scalars, BladeAxis::Last)?;
            let tripled: Vec<f32> = read(&blades)?.iter().map(|x| 3.0 * x).collect();
            for scaled in [
                three.geometric(&blades)?,
                blades.geometric(&three)?,
                three.outer(&blades)?,
                blades.outer(&three)?,
                three.left_contraction(&blades)?,
                blades.right_contraction(&three)?,
            ] {
                assert_eq!(read(&scaled)?, tripled, "{signature}");
            }
            // e ^ dual e = I, also in algebras where I squares to 0; and undual inverts.
            let dual = blades.dual()?;
            let whole = read(&blades.outer(&dual)?)?;
            let top = all.position(signature.pseudoscalar()).unwrap();
            let want: Vec<f32> =
                (0..size * size).map(|at| if at % size == top { 1.0 } else { 0.0 }).collect();
            assert_eq!(whole, want, "{signature}");
            assert_eq!(read(&dual.undual()?)?, read(&blades)?, "{signature}");
            assert_eq!(read(&blades.undual()?.dual()?)?, read(&blades)?, "{signature}");
        }
    }
    Ok(())
}
