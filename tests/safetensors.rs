//! `.safetensors` files: what is written is read, and what is no such file, whole, is refused.
#![cfg(feature = "safetensors")]

mod support;

use std::fs;
use support::example::scratch;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::{Element, Error, Fill, Gpu, bf16, f16};

/// A file of one header and these bytes behind it.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn read(name: &str, bytes: &[u8]) -> tilewise::Result<Safetensors> {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    let found = Safetensors::read(&path);
    fs::remove_file(path).unwrap();
    found
}

#[test]
fn every_type_and_shape_comes_back_as_it_was() {
    let Some(gpu) = support::gpu() else { return };
    fn check<T: Element>(gpu: &Gpu, shape: &[usize]) {
        let path = scratch(&format!("{}-{}.safetensors", T::DTYPE, shape.len()));
        let values = Fill::Integers.values::<T>(shape.iter().product(), 1);
        let tensor = gpu.tensor(&values, shape).unwrap();
        SafetensorsWriter::new().tensor("x", &tensor).unwrap().metadata("made", "here").write(&path).unwrap();
        let file = Safetensors::read(&path).unwrap();
        assert_eq!(file.names(), ["x"]);
        assert_eq!((file.shape("x").unwrap(), file.dtype("x").unwrap()), (shape, Some(T::DTYPE)));
        assert_eq!((file.metadata("made"), file.metadata("other")), (Some("here"), None));
        let back = file.tensor::<T>(gpu, "x").unwrap();
        assert_eq!(back.shape(), shape);
        let bytes = |values: &[T]| bytemuck::cast_slice::<T, u8>(values).to_vec();
        assert_eq!(bytes(&back.to_vec().unwrap()), bytes(&values));
        let wide: Vec<f64> = values.iter().map(|x| x.to_f64()).collect();
        assert_eq!(file.values("x").unwrap(), wide);
        fs::remove_file(path).unwrap();
    }
    for shape in [&[][..], &[7], &[3, 5], &[2, 1, 3, 2], &[0, 4]] {
        check::<f32>(&gpu, shape);
        check::<f16>(&gpu, shape);
        check::<bf16>(&gpu, shape);
        check::<i8>(&gpu, shape);
        check::<i32>(&gpu, shape);
    }
}

#[test]
fn views_are_written_as_they_are_seen() {
    let Some(gpu) = support::gpu() else { return };
    let path = scratch("view.safetensors");
    let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    SafetensorsWriter::new().tensor("t", &x.t()).unwrap().tensor("x", &x).unwrap().write(&path).unwrap();
    let file = Safetensors::read(&path).unwrap();
    assert_eq!(file.names(), ["t", "x"]);
    assert_eq!(
        (file.shape("t").unwrap(), file.values("t").unwrap()),
        (&[3, 2][..], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
    );
    fs::remove_file(path).unwrap();
    let twice = SafetensorsWriter::new().tensor("x", &x).unwrap().tensor("x", &x);
    assert!(matches!(twice, Err(Error::Input { why, .. }) if why.contains("`x`")));
    let nowhere = SafetensorsWriter::new().tensor("x", &x).unwrap().write("/nonexistent/x.safetensors");
    assert!(matches!(nowhere, Err(Error::Input { what, .. }) if what.contains("/nonexistent/x.safetensors")));
}

#[test]
fn what_no_tensor_holds_is_read_as_f64() {
    let doubles: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let found =
        read("f64", &file(r#"{"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#, &doubles)).unwrap();
    assert_eq!((found.dtype("x").unwrap(), found.values("x").unwrap()), (None, vec![1.5, -2.0]));
    let longs: Vec<u8> = [7i64, -9].iter().flat_map(|x| x.to_le_bytes()).collect();
    let found =
        read("i64", &file(r#"{"x":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}}"#, &longs)).unwrap();
    assert_eq!(found.values("x").unwrap(), [7.0, -9.0]);
    let found =
        read("bool", &file(r#"{"x":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}"#, &[1, 0])).unwrap();
    assert!(
        matches!(found.values("x"), Err(Error::Input { why, .. }) if why.contains("`x`") && why.contains("F64"))
    );
}

#[test]
fn what_is_asked_wrongly_is_an_error_that_says_what_there_is() {
    let gpu = support::noop();
    let header = r#"{"w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
    let found = read("asked", &file(header, &[0; 8])).unwrap();
    for error in [found.shape("v").unwrap_err(), found.tensor::<f32>(&gpu, "v").unwrap_err()] {
        let said = error.to_string();
        assert!(["`v`", "b, w", "asked"].iter().all(|word| said.contains(word)), "{said}");
    }
    let said = found.tensor::<f32>(&gpu, "w").unwrap_err().to_string();
    assert!(["`w`", "F16", "f32", "cast"].iter().all(|word| said.contains(word)), "{said}");
    assert_eq!(found.tensor::<f16>(&gpu, "w").unwrap().shape(), [2]);
}

#[test]
fn broken_files_are_refused_by_name() {
    let one = |shape: &str, offsets: &str| {
        format!(r#"{{"x":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let whole = file(&one("[2]", "[0,8]"), &[0; 8]);
    assert!(read("whole", &whole).is_ok());
    let huge = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("short", vec![1, 0, 0]),
        ("text", b"no weights at all".to_vec()),
        ("truncated", whole[..whole.len() - 1].to_vec()),
        ("longer", [&whole[..], &[0]].concat()),
        ("header", whole[..20].to_vec()),
        ("huge-header", huge),
        ("shape-beyond", file(&one("[3]", "[0,8]"), &[0; 8])),
        ("overflow", file(&one("[4294967296,4294967296,4294967296]", "[0,8]"), &[0; 8])),
        ("backwards", file(&one("[2]", "[8,0]"), &[0; 8])),
        ("hole", file(&one("[2]", "[8,16]"), &[0; 16])),
        ("type", file(r#"{"x":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}}"#, &[0; 8])),
    ] {
        let refused = read(name, &bytes).expect_err(name);
        let Error::Input { what, why } = &refused else { panic!("{name}: {refused:?}") };
        assert!(what.contains(name) && why.contains("no .safetensors file"), "{refused}");
    }
    let missing = Safetensors::read("/nonexistent/w.safetensors").expect_err("there is none");
    assert!(missing.to_string().contains("cannot be opened"), "{missing}");
}
