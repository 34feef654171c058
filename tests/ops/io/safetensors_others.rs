//! `.safetensors` files of types that no tensor has, of nested names, and files that are cut: each error says what to do,
//! and doing that works.

use tilewise::io::Safetensors;
use tilewise::{Element, Error, F8E4M3, F8E5M2, Gpu, Result, bf16, f16};

/// A file of one header and these bytes behind it.
fn file(header: &str, data: &[u8]) -> Safetensors {
    Safetensors::from_bytes(bytes(header, data)).unwrap()
}

fn bytes(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// A file of one tensor `x` with one axis.
fn one(dtype: &str, len: usize, data: &[u8]) -> Safetensors {
    let end = data.len();
    file(&format!(r#"{{"x":{{"dtype":"{dtype}","shape":[{len}],"data_offsets":[0,{end}]}}}}"#), data)
}

/// Loads `x` as `T`. If that fails, does what the error says, literally.
fn loaded_as_advised<T: Element>(file: &Safetensors, gpu: &Gpu) -> Result<(String, Vec<f64>)> {
    fn values<T: Element>(tensor: &tilewise::Tensor<T>) -> Result<Vec<f64>> {
        Ok(tensor.to_vec()?.into_iter().map(Element::to_f64).collect())
    }
    let advice = file.tensor::<T>(gpu, "x").unwrap_err().to_string();
    let (_, remedy) =
        advice.split_once(": load it with ").or(advice.split_once(": convert it with ")).unwrap();
    let found = match remedy {
        "`tensor::<f16>`, then `cast` it to f32" => values(&file.tensor::<f16>(gpu, "x")?.cast::<f32>()?)?,
        "`tensor::<bf16>`, then `cast` it to f32" => values(&file.tensor::<bf16>(gpu, "x")?.cast::<f32>()?)?,
        "`tensor::<F8E4M3>`, then `cast` it to f32" => {
            values(&file.tensor::<F8E4M3>(gpu, "x")?.cast::<f32>()?)?
        }
        "`tensor::<F8E5M2>`, then `cast` it to f32" => {
            values(&file.tensor::<F8E5M2>(gpu, "x")?.cast::<f32>()?)?
        }
        "`tensor_as::<f32>`, or read it as f64 with `values`" => {
            let tensor = values(&file.tensor_as::<f32>(gpu, "x")?)?;
            assert_eq!(tensor, file.values("x")?);
            tensor
        }
        "`tensor_as::<i32>`, or read it as f64 with `values`" => {
            let tensor = values(&file.tensor_as::<i32>(gpu, "x")?)?;
            assert_eq!(tensor, file.values("x")?);
            tensor
        }
        other => panic!("no advice that a caller can follow: {other}"),
    };
    Ok((advice, found))
}

#[test]
fn the_remedy_that_an_error_names_works() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let check = |dtype: &str, data: &[u8], want: &[f64]| {
        let file = one(dtype, want.len(), data);
        let (advice, found) = loaded_as_advised::<f32>(&file, gpu).unwrap();
        assert!(advice.contains(&format!("`x` has elements of {dtype}, not f32")), "{advice}");
        assert_eq!(found, want, "{dtype}");
    };
    check("I64", &7i64.to_le_bytes(), &[7.0]);
    check("U64", &8u64.to_le_bytes(), &[8.0]);
    check("U32", &9u32.to_le_bytes(), &[9.0]);
    check("I16", &(-9i16).to_le_bytes(), &[-9.0]);
    check("U16", &65_535u16.to_le_bytes(), &[65_535.0]);
    check("U8", &[200], &[200.0]);
    check("BOOL", &[1, 0], &[1.0, 0.0]);
    check("F64", &1.5f64.to_le_bytes(), &[1.5]);
    check("F8_E4M3", &[0x7e, 0x38, 0x81], &[448.0, 1.0, -(2f64.powi(-9))]);
    check("F8_E5M2", &[0x7b, 0x3c, 0x81], &[57_344.0, 1.0, -(2f64.powi(-16))]);
    check("F8_E8M0", &[127, 130], &[1.0, 8.0]);
    check("F16", &f16::from_f32(1.5).to_le_bytes(), &[1.5]);
    check("BF16", &bf16::from_f32(-2.5).to_le_bytes(), &[-2.5]);
    let labels = one("I64", 1, &7i64.to_le_bytes());
    let (_, found) = loaded_as_advised::<i32>(&labels, gpu).unwrap();
    assert_eq!(found, [7.0]);
    // What no number type has is said to be bytes.
    for (dtype, len, size) in [("C64", 1, 8), ("F4", 4, 2), ("F6_E2M3", 4, 3)] {
        let file = one(dtype, len, &vec![1; size]);
        let error = file.tensor::<f32>(gpu, "x").unwrap_err().to_string();
        assert!(error.ends_with("no tensor has this type; `bytes` has its bytes"), "{error}");
        assert_eq!(file.bytes("x").unwrap(), vec![1; size]);
        for error in [file.values("x").map(drop), file.tensor_as::<f32>(gpu, "x").map(drop)] {
            assert!(error.unwrap_err().to_string().contains("`bytes` has its bytes"), "{dtype}");
        }
    }
}

#[test]
fn a_conversion_that_would_lose_a_number_names_it() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let data: Vec<u8> = [1i64, 1 << 40].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = one("I64", 2, &data);
    let error = file.tensor_as::<i32>(gpu, "x").unwrap_err().to_string();
    assert_eq!(error, "safetensors: `x`: the element at 1 is 1099511627776, which i32 does not hold");
    assert_eq!(file.tensor_as::<f32>(gpu, "x").unwrap().to_vec().unwrap(), [1.0, 2f32.powi(40)]);
    let doubles: Vec<u8> = [0.5f64, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
    let file = one("F64", 2, &doubles);
    assert!(file.tensor_as::<i8>(gpu, "x").unwrap_err().to_string().contains("the element at 0 is 0.5"));
    assert!(file.tensor_as::<f16>(gpu, "x").unwrap().to_vec().unwrap()[1].is_nan());
}

#[test]
fn a_missing_name_is_answered_with_the_names_that_are_nested_alike() {
    let entries: Vec<String> = (0..40)
        .flat_map(|layer| ["weight", "bias"].map(|part| format!("model.layers.{layer}.norm.{part}")))
        .map(|name| format!(r#""{name}":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}"#))
        .collect();
    let file = file(&format!("{{{}}}", entries.join(",")), &[]);
    let missing = |name: &str| file.shape(name).unwrap_err().to_string();
    assert_eq!(
        missing("layers.7.norm.weight"),
        "safetensors: has no tensor `layers.7.norm.weight`; it has `model.layers.7.norm.weight` and 79 more"
    );
    assert_eq!(
        missing("module.model.layers.7.norm.weight"),
        "safetensors: has no tensor `module.model.layers.7.norm.weight`; it has `model.layers.7.norm.weight` and 79 more"
    );
    assert_eq!(
        missing("model.layers.3.norm"),
        "safetensors: has no tensor `model.layers.3.norm`; it has `model.layers.3.norm.bias`, \
         `model.layers.3.norm.weight` and 78 more"
    );
    let other = missing("head");
    assert!(other.ends_with("`model.layers.13.norm.weight` and 68 more") && other.len() < 600, "{other}");
    assert!(missing("").len() < 600);
    let none = Safetensors::from_bytes(bytes("{}", &[])).unwrap();
    assert_eq!(none.shape("x").unwrap_err().to_string(), "safetensors: has no tensor `x`; it has none");
}

/// A file that is cut anywhere is no file: neither a panic nor a tensor.
#[test]
fn every_prefix_of_a_file_is_an_error() {
    let header = r#"{"__metadata__":{"made":"here"},"a.b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"c":{"dtype":"I64","shape":[1,1],"data_offsets":[8,16]}}   "#;
    let whole = bytes(header, &[7; 16]);
    assert_eq!(Safetensors::from_bytes(whole.clone()).unwrap().names(), ["a.b", "c"]);
    for end in 0..whole.len() {
        let error = Safetensors::from_bytes(whole[..end].to_vec()).expect_err("it is cut");
        let named = |what: &str| what == "Safetensors::from_bytes";
        assert!(matches!(&error, Error::Input { what, .. } if named(what)), "{end}: {error}");
    }
}
