//! Laws that every Clifford algebra obeys, on the CPU: tables against lists of vectors that are sorted one swap at a
//! time, and identities; blades, paths and what is no signature. On the device: `tests/clifford`.

use std::collections::BTreeSet;
use tilewise::clifford::{BladeOrder, Blades, Multivector, Path, Product, Signature, Unary, grade};
use tilewise::planning::clifford::{conjugate_sign, involute_sign, reverse_sign};
use tilewise::{Error, Fill};

/// Every signature of at most 5 vectors, PGA with its null vector in front, orders that are no one's, three of 8 vectors.
fn signatures() -> Vec<Signature> {
    let mut all = Vec::new();
    for n in 0..=5 {
        for p in 0..=n {
            all.extend((0..=n - p).map(|q| Signature::new(p, q, n - p - q).unwrap()));
        }
    }
    all.extend([Signature::PGA2D, Signature::PGA3D].map(Signature::null_first));
    all.extend([[0, -1, 1, 0], [-1, 1, 0, 1]].map(|squares| Signature::from_squares(&squares).unwrap()));
    all.extend([[8, 0, 0], [4, 3, 1], [2, 2, 4]].map(|[p, q, r]| Signature::new(p, q, r).unwrap()));
    all
}

fn masks(signature: Signature) -> impl Iterator<Item = u8> + Clone {
    0..=signature.pseudoscalar()
}

fn vectors(blade: u8) -> Vec<usize> {
    (0..8).filter(|i| blade >> i & 1 == 1).collect()
}

/// The product of two blades as a list of vectors: neighbours are swapped until all are in order, each swap a sign; then
/// equal neighbours become their square.
fn by_swaps(signature: Signature, a: u8, b: u8) -> (u8, i8) {
    let mut list = [vectors(a), vectors(b)].concat();
    let mut sign = 1;
    while let Some(i) = (1..list.len()).find(|&i| list[i - 1] > list[i]) {
        list.swap(i - 1, i);
        sign = -sign;
    }
    while let Some(i) = (1..list.len()).find(|&i| list[i - 1] == list[i]) {
        sign *= signature.squares()[list[i]];
        list.drain(i - 1..=i);
    }
    (list.into_iter().fold(0, |mask, i| mask | 1 << i), sign)
}

/// The blade that completes another from the right, and its sign in front of the other and it: sorted as lists.
fn complement_by_swaps(signature: Signature, a: u8) -> (u8, i8) {
    let rest = signature.pseudoscalar() - a;
    (rest, by_swaps(signature, a, rest).1)
}

/// Coefficients that are small integers, so that every sum is exact.
fn integers(signature: Signature, seed: u64) -> Multivector {
    let values: Vec<f32> = Fill::Integers.values(signature.size(), seed);
    let values: Vec<f64> = values.into_iter().map(f64::from).collect();
    Multivector::new(&signature.blades(), &values).unwrap()
}

#[test]
fn tables_are_those_of_lists_that_are_sorted() {
    for signature in signatures() {
        for a in masks(signature) {
            for b in masks(signature) {
                let (c, sign) = by_swaps(signature, a, b);
                assert_eq!((a ^ b, signature.sign(a, b)), (c, sign), "{signature}: {a:#b} {b:#b}");
            }
        }
    }
}

#[test]
fn vectors_square_to_the_metric_and_anticommute() {
    for signature in signatures() {
        for (i, &square) in signature.squares().iter().enumerate() {
            assert_eq!(signature.sign(1 << i, 1 << i), square, "{signature}, vector {i}");
            assert_eq!(signature.square(1 << i), square, "{signature}, vector {i}");
            for j in (0..signature.dimension()).filter(|&j| j != i) {
                let [ij, ji] = [[i, j], [j, i]].map(|[i, j]| signature.sign(1 << i, 1 << j));
                assert_eq!(ij, -ji, "{signature}, vectors {i} and {j}");
            }
        }
    }
}

#[test]
fn products_are_associative() {
    for signature in signatures() {
        let holds = |a: u8, b: u8, c: u8| {
            let left = signature.sign(a, b) * signature.sign(a ^ b, c);
            let right = signature.sign(b, c) * signature.sign(a, b ^ c);
            assert_eq!(left, right, "{signature}: {a:#b} {b:#b} {c:#b}");
        };
        if signature.dimension() <= 4 {
            for a in masks(signature) {
                masks(signature).for_each(|b| masks(signature).for_each(|c| holds(a, b, c)));
            }
            continue;
        }
        let triples: Vec<i8> = Fill::Uniform.values(3 * 20_000, 8);
        for triple in triples.chunks(3) {
            let [a, b, c] = [0, 1, 2].map(|i| triple[i].to_le_bytes()[0] & signature.pseudoscalar());
            holds(a, b, c);
        }
    }
}

#[test]
fn products_of_multivectors_are_associative() {
    for signature in signatures() {
        let [x, y, z] = [1, 2, 3].map(|seed| integers(signature, seed));
        for product in [Product::Geometric, Product::Outer, Product::Regressive] {
            let of = |x: &Multivector, y: &Multivector| x.product(product, y).unwrap();
            assert_eq!(of(&of(&x, &y), &z), of(&x, &of(&y, &z)), "{product} of {signature}");
        }
    }
}

#[test]
fn reverses_and_involutions_pass_products() {
    for signature in signatures() {
        let [x, y] = [4, 5].map(|seed| integers(signature, seed));
        let xy = x.geometric(&y).unwrap();
        assert_eq!(xy.reverse(), y.reverse().geometric(&x.reverse()).unwrap(), "{signature}");
        assert_eq!(xy.conjugate(), y.conjugate().geometric(&x.conjugate()).unwrap(), "{signature}");
        assert_eq!(xy.involute(), x.involute().geometric(&y.involute()).unwrap(), "{signature}");
        assert_eq!(x.conjugate(), x.reverse().involute(), "{signature}");
        for a in masks(signature) {
            // Backwards, and sorted again.
            let mut list = vectors(a);
            list.reverse();
            let sorted = list.iter().fold((0, 1), |(mask, sign), &i| {
                let (c, of_c) = by_swaps(signature, mask, 1 << i);
                (c, sign * of_c)
            });
            assert_eq!((a, reverse_sign(a)), sorted, "{signature}: {a:#b}");
            assert_eq!(involute_sign(a), if list.len().is_multiple_of(2) { 1 } else { -1 });
            assert_eq!(conjugate_sign(a), reverse_sign(a) * involute_sign(a));
        }
    }
}

/// The grade of the geometric product that is a product's part; none where there is no part.
fn part(product: Product, a: usize, b: usize) -> Option<usize> {
    match product {
        Product::Outer => Some(a + b),
        Product::LeftContraction => b.checked_sub(a),
        Product::RightContraction => a.checked_sub(b),
        Product::Hestenes => (a > 0 && b > 0).then_some(a.abs_diff(b)),
        Product::FatDot => Some(a.abs_diff(b)),
        Product::Scalar => Some(0),
        _ => None,
    }
}

/// A product by its definition: parts of the grades' geometric products.
fn by_grades(product: Product, x: &Multivector, y: &Multivector) -> Multivector {
    let n = x.signature().dimension();
    let mut sum = Multivector::zero(x.signature());
    for a in 0..=n {
        for b in 0..=n {
            let Some(grade) = part(product, a, b) else { continue };
            let of_grades = x.project(&[a]).geometric(&y.project(&[b])).unwrap();
            sum = sum.add(&of_grades.project(&[grade])).unwrap();
        }
    }
    sum
}

#[test]
fn products_are_their_grades_parts() {
    use Product::{FatDot, Hestenes, LeftContraction, Outer, RightContraction, Scalar};
    for signature in signatures() {
        let [x, y] = [6, 7].map(|seed| integers(signature, seed));
        let [xy, yx] = [x.geometric(&y).unwrap(), y.geometric(&x).unwrap()];
        for product in [Outer, LeftContraction, RightContraction, Hestenes, FatDot, Scalar] {
            let (found, want) = (x.product(product, &y).unwrap(), by_grades(product, &x, &y));
            assert_eq!(found, want, "{product} of {signature}");
        }
        let commutator = xy.sub(&yx).unwrap().scaled(0.5);
        assert_eq!(x.commutator(&y).unwrap(), commutator, "{signature}");
        let joined = x.dual().outer(&y.dual()).unwrap().undual();
        assert_eq!(x.regressive(&y).unwrap(), joined, "{signature}");
    }
}

#[test]
fn products_of_blades_are_their_grades_parts() {
    for signature in signatures().into_iter().filter(|signature| signature.dimension() <= 5) {
        for product in Product::ALL {
            for a in masks(signature) {
                for b in masks(signature) {
                    let (c, sign) = by_swaps(signature, a, b);
                    let is_there = match product {
                        Product::Geometric => true,
                        Product::Commutator => by_swaps(signature, b, a).1 == -sign,
                        Product::Regressive => continue, // by duals
                        _ => part(product, grade(a), grade(b)) == Some(grade(c)),
                    };
                    let want = (is_there && sign != 0).then_some((c, sign));
                    assert_eq!(product.of_blades(signature, a, b), want, "{product} of {signature}");
                }
            }
        }
    }
}

#[test]
fn duals_complete_blades_and_are_undone() {
    for signature in signatures() {
        let x = integers(signature, 8);
        assert_eq!(x.dual().undual(), x, "{signature}");
        assert_eq!(x.undual().dual(), x, "{signature}");
        for a in masks(signature) {
            let dual = Unary::Dual.of_blade(signature, a);
            assert_eq!(dual, complement_by_swaps(signature, a), "{signature}: {a:#b}");
            let blade = Multivector::blade(signature, a).unwrap();
            let whole = Multivector::blade(signature, signature.pseudoscalar()).unwrap();
            assert_eq!(blade.outer(&blade.dual()).unwrap(), whole, "{signature}: {a:#b}");
            assert_eq!(blade.undual().outer(&blade).unwrap(), whole, "{signature}: {a:#b}");
            let hodge = blade.reverse().geometric(&whole).unwrap();
            // Hodge's dual, but for what the blade's vectors square to.
            let metric = f64::from(signature.square(a));
            assert_eq!(hodge, blade.dual().scaled(metric), "{signature}: {a:#b}");
        }
    }
}

#[test]
fn orders_have_the_same_blades() {
    for signature in signatures() {
        let (short, ascending) = (signature.blades(), signature.blades().ordered(BladeOrder::Ascending));
        assert!(ascending.masks().iter().copied().eq(masks(signature)), "{signature}");
        assert_eq!(ascending.ordered(BladeOrder::ShortLex), short, "{signature}");
        let keys: Vec<_> = short.masks().iter().map(|&blade| (grade(blade), vectors(blade))).collect();
        assert!(keys.is_sorted(), "{signature}: {short}");
        for (i, &blade) in short.masks().iter().enumerate() {
            assert_eq!(short.position(blade), Some(i));
        }
        // The same values in either order are the same multivector.
        let x = integers(signature, 9);
        for blades in [&short, &ascending] {
            assert_eq!(Multivector::new(blades, &x.select(blades)).unwrap(), x, "{signature}");
        }
        for g in 0..=signature.dimension() {
            let blades = signature.grades(&[g]).unwrap();
            assert!(blades.masks().iter().all(|&blade| grade(blade) == g), "{signature}: {blades}");
        }
        let [even, odd] = [signature.even(), signature.odd()].map(|b| b.masks().to_vec());
        let both: BTreeSet<u8> = even.into_iter().chain(odd).collect();
        assert_eq!(both.len(), signature.size(), "{signature}");
    }
}

#[test]
fn names_are_told_apart() {
    for signature in signatures() {
        let names: BTreeSet<String> = masks(signature).map(|blade| signature.name(blade)).collect();
        assert_eq!(names.len(), signature.size(), "{signature}: {names:?}");
    }
    let order = |signature: Signature| signature.blades().to_string();
    assert_eq!(order(Signature::PGA2D), "1 e1 e2 e0 e12 e10 e20 e120");
    assert_eq!(order(Signature::PGA2D.null_first()), "1 e0 e1 e2 e01 e02 e12 e012");
    assert_eq!(order(Signature::new(1, 0, 2).unwrap()), "1 e1 e2 e3 e12 e13 e23 e123");
    assert_eq!(Signature::SPACETIME.vectors().to_string(), "e0 e1 e2 e3");
}

/// Clifford algebras of others' papers: paths, paths into each grade, non-zero terms of the geometric product.
#[test]
fn paths_are_as_many_as_others_count() {
    for (pqr, count, into, terms) in [
        ([2, 0, 0], 10, &[3, 4, 3][..], 16),
        ([3, 0, 0], 20, &[4, 6, 6, 4], 64),
        ([2, 0, 1], 19, &[3, 6, 6, 4], 48),
        ([3, 0, 1], 34, &[4, 8, 9, 8, 5], 192),
        ([1, 3, 0], 35, &[5, 8, 9, 8, 5], 256),
        ([4, 0, 0], 35, &[5, 8, 9, 8, 5], 256),
        ([4, 1, 0], 56, &[6, 10, 12, 12, 10, 6], 1024),
    ] {
        let signature = Signature::new(pqr[0], pqr[1], pqr[2]).unwrap();
        let paths = signature.paths();
        let of = |g: usize| paths.iter().filter(|path| path.out == g).count();
        let found: Vec<usize> = (0..into.len()).map(of).collect();
        assert_eq!((paths.len(), &found[..]), (count, into), "{signature}");
        let all = signature.blades();
        assert_eq!(Product::Geometric.terms(&all, &all).unwrap().terms.len(), terms, "{signature}");
    }
}

#[test]
fn paths_are_those_of_terms() {
    for signature in signatures() {
        let mut there = BTreeSet::new();
        for a in masks(signature) {
            let with = masks(signature).filter(|&b| signature.sign(a, b) != 0);
            there.extend(with.map(|b| Path::of(a, b)));
        }
        let paths = signature.paths();
        assert!(paths.iter().eq(&there), "{signature}");
        let triples: Vec<_> = paths.iter().map(|path| [path.left, path.out, path.right]).collect();
        assert!(triples.is_sorted(), "{signature}");
    }
}

fn says(error: Error, words: &[&str]) {
    let said = error.to_string();
    assert!(words.iter().all(|word| said.contains(word)), "{words:?}: {said}");
}

#[test]
fn what_is_no_signature_is_refused() {
    says(Signature::new(5, 3, 1).unwrap_err(), &["9", "8"]);
    says(Signature::new(usize::MAX, 1, 0).unwrap_err(), &["8"]);
    says(Signature::from_squares(&[0; 9]).unwrap_err(), &["9", "8"]);
    says(Signature::from_squares(&[1, 2]).unwrap_err(), &["not 2"]);
    for text in ["", "a", "3,0,0,1", "3,-1", "1.5"] {
        says(text.parse::<Signature>().unwrap_err(), &["p,q,r", &format!("`{text}`")]);
    }
    for (text, pqr) in [("3", [3, 0, 0]), ("1, 3", [1, 3, 0]), ("2,1,1", [2, 1, 1]), ("0,0,0", [0; 3])] {
        assert_eq!(text.parse::<Signature>().unwrap().pqr(), pqr);
    }
}

#[test]
fn what_are_no_blades_is_refused() {
    let cl3 = Signature::CL3;
    says(cl3.grades(&[1, 4]).unwrap_err(), &["Cl(3,0,0)", "grade 4"]);
    says(cl3.grades(&[]).unwrap_err(), &["at least one blade"]);
    says(Blades::new(cl3, &[]).unwrap_err(), &["at least one blade"]);
    says(Blades::new(cl3, &[1, 8]).unwrap_err(), &["0b1000"]);
    says(Blades::new(cl3, &[3, 1, 3]).unwrap_err(), &["e12", "twice"]);
    says(Multivector::blade(cl3, 8).unwrap_err(), &["0b1000"]);
    says(Multivector::new(&cl3.even(), &[1.0; 3]).unwrap_err(), &["[3]", "[4]"]);
    let (x, y) = (integers(cl3, 1), integers(Signature::CL2, 1));
    for product in Product::ALL {
        says(x.product(product, &y).unwrap_err(), &["Cl(3,0,0)", "Cl(2,0,0)"]);
        says(product.terms(&cl3.blades(), &Signature::CL2.blades()).unwrap_err(), &["Cl(2,0,0)"]);
    }
    says(x.add(&y).unwrap_err(), &["Cl(3,0,0)", "Cl(2,0,0)"]);
}
