//! `.npy` files that are written: read back exactly, as NumPy writes them, whole or not at all. And tensors from files.

use super::npy::{Scratch, by_numpy, f16s};
use half::{bf16, f16};
use std::fs;
use std::path::Path;
use support::failure::says;
use support::gpu;
#[cfg(unix)]
use support::process;
use tilewise::io::{MemoryOrder, Npy, NpyData, npy_bytes, write_npy, write_npy_async, write_npy_slice};
use tilewise::{DType, Error};

#[test]
fn written_elements_are_read_back_bit_for_bit() {
    let scratch = Scratch::new();
    let path = scratch.0.join("a.npy");
    let singles: Vec<f32> = (0u32..12).map(|i| f32::from_bits(0x3f80_0001 + 0x0123_4567 * i)).collect();
    write_npy_slice(&path, [3, 4], &singles).unwrap();
    let array = Npy::read(&path).unwrap();
    assert_eq!((array.shape(), array.order()), (&[3, 4][..], MemoryOrder::C));
    let NpyData::F32(read) = array.data() else { panic!("{:?}", array.dtype()) };
    assert_eq!(bits(read), bits(&singles));

    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect(); // every one, NaNs too
    write_npy_slice(&path, [65_536], &halves).unwrap(); // replaces the shorter file
    let array = Npy::read(&path).unwrap();
    let NpyData::F16(read) = array.data() else { panic!("{:?}", array.dtype()) };
    assert!(array.shape() == [65_536] && read.iter().zip(0..=u16::MAX).all(|(x, bits)| x.to_bits() == bits));

    let bytes: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    write_npy_slice(&path, [2, 128], &bytes).unwrap();
    let array = Npy::read(&path).unwrap();
    assert_eq!(
        (array.shape(), array.dtype(), array.data()),
        (&[2, 128][..], Some(DType::I8), &NpyData::I8(bytes))
    );
    let integers = vec![i32::MIN, -1, 0, 1, 0x0102_0304, i32::MAX];
    write_npy_slice(&path, [6], &integers).unwrap();
    let array = Npy::read(&path).unwrap();
    assert_eq!((array.dtype(), array.data()), (Some(DType::I32), &NpyData::I32(integers)));

    // Shorter files replace it in turn.
    for (shape, elements) in [(&[][..], &[4.0f32][..]), (&[0, 3], &[]), (&[1; 6], &[5.0])] {
        write_npy_slice(&path, shape, elements).unwrap();
        let array = Npy::read(&path).unwrap();
        assert_eq!((array.shape(), array.data()), (shape, &NpyData::F32(elements.to_vec())));
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn what_is_written_is_what_numpy_writes() {
    fn compare(ours: &Path, numpys: &str) {
        let (ours, numpys) = (fs::read(ours).unwrap(), fs::read(by_numpy(numpys)).unwrap());
        assert_eq!(ours.len(), numpys.len());
        assert_eq!(ours[..10], numpys[..10]);
        assert_eq!(ours[128..], numpys[128..]);
        let words =
            |file: &[u8]| String::from_utf8_lossy(&file[10..128]).replace([' ', '\n'], "").replace(",)", ")");
        assert_eq!(words(&ours), words(&numpys));
    }
    let scratch = Scratch::new();
    let path = scratch.0.join("a.npy");
    // NumPy leaves out the comma's blank and fills up with blanks: the rest is the same to the byte.
    let values = [0.0f32, 0.5, 1.0, -2.0, 3.25, 1e-3];
    write_npy_slice(&path, [2, 3], &values).unwrap();
    compare(&path, "c_f32.npy");
    let bytes = fs::read(&path).unwrap();
    assert_eq!(npy_bytes([2, 3], &values).unwrap(), bytes, "a file in memory");
    assert_eq!(Npy::from_bytes(&bytes).unwrap(), Npy::read(&path).unwrap());
    write_npy_slice(&path, [2, 3], &[0i8, 1, -1, 127, -128, 85]).unwrap();
    compare(&path, "c_i8.npy");
}

#[test]
fn writing_checks_shape_and_path() {
    let scratch = Scratch::new();
    let path = scratch.0.join("a.npy");
    let error = write_npy_slice(&path, [2, 3], &[0.0f32; 5]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "write_npy_slice: the shape must have as many elements as are given; got [2, 3] and [5]"
    );
    assert!(matches!(
        write_npy_slice(&path, [1; 7], &[0.0f32]),
        Err(Error::Shape { op: "write_npy_slice", .. })
    ));
    assert!(matches!(write_npy_slice(&path, [usize::MAX, 2], &[0.0f32]), Err(Error::Shape { .. })));
    let error = write_npy_slice(&path, [1], &[bf16::ONE]).unwrap_err();
    assert!(
        error.to_string().ends_with("NumPy has no bf16: `cast` the tensor to f32 first, which is exact"),
        "{error}"
    );
    assert!(!path.exists(), "a refused array leaves no file");

    let nowhere = scratch.0.join("no folder").join("a.npy");
    match write_npy_slice(&nowhere, [1], &[0.0f32]) {
        Err(Error::Input { what, why }) => {
            assert_eq!(what, nowhere.display().to_string());
            assert!(why.starts_with("cannot be written: "), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn tensors_have_the_shape_of_the_file_in_either_order() {
    let Some(gpu) = gpu() else { return };
    let a = Npy::read(by_numpy("c_f32.npy")).unwrap().tensor::<f32>(&gpu).unwrap();
    assert_eq!((a.shape(), a.to_vec().unwrap()), (&[2, 3][..], vec![0.0, 0.5, 1.0, -2.0, 3.25, 1e-3]));

    // The file holds 0, 12, 4, 16, ...: the view undoes it.
    let counting = f16s((0u8..24).map(f32::from));
    let b = Npy::read(by_numpy("fortran_f16.npy")).unwrap().tensor::<f16>(&gpu).unwrap();
    assert_eq!((b.shape(), b.to_vec().unwrap()), (&[2, 3, 4][..], counting.clone()));

    // Back through a file: C order, whatever the strides.
    let scratch = Scratch::new();
    let path = scratch.0.join("b.npy");
    write_npy(&path, &b).unwrap();
    let read = Npy::read(&path).unwrap();
    assert_eq!((read.shape(), read.order()), (&[2, 3, 4][..], MemoryOrder::C));
    assert_eq!(read.data(), &NpyData::F16(counting));
    let again = read.tensor::<f16>(&gpu).unwrap();
    assert_eq!(again.to_vec().unwrap(), b.to_vec().unwrap());
}

#[test]
fn integers_go_through_files_and_tensors() {
    let Some(gpu) = gpu() else { return };
    let a = Npy::read(by_numpy("c_i8.npy")).unwrap().tensor::<i8>(&gpu).unwrap();
    assert_eq!((a.shape(), a.to_vec().unwrap()), (&[2, 3][..], vec![0, 1, -1, 127, -128, 85]));
    let b = Npy::read(by_numpy("fortran_i32.npy")).unwrap().tensor::<i32>(&gpu).unwrap();
    assert_eq!((b.shape(), b.to_vec().unwrap()), (&[2, 3][..], vec![0, 1, 2, 4, i32::MAX, i32::MIN]));
    let scratch = Scratch::new();
    let path = scratch.0.join("c.npy");
    write_npy(&path, &a.t()).unwrap();
    assert_eq!(Npy::read(&path).unwrap().data(), &NpyData::I8(vec![0, 127, 1, -128, -1, 85]));
    pollster::block_on(write_npy_async(&path, &b)).unwrap();
    assert_eq!(Npy::read(&path).unwrap().data(), &NpyData::I32(vec![0, 1, 2, 4, i32::MAX, i32::MIN]));
}

#[test]
fn a_tensor_of_another_type_is_refused_with_the_way_out() {
    let Some(gpu) = gpu() else { return };
    let singles = Npy::read(by_numpy("c_f32.npy")).unwrap().tensor::<f16>(&gpu).err().unwrap();
    assert_eq!(
        singles.to_string(),
        "Npy::tensor: the array has elements of f32, not f16: load a Tensor<f32>, then `cast` it to f16"
    );
    let halves = Npy::read(by_numpy("scalar_f16.npy")).unwrap().tensor::<f32>(&gpu).err().unwrap();
    assert_eq!(
        halves.to_string(),
        "Npy::tensor: the array has elements of f16, not f32: load a Tensor<f16>, then `cast` it to f32"
    );
}

/// A write that breaks off: the child may write files of a few KiB only.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_the_old_file() {
    if let Some(path) = process::handed() {
        says(write_npy_slice(&path, [1 << 20], &vec![1.0f32; 1 << 20]), &["cannot be written"]);
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.0.join("array.npy");
    write_npy_slice(&path, [3], &[1i32, 2, 3]).unwrap();
    let again = process::again(concat!(module_path!(), "::a_write_that_fails_leaves_the_old_file"), &path);
    process::assert_passes(process::after("trap '' XFSZ && ulimit -f 16", &again));
    assert_eq!(*Npy::read(&path).unwrap().data(), NpyData::I32(vec![1, 2, 3]));
    assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 1, "nothing is left of the new file");
}
