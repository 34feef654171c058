//! Files of test vectors that other programs computed.

use std::path::PathBuf;
use tilewise::clifford::Signature;

/// The sorted files with these extensions in a folder of `tests/data`, and in the folder that `TILEWISE_ORACLES` names.
pub fn files(folder: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let own = crate::root().join("tests/data").join(folder);
    let named = std::env::var_os("TILEWISE_ORACLES").map(PathBuf::from);
    let files = std::iter::once(own).chain(named).flat_map(|folder| {
        let read = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        read.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    });
    let of_these = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
    };
    let mut files: Vec<PathBuf> = files.filter(of_these).collect();
    files.sort();
    files
}

/// The signature in a file's name, such as `cgenn_cl_3_0_1` or `tables_cl_3_0_1_nullfirst`.
pub fn signature(name: &str) -> Signature {
    let (_, pqr) = name.split_once("_cl_").unwrap_or_else(|| panic!("{name} names no signature"));
    let plain = pqr.strip_suffix("_nullfirst");
    let signature: Signature = plain.unwrap_or(pqr).replace('_', ",").parse().unwrap();
    if plain.is_some() { signature.null_first() } else { signature }
}

/// Asserts that values are within a tolerance.
pub fn assert_near(found: &[f64], want: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), want.len(), "{what}");
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!((found - want).abs() <= tolerance, "{what} [{i}]: {found}, not {want}");
    }
}
