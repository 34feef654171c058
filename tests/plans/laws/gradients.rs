//! Gradients of functions of multivectors on the CPU, which those on a device are held against: against finite differences
//! in f64.

use tilewise::Fill;
use tilewise::clifford::{Blades, Multivector, Product, Signature, Unary};

fn random(blades: &Blades, seed: u64) -> Multivector {
    let values: Vec<f64> =
        Fill::Uniform.values::<f32>(blades.len(), seed).iter().map(|&x| f64::from(x)).collect();
    Multivector::new(blades, &values).unwrap()
}

fn dot(x: &Multivector, y: &Multivector) -> f64 {
    x.coefficients().iter().zip(y.coefficients()).map(|(x, y)| x * y).sum()
}

/// Slopes of a function of a multivector along each of some blades, by central differences.
fn slopes(x: &Multivector, blades: &Blades, f: impl Fn(&Multivector) -> f64) -> Vec<f64> {
    const STEP: f64 = 1e-5;
    let along = |&blade: &u8| {
        let step = Multivector::blade(x.signature(), blade).unwrap().scaled(STEP);
        (f(&x.add(&step).unwrap()) - f(&x.sub(&step).unwrap())) / (2.0 * STEP)
    };
    blades.masks().iter().map(along).collect()
}

fn assert_slopes(found: &[f64], want: &[f64], what: &str) {
    let most = want.iter().fold(1.0f64, |most, x| most.max(x.abs()));
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!((found - want).abs() <= 1e-8 * most, "{what}, blade {i}: {found}, not {want}");
    }
}

/// Named algebras, one that nobody tried, and one of each kind of metric.
fn signatures() -> Vec<Signature> {
    let [a, b] = [[2, 1, 1], [0, 2, 1]].map(|[p, q, r]| Signature::new(p, q, r).unwrap());
    vec![
        Signature::CL2,
        Signature::CL3,
        Signature::PGA3D.null_first(),
        Signature::SPACETIME,
        Signature::CGA3D,
        a,
        b,
    ]
}

#[test]
fn products_hand_back_their_slopes() {
    for signature in signatures() {
        let blades = signature.blades();
        let [x, y, g] = [1, 2, 3].map(|seed| random(&blades, seed));
        for product in Product::ALL {
            let (of_x, of_y) = x.product_backward(product, &y, &g).unwrap();
            let want = slopes(&x, &blades, |x| dot(&g, &x.product(product, &y).unwrap()));
            assert_slopes(&of_x.select(&blades), &want, &format!("{product} of {signature}, left"));
            let want = slopes(&y, &blades, |y| dot(&g, &x.product(product, y).unwrap()));
            assert_slopes(&of_y.select(&blades), &want, &format!("{product} of {signature}, right"));
        }
    }
}

/// The adjoint of a function that permutes blades: $\langle g, f(x) \rangle = \langle f^*(g), x \rangle$.
#[test]
fn functions_that_move_blades_hand_back_by_what_undoes_them() {
    for signature in signatures() {
        let [x, g] = [1, 2].map(|seed| random(&signature.blades(), seed));
        for function in Unary::ALL {
            let [there, back] = [dot(&g, &x.unary(function)), dot(&g.unary(function.backward()), &x)];
            assert!((there - back).abs() < 1e-12, "{function} of {signature}: {there} and {back}");
        }
    }
}

#[test]
fn norms_and_inverses_hand_back_their_slopes() {
    for signature in signatures() {
        let vectors = signature.vectors();
        let [x, g] = [1, 2].map(|seed| random(&vectors, seed));
        let want = slopes(&x, &vectors, |x| 0.7 * x.norm());
        assert_slopes(&x.norm_backward(0.7).select(&vectors), &want, &format!("norm in {signature}"));
        // Every vector is a versor, so the formula is the inverse wherever a step goes.
        let want = slopes(&x, &vectors, |x| dot(&g, &x.inverse().unwrap()));
        assert_slopes(
            &x.inverse_backward(&g).unwrap().select(&vectors),
            &want,
            &format!("inverse in {signature}"),
        );
    }
}

#[test]
fn gradients_of_other_algebras_are_refused() {
    let [x, y] = [Signature::CL2, Signature::CL3].map(|signature| random(&signature.blades(), 1));
    for error in [
        x.product_backward(Product::Outer, &y, &x).unwrap_err(),
        x.product_backward(Product::Outer, &x, &y).unwrap_err(),
        x.inverse_backward(&y).unwrap_err(),
    ] {
        assert!(error.to_string().contains("Cl(2,0,0) and Cl(3,0,0)"), "{error}");
    }
}
