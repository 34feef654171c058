//! Files report their progress, and a cancelled file is not there.

use std::fs;
use support::progress::{assert_cancellable, cancelled_at, recorded};
use tilewise::io::{Npy, Safetensors, SafetensorsWriter, read_npy_f64, write_npy, write_npy_slice};
use tilewise::{Error, Fill, Result, f16};

/// Elements of 40 MiB, which are three chunks.
const LEN: usize = 10 << 20;

#[test]
fn files_can_be_cancelled() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let folder = support::folder("io-progress");
    fs::create_dir_all(&folder).unwrap();
    let [npy, safetensors] = ["a.npy", "a.safetensors"].map(|name| folder.join(name));
    let elements = vec![1.5f32; LEN];
    let length = |path| fs::metadata(path).map_or(0, |file| file.len());
    let names = || {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.collect::<Vec<_>>().len()
    };

    assert_cancellable(&gpu, "write_npy_slice", || {
        let _ = fs::remove_file(&npy);
        let done = write_npy_slice(&npy, [LEN], &elements);
        assert_eq!(names(), usize::from(done.is_ok()), "no file and no draft");
        done.map(|()| length(&npy))
    });
    let x = gpu.tensor(&elements, [LEN]).unwrap();
    assert_cancellable(&gpu, "write_npy", || write_npy(&npy, &x).map(|()| length(&npy)));
    assert_cancellable(&gpu, "Npy::read", || Npy::read(&npy).map(|file| file.shape().to_vec()));
    let file = Npy::read(&npy).unwrap();
    assert_cancellable(&gpu, "Npy::tensor_as", || file.tensor_as::<f16>(&gpu)?.slice(0, ..2)?.to_vec());
    assert_cancellable(&gpu, "Npy::values", || file.values().map(|values| values.len()));
    fs::write(folder.join("small.npy"), tilewise::io::npy_bytes([2], &[1.0f32, 2.0]).unwrap()).unwrap();
    assert_cancellable(&gpu, "read_npy_f64", || read_npy_f64(folder.join("small.npy")));
    fs::remove_file(folder.join("small.npy")).unwrap();
    fs::remove_file(&npy).unwrap();

    let writer = SafetensorsWriter::new().tensor("x", &x).unwrap().metadata("made", "here");
    assert_cancellable(&gpu, "SafetensorsWriter::write", || {
        let _ = fs::remove_file(&safetensors);
        let done = writer.write(&safetensors);
        assert_eq!(names(), usize::from(done.is_ok()), "no file and no draft");
        done.map(|()| length(&safetensors))
    });
    assert_cancellable(&gpu, "Safetensors::read", || {
        let file = Safetensors::read(&safetensors)?;
        Ok((file.names(), file.bytes("x")?.len()))
    });
    let file = Safetensors::read(&safetensors).unwrap();
    assert_cancellable(&gpu, "Safetensors::tensor_as", || {
        file.tensor_as::<f16>(&gpu, "x")?.slice(0, ..2)?.to_vec()
    });
    assert_cancellable(&gpu, "Safetensors::values", || file.values("x").map(|values| values.len()));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_is_reported_by_its_bytes() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let path = support::folder("io-bytes").with_extension("safetensors");
    let x = gpu.random::<f32>([1 << 20, 6], Fill::Integers, 1)?; // 24 MiB: two chunks
    let writer = SafetensorsWriter::new().tensor("x", &x)?;
    let (written, all) = recorded(|| writer.write(&path));
    written?;
    let bytes = fs::metadata(&path).unwrap().len();
    assert!(all.iter().all(|told| told.total == bytes), "{all:#?}");
    let (read, all) = recorded(|| Safetensors::read(&path));
    read?;
    let done: Vec<u64> = all.iter().map(|told| told.done).collect();
    assert_eq!(done, [0, 16 << 20, bytes], "{all:#?}");
    assert!(all[0].what.ends_with(".safetensors"));

    // The old file stays as it was.
    let before = fs::read(&path).unwrap();
    let other = SafetensorsWriter::new().tensor("y", &x)?;
    let (cancelled, _) = cancelled_at(|| other.write(&path), |told| told.done == told.total);
    assert!(matches!(cancelled, Err(Error::Cancelled { .. })));
    assert!(fs::read(&path).unwrap() == before);
    // What is in memory is not reported.
    let (bytes, all) = recorded(|| other.to_bytes());
    assert!(bytes?.len() as u64 >= 24 << 20 && all.is_empty(), "{all:#?}");
    fs::remove_file(path).unwrap();
    Ok(())
}

/// A file of no elements, and errors of files that are not there.
#[test]
fn small_and_missing_files_are_what_they_were() {
    let path = support::folder("io-none").with_extension("npy");
    let (written, all) = recorded(|| write_npy_slice::<f32>(&path, [0], &[]));
    written.unwrap();
    assert!(all.last().is_some_and(|told| told.done == told.total));
    let (read, _) = recorded(|| Npy::read(&path));
    assert_eq!(read.unwrap().shape(), [0]);
    fs::remove_file(&path).unwrap();
    let (missing, all) = recorded(|| (Npy::read(&path), Safetensors::read(&path)));
    assert!(matches!(missing, (Err(Error::Input { .. }), Err(Error::Input { .. }))) && all.is_empty());
}
