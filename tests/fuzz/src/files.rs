//! Files of arrays: reading returns the file's contents, and writing them again gives a file with the same contents.

use std::path::PathBuf;
use tilewise::io::{Npy, NpyData, Safetensors, SafetensorsWriter, read_npy_f64, write_npy_slice};
use tilewise::{DType, f16};

/// A temporary file, which is deleted when it is dropped.
struct Place(PathBuf);

impl Place {
    fn new(extension: &str) -> Self {
        let id = format!("{}-{:?}", std::process::id(), std::thread::current().id());
        Self(std::env::temp_dir().join(format!("tilewise-fuzz-{id}.{extension}")))
    }

    fn with(extension: &str, data: &[u8]) -> Self {
        let place = Self::new(extension);
        std::fs::write(&place.0, data).unwrap();
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// The number of elements, and their bits, so that NaNs can be compared.
fn bits(data: &NpyData) -> (usize, Vec<u64>) {
    let bits: Vec<u64> = match data {
        NpyData::F64(x) => x.iter().map(|x| x.to_bits()).collect(),
        NpyData::F32(x) => x.iter().map(|x| x.to_bits().into()).collect(),
        NpyData::F16(x) => x.iter().map(|x| x.to_bits().into()).collect(),
        NpyData::I64(x) => x.iter().map(|x| x.cast_unsigned()).collect(),
        NpyData::I32(x) => x.iter().map(|x| i64::from(*x).cast_unsigned()).collect(),
        NpyData::I16(x) => x.iter().map(|x| i64::from(*x).cast_unsigned()).collect(),
        NpyData::I8(x) => x.iter().map(|x| i64::from(*x).cast_unsigned()).collect(),
        NpyData::U64(x) => x.clone(),
        NpyData::U32(x) => x.iter().map(|&x| x.into()).collect(),
        NpyData::U16(x) => x.iter().map(|&x| x.into()).collect(),
        NpyData::U8(x) => x.iter().map(|&x| x.into()).collect(),
        NpyData::Bool(x) => x.iter().map(|&x| x.into()).collect(),
        _ => unreachable!("there is no other type"),
    };
    (bits.len(), bits)
}

pub(crate) fn npy(data: &[u8]) {
    let place = Place::with("npy", data);
    let on_the_host = read_npy_f64(&place.0);
    if let Ok((shape, values)) = &on_the_host {
        assert_eq!(shape.iter().product::<usize>(), values.len());
        assert!(values.len() <= data.len());
    }
    let (array, in_memory) = (Npy::read(&place.0), Npy::from_bytes(data));
    assert_eq!(array.is_ok(), in_memory.is_ok(), "{:?}, and in memory {:?}", array.err(), in_memory.err());
    assert_eq!(array.is_ok(), on_the_host.is_ok(), "every array has values");
    let (Ok(array), Ok(in_memory)) = (array, in_memory) else { return };
    let same = |(a, b): (f64, f64)| a.to_bits() == b.to_bits();
    let values = array.values().unwrap().into_iter().zip(on_the_host.unwrap().1);
    assert!(values.into_iter().all(same), "one way to the values, and the other");
    let of = |array: &Npy| (array.shape().to_vec(), array.dtype(), bits(array.data()));
    assert_eq!(of(&array), of(&in_memory), "on the disk, and in memory");
    let count: usize = array.shape().iter().product();
    assert_eq!(count, bits(array.data()).0);
    assert!(count * array.dtype().map_or(1, DType::size) <= data.len());
    let shape = array.shape();
    let again = Place::new("again.npy");
    let written = match array.data() {
        NpyData::F32(x) => write_npy_slice(&again.0, shape, x),
        NpyData::F16(x) => write_npy_slice(&again.0, shape, x),
        NpyData::I8(x) => write_npy_slice(&again.0, shape, x),
        NpyData::I32(x) => write_npy_slice(&again.0, shape, x),
        _ => return assert_eq!(array.dtype(), None, "a type that is not written"),
    };
    // Only the shape of an empty array can have strides that overflow.
    if let Err(error) = written {
        assert_eq!(count, 0, "{error}");
        return;
    }
    let read = Npy::read(&again.0).unwrap();
    assert_eq!(of(&read), of(&array), "written and read again");
}

pub(crate) fn npy_seeds() -> Vec<Vec<u8>> {
    let place = Place::new("seed.npy");
    let written = || std::fs::read(&place.0).unwrap();
    let mut seeds = Vec::new();
    write_npy_slice(&place.0, [2, 3], &[0.5f32, -1.0, f32::NAN, 3.0, 1e-40, f32::INFINITY]).unwrap();
    seeds.push(written());
    let text = |from: &str, to: &str| {
        let text: Vec<u8> = written();
        let at = text.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        [&text[..at], to.as_bytes(), &text[at + from.len()..]].concat()
    };
    seeds.extend([text("False", "True "), text("<f4", ">f4"), text("<f4", "<f8"), text("2, 3", "3, 2")]);
    seeds.extend([text("<f4", "=f4"), text("2, 3", "2L,3"), text("<f4", "<u4"), text("<f4", "<V4")]);
    write_npy_slice(&place.0, [1, 0, 5], &[0i32; 0]).unwrap();
    seeds.push(written());
    write_npy_slice(&place.0, [4], &[1i8, -2, 3, -4]).unwrap();
    seeds.push(written());
    write_npy_slice(&place.0, [2, 1], &[f16::ONE, f16::MIN]).unwrap();
    seeds.push(written());
    seeds
}

pub(crate) fn safetensors(data: &[u8]) {
    let place = Place::with("safetensors", data);
    let (file, in_memory) = (Safetensors::read(&place.0), Safetensors::from_bytes(data.to_vec()));
    assert_eq!(file.is_ok(), in_memory.is_ok(), "{:?}, and in memory {:?}", file.err(), in_memory.err());
    let (Ok(file), Ok(in_memory)) = (file, in_memory) else { return };
    assert_same(&file, &in_memory);
    let mut writer = SafetensorsWriter::new();
    let mut bytes = 0;
    for name in file.names() {
        let held = file.bytes(&name).unwrap();
        bytes += held.len();
        let count = file.shape(&name).unwrap().iter().product::<usize>();
        if let Some(dtype) = file.dtype(&name).unwrap() {
            assert_eq!(count * dtype.size(), held.len(), "{name}");
            assert!(DType::ALL.contains(&dtype));
        }
        if let Ok(values) = file.values(&name) {
            assert_eq!(values.len(), count, "{name}");
        }
        writer = match writer.copied(&file, &name) {
            Ok(writer) => writer,
            // Every name that can be read can also be written.
            Err(error) => panic!("{name}: {error}"),
        };
    }
    assert!(bytes <= data.len());
    for key in file.metadata_keys() {
        writer = writer.metadata(key, file.metadata(key).unwrap());
    }
    let again = Place::new("again.safetensors");
    writer.write(&again.0).unwrap();
    let read = Safetensors::read(&again.0).unwrap();
    assert_same(&read, &file);
}

fn assert_same(a: &Safetensors, b: &Safetensors) {
    assert_eq!(a.names(), b.names());
    for name in a.names() {
        assert_eq!(a.shape(&name).unwrap(), b.shape(&name).unwrap());
        assert_eq!(a.dtype(&name).unwrap(), b.dtype(&name).unwrap());
        assert_eq!(a.bytes(&name).unwrap(), b.bytes(&name).unwrap());
    }
    assert_eq!(a.metadata_keys(), b.metadata_keys());
    for key in a.metadata_keys() {
        assert_eq!(a.metadata(key), b.metadata(key));
    }
}

pub(crate) fn safetensors_seeds() -> Vec<Vec<u8>> {
    let of = |header: &str, elements: usize| {
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], header.as_bytes(), &(0..elements).map(|i| i.to_le_bytes()[0]).collect::<Vec<_>>()]
            .concat()
    };
    vec![
        of("{}", 0),
        of(r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}"#, 24),
        of(
            r#"{"__metadata__":{"k":"v","é":""},"a.b":{"dtype":"F16","shape":[],"data_offsets":[0,2]},"c":{"dtype":"I64","shape":[0,7],"data_offsets":[2,2]}}"#,
            2,
        ),
        of(
            r#"{"x":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]},"y":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"z":{"dtype":"BOOL","shape":[3],"data_offsets":[12,15]}}"#,
            15,
        ),
    ]
}
