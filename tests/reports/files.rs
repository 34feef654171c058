//! Files of other writers, and files at the edge of their format.

use tilewise::Error;
use tilewise::io::{MemoryOrder, Npy, Safetensors};

/// A `.npy` file of this version, header and data.
fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    let length = if version == 1 { &length[..2] } else { &length[..] };
    [b"\x93NUMPY", &[version, 0][..], length, header.as_bytes(), data].concat()
}

fn bytes<const N: usize>(words: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    words.into_iter().flatten().collect()
}

/// stdlib-js/stdlib#581, rogersce/cnpy#85, #7, llohse/libnpy (NpyCpp#2), numpy/numpy#8784: headers of other writers, versions 2
/// and 3, Fortran order, big-endian elements and long headers are misread.
#[test]
fn npy_files_of_other_writers_are_read() {
    let singles = [0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let little = bytes(singles.map(f32::to_le_bytes));
    let big = bytes(singles.map(f32::to_be_bytes));
    let doubles = bytes(singles.map(|x| f64::from(x).to_le_bytes()));
    let longs = bytes([0i64, 1, 2, 3, 4, 5].map(i64::to_le_bytes));
    let small: Vec<u8> = vec![0, 1, 2, 3, 4, 5];
    let counted: Vec<f64> = singles.iter().map(|&x| x.into()).collect();
    let turned = vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]; // Fortran order (3, 2)
    let padded =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }}{}\n", " ".repeat(9000));
    let (c, fortran) = (&counted, &turned);
    for (what, version, header, data, shape, values) in [
        (
            "NumPy",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
            &little,
            &[2usize, 3][..],
            c,
        ),
        ("no padding", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", &little, &[2, 3], c),
        (
            "no last comma",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}\n",
            &little,
            &[2, 3],
            c,
        ),
        ("no blanks", 1, "{'descr':'<f4','fortran_order':False,'shape':(2,3)}\n", &little, &[2, 3], c),
        (
            "double quotes",
            1,
            "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (2, 3)}\n",
            &little,
            &[2, 3],
            c,
        ),
        (
            "another order of keys",
            1,
            "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}\n",
            &little,
            &[2, 3],
            c,
        ),
        (
            "more blanks",
            1,
            "{  'descr' :  '<f4' , 'fortran_order' : False , 'shape' : ( 2 , 3 ) , }\n",
            &little,
            &[2, 3],
            c,
        ),
        (
            "version 2",
            2,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
            &little,
            &[2, 3],
            c,
        ),
        (
            "version 3",
            3,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
            &little,
            &[2, 3],
            c,
        ),
        ("a long header", 2, &padded, &little, &[2, 3], c),
        (
            "Fortran order",
            1,
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }\n",
            &little,
            &[3, 2],
            fortran,
        ),
        (
            "Fortran order, one axis",
            1,
            "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }\n",
            &little,
            &[6],
            c,
        ),
        ("big-endian", 1, "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", &big, &[2, 3], c),
        (
            "big-endian, Fortran order",
            1,
            "{'descr': '>f4', 'fortran_order': True, 'shape': (3, 2), }\n",
            &big,
            &[3, 2],
            fortran,
        ),
        (
            "the reader's byte order",
            1,
            "{'descr': '=f4', 'fortran_order': False, 'shape': (2, 3), }\n",
            &bytes(singles.map(f32::to_ne_bytes)),
            &[2, 3],
            c,
        ),
        (
            "Python 2",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }\n",
            &little,
            &[2, 3],
            c,
        ),
        ("one axis", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", &little, &[6], c),
        ("doubles", 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n", &doubles, &[2, 3], c),
        (
            "integers of 64 bits",
            1,
            "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n",
            &longs,
            &[2, 3],
            c,
        ),
        ("bytes", 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n", &small, &[2, 3], c),
        (
            "bytes with an order",
            1,
            "{'descr': '<u1', 'fortran_order': False, 'shape': (2, 3), }\n",
            &small,
            &[2, 3],
            c,
        ),
        (
            "six axes",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 3, 1, 1), }\n",
            &little,
            &[1, 2, 1, 3, 1, 1],
            c,
        ),
        (
            "a scalar",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n",
            &vec![0; 4],
            &[],
            &vec![0.0],
        ),
        (
            "nothing",
            1,
            "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }\n",
            &vec![],
            &[0, 3],
            &vec![],
        ),
    ] {
        let array =
            Npy::from_bytes(&npy(version, header, data)).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((array.shape(), &array.values().unwrap()), (shape, values), "{what}");
        let is_fortran = header.contains("'fortran_order': True");
        assert_eq!(array.order() == MemoryOrder::Fortran, is_fortran, "{what}");
        let more = Npy::from_bytes(&npy(version, header, &[&data[..], &[0; 5]].concat())).unwrap_err();
        assert!(more.to_string().contains("bytes of elements"), "{what}: {more}");
    }
}

/// A `.safetensors` file of this header and so many bytes.
fn safetensors(header: &str, len: usize) -> tilewise::Result<Safetensors> {
    let data = (0..len).map(|i| i.to_le_bytes()[0]);
    Safetensors::from_bytes(
        (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data).collect(),
    )
}

/// A name, the header, bytes of data, and the tensors with their shapes.
type File<'a> = (&'a str, &'a str, usize, &'a [(&'a str, &'a [usize])]);

/// huggingface/safetensors#442, #226, vllm-project/vllm#1696, ggml-org/llama.cpp#25596: empty and scalar tensors, and odd sizes,
/// break readers.
#[test]
fn safetensors_at_the_edge_of_the_format_are_read_or_refused() {
    let read: [File<'_>; 11] = [
        ("nothing", "{}", 0, &[]),
        (
            "an empty tensor",
            r#"{"a":{"dtype":"F32","shape":[0,2],"data_offsets":[0,0]}}"#,
            0,
            &[("a", &[0, 2])],
        ),
        ("a scalar", r#"{"a":{"dtype":"F16","shape":[],"data_offsets":[0,2]}}"#, 2, &[("a", &[])]),
        (
            "unsorted",
            r#"{"b":{"dtype":"U8","shape":[1],"data_offsets":[4,5]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
            5,
            &[("a", &[1]), ("b", &[1])],
        ),
        (
            "an offset of 3 bytes",
            r#"{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}}"#,
            7,
            &[("a", &[3]), ("b", &[1])],
        ),
        ("padding before", r#"  {"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#, 1, &[("a", &[1])]),
        (
            "padding behind",
            "{\"a\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}   ",
            1,
            &[("a", &[1])],
        ),
        (
            "another field",
            r#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1],"more":7}}"#,
            1,
            &[("a", &[1])],
        ),
        (
            "fp8",
            r#"{"a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[3,4]}}"#,
            4,
            &[("a", &[3]), ("b", &[1])],
        ),
        (
            "other letters",
            "{\"\u{e9}.\u{540d}\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
            1,
            &[("\u{e9}.\u{540d}", &[1])],
        ),
        (
            "seven axes",
            r#"{"a":{"dtype":"I8","shape":[1,1,1,2,1,1,1],"data_offsets":[0,2]}}"#,
            2,
            &[("a", &[1, 1, 1, 2, 1, 1, 1])],
        ),
    ];
    for (what, header, len, tensors) in read {
        let file = safetensors(header, len).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(file.names(), tensors.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{what}");
        for (name, shape) in tensors {
            assert_eq!(file.shape(name).unwrap(), *shape, "{what}");
            assert_eq!(file.values(name).unwrap().len(), shape.iter().product::<usize>(), "{what}");
        }
    }
    // The element behind three bytes is read as it is: bytes 3, 4, 5, 6.
    let odd = safetensors(read[4].1, read[4].2).unwrap();
    assert_eq!(odd.values("b").unwrap(), [f64::from(f32::from_le_bytes([3, 4, 5, 6]))]);
    for (what, header, len) in [
        (
            "a gap",
            r#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I8","shape":[1],"data_offsets":[5,6]}}"#,
            6,
        ),
        ("bytes behind the last", r#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#, 5),
        (
            "two names for the same bytes",
            r#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}}"#,
            1,
        ),
        ("metadata that is no text", r#"{"__metadata__":{"n":1}}"#, 0),
        ("a type in small letters", r#"{"a":{"dtype":"f32","shape":[1],"data_offsets":[0,4]}}"#, 4),
        ("an odd number of half bytes", r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}}"#, 2),
    ] {
        let refused = safetensors(header, len).expect_err(what);
        assert!(matches!(refused, Error::Input { .. }), "{what}: {refused}");
    }
}

/// The same reports: an empty tensor beside others becomes a tensor, a scalar too.
#[test]
fn empty_and_scalar_tensors_are_uploaded() {
    let turn = support::turn();
    for gpu in turn.iter() {
        let header = r#"{"e":{"dtype":"F32","shape":[0,2],"data_offsets":[0,0]},"s":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}"#;
        let file = safetensors(header, 4).unwrap();
        let (empty, scalar) = (file.tensor::<f32>(gpu, "e").unwrap(), file.tensor::<i32>(gpu, "s").unwrap());
        assert_eq!((empty.shape(), empty.to_vec().unwrap()), (&[0, 2][..], vec![]));
        assert_eq!((scalar.shape(), scalar.to_vec().unwrap()), (&[][..], vec![0x0302_0100]));
    }
}
