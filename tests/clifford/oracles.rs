//! What others' code computed, file by file: those of `tests/data/clifford`, and of the folder that `TILEWISE_ORACLES`
//! names. A file's name says what it is, and of which algebra; one that is of no known kind fails.

use crate::npz::Npz;
use std::path::Path;
use support::oracles::assert_near;
use support::safetensors::Safetensors;
use tilewise::clifford::{
    BladeAxis, BladeOrder, Blades, Multivector, Multivectors, Product, Signature, Unary, grade,
};
use tilewise::{Element, Gpu};

/// Kinds of files by the start of their names: what checks them, given how many files have been before. Those of layers are
/// checked by `tests/clifford/layers`.
type Check = fn(&Gpu, &Path, &str, usize);
const KINDS: [(&str, Option<Check>); 6] = [
    ("tables_", Some(tables)),
    ("cgenn_", Some(cgenn)),
    ("sgp_", None),
    ("fcgp_", None),
    ("layer_", None),
    ("inputs_", None),
];

/// Tables of products, by what files call them.
const PRODUCTS: [(&str, Product); 8] = [
    ("gp", Product::Geometric),
    ("op", Product::Outer),
    ("lc", Product::LeftContraction),
    ("rc", Product::RightContraction),
    ("hip", Product::Hestenes),
    ("fdp", Product::FatDot),
    ("sp", Product::Scalar),
    ("rp", Product::Regressive),
];

/// Signs of functions, likewise.
const FUNCTIONS: [(&str, Unary); 5] = [
    ("reverse", Unary::Reverse),
    ("involute", Unary::Involute),
    ("conjugate", Unary::Conjugate),
    ("right_complement_sign", Unary::Dual),
    ("left_complement_sign", Unary::Undual),
];

#[test]
fn oracles() {
    let Some(gpu) = support::gpu() else { return };
    let mut checked = Vec::new();
    for path in support::oracles::files("clifford", &["safetensors", "npz"]) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match KINDS.iter().find(|(kind, _)| name.starts_with(kind)) {
            Some((_, Some(check))) => {
                check(&gpu, &path, &name, checked.len());
                checked.push(name);
            }
            Some((_, None)) => println!("of layers: {name}"),
            None => panic!("{name} is of no known kind"),
        }
    }
    println!("checked: {checked:?}");
    for kind in ["tables_", "cgenn_"] {
        assert!(checked.iter().any(|name| name.starts_with(kind)), "no file of {kind}");
    }
}

/// Every table, exactly. On the device too; but for `TILEWISE_SWEEP=full`, of each file only the geometric product, two
/// others and one function, by turns, as each is a kernel to compile.
fn tables(gpu: &Gpu, path: &Path, name: &str, turn: usize) {
    let full = support::is_full_sweep();
    let runs_product = |i: usize| full || i == 0 || [2 * turn % 7, (2 * turn + 1) % 7].contains(&(i - 1));
    let file = Npz::read(path);
    let squares: Vec<i8> = file.integers("signature").iter().map(|&s| i8::try_from(s).unwrap()).collect();
    let signature = Signature::from_squares(&squares).unwrap();
    assert_eq!(signature, support::oracles::signature(name));
    let mut seen = vec!["signature", "index", "rp_index", "grade", "shortlex_to_bitmask"];
    let short_lex: Vec<i64> = signature.blades().masks().iter().copied().map(i64::from).collect();
    assert_eq!(short_lex, file.integers("shortlex_to_bitmask"), "{name}");
    let grades = (0..=signature.pseudoscalar()).map(|blade| grade(blade) as i64);
    assert!(grades.eq(file.integers("grade").iter().copied()), "{name}");
    let tables: Vec<_> = PRODUCTS.iter().map(|(key, _)| format!("{key}_sign")).collect();
    for (i, (table, (_, product))) in tables.iter().zip(PRODUCTS).enumerate() {
        let index = if product == Product::Regressive { "rp_index" } else { "index" };
        assert_eq!(file.shape(table), [signature.size(); 2], "{name}: {table}");
        let table_of = [file.integers(index), file.integers(table)];
        product_table(signature, product, table_of);
        if runs_product(i) {
            product_table_on_device(gpu, signature, product, table_of);
        }
        seen.push(table);
    }
    for (i, (key, function)) in FUNCTIONS.into_iter().enumerate() {
        function_table(signature, function, file.integers(key));
        if full || i == turn % FUNCTIONS.len() {
            function_table_on_device(gpu, signature, function, file.integers(key));
        }
        seen.push(key);
    }
    seen.sort_unstable();
    assert_eq!(seen, file.names(), "{name}: tables that are not checked, or missing");
}

/// Each blade by itself, in ascending order: the rows of an identity.
fn each_blade(gpu: &Gpu, signature: Signature, shape: &[usize]) -> Multivectors<f32> {
    let n = signature.size();
    let identity: Vec<f32> = (0..n * n).map(|at| f32::from(u8::from(at % (n + 1) == 0))).collect();
    let blades = signature.blades().ordered(BladeOrder::Ascending);
    Multivectors::new(gpu.tensor(&identity, shape).unwrap(), &blades, BladeAxis::Last).unwrap()
}

fn product_table(signature: Signature, product: Product, [index, sign]: [&[i64]; 2]) {
    for a in 0..=signature.pseudoscalar() {
        for b in 0..=signature.pseudoscalar() {
            let at = usize::from(a) * signature.size() + usize::from(b);
            let found = product.of_blades(signature, a, b).map(|(c, sign)| (i64::from(c), i64::from(sign)));
            let want = (sign[at] != 0).then_some((index[at], sign[at]));
            assert_eq!(found, want, "{product} of {signature}: {a:#b} {b:#b}");
        }
    }
}

/// The products of all pairs of blades, in one launch.
fn product_table_on_device(gpu: &Gpu, signature: Signature, product: Product, [index, sign]: [&[i64]; 2]) {
    let n = signature.size();
    let (x, y) = (each_blade(gpu, signature, &[n, 1, n]), each_blade(gpu, signature, &[n, n]));
    let found = x.product(product, &y).unwrap();
    let blades = found.blades();
    assert_eq!(found.tensor().shape(), [n, n, blades.len()], "{product} of {signature}");
    for (at, of_pair) in found.tensor().to_vec().unwrap().chunks(blades.len()).enumerate() {
        assert_one(blades, of_pair, [index[at], sign[at]], &format!("{product} of {signature}, pair {at}"));
    }
}

fn function_table(signature: Signature, function: Unary, signs: &[i64]) {
    let found = (0..=signature.pseudoscalar()).map(|a| i64::from(function.of_blade(signature, a).1));
    assert!(found.eq(signs.iter().copied()), "{function} of {signature}");
}

fn function_table_on_device(gpu: &Gpu, signature: Signature, function: Unary, signs: &[i64]) {
    let n = signature.size();
    let found = each_blade(gpu, signature, &[n, n]).unary(function).unwrap();
    let blades = found.blades();
    assert_eq!((blades.len(), signs.len()), (n, n), "{function} of {signature}");
    for (a, of_blade) in found.tensor().to_vec().unwrap().chunks(n).enumerate() {
        let c = if matches!(function, Unary::Dual | Unary::Undual) { n - 1 - a } else { a };
        assert_one(blades, of_blade, [c as i64, signs[a]], &format!("{function} of {signature}, {a:#b}"));
    }
}

/// Whether a multivector is one blade with a sign, exactly; zero, if the sign is.
fn assert_one(blades: &Blades, found: &[f32], [blade, sign]: [i64; 2], what: &str) {
    let entry = |&mask: &u8| if i64::from(mask) == blade { sign as f32 } else { 0.0 };
    let want: Vec<f32> = blades.masks().iter().map(entry).collect();
    assert_eq!(found, want, "{what}, on the device");
    let is_there = |mask| blades.position(mask).is_some();
    assert!(sign == 0 || u8::try_from(blade).is_ok_and(is_there), "{what}: the result lacks it");
}

/// Products, quadratic forms and norms of CGENN: in f64 within its rounding, on the device within that of f32.
fn cgenn(gpu: &Gpu, path: &Path, name: &str, _: usize) {
    let file = Safetensors::read(path);
    let signature = support::oracles::signature(name);
    let masks = file.integers("index_to_bitmap").into_iter().map(|mask| u8::try_from(mask).unwrap());
    let blades = Blades::new(signature, &masks.collect::<Vec<_>>()).unwrap();
    let paths = signature.paths().into_iter().flat_map(|path| [path.left, path.out, path.right]);
    assert!(paths.map(|grade| grade as i64).eq(file.integers("paths_left_out_right")), "{name}");
    let (shape, x) = file.reals("x");
    let [(_, y), (_, want), (_, q), (of_norms, norms)] =
        ["y", "gp.out", "q", "grade_norms"].map(|name| file.reals(name));
    let grades = *of_norms.last().unwrap();
    let of = |values: &[f64]| Multivector::new(&blades, values).unwrap();
    let n = blades.len();
    let mut found = Vec::new();
    for (i, (x, y)) in x.chunks(n).zip(y.chunks(n)).enumerate() {
        let (x, y) = (of(x), of(y));
        found.extend(x.geometric(&y).unwrap().select(&blades));
        assert_near(&[x.quadratic()], &q[i..=i], 1e-12 * square(&x), &format!("{name}: q"));
        for g in 0..grades {
            // Theirs is smooth at 0.
            let norm = (x.project(&[g]).quadratic().powi(2) + 1e-16).powf(0.25);
            let at = i * grades + g;
            assert_near(
                &[norm],
                &norms[at..=at],
                1e-12 * norm.max(1.0),
                &format!("{name}: norm of grade {g}"),
            );
        }
    }
    let largest = want.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    assert_near(&found, &want, 1e-12 * largest, &format!("{name}: gp"));
    let upload = |values: &[f64]| {
        let values: Vec<f32> = values.iter().map(|&x| f32::from_f64(x)).collect();
        Multivectors::new(gpu.tensor(&values, &shape).unwrap(), &blades, BladeAxis::Last).unwrap()
    };
    let product = upload(&x).geometric(&upload(&y)).unwrap();
    // A result has its blades in the order that networks use.
    assert_eq!((product.blades(), product.tensor().shape()), (&blades, &shape[..]), "{name}");
    assert_near(&read(&product), &want, 2e-6 * largest, &format!("{name}: gp on the device"));
    // Where terms cancel, so that a root would show nothing but rounding, its square is what has a bound.
    let squares: Vec<f64> = read(&upload(&x).norm().unwrap()).iter().map(|norm| norm * norm).collect();
    let want: Vec<f64> = q.iter().map(|q| q.abs()).collect();
    let largest = x.chunks(n).map(|x| square(&of(x))).fold(0.0, f64::max);
    assert_near(&squares, &want, 2e-6 * largest, &format!("{name}: q on the device"));
}

fn square(x: &Multivector) -> f64 {
    x.coefficients().iter().map(|x| x * x).sum()
}

fn read(x: &Multivectors<f32>) -> Vec<f64> {
    x.tensor().to_vec().unwrap().into_iter().map(f64::from).collect()
}
