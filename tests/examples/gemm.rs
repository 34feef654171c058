//! The examples `gemm` and `info` as a user runs them, and what all examples refuse: what they print, and how they end.

use serde_json::Value;
use std::fs;
use support::example::{run, scratch};
use tilewise::io::{MemoryOrder, Npy, NpyData};
use tilewise::reference::{compare, tolerance};
use tilewise::{DType, Element};

fn data(name: &str) -> String {
    support::root().join(format!("tests/data/gemm/{name}.npy")).display().to_string()
}

#[test]
fn gemm_reports_every_kernel_and_type_within_its_bound() {
    let Some(gpu) = support::gpu() else { return };
    for kernel in ["naive", "tiled", "coop", "auto"] {
        for dtype in ["f16", "f32"] {
            if kernel == "coop" && (dtype == "f32" || !gpu.caps().has_tensor_cores()) {
                let arguments = ["--m", "9", "--n", "9", "--k", "9", "--kernel", "coop", "--dtype", dtype];
                let refusal = run("gemm", &arguments, &[]).refusal().to_owned();
                assert!(refusal.contains(&gpu.caps().adapter) && refusal.contains("it needs"), "{refusal}");
                continue;
            }
            let sizes =
                ["--m", "129", "--n", "127", "--k", "131", "--layout", "tt", "--repeat", "3", "--json"];
            let report =
                run("gemm", &[&sizes[..], &["--kernel", kernel, "--dtype", dtype]].concat(), &[]).json();
            assert_eq!([&report["m"], &report["n"], &report["k"]], [129, 127, 131], "{report}");
            assert_eq!(
                [&report["dtype"], &report["out_dtype"], &report["layout"]],
                [dtype, "f32", "tt"],
                "{report}"
            );
            assert_eq!(
                [&report["check"], &report["repeat"]],
                [&Value::from("full"), &Value::from(3)],
                "{report}"
            );
            assert_eq!(report["ok"], true, "{report}");
            for text in ["device", "backend", "driver", "kernel", "plan", "clock"] {
                assert!(report[text].as_str().is_some_and(|text| !text.is_empty()), "{text}: {report}");
            }
            if kernel != "auto" {
                assert_eq!(report["kernel"], kernel, "{report}");
            }
            let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
            let seconds = ["gpu_seconds_min", "gpu_seconds_median", "gpu_seconds_max"].map(number);
            assert!(seconds.is_sorted() && seconds[0] > 0.0, "{report}");
            let tflops = 2.0 * 129.0 * 127.0 * 131.0 / seconds[1] * 1e-12;
            assert!((number("tflops") / tflops - 1.0).abs() < 1e-6, "{report}");
            assert!(number("max_abs_err") >= 0.0 && number("bound_ratio") <= 1.0, "{report}");
        }
    }
}

#[test]
fn gemm_multiplies_bf16_in_every_combination_of_types() {
    let Some(_) = support::gpu() else { return };
    const SIZES: [&str; 9] = ["--m", "33", "--n", "66", "--k", "70", "--repeat", "1", "--json"];
    for kernel in ["naive", "tiled", "auto"] {
        for [dtype, out_dtype] in
            [["bf16", "f32"], ["bf16", "bf16"], ["f16", "bf16"], ["f32", "bf16"], ["bf16", "f16"]]
        {
            let types = ["--kernel", kernel, "--dtype", dtype, "--out-dtype", out_dtype];
            let report = run("gemm", &[&SIZES[..], &types].concat(), &[]).json();
            assert_eq!([&report["dtype"], &report["out_dtype"]], [dtype, out_dtype], "{report}");
            assert_eq!(report["ok"], true, "{report}");
            let ratio = report["bound_ratio"].as_f64().unwrap_or_else(|| panic!("{report}"));
            // Sums of so few products of 8 bits each are exact in f32.
            assert!(ratio <= 1.0 && (ratio > 0.0 || out_dtype == "f32"), "{report}");
        }
    }
}

#[test]
fn gemm_multiplies_i8_exactly_and_refuses_what_is_not() {
    let Some(gpu) = support::gpu() else { return };
    for kernel in ["naive", "dot", "auto"] {
        for size in ["131", "1025"] {
            if kernel == "naive" && size == "1025" {
                continue; // slow, and the check is the same
            }
            let sizes =
                ["--m", size, "--n", "1024", "--k", "1024", "--layout", "tn", "--repeat", "1", "--json"];
            let report =
                run("gemm", &[&sizes[..], &["--dtype", "i8", "--kernel", kernel]].concat(), &[]).json();
            assert_eq!([&report["dtype"], &report["out_dtype"]], ["i8", "i32"], "{report}");
            assert_eq!([&report["max_abs_err"], &report["bound_ratio"]], [0.0, 0.0], "{report}");
            assert_eq!(report["ok"], true, "{report}");
            let want = if kernel == "auto" { "dot" } else { kernel };
            assert_eq!(report["kernel"], want, "{report}");
            let check = if size == "131" { "full" } else { "4096 entries and a projection" };
            assert_eq!(report["check"], check, "{report}");
        }
    }
    for (option, words) in [
        (["--out-dtype", "f32"], ["--out-dtype", "i32"]),
        (["--sums", "f16"], ["--sums", "i32"]),
        (["--kernel", "tiled"], ["operands with a fraction, not i8", &gpu.caps().adapter]),
        (["--kernel", "coop"], ["operands of f16, not i8", &gpu.caps().adapter]),
        (["--precision", "fast"], ["--precision fast", "only products of f32"]),
        (["--k", "131072"], ["131072", "131071"]),
    ] {
        let ended =
            run("gemm", &[&["--m", "2", "--n", "3", "--dtype", "i8", "--json"], &option[..]].concat(), &[]);
        ended.refuses(words);
    }
    run("gemm", &["--dtype", "f32", "--kernel", "dot"], &[]).refuses(["operands of i8, not f32"]);
    // Files are cast, and the product is written as NumPy's int32.
    let out = scratch("integers.npy");
    let out_name = out.display().to_string();
    let files = ["--a", &data("a_f16"), "--b", &data("b_f16"), "--dtype", "i8", "--out", &out_name, "--json"];
    let report = run("gemm", &files, &[]).json();
    assert_eq!((&report["out_dtype"], &report["max_abs_err"]), (&"i32".into(), &0.0.into()), "{report}");
    let bytes = fs::read(&out).expect("the product was written");
    let npy = npyz::NpyFile::new(&bytes[..]).and_then(npyz::NpyFile::into_vec::<i32>).expect("in int32");
    assert_eq!(npy.len(), 13 * 11);
    fs::remove_file(out).expect("it was written");
}

#[test]
fn gemm_multiplies_fractions_of_8_bits_and_names_what_is_possible() {
    let Some(gpu) = support::gpu() else { return };
    const SIZES: [&str; 9] = ["--m", "33", "--n", "66", "--k", "70", "--repeat", "1", "--json"];
    for dtype in ["e4m3", "e5m2"] {
        for [kernel, out_dtype] in [["naive", "f32"], ["tiled", "bf16"], ["auto", "f16"]] {
            let types = ["--kernel", kernel, "--dtype", dtype, "--out-dtype", out_dtype];
            let report = run("gemm", &[&SIZES[..], &types].concat(), &[]).json();
            assert_eq!([&report["dtype"], &report["out_dtype"]], [dtype, out_dtype], "{report}");
            assert_eq!((&report["ok"], &report["check"]), (&true.into(), &"full".into()), "{report}");
        }
        for (option, words) in [
            (["--kernel", "dot"], ["operands of i8, not", dtype]),
            (["--kernel", "coop"], ["operands of f16, not", dtype]),
            (["--precision", "fast"], ["only products of f32", dtype]),
            (["--kernel", "coop_nv2"], ["operands of f16, bf16 or i8, not", &gpu.caps().adapter]),
        ] {
            run("gemm", &[&SIZES[..], &["--dtype", dtype], &option].concat(), &[]).refuses(words);
        }
    }
    let text = run("gemm", &["--m", "8", "--n", "8", "--k", "8", "--dtype", "e5m2"], &[]).stdout;
    assert!(text.contains("e5m2 x e5m2 -> f32") && text.contains(" TFLOP/s\n"), "{text}");
    // Files are cast: NumPy has no such type.
    let files = ["--a", &data("a_f32"), "--b", &data("b_f32"), "--dtype", "e4m3", "--json"];
    let report = run("gemm", &files, &[]).json();
    assert_eq!((&report["dtype"], &report["ok"]), (&"e4m3".into(), &true.into()), "{report}");
}

#[test]
fn gemm_samples_products_that_are_too_large_to_check_whole() {
    let Some(_) = support::gpu() else { return };
    let report =
        run("gemm", &["--m", "1025", "--n", "1024", "--k", "1024", "--repeat", "1", "--json"], &[]).json();
    assert_eq!(report["check"], "4096 entries and a projection");
    assert_eq!(report["ok"], true, "{report}");
}

#[test]
fn gemm_pins_gemv_and_holds_each_precision_to_its_bound() {
    let Some(_) = support::gpu() else { return };
    for dtype in ["f32", "f16", "bf16"] {
        let sizes = ["--m", "1", "--n", "130", "--k", "257", "--repeat", "1", "--json"];
        let report = run("gemm", &[&sizes[..], &["--kernel", "gemv", "--dtype", dtype]].concat(), &[]).json();
        assert_eq!([&report["kernel"], &report["dtype"]], ["gemv", dtype], "{report}");
        assert_eq!((&report["check"], &report["ok"]), (&"full".into(), &true.into()), "{report}");
    }
    let error = |precision: &str, size: &str| {
        let sizes = ["--m", size, "--n", "1024", "--k", "1024", "--repeat", "1", "--json"];
        let report = run("gemm", &[&sizes[..], &["--precision", precision]].concat(), &[]).json();
        assert_eq!((&report["precision"], &report["ok"]), (&precision.into(), &true.into()), "{report}");
        let check = match (size, precision) {
            ("65", _) => "full",
            (_, "strict") => "4096 entries and a projection",
            _ => "4096 entries",
        };
        assert_eq!(report["check"], check, "{report}");
        report["max_abs_err"].as_f64().unwrap_or_else(|| panic!("{report}"))
    };
    let [strict, split, fast] = ["strict", "split", "fast"].map(|precision| error(precision, "65"));
    // f16 has three digits, two of them nearly those of f32.
    assert!(strict < fast && split < fast / 10.0, "{strict:e}, {split:e}, {fast:e}");
    assert!(error("fast", "1025") > 0.0);
    // Without the option the environment decides, and the bound is that of its precision.
    let sizes = ["--m", "65", "--n", "64", "--k", "64", "--repeat", "1", "--json"];
    let report = run("gemm", &sizes, &[("TILEWISE_PRECISION", "fast")]).json();
    assert_eq!((&report["precision"], &report["ok"]), (&"fast".into(), &true.into()), "{report}");
}

#[test]
fn gemm_has_nothing_to_multiply_and_says_so() {
    let Some(_) = support::gpu() else { return };
    for (option, time) in [("--m", "none"), ("--k", "clock")] {
        let ended = run("gemm", &[option, "0", "--repeat", "1"], &[]).passed();
        assert!(
            ended.stdout.lines().any(|line| line.starts_with("time ") && line.contains(time)),
            "{ended:?}"
        );
    }
}

#[test]
fn gemm_agrees_with_numpy_on_its_files() {
    let Some(_) = support::gpu() else { return };
    let out = scratch("product.npy");
    let out_name = out.display().to_string();
    for (a, b, product, options, dtypes) in [
        ("a_f16", "b_f16", "product_f16", &[][..], ["f16", "f32"]),
        ("a_f16", "b_f16", "product_f16", &["--out-dtype", "f16"], ["f16", "f16"]),
        ("a_f32", "b_f32", "product_f32", &[], ["f32", "f32"]),
        ("a_f16", "b_f32", "product_f16_f32", &["--dtype", "f32"], ["f32", "f32"]),
    ] {
        let files = ["--a", &data(a), "--b", &data(b), "--out", &out_name, "--repeat", "1", "--json"];
        let report = run("gemm", &[&files[..], options].concat(), &[]).json();
        assert_eq!([&report["m"], &report["n"], &report["k"]], [13, 11, 37], "{report}");
        assert_eq!([&report["dtype"], &report["out_dtype"]], dtypes, "{report}");
        let written = Npy::read(&out).expect("the product was written");
        assert_eq!((written.shape(), written.order()), (&[13, 11][..], MemoryOrder::C));
        agree(&elements(&written), written.dtype().expect("a type of tensors"), product);
    }
    // B and A as files of the transposes: the product of those is the transpose of the product.
    let files =
        ["--a", &data("b_f32"), "--b", &data("a_f32"), "--layout", "tt", "--out", &out_name, "--json"];
    assert_eq!(run("gemm", &files, &[]).json()["ok"], true);
    let product = Npy::read(&out).expect("the product was written");
    let elements = elements(&product);
    let transposed: Vec<f64> = (0..13 * 11).map(|i| elements[i % 11 * 13 + i / 11]).collect();
    agree(&transposed, DType::F32, "product_f32");
    fs::remove_file(out).expect("the product was written");
}

/// Compares a product with NumPy's in float64, within the bound.
fn agree(product: &[f64], dtype: DType, name: &str) {
    let bytes = fs::read(data(name)).expect("NumPy's product is there");
    let numbers =
        npyz::NpyFile::new(&bytes[..]).and_then(npyz::NpyFile::into_vec::<f64>).expect("in float64");
    let (value, magnitude) = numbers.split_at(13 * 11);
    assert_eq!(product.len(), value.len());
    let found = compare(
        (0..value.len()).map(|i| (product[i], value[i], tolerance(37, magnitude[i], value[i], dtype))),
    );
    assert!(found.ok() && found.bound_ratio > 0.0, "{name}: {found:?}");
}

fn elements(array: &Npy) -> Vec<f64> {
    match array.data() {
        NpyData::F32(elements) => elements.iter().map(|x| x.to_f64()).collect(),
        NpyData::F16(elements) => elements.iter().map(|x| x.to_f64()).collect(),
        NpyData::I8(elements) => elements.iter().map(|x| x.to_f64()).collect(),
        NpyData::I32(elements) => elements.iter().map(|x| x.to_f64()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn gemm_refuses_bad_input_in_one_sentence() {
    let truncated = scratch("truncated.npy");
    let whole = fs::read(data("a_f32")).expect("NumPy's file is there");
    fs::write(&truncated, &whole[..whole.len() - 1]).expect("the folder can be written to");
    let truncated_name = truncated.display().to_string();
    let (a_f16, a_f32, b_f32, product) = (data("a_f16"), data("a_f32"), data("b_f32"), data("product_f32"));
    let npy = |name: &str| support::root().join("tests/data/npy").join(name).display().to_string();
    let (integers, one_axis) = (npy("fortran_i32.npy"), npy("one_axis_f32.npy"));
    for (arguments, words) in [
        (&["--a", &a_f16, "--b", &b_f32][..], &["f16", "f32", "cast", "--dtype"][..]),
        (&["--a", "/nonexistent/a.npy", "--b", &b_f32], &["/nonexistent/a.npy", "cannot be opened"]),
        (&["--a", &truncated_name, "--b", &b_f32], &["truncated.npy", "1923 bytes", "1924"]),
        (&["--a", &product, "--b", &b_f32], &["product_f32.npy", "f64", "float32"]),
        (
            &["--a", &integers, "--b", &integers],
            &["operands of i32", "f32, f16, bf16, i8, e4m3 or e5m2", "--dtype"],
        ),
        (&["--a", &one_axis, "--b", &b_f32], &["two to four axes", "[5]"]),
        (&["--a", &a_f32, "--b", &b_f32, "--layout", "nt"], &["columns of A", "[13, 37]", "[11, 37]"]),
        (&["--m", "4294967296", "--n", "4294967296"], &["must not overflow", "4294967296"]),
    ] {
        run("gemm", &[arguments, &["--json"]].concat(), &[]).refuses(words);
    }
    fs::remove_file(truncated).expect("it was written");
}

#[test]
fn gemm_refuses_what_the_device_cannot_bind() {
    let Some(_) = support::gpu() else { return };
    run("gemm", &["--m", "1000000", "--k", "1000000"], &[]).refuses(["4000000000000"]);
    run("gemm", &["--tile", "3x5x7"], &[]).refuses(["3x5x7", "64x64"]);
    run("gemm", &["--m", "8", "--n", "8", "--k", "8", "--out", "/nonexistent/c.npy"], &[])
        .refuses(["/nonexistent/c.npy"]);
}

#[test]
fn gemm_refuses_unknown_options() {
    for (arguments, word) in [
        (&["--layout", "xy"][..], "possible values: nn, nt, tn, tt"),
        (&["--kernel", "magic"], "possible values: auto, naive, gemv, broadcast, tiled, dot, coop"),
        (&["--dtype", "f64"], "possible values: f32, f16, bf16, i8, e4m3, e5m2]"),
        (&["--out-dtype", "e4m3"], "possible values: f16, f32, bf16]"),
        (&["--out-dtype", "i8"], "possible values: f16, f32, bf16]"),
        (&["--sums", "bf16"], "possible values: f16, f32]"),
        (&["--precision", "loose"], "loose"),
        (&["--repeat", "0"], "0"),
        (&["--a", "a.npy"], "--b"),
        (&["--a", "a.npy", "--b", "b.npy", "--m", "3"], "cannot be used with"),
    ] {
        let ended = run("gemm", arguments, &[]);
        assert_eq!((ended.code(), ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{word}: {ended:?}");
    }
}

#[test]
fn the_examples_refuse_an_environment_that_makes_no_sense() {
    for example in ["gemm", "info", "mlp", "rsvd"] {
        let ended = run(example, &[], &[("TILEWISE_CHECKED", "maybe")]);
        assert!(
            ended.refusal().contains("TILEWISE_CHECKED") && ended.refusal().contains("maybe"),
            "{ended:?}"
        );
    }
    let Some(_) = support::gpu() else { return };
    for example in ["gemm", "info", "mlp", "rsvd"] {
        let ended = run(example, &[], &[("TILEWISE_ADAPTER", "nonexistent")]);
        assert!(ended.refusal().contains("nonexistent") && ended.refusal().contains("0: "), "{ended:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn without_an_adapter_the_examples_say_what_to_install() {
    for example in ["gemm", "info", "mlp", "rsvd"] {
        for arguments in [&[][..], &["--json"]] {
            let nothing = [("TILEWISE_VULKAN", "system"), ("VK_DRIVER_FILES", "/nonexistent/x.json")];
            run(example, arguments, &nothing).refuses(["install"]);
        }
    }
}

#[test]
fn info_tells_what_each_device_can_do_and_how_it_would_compute() {
    let Some(gpu) = support::gpu() else { return };
    let report = run("info", &["--json"], &[]).json();
    assert_eq!([&report["ok"], &report["check"]["ok"]], [true, true]);
    assert_eq!(report["check"]["device"], gpu.caps().adapter);
    let devices = report["devices"].as_array().expect("a list of devices");
    let here =
        devices.iter().find(|device| device["device"] == gpu.caps().adapter).expect("the device is listed");
    assert_eq!(here["driver"], gpu.caps().driver);
    assert_eq!(here["f16"], gpu.caps().f16);
    assert_eq!(here["robust_buffer_access"], gpu.caps().robust_buffer_access.to_string());
    let rows = here["rows"].as_array().expect("a list of rows");
    assert_eq!(rows.len(), gpu.caps().rows.len());
    for (row, cap) in rows.iter().zip(&gpu.caps().rows) {
        assert_eq!([&row["m"], &row["n"], &row["k"]], [cap.m, cap.n, cap.k]);
        let types = [cap.a, cap.b, cap.c].map(|scalar| Value::from(scalar.to_string()));
        assert_eq!([&row["a"], &row["b"], &row["c"]], [&types[0], &types[1], &types[2]]);
        assert_eq!([&row["scope"], &row["saturating"]], [&Value::from("subgroup"), &cap.saturating.into()]);
        assert_eq!([&row["verdict"], &row["sizes"]], [&cap.verdict.to_string(), &cap.sizes.to_string()]);
    }
    assert_eq!(here["spirv"], gpu.caps().spirv);
    for (name, has) in gpu.caps().extensions.named() {
        assert_eq!(here["extensions"][name], has, "{name}");
    }
    let dimension = gpu.caps().flexible_limits.map_or(Value::Null, |limits| limits.dimension.into());
    assert_eq!(here["flexible_limits"]["dimension"], dimension);
    let paths = here["paths"].as_array().expect("a list of paths");
    for path in paths {
        let told = if path["kernel"].is_string() { &path["plan"] } else { &path["error"] };
        assert!(told.as_str().is_some_and(|told| !told.is_empty()), "{path}");
    }
    let ended = run("info", &[], &[]).passed();
    // Each process times the rows: a line goes on with that.
    let caps = support::untimed(gpu.caps()).to_string();
    for told in caps.lines().chain(["gemm/", "check: ", "exact"]) {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
}
