//! Files of numbers of 8 bits.

use super::{Fp8, every_code, of_both, value};
use support::failure::says;
use tilewise::io::{Safetensors, SafetensorsWriter, npy_bytes};
use tilewise::{Error, F8E4M3, F8E5M2, Gpu};

/// A `.safetensors` file of one tensor `x` of all codes.
fn of_all_codes(dtype: &str) -> Vec<u8> {
    let header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":[4,64],"data_offsets":[0,256]}}}}"#);
    let bytes = (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes());
    bytes.chain(0..=u8::MAX).collect()
}

#[test]
fn safetensors_have_every_code() {
    fn check<T: Fp8>(gpu: &Gpu) {
        let name = if T::FRACTION == 3 { "F8_E4M3" } else { "F8_E5M2" };
        let codes = |tensor: tilewise::Tensor<T>| -> Vec<u8> {
            tensor.to_vec().unwrap().into_iter().map(Fp8::code).collect()
        };
        let file = Safetensors::from_bytes(of_all_codes(name)).unwrap();
        assert_eq!((file.dtype("x").unwrap(), file.shape("x").unwrap()), (Some(T::DTYPE), &[4, 64][..]));
        let x = file.tensor::<T>(gpu, "x").unwrap();
        assert_eq!(codes(x.clone()), (0..=u8::MAX).collect::<Vec<_>>());

        // Its own file is the same, of a view too.
        let written = SafetensorsWriter::new().tensor("x", &x).unwrap().to_bytes().unwrap();
        let again = Safetensors::from_bytes(written.clone()).unwrap();
        assert_eq!(again.bytes("x").unwrap(), file.bytes("x").unwrap());
        assert!(String::from_utf8_lossy(&written).contains(&format!(r#""dtype":"{name}""#)));
        let turned = SafetensorsWriter::new().tensor("t", &x.t()).unwrap().to_bytes().unwrap();
        let turned = Safetensors::from_bytes(turned).unwrap().tensor::<T>(gpu, "t").unwrap();
        assert_eq!(codes(turned.t().contiguous().unwrap()), codes(x.clone()));

        // As f32 it is converted by name, or cast.
        let wide = file.tensor_as::<f32>(gpu, "x").unwrap().to_vec().unwrap();
        let cast = x.cast::<f32>().unwrap().to_vec().unwrap();
        for (code, (a, b)) in (0..=u8::MAX).zip(wide.iter().zip(&cast)) {
            let want = value::<T>(code);
            for found in [f64::from(*a), f64::from(*b)] {
                assert!(found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan(), "{code}");
            }
        }
        let said = file.tensor::<f32>(gpu, "x").unwrap_err().to_string();
        let remedy = format!("load it with `tensor::<{:?}>`, then `cast` it to f32", T::DTYPE);
        assert!(said.contains(&remedy), "{said}");
    }
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    of_both!(check, gpu);
}

#[test]
fn numbers_of_files_become_8_bits_or_are_refused() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let of = |values: &[f64]| {
        let (len, end) = (values.len(), 8 * values.len());
        let header = format!(r#"{{"x":{{"dtype":"F64","shape":[{len}],"data_offsets":[0,{end}]}}}}"#);
        let data = values.iter().flat_map(|x| x.to_le_bytes());
        let bytes = (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data);
        Safetensors::from_bytes(bytes.collect()).unwrap()
    };
    let file = of(&[0.3, -464.0, 1e-30, 1.0 + 2f64.powi(-4) + 2f64.powi(-40)]);
    let found = file.tensor_as::<F8E4M3>(gpu, "x").unwrap().to_vec().unwrap();
    assert_eq!(found.iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [0.3125, -448.0, 0.0, 1.125]);
    for (values, is_held) in [([f64::NAN, 1.0], [true, true]), ([f64::INFINITY, 1.0], [false, true])] {
        let file = of(&values);
        assert_eq!(
            [file.tensor_as::<F8E4M3>(gpu, "x").is_ok(), file.tensor_as::<F8E5M2>(gpu, "x").is_ok()],
            is_held
        );
    }
    says(of(&[1.0, 500.0]).tensor_as::<F8E4M3>(gpu, "x"), &["the element at 1 is 500", "e4m3 does not hold"]);
    assert!(of(&[61_440.0]).tensor_as::<F8E5M2>(gpu, "x").is_err(), "it would be infinite");
}

#[test]
fn npy_files_do_not_have_them() {
    fn check<T: Fp8>(_: ()) {
        match npy_bytes([256], &every_code::<T>()) {
            Err(Error::Input { why, .. }) => assert_eq!(
                why,
                format!("NumPy has no {}: `cast` the tensor to f32 first, which is exact", T::DTYPE)
            ),
            other => panic!("{other:?}"),
        }
    }
    of_both!(check, ());
}
