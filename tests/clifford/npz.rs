//! Integers from `.npz` files, which are archives of `.npy` files.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The arrays of a file: of each its shape and its elements, in C order.
pub(crate) struct Npz(BTreeMap<String, (Vec<usize>, Vec<i64>)>);

impl Npz {
    pub(crate) fn read(path: &Path) -> Self {
        let mut archive = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
        let mut arrays = BTreeMap::new();
        for i in 0..archive.len() {
            let mut file = archive.by_index(i).unwrap();
            let name = file.name().strip_suffix(".npy").expect("an .npz holds .npy files").to_owned();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            arrays.insert(name, integers(&bytes));
        }
        Self(arrays)
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub(crate) fn integers(&self, name: &str) -> &[i64] {
        &self.array(name).1
    }

    pub(crate) fn shape(&self, name: &str) -> &[usize] {
        &self.array(name).0
    }

    fn array(&self, name: &str) -> &(Vec<usize>, Vec<i64>) {
        self.0.get(name).unwrap_or_else(|| panic!("there is no {name}, but {:?}", self.names()))
    }
}

fn integers(bytes: &[u8]) -> (Vec<usize>, Vec<i64>) {
    let npy = npyz::NpyFile::new(bytes).unwrap();
    assert_eq!(npy.order(), npyz::Order::C);
    let shape = npy.shape().iter().map(|&n| usize::try_from(n).unwrap()).collect();
    let values = match npy.dtype().descr().as_str() {
        "'|i1'" => npy.into_vec::<i8>().unwrap().into_iter().map(i64::from).collect(),
        "'|u1'" => npy.into_vec::<u8>().unwrap().into_iter().map(i64::from).collect(),
        "'<i4'" => npy.into_vec::<i32>().unwrap().into_iter().map(i64::from).collect(),
        "'<i8'" => npy.into_vec::<i64>().unwrap(),
        other => panic!("integers, not {other}"),
    };
    (shape, values)
}
