//! `.npy` files: those of NumPy are read exactly, every bad one is refused by name and number.

use half::f16;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::failure::says;
#[cfg(unix)]
use support::process;
use tilewise::Error;
use tilewise::io::{MemoryOrder, Npy, NpyData, read_npy_f64};

/// A folder of its own for each test, removed with it.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("tilewise-npy-{}-{count}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.0.join("array.npy");
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn by_numpy(name: &str) -> PathBuf {
    support::root().join("tests/data/npy").join(name)
}

/// Why `path` is refused; the error names the path itself.
fn refused(path: &Path) -> String {
    match Npy::read(path) {
        Err(Error::Input { what, why }) => {
            assert_eq!(what, path.display().to_string());
            why
        }
        other => panic!("{} gives {other:?}", path.display()),
    }
}

/// A version 1 file of this header and these elements.
pub(super) fn forged(header: &str, elements: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

fn with_shape(shape: &str, elements: usize) -> Vec<u8> {
    forged(&format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"), &vec![0; 4 * elements])
}

pub(super) fn f16s(values: impl IntoIterator<Item = f32>) -> Vec<f16> {
    values.into_iter().map(f16::from_f32).collect()
}

#[test]
fn files_of_numpy_are_read_exactly() {
    let f32s = |values: &[f32]| NpyData::F32(values.to_vec());
    let counting = (0..24).map(|fastest_first| {
        let [i, j, k] = [fastest_first % 2, fastest_first / 2 % 3, fastest_first / 6];
        (12 * i + 4 * j + k) as f32
    });
    for (name, shape, order, data) in [
        ("c_f32.npy", &[2, 3][..], MemoryOrder::C, f32s(&[0.0, 0.5, 1.0, -2.0, 3.25, 1e-3])),
        ("fortran_f16.npy", &[2, 3, 4], MemoryOrder::Fortran, NpyData::F16(f16s(counting))),
        ("one_axis_f32.npy", &[5], MemoryOrder::C, f32s(&[1.0, 2.0, 3.0, 4.0, 5.0])),
        ("scalar_f16.npy", &[], MemoryOrder::C, NpyData::F16(f16s([-1.5]))),
        ("empty_f32.npy", &[0, 3], MemoryOrder::C, f32s(&[])),
        ("big_endian_f16.npy", &[2, 2], MemoryOrder::C, NpyData::F16(f16s([1.0, -2.0, 0.5, 65504.0]))),
        ("version_2_f32.npy", &[2], MemoryOrder::C, f32s(&[7.0, 8.0])),
        ("c_i8.npy", &[2, 3], MemoryOrder::C, NpyData::I8(vec![0, 1, -1, 127, -128, 85])),
        (
            "fortran_i32.npy",
            &[2, 3],
            MemoryOrder::Fortran,
            NpyData::I32(vec![0, 4, 1, i32::MAX, 2, i32::MIN]),
        ),
        ("big_endian_i32.npy", &[3], MemoryOrder::C, NpyData::I32(vec![1, -2, 0x0123_4567])),
    ] {
        let array = Npy::read(by_numpy(name)).unwrap();
        assert_eq!((array.shape(), array.order(), array.data()), (shape, order, &data), "{name}");
        assert!(name.ends_with(&format!("_{}.npy", array.dtype().unwrap())), "{name}");
    }
}

#[test]
fn types_that_cannot_be_read_are_named_with_a_way_out() {
    let readable = "supported are floats of 2, 4 or 8 bytes, integers of 1, 2, 4 or 8 bytes, and bool, in either byte order";
    let fields = "[('id', '<i4'), ('weight', '<f4')]";
    let header = format!("{{'descr': {fields}, 'fortran_order': False, 'shape': (1,), }}");
    assert_eq!(
        refused(&by_numpy("structured.npy")),
        format!("has structured elements: {header}; {readable}. Save each field as an array of its own")
    );
    let scratch = Scratch::new();
    let of = |descr: &str, size: usize| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        refused(&scratch.file(&forged(&header, &vec![0; size])))
    };
    for (descr, size) in [("<f16", 16), ("<c8", 8), ("|O", 8), ("<U3", 12), ("|S3", 3)] {
        assert_eq!(of(descr, size), format!("has elements of type '{descr}'; {readable}"));
    }
    // What NumPy makes of the bfloat16, float8_e4m3fn and float8_e5m2 of another package.
    for (descr, size) in [("<V2", 2), ("|V2", 2), ("<V1", 1), ("|V1", 1), ("<f1", 1)] {
        let why = of(descr, size);
        let named = why.contains(&format!("'{descr}'")) || descr == "<f1" && why.contains("'f1'");
        assert!(named && why.contains("save `x.astype('float32')` instead"), "{why}");
    }
}

#[test]
fn what_is_no_file_or_no_npy_file_is_refused() {
    let scratch = Scratch::new();
    let missing = refused(&scratch.0.join("nowhere.npy"));
    assert!(missing.starts_with("cannot be opened: "), "{missing}");
    let folder = refused(&scratch.0);
    assert!(folder.starts_with("cannot be "), "{folder}"); // opened or read, as the system has it

    let whole = fs::read(by_numpy("c_f32.npy")).unwrap();
    for (bytes, want) in [
        (&b"PK\x03\x04 an npz archive"[..], r#"it starts with "PK\x03\x04 a" instead of "\x93NUMPY""#),
        (b"\x93NUM", r#"it starts with "\x93NUM" instead of "\x93NUMPY""#),
        (b"", r#"it starts with "" instead of "\x93NUMPY""#),
    ] {
        assert_eq!(refused(&scratch.file(bytes)), format!("is not a .npy file: {want}"));
    }
    for (length, want) in [
        (6, "ends within its header, after 6 bytes"),
        (9, "ends within its header, after 9 bytes"),
        (100, "ends within its header, after 100 of 128 bytes"),
        (127, "ends within its header, after 127 of 128 bytes"),
    ] {
        assert_eq!(refused(&scratch.file(&whole[..length])), want);
    }
    let mut version = whole.clone();
    version[6..8].copy_from_slice(&[4, 1]);
    assert_eq!(refused(&scratch.file(&version)), "has version 4.1; supported are 1.0, 2.0 and 3.0");
    version[6..8].copy_from_slice(&[1, 7]);
    let why = refused(&scratch.file(&version));
    assert!(why.starts_with("has an invalid header (unsupported version: (1, 7))"), "{why}");
}

#[test]
fn too_few_and_too_many_elements_are_counted() {
    let scratch = Scratch::new();
    let whole = fs::read(by_numpy("c_f32.npy")).unwrap();
    for (bytes, held, elements) in [(148, 20, 5), (151, 23, 5), (128, 0, 0)] {
        assert_eq!(
            refused(&scratch.file(&whole[..bytes])),
            format!(
                "has {held} bytes of elements ({elements} of f32), but its shape [2, 3] needs 24 (6 of f32)"
            )
        );
    }
    let longer = [&whole[..], &[0; 9]].concat();
    assert_eq!(
        refused(&scratch.file(&longer)),
        "has 33 bytes of elements (8 of f32), but its shape [2, 3] needs 24 (6 of f32)"
    );
    let half = fs::read(by_numpy("fortran_f16.npy")).unwrap();
    assert_eq!(
        refused(&scratch.file(&half[..half.len() - 2])),
        "has 46 bytes of elements (23 of f16), but its shape [2, 3, 4] needs 48 (24 of f16)"
    );
}

#[test]
fn shapes_that_promise_too_much_are_refused_before_anything_is_allocated() {
    let scratch = Scratch::new();
    // 4 TiB, which no test machine has: an allocation would fail, or be noticed.
    assert_eq!(
        refused(&scratch.file(&with_shape("(1048576, 1048576)", 1))),
        "has 4 bytes of elements (1 of f32), but its shape [1048576, 1048576] needs 4398046511104 (1099511627776 of f32)"
    );
    for shape in [
        "(4294967296, 4294967296)",
        "(4294967296, 0, 4294967296)", // its strides overflow
        "(4611686018427387904,)",
        "(18446744073709551616,)",
        "(-1, 2)",
        "(2+2, 1)",
        "(0x10, 1)",
        "(1_0,)",
        "(1e3,)",
        "((2,),)",
        "{2: {3: 4}}",
    ] {
        let why = refused(&scratch.file(&with_shape(shape, 4)));
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        assert_eq!(why, format!("has a header that no known writer produces: {header}"));
    }
    let mut long_header = with_shape("(1, )", 1);
    long_header[8..10].copy_from_slice(&60_000u16.to_le_bytes());
    long_header.resize(70_000, b' ');
    assert_eq!(
        refused(&scratch.file(&long_header)),
        "has a header of 60010 bytes; an array of plain numbers needs at most 10000"
    );
}

#[test]
fn nested_headers_take_no_time() {
    let scratch = Scratch::new();
    for (before, bracket) in ["", "{'descr': "].into_iter().flat_map(|b| ["[", "{", "("].map(|c| (b, c))) {
        let header = format!("{before}{}", bracket.repeat(40));
        let why = refused(&scratch.file(&forged(&header, &[0; 8])));
        let start = if bracket == "[" {
            "has structured elements: "
        } else {
            "has a header that no known writer produces: "
        };
        assert!(why.starts_with(&format!("{start}{header}")), "{why}");
    }
}

#[test]
fn ranks_up_to_six_are_read() {
    let scratch = Scratch::new();
    let six = Npy::read(scratch.file(&with_shape("(1, 2, 1, 2, 1, 2)", 8))).unwrap();
    assert_eq!((six.shape(), six.data()), (&[1, 2, 1, 2, 1, 2][..], &NpyData::F32(vec![0.0; 8])));
    let seven = refused(&scratch.file(&with_shape("(1, 2, 1, 2, 1, 2, 1)", 8)));
    assert_eq!(seven, "has 7 axes; a tensor has at most 6");
}

#[test]
fn headers_that_make_no_sense_are_shown() {
    let scratch = Scratch::new();
    for (header, reason) in [
        ("not a dict", "could not parse Python expression"),
        ("(1, 2)", "expected a python dict literal"),
        ("{'descr': '<f4', 'shape': (2,), }", "dict is missing key 'fortran_order'"),
        ("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "'fortran_order' value is not a bool"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", "shape must be list or tuple"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': ('2',), }", "dimension must be an integer"),
        ("{'descr': '<f3', 'fortran_order': False, 'shape': (2,), }", "invalid type string"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "could not parse Python expression"),
    ] {
        let why = refused(&scratch.file(&forged(header, &[0; 8])));
        let start = format!("has an invalid header ({reason}");
        assert!(why.starts_with(&start), "{header}: {why}");
        assert!(why.ends_with(&format!("): {header}")), "{header}: {why}");
    }
}

/// A file may be as long as its header says and still hold more than this machine has room for.
#[cfg(unix)]
#[test]
fn a_file_that_memory_has_no_room_for_is_an_error() {
    const ELEMENTS: u64 = 1 << 38;
    if let Some(path) = process::handed() {
        for why in [Npy::read(&path).map(drop), read_npy_f64(&path).map(drop)] {
            says(why, &["cannot be read", "memory"]);
        }
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.file(&with_shape(&format!("({ELEMENTS},)"), 0));
    let file = fs::File::options().write(true).open(&path).unwrap();
    let sparse = file.set_len(file.metadata().unwrap().len() + 4 * ELEMENTS);
    if let Err(e) = sparse {
        return println!("no file is so long here: {e}");
    }
    // 4 GiB of addresses: whatever a system promises beyond its memory.
    let again =
        process::again(concat!(module_path!(), "::a_file_that_memory_has_no_room_for_is_an_error"), &path);
    process::assert_passes(process::after("ulimit -v 4194304", &again));
}
