//! Multivectors as text: what is written, what is read, and where an expression does not parse.

use tilewise::clifford::{BladeOrder, Multivector, Signature};
use tilewise::{Error, Fill};

const CL3: Signature = Signature::CL3;

fn algebras() -> Vec<Signature> {
    let null_first = [Signature::PGA2D, Signature::PGA3D].map(Signature::null_first);
    let odd = [[2, 1, 1], [1, 0, 2], [0, 0, 0], [2, 2, 4]].map(|[p, q, r]| Signature::new(p, q, r).unwrap());
    let named =
        [Signature::CL2, CL3, Signature::PGA2D, Signature::PGA3D, Signature::SPACETIME, Signature::CGA3D];
    named.into_iter().chain(null_first).chain(odd).collect()
}

fn parsed(signature: Signature, text: &str) -> Multivector {
    Multivector::parse(signature, text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_written_is_read_again() {
    for signature in algebras() {
        for (run, seed) in (0..20).enumerate() {
            let values: Vec<f32> = Fill::Uniform.values(signature.size(), seed);
            // Of all magnitudes, some zero and some one.
            let power = |i: usize| [0.0, 1.0, 1e-300, 1e300, 3.0, 1e-7][(i + run) % 6];
            let scaled = |(i, value): (usize, &f32)| match i % 5 {
                0 => f64::from(value.signum()),
                _ => f64::from(*value) / 3.0 * power(i),
            };
            let values: Vec<f64> = values.iter().enumerate().map(scaled).collect();
            let x = Multivector::new(&signature.blades(), &values).unwrap();
            assert_eq!(parsed(signature, &x.to_string()), x, "{signature}: {x}");
        }
        for blade in 0..=signature.pseudoscalar() {
            let x = Multivector::blade(signature, blade).unwrap();
            assert_eq!(x.to_string(), signature.name(blade));
            assert_eq!(parsed(signature, &signature.name(blade)), x, "{signature}");
        }
    }
}

#[test]
fn it_is_written_as_one_would() {
    let of = |values: [f64; 8]| Multivector::new(&CL3.blades(), &values).unwrap();
    for (values, text, rounded) in [
        ([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0], "1 + 2e12", "1.00 + 2.00e12"),
        ([0.0, 0.0, 0.0, 1.0, -0.5, 0.0, 0.0, 0.0], "e3 - 0.5e12", "1.00e3 - 0.50e12"),
        ([0.0; 8], "0", "0.00"),
        ([-0.0; 8], "0", "0.00"),
        ([-1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0], "-1 - e2 - e123", "-1.00 - 1.00e2 - 1.00e123"),
        ([1e-9, 1.0 / 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "0.000000001 + 0.3333333333333333e1", "0.33e1"),
        ([1e21, 0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0], "1000000000000000000000 + NaNe13", ""),
    ] {
        assert_eq!(of(values).to_string(), text);
        if !rounded.is_empty() {
            assert_eq!(format!("{:.2}", of(values)), rounded);
        }
    }
    assert_eq!(format!("{:.0}", of([0.2, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])), "e1");
}

#[test]
fn it_is_read_as_one_means() {
    for (text, plain) in [
        ("2e12", "2e12"),
        ("2 e12", "2e12"),
        ("2*e12", "2e12"),
        ("2 * e12", "2e12"),
        ("2e+1", "20"),
        ("2e-1e12", "0.2e12"),
        ("2.5e-3", "0.0025"),
        ("2.5e12", "2.5e12"),
        ("2e1-3", "-3 + 2e1"),
        ("e21", "-e12"),
        ("e312", "e123"),
        ("-e321", "e123"),
        ("- e1 + - 2e1", "-3e1"),
        ("1 - -1", "2"),
        ("+3", "3"),
        ("e1+e1-2e1", "0"),
        ("\t1\n+ e1 ", "1 + e1"),
        ("000.50", "0.5"),
    ] {
        assert_eq!(parsed(CL3, text).to_string(), plain, "{text}");
    }
    assert_eq!(parsed(Signature::PGA3D, "e01 + e023").to_string(), "-e10 + e230");
    assert_eq!(parsed(Signature::PGA3D.null_first(), "e10").to_string(), "-e01");
    assert_eq!(parsed(Signature::SPACETIME, "e10").to_string(), "-e01");
}

#[test]
fn vectors_in_any_order_are_their_product() {
    let signature = Signature::new(4, 0, 0).unwrap();
    let vector = |digit: char| parsed(signature, &format!("e{digit}"));
    for first in "1234".chars() {
        for second in "1234".chars().filter(|&c| c != first) {
            for third in "1234".chars().filter(|&c| c != first && c != second) {
                let product = vector(first).geometric(&vector(second)).unwrap();
                let product = product.geometric(&vector(third)).unwrap();
                assert_eq!(parsed(signature, &format!("e{first}{second}{third}")), product);
            }
        }
    }
}

/// The column of the caret, in the text's characters, and the reason.
fn place(signature: Signature, text: &str) -> (usize, String) {
    let error = Multivector::parse(signature, text).expect_err(text);
    assert!(matches!(error, Error::Input { .. }), "{error:?}");
    let said = error.to_string();
    let lines: Vec<&str> = said.lines().collect();
    let [head, shown, caret] = lines[..] else { panic!("not three lines: {said}") };
    assert_eq!(head, "expression: it does not parse here");
    assert_eq!(shown.strip_prefix("  ").map(|shown| shown.chars().count()), Some(text.chars().count()));
    let (column, why) = caret.split_once("^ ").unwrap_or_else(|| panic!("no caret: {said}"));
    assert!(column.bytes().all(|byte| byte == b' '));
    (column.len() - 2, why.to_owned())
}

#[test]
fn what_does_not_parse_shows_its_place() {
    for (text, column, why) in [
        ("", 0, "a number or a blade is expected"),
        ("   ", 3, "a number or a blade is expected"),
        ("1 +", 3, "a number or a blade is expected"),
        ("1 + 2e9", 5, "Cl(3,0,0) has no vector e9"),
        ("1 + e0", 4, "Cl(3,0,0) has no vector e0"),
        ("e1 - 3e121", 6, "e121 has e1 twice"),
        ("e11", 0, "e11 has e1 twice"),
        ("1 2", 2, "`+` or `-` is expected"),
        ("e1 e2", 3, "`+` or `-` is expected"),
        ("e1 * 2", 3, "`+` or `-` is expected"),
        ("2e1 * e2", 4, "`+` or `-` is expected"),
        ("2 * 3", 4, "a blade is expected"),
        ("2 *", 3, "a blade is expected"),
        ("(1)", 0, "a number or a blade is expected"),
        ("1 + x", 4, "a number or a blade is expected"),
        ("1e", 1, "`+` or `-` is expected"),
        (".5", 0, "a number or a blade is expected"),
        ("1.e1", 1, "`+` or `-` is expected"),
        ("1 + 1e+400", 4, "1e+400 is too large a number"),
        ("\u{e9}e1", 0, "a number or a blade is expected"),
        ("1 + 1 \u{d7} \u{1f600}", 6, "`+` or `-` is expected"),
        ("1\n+\te9", 4, "Cl(3,0,0) has no vector e9"),
        ("NaN", 0, "a number or a blade is expected"),
        ("inf", 0, "a number or a blade is expected"),
        ("--1", 1, "a number or a blade is expected"),
    ] {
        assert_eq!(place(CL3, text), (column, why.to_owned()), "{text:?}");
    }
    assert_eq!(place(Signature::PGA3D, "e4").1, "Cl(3,0,1) has no vector e4");
}

#[test]
fn literals_end_where_they_end() {
    let literal = |text: &str, at| Multivector::literal(CL3, text, at).unwrap();
    let found = |text: &str, at| literal(text, at).map(|(x, end)| (x.to_string(), end));
    assert_eq!(found("2.5e12^e3", 0), Some(("2.5e12".to_owned(), 6)));
    assert_eq!(found("2.5e12^e3", 7), Some(("e3".to_owned(), 9)));
    assert_eq!(found("2 . 5", 0), Some(("2".to_owned(), 1)));
    assert_eq!(found("2.e1", 0), Some(("2".to_owned(), 1)));
    assert_eq!(found("1e-3 * e1", 0), Some(("0.001".to_owned(), 4)));
    for (text, at) in [("norm(e1)", 0), ("e", 0), ("", 0), ("1", 1), ("1", 7), ("\u{e9}", 1)] {
        assert_eq!(literal(text, at), None, "{text} at {at}");
    }
    assert!(Multivector::literal(CL3, "2e4", 0).is_err());
}

#[test]
fn order_of_blades_is_that_of_their_grades() {
    let signature = Signature::SPACETIME;
    let ascending = signature.blades().ordered(BladeOrder::Ascending);
    let x = Multivector::new(&ascending, &[1.0; 16]).unwrap();
    let names = x.to_string().replace("+ ", "");
    assert_eq!(names, signature.blades().to_string());
}
