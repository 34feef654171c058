//! `.safetensors` files: what is written is read, and what is no such file, whole, is refused.

use std::fs;
use std::path::Path;
use support::example::scratch;
use support::failure::says;
#[cfg(unix)]
use support::process;
use tilewise::io::{Safetensors, SafetensorsWriter};
use tilewise::{Element, Error, F8E4M3, F8E5M2, Fill, Gpu, f16};

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
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
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
        support::of_reals!(check, gpu, shape);
        check::<i8>(gpu, shape);
        check::<i32>(gpu, shape);
        check::<F8E4M3>(gpu, shape);
        check::<F8E5M2>(gpu, shape);
    }
}

#[test]
fn files_in_memory_and_tensors_that_are_not_waited_for_are_the_same_file() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
    let path = scratch("blocking.safetensors");
    let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    let blocking = SafetensorsWriter::new().tensor("t", &x.t()).unwrap().metadata("made", "here");
    blocking.write(&path).unwrap();
    let file = SafetensorsWriter::new().metadata("made", "here");
    let bytes = pollster::block_on(file.tensor_async("t", &x.t())).unwrap().to_bytes().unwrap();
    assert_eq!(bytes, fs::read(&path).unwrap());
    fs::remove_file(path).unwrap();
    let again = pollster::block_on(blocking.tensor_async("t", &x)).err().unwrap();
    assert!(again.to_string().contains("there is already a tensor `t`"), "{again}");
    let file = Safetensors::from_bytes(bytes).unwrap();
    assert_eq!(file.tensor::<f32>(gpu, "t").unwrap().to_vec().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let error = Safetensors::from_bytes(vec![1, 2, 3]).err().unwrap();
    assert!(
        error.to_string().starts_with("Safetensors::from_bytes: is not a .safetensors file: "),
        "{error}"
    );
}

#[test]
fn views_are_written_as_they_are_seen() {
    let turn = support::turn();
    let Some(gpu) = turn.iter().next() else { return };
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
fn a_tensor_with_the_name_of_the_metadata_is_refused() {
    let gpu = support::noop();
    let x = gpu.tensor(&[1.0f32], [1]).unwrap();
    let file = SafetensorsWriter::new().metadata("made", "here");
    let refused = file.clone().tensor("__metadata__", &x).err();
    assert!(
        matches!(&refused, Some(Error::Input { why, .. }) if why.contains("`__metadata__`")),
        "{refused:?}"
    );
    let path = scratch("metadata.safetensors");
    file.tensor("__metadata__.x", &x).unwrap().write(&path).unwrap();
    let file = Safetensors::read(&path).unwrap();
    assert_eq!((file.names(), file.metadata("made")), (vec!["__metadata__.x".into()], Some("here")));
    fs::remove_file(path).unwrap();
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
    assert_eq!(found.values("x").unwrap(), [1.0, 0.0]);
    let found =
        read("c64", &file(r#"{"x":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}"#, &[0; 8])).unwrap();
    let error = found.values("x").unwrap_err().to_string();
    assert!(["`x`", "C64", "`bytes`"].iter().all(|word| error.contains(word)), "{error}");
    assert_eq!(found.bytes("x").unwrap(), [0; 8]);
}

#[test]
fn what_is_asked_wrongly_is_an_error_that_says_what_there_is() {
    let gpu = support::noop();
    let header = r#"{"w":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
    let found = read("asked", &file(header, &[0; 8])).unwrap();
    for error in [found.shape("v").unwrap_err(), found.tensor::<f32>(&gpu, "v").unwrap_err()] {
        let said = error.to_string();
        assert!(["`v`", "`b`, `w`", "asked"].iter().all(|word| said.contains(word)), "{said}");
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
        assert!(what.contains(name) && why.contains("not a .safetensors file"), "{refused}");
    }
    says(Safetensors::read("/nonexistent/w.safetensors"), &["cannot be opened"]);
}

/// A file of types that no tensor has beside one that some have, with metadata.
fn of_all_kinds() -> Vec<u8> {
    let header = r#"{"__metadata__":{"format":"pt","a \"key\"":"b\nc"},
        "d":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},"l":{"dtype":"I64","shape":[1,1],"data_offsets":[16,24]},
        "h":{"dtype":"F16","shape":[2],"data_offsets":[24,28]},"n":{"dtype":"BF16","shape":[0,3],"data_offsets":[28,28]},
        "f":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[28,31]},"\u00fc":{"dtype":"BOOL","shape":[2],"data_offsets":[31,33]}}"#;
    // Among the elements are numbers that are not numbers, with a payload.
    let data: Vec<u8> = (0..33).map(|i| if i == 25 { 0x7e } else { 255 - i }).collect();
    file(header, &data)
}

#[test]
fn tensors_of_any_type_are_copied_byte_for_byte() {
    let found = read("kinds", &of_all_kinds()).unwrap();
    assert_eq!(found.metadata_keys(), ["a \"key\"", "format"]);
    let path = scratch("copied.safetensors");
    let copied = |order: &[&str]| {
        let mut writer = SafetensorsWriter::new();
        for key in found.metadata_keys() {
            writer = writer.metadata(key, found.metadata(key).unwrap());
        }
        order.iter().fold(writer, |writer, name| writer.copied(&found, name).unwrap()).write(&path).unwrap();
        fs::read(&path).unwrap()
    };
    let bytes = copied(&["d", "f", "h", "l", "n", "\u{fc}"]);
    assert_eq!(bytes, copied(&["\u{fc}", "n", "l", "h", "f", "d"]), "the order of the calls is not seen");
    let back = Safetensors::read(&path).unwrap();
    assert_eq!(back.names(), found.names());
    for name in found.names() {
        assert_eq!(back.bytes(&name).unwrap(), found.bytes(&name).unwrap(), "{name}");
        assert_eq!(back.shape(&name).unwrap(), found.shape(&name).unwrap(), "{name}");
        assert_eq!(back.dtype(&name).unwrap(), found.dtype(&name).unwrap(), "{name}");
    }
    for key in ["a \"key\"", "format"] {
        assert_eq!(back.metadata(key), found.metadata(key));
    }
    says(SafetensorsWriter::new().copied(&found, "d").unwrap().copied(&found, "d"), &["`d`"]);
    says(SafetensorsWriter::new().copied(&found, "e"), &["`e`"]);
    fs::remove_file(path).unwrap();
}

/// Files of a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_cannot_be_written_leaves_all_as_it_was() {
    let found = read("kinds", &of_all_kinds()).unwrap();
    let folder = support::folder("unwritable");
    fs::create_dir_all(folder.join("folder")).unwrap();
    let write = |path: &Path| SafetensorsWriter::new().copied(&found, "d").unwrap().write(path);
    let refused = |path: &Path, words: &str| {
        let error = write(path).unwrap_err();
        let Error::Input { what, why } = &error else { panic!("{error:?}") };
        assert!(what.contains(&path.display().to_string()) && why.contains("cannot be written"), "{error}");
        assert!(why.contains(words), "{error}");
    };
    refused(&folder.join("none/x.safetensors"), "");
    refused(&folder.join("folder"), "folder");
    refused(&folder.join("folder").join(".."), "folder");
    let fixed = folder.join("fixed");
    fs::write(&fixed, b"mine").unwrap();
    let mut permissions = fs::metadata(&fixed).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&fixed, permissions).unwrap();
    refused(&fixed, "read-only");
    assert_eq!(fs::read(&fixed).unwrap(), b"mine");
    assert_eq!(names(&folder), ["fixed", "folder"]);
    assert!(names(&folder.join("folder")).is_empty());
    // A name as long as names may be.
    let long = folder.join(format!("{}.safetensors", "x".repeat(243)));
    write(&long).unwrap();
    assert_eq!(Safetensors::read(&long).unwrap().names(), ["d"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
#[cfg(unix)]
fn links_stay_and_devices_are_written_to() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let found = read("kinds", &of_all_kinds()).unwrap();
    let folder = support::folder("links");
    fs::create_dir_all(&folder).unwrap();
    let write = |path: &Path| SafetensorsWriter::new().copied(&found, "d").unwrap().write(path);
    let [link, target] = ["link", "target"].map(|name| folder.join(name));
    fs::write(&target, b"mine").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&target, &link).unwrap();
    write(&link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Safetensors::read(&target).unwrap().names(), ["d"]);
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    // A link to a file that is not there yet, one through another, and one to a folder that is not there.
    let [next, first, late] = ["next", "first", "late"].map(|name| folder.join(name));
    symlink("late", &next).unwrap();
    symlink(&next, &first).unwrap();
    write(&first).unwrap();
    assert!([&first, &next].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
    assert!(fs::symlink_metadata(&late).unwrap().is_file());
    let [nowhere, circle] = ["nowhere", "circle"].map(|name| folder.join(name));
    symlink("no/such/file", &nowhere).unwrap();
    symlink("circle", &circle).unwrap();
    for link in [&nowhere, &circle] {
        assert!(write(link).unwrap_err().to_string().contains("cannot be written: "));
        assert!(fs::symlink_metadata(link).unwrap().is_symlink());
    }
    // A device that has no room for anything.
    let full = Path::new("/dev/full");
    if fs::metadata(full).is_ok_and(|found| found.file_type().is_char_device()) {
        symlink(full, folder.join("full")).unwrap();
        for path in [full, &folder.join("full")] {
            says(write(path), &["full: cannot be written: ", "space"]);
        }
        assert!(fs::metadata(full).unwrap().file_type().is_char_device(), "it is no file now");
    }
    assert_eq!(names(&folder).iter().filter(|name| name.starts_with('.')).count(), 0);
    fs::remove_dir_all(folder).unwrap();
}

/// A process that may write only short files comes to the end of a disk.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_old_file() {
    if let Some(folder) = process::handed() {
        let folder = Path::new(&folder);
        let large = Safetensors::read(folder.join("large")).unwrap();
        for name in ["old", "new"] {
            let error =
                SafetensorsWriter::new().copied(&large, "x").unwrap().write(folder.join(name)).unwrap_err();
            assert!(error.to_string().contains(&format!("{name}: cannot be written: ")), "{error}");
        }
        return;
    }
    let folder = support::folder("full");
    fs::create_dir_all(&folder).unwrap();
    let large = file(r#"{"x":{"dtype":"U8","shape":[3000000],"data_offsets":[0,3000000]}}"#, &[1; 3_000_000]);
    fs::write(folder.join("large"), large).unwrap();
    fs::write(folder.join("old"), b"mine").unwrap();
    let again = process::again(concat!(module_path!(), "::a_full_disk_leaves_the_old_file"), &folder);
    process::assert_passes(process::after("trap '' XFSZ && ulimit -f 1500", &again));
    assert_eq!(names(&folder), ["large", "old"]);
    assert_eq!(fs::read(folder.join("old")).unwrap(), b"mine");
    fs::remove_dir_all(folder).unwrap();
}
