//! What is refused, and how.

use support::failure::{Kind, fails};
use tilewise::clifford::layer::{GradeNorm, LayerProduct};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::{Error, Gpu, Tensor};

fn zeros(gpu: &Gpu, blades: &Blades, [rows, features]: [usize; 2]) -> Multivectors<f32> {
    let tensor = gpu.zeros([blades.len(), rows, features]).unwrap();
    Multivectors::new(tensor, blades, BladeAxis::First).unwrap()
}

fn weight(gpu: &Gpu, shape: &[usize]) -> Tensor<f32> {
    gpu.zeros(shape).unwrap()
}

#[test]
fn what_does_not_go_together_is_refused_by_name() {
    let gpu = support::noop();
    let signature = Signature::CL2;
    let blades = signature.blades();
    let product = LayerProduct::new(signature).norm(GradeNorm::None);
    let x = zeros(&gpu, &blades, [3, 5]);
    let good = weight(&gpu, &[10, 5, 7]);
    for shape in [&[9, 5, 7][..], &[10, 4, 7], &[10, 5, 0], &[10, 5], &[1, 10, 5, 7]] {
        let error = product.connected(&x, &x, &weight(&gpu, shape)).unwrap_err();
        let Error::Shape { lhs, rhs, .. } = &error else { panic!("{error:?}") };
        let rhs = rhs.as_deref().expect("two shapes");
        assert_eq!((&lhs[..], &rhs[..2]), (shape, &[10, 5][..]), "{error}");
        assert!(error.to_string().contains("(paths, in, out)"), "{error}");
    }
    fails(product.connected(&x, &zeros(&gpu, &blades, [3, 4]), &good), Kind::Shape, &[]);
    fails(product.connected(&x, &zeros(&gpu, &blades, [2, 5]), &good), Kind::Shape, &[]);
    let none = zeros(&gpu, &blades, [0, 5]);
    fails(product.connected(&none, &none, &good), Kind::Shape, &[]);
    let other = zeros(&gpu, &Signature::PGA2D.blades(), [3, 5]);
    fails(product.connected(&x, &other, &good), Kind::Input, &[]);
    let vectors = zeros(&gpu, &signature.vectors(), [3, 5]);
    fails(product.connected(&vectors, &x, &good), Kind::Input, &[]);
    for g in [[3, 5], [2, 7], [3, 8]] {
        fails(product.connected_backward(&x, &x, &good, &zeros(&gpu, &blades, g)), Kind::Shape, &[]);
    }
    fails(
        product.connected_backward(&x, &x, &good, &zeros(&gpu, &signature.vectors(), [3, 7])),
        Kind::Input,
        &[],
    );
    let reversed: Vec<u8> = blades.masks().iter().rev().copied().collect();
    let reversed = Blades::new(signature, &reversed).unwrap();
    fails(product.connected(&x, &zeros(&gpu, &reversed, [3, 5]), &good), Kind::Input, &[]);
    fails(product.connected_backward(&x, &x, &good, &zeros(&gpu, &reversed, [3, 7])), Kind::Input, &[]);
}

#[test]
fn what_is_too_large_or_elsewhere_is_refused() {
    let gpu = support::noop();
    let six = Signature::new(6, 0, 0).unwrap();
    let x = zeros(&gpu, &six.blades(), [1, 1]);
    let error = LayerProduct::new(six).connected(&x, &x, &weight(&gpu, &[84, 1, 1])).unwrap_err();
    assert!(error.to_string().contains("layers support at most 5 vectors"), "{error:?}");
    let blades = Signature::CL2.blades();
    let product = LayerProduct::new(Signature::CL2).norm(GradeNorm::None);
    let x = zeros(&gpu, &blades, [1, 1]);
    fails(product.connected(&x, &x, &weight(&support::noop(), &[10, 1, 1])), Kind::Gpu, &[]);
}
