//! `.npy` files of other writers and of types that no tensor has: read as NumPy reads them, converted by name, never
//! silently.

use super::npy::{Scratch, by_numpy, forged};
use std::fs;
use tilewise::io::{MemoryOrder, Npy, NpyData, npy_bytes, read_npy_f64};
use tilewise::{Element, Error, bf16, f16};

/// A version 1 file whose header has this type, order and shape as they stand, filled up as NumPy does.
fn file(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    forged(&format!("{header}\n"), elements)
}

fn bytes<const N: usize>(words: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    words.into_iter().flatten().collect()
}

#[test]
fn long_extents_of_python_2_and_the_byte_order_of_the_reader_are_read() {
    let elements = bytes((0..12).map(|i| (i as f32).to_ne_bytes()));
    let little = bytes((0..12).map(|i| (i as f32).to_le_bytes()));
    let counted: Vec<f32> = (0..12).map(|i| i as f32).collect();
    for file in [
        file("<f4", "False", "(3L, 4L)", &little),
        file("=f4", "False", "(3, 4)", &elements),
        file("=f4", "False", "(3L, 4L)", &elements),
    ] {
        let array = Npy::from_bytes(&file).unwrap();
        assert_eq!((array.shape(), array.data()), (&[3, 4][..], &NpyData::F32(counted.clone())));
    }
    let one = Npy::from_bytes(&file("<f4", "False", "(12L,)", &little)).unwrap();
    assert_eq!((one.shape(), one.order()), (&[12][..], MemoryOrder::C));
    // Letters elsewhere make no number.
    for shape in ["(3LL, 4L)", "(L,)", "(3l, 4)", "(0x3L,)", "(3.0L,)", "(3 L, 4)"] {
        let error = Npy::from_bytes(&file("<f4", "False", shape, &little)).unwrap_err();
        assert!(matches!(&error, Error::Input { why, .. } if why.contains(shape)), "{shape}: {error}");
    }
}

#[test]
fn numbers_of_every_type_are_read_and_have_their_values() {
    let signed = [0i8, 1, -1, 127, -128, 85];
    let wide: Vec<f64> = signed.iter().map(|&x| x.into()).collect();
    let positive: Vec<f64> = signed.iter().map(|&x| x.cast_unsigned().into()).collect();
    let bits = [true, false, true, true, false, false];
    let of_bits: Vec<f64> = bits.iter().map(|&bit| f64::from(u8::from(bit))).collect();
    let (i16s, i64s) = (signed.map(i16::from), signed.map(i64::from));
    let unsigned = signed.map(|x| x.cast_unsigned());
    let (u16s, u32s, u64s) = (unsigned.map(u16::from), unsigned.map(u32::from), unsigned.map(u64::from));
    for (descr, elements, data, values) in [
        ("<i8", bytes(i64s.map(i64::to_le_bytes)), NpyData::I64(i64s.to_vec()), &wide),
        (">i8", bytes(i64s.map(i64::to_be_bytes)), NpyData::I64(i64s.to_vec()), &wide),
        ("<i2", bytes(i16s.map(i16::to_le_bytes)), NpyData::I16(i16s.to_vec()), &wide),
        ("|i1", bytes(signed.map(i8::to_le_bytes)), NpyData::I8(signed.to_vec()), &wide),
        // What other writers have: one byte has no order.
        ("<i1", bytes(signed.map(i8::to_le_bytes)), NpyData::I8(signed.to_vec()), &wide),
        ("|u1", unsigned.to_vec(), NpyData::U8(unsigned.to_vec()), &positive),
        ("<u1", unsigned.to_vec(), NpyData::U8(unsigned.to_vec()), &positive),
        (">u2", bytes(u16s.map(u16::to_be_bytes)), NpyData::U16(u16s.to_vec()), &positive),
        ("<u4", bytes(u32s.map(u32::to_le_bytes)), NpyData::U32(u32s.to_vec()), &positive),
        ("<u8", bytes(u64s.map(u64::to_le_bytes)), NpyData::U64(u64s.to_vec()), &positive),
        ("|b1", bits.map(u8::from).to_vec(), NpyData::Bool(bits.to_vec()), &of_bits),
        ("<b1", bits.map(u8::from).to_vec(), NpyData::Bool(bits.to_vec()), &of_bits),
        ("<f8", bytes(wide.iter().map(|x| x.to_le_bytes())), NpyData::F64(wide.clone()), &wide),
        (">f8", bytes(wide.iter().map(|x| x.to_be_bytes())), NpyData::F64(wide.clone()), &wide),
    ] {
        let array = Npy::from_bytes(&file(descr, "False", "(2, 3)", &elements)).unwrap();
        assert_eq!((array.shape(), array.data()), (&[2, 3][..], &data), "{descr}");
        assert_eq!((array.dtype().is_none(), &array.values().unwrap()), (!descr.contains("i1"), values));
        let scratch = Scratch::new();
        let path = scratch.0.join("fortran.npy");
        fs::write(&path, file(descr, "True", "(3, 2)", &elements)).unwrap();
        let turned = [0, 3, 1, 4, 2, 5].map(|at| values[at]).to_vec();
        assert_eq!(read_npy_f64(&path).unwrap(), (vec![3, 2], turned), "{descr}");
    }
    // NumPy 2 writes back such bytes, and takes each for true.
    let mask = Npy::from_bytes(&file("|b1", "False", "(4,)", &[1, 0, 2, 255])).unwrap();
    assert_eq!(mask.data(), &NpyData::Bool(vec![true, false, true, true]));
    assert_eq!(mask.values().unwrap(), [1.0, 0.0, 1.0, 1.0]);
    let doubles = Npy::read(by_numpy("f64.npy")).unwrap();
    assert_eq!(doubles.values().unwrap(), read_npy_f64(by_numpy("f64.npy")).unwrap().1);
}

#[test]
fn tensors_are_converted_by_name_only() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let labels = bytes([3i64, -1, 2_147_483_647].map(i64::to_le_bytes));
    let labels = Npy::from_bytes(&file("<i8", "False", "(3,)", &labels)).unwrap();
    let error = labels.tensor::<i32>(gpu).unwrap_err().to_string();
    assert_eq!(
        error,
        "Npy::tensor: the array has elements of i64, which no tensor has: convert them with `tensor_as::<i32>`, or read \
         them as f64 with `values` or `read_npy_f64`"
    );
    // As the message says.
    assert_eq!(labels.tensor_as::<i32>(gpu).unwrap().to_vec().unwrap(), [3, -1, i32::MAX]);
    assert_eq!(labels.tensor_as::<f32>(gpu).unwrap().to_vec().unwrap(), [3.0, -1.0, 2_147_483_648.0]);
    let error = labels.tensor_as::<i8>(gpu).unwrap_err().to_string();
    assert_eq!(error, "Npy::tensor_as: the element at 2 is 2147483647, which i8 does not hold");

    let image = Npy::from_bytes(&file("|u1", "True", "(2, 3)", &[0, 1, 2, 253, 254, 255])).unwrap();
    let image = image.tensor_as::<f16>(gpu).unwrap();
    assert_eq!(image.shape(), [2, 3]);
    assert_eq!(image.to_vec().unwrap(), [0.0, 2.0, 254.0, 1.0, 253.0, 255.0].map(f16::from_f32));
    let mask = Npy::from_bytes(&file("|b1", "False", "(2,)", &[1, 0])).unwrap();
    assert_eq!(mask.tensor_as::<i8>(gpu).unwrap().to_vec().unwrap(), [1, 0]);

    let doubles = bytes([0.1, 1e-300, -3.0].map(f64::to_le_bytes));
    let doubles = Npy::from_bytes(&file("<f8", "False", "(3,)", &doubles)).unwrap();
    assert!(doubles.tensor::<f32>(gpu).unwrap_err().to_string().contains("`read_npy_f64`"));
    assert_eq!(doubles.tensor_as::<f32>(gpu).unwrap().to_vec().unwrap(), [0.1, 0.0, -3.0]);
    let halves = doubles.tensor_as::<bf16>(gpu).unwrap().to_vec().unwrap();
    assert_eq!(halves, [0.1, 0.0, -3.0].map(<bf16 as Element>::from_f64));
    let error = doubles.tensor_as::<i32>(gpu).unwrap_err().to_string();
    assert_eq!(error, "Npy::tensor_as: the element at 0 is 0.1, which i32 does not hold");
    let large = Npy::from_bytes(&file("<f8", "False", "()", &1e39f64.to_le_bytes())).unwrap();
    assert!(large.tensor_as::<f32>(gpu).unwrap_err().to_string().contains("which f32 does not hold"));
}

/// A file that is cut anywhere is no file: neither a panic nor an array.
#[test]
fn every_prefix_of_a_file_is_an_error() {
    let scratch = Scratch::new();
    let path = scratch.0.join("cut.npy");
    let bools = file("|b1", "True", "(3L, 2L)", &[1, 0, 1, 1, 0, 0]);
    let version_2 = fs::read(by_numpy("version_2_f32.npy")).unwrap();
    for whole in [npy_bytes([2, 3], &[1.0f32; 6]).unwrap(), bools, version_2] {
        assert!(Npy::from_bytes(&whole).is_ok());
        for end in 0..whole.len() {
            let error = Npy::from_bytes(&whole[..end]).expect_err("it is cut");
            assert!(
                matches!(&error, Error::Input { what, .. } if what == "Npy::from_bytes"),
                "{end}: {error}"
            );
            fs::write(&path, &whole[..end]).unwrap();
            for error in [Npy::read(&path).expect_err("cut"), read_npy_f64(&path).expect_err("cut")] {
                assert!(
                    matches!(&error, Error::Input { what, .. } if what.contains("cut.npy")),
                    "{end}: {error}"
                );
            }
        }
    }
}
