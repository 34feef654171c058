//! Compiles every plan with the compilers of AMD's and NVIDIA's GPUs, by running the program as its user would.

use std::process::{Command, Output};
use tilewise_isa::checks::{ATTENTION, COOP, GRADIENTS, MODULES, faults, faults_of_all};
use tilewise_isa::row::Row;
use tilewise_isa::target::TARGETS;

/// Runs the program.
fn program(arguments: &[&str], shims: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilewise-isa"));
    command.args(arguments);
    if let Some(shims) = shims {
        command.env("TILEWISE_SHIMS", shims);
    }
    command.output().expect("the program starts")
}

/// The program's error message, which must be one line.
fn error(arguments: &[&str], shims: Option<&str>) -> String {
    let output = program(arguments, shims);
    let said = String::from_utf8(output.stderr).unwrap();
    let said: Vec<&str> = said.lines().filter(|line| !line.starts_with("tilewise: fetching")).collect();
    let [line] = said[..] else { panic!("{arguments:?}: {said:?}") };
    assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}: {line}");
    line.into()
}

/// The rows that the program prints. If the target has no driver, prints the reason and returns None, or fails under
/// `GPU_REQUIRED=1`.
fn rows(arguments: &[&str]) -> Option<Vec<Row>> {
    let output = program(&[arguments, &["--json"]].concat(), None);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        assert!(std::env::var("GPU_REQUIRED").as_deref() != Ok("1"), "GPU_REQUIRED=1, but {said}");
        println!("skipped: {said}");
        return None;
    }
    let printed = String::from_utf8(output.stdout).unwrap();
    Some(printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn no_kernel_spills_and_every_coop_plan_multiplies_matrices() {
    let fetched: Vec<_> = TARGETS.into_iter().filter(|target| target.is_fetched).collect();
    assert_eq!(fetched.len(), 3, "two of AMD, one of NVIDIA");
    let every: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            fetched.iter().map(|target| scope.spawn(|| (target.name, rows(&[target.name])))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut found = Vec::new();
    for (name, rows) in every {
        let Some(rows) = rows else { continue };
        println!("{name}: {} steps, Mesa {}", rows.len(), rows[0].mesa);
        assert!(
            rows.len() > 150 && rows.iter().all(|row| row.target == name),
            "{name}: {} steps",
            rows.len()
        );
        assert!(rows.iter().any(|row| row.kernel == COOP), "{name}: no plan of coop");
        for (pass, kernel, steps) in [("coop", ATTENTION, 1), ("backward, coop", GRADIENTS, 2)] {
            for dim in [64, 128] {
                let named = format!("attention f16, dim {dim}, {pass}");
                // Of several steps, a name ends with the number of one.
                let is_of = |row: &&Row| row.name.starts_with(&named) && !row.name.contains("masked");
                let found = rows.iter().filter(is_of).filter(|row| row.kernel == kernel).count();
                assert_eq!(found, steps, "{name}: {named}");
            }
        }
        found.extend(convolutions(name, &rows));
        found.extend(faults(&rows));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Convolutions and gradients that no matrix instruction multiplies, in the types for which the target has them, but for depthwise ones;
/// and those of 64 channels without a load of 16 bytes, where the compiler has any.
fn convolutions(target: &str, rows: &[Row]) -> Vec<String> {
    let types: &[(&str, usize)] =
        if target == "gfx1201" { &[("f16", 9), ("bf16", 9), ("i8", 2)] } else { &[("f16", 9), ("i8", 2)] };
    let mut found = Vec::new();
    for (dtype, count) in types {
        let is_of = |row: &&Row| {
            let is_product = row.kernel != "gemm/reduce_splits" && !row.name.contains("depthwise");
            row.name.starts_with(&format!("conv {dtype}, ")) && is_product
        };
        let of_type: Vec<&Row> = rows.iter().filter(is_of).collect();
        assert_eq!(of_type.len(), *count, "{target}: {dtype}");
        for row in of_type {
            let has_64 = row.name.contains(" 64 to ") || row.name.contains("gradient");
            let is_narrow = has_64 && row.loads.keys().last() < Some(&16);
            if row.matrix == 0 || is_narrow && target != "nv176" {
                found.push(format!(
                    "{target}: {}: {} matrix instructions, {:?}",
                    row.name, row.matrix, row.loads
                ));
            }
        }
    }
    found
}

/// Products of 8 bits are instructions of their own types, if the compiler has them: matrices of f16 would be right, and half as fast.
#[test]
fn products_of_fp8_are_matrix_instructions_of_fp8_on_rdna4() {
    let folder = std::env::temp_dir().join(format!("tilewise-isa-fp8-{}", std::process::id()));
    for (module, instruction) in
        [("e4m3", "v_wmma_f32_16x16x16_fp8_fp8"), ("e5m2", "v_wmma_f32_16x16x16_bf8_bf8")]
    {
        let [coop_khr, _] = MODULES;
        let kernel = format!("{coop_khr}.{module}");
        let Some(rows) = rows(&["gfx1201", "--only", &kernel, "--out", folder.to_str().unwrap()]) else {
            return;
        };
        let [row] = &rows[..] else { panic!("{module}: {rows:?}") };
        assert_eq!((row.kernel.as_str(), row.spills, row.matrix), (kernel.as_str(), 0, 64), "{row:?}");
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let assembly: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with("ssembly")).collect();
        let [assembly] = &assembly[..] else { panic!("{assembly:?}") };
        let text = std::fs::read_to_string(assembly).unwrap();
        let count = |word: &str| text.lines().filter(|line| line.contains(word)).count();
        assert_eq!([count(instruction), count("v_wmma")], [64; 2], "{module}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

/// A tile that no GPU can hold in its registers fails the checks. This proves that the checks of CI can fail.
#[test]
fn a_tile_that_spills_is_a_fault_on_every_compiler() {
    for target in TARGETS.into_iter().filter(|target| target.is_fetched) {
        let tile = "tile 128x128x8 (16x16";
        let Some(rows) = rows(&[target.name, "--sweep", "--accumulators", "256", "--only", tile]) else {
            return;
        };
        assert_eq!(rows.len(), 2, "{}: f32 and f16", target.name);
        let found = faults(&rows);
        let spills = found.iter().filter(|fault| fault.ends_with(" spills")).count();
        assert_eq!(spills, 2, "{}: {found:?}", target.name);
    }
}

/// Devices without f16 store pairs of elements in words. `pack2x16float` would truncate on GPUs of AMD and NVIDIA, and no driver
/// that runs tests shows it.
#[test]
fn no_kernel_truncates_where_shaders_have_no_f16() {
    for target in TARGETS.into_iter().filter(|target| target.is_fetched) {
        let Some(rows) = rows(&[target.name, "--without-f16", "--only", "f16"]) else { return };
        assert!(rows.len() > 40 && rows.iter().all(|row| row.without_f16), "{}: {}", target.name, rows.len());
        let found = faults_of_all(&rows);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// Mesa's compilers remove a conversion to f16 and back. The rounding of sums that are stored must be left in the code.
#[test]
fn a_sum_is_rounded_before_it_is_normalised() {
    for target in TARGETS.into_iter().filter(|target| target.is_fetched) {
        let folder =
            std::env::temp_dir().join(format!("tilewise-isa-{}-{}", target.name, std::process::id()));
        for options in [&[][..], &["--without-f16"]] {
            let all = ["--only", "layer norm of a sum f16", "--out", folder.to_str().unwrap()];
            let Some(rows) = rows(&[&[target.name], &all[..], options].concat()) else { return };
            assert_eq!(rows.len(), 1, "{}: {rows:?}", target.name);
            let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            let assembly: Vec<_> = files.filter(|path| path.to_string_lossy().ends_with("ssembly")).collect();
            let [assembly] = &assembly[..] else { panic!("{}: {assembly:?}", target.name) };
            let text = std::fs::read_to_string(assembly).unwrap();
            let rounds = |line: &&str| line.contains("v_rndne_f32") || line.contains("frnd");
            let count = text.lines().filter(rounds).count();
            // A lane has vectors of eight elements.
            assert!(count >= 8, "{} {options:?}: {count} roundings", target.name);
            std::fs::remove_dir_all(&folder).unwrap();
        }
    }
}

/// The driver's checks of accesses are the compiler's own code on NVIDIA's GPUs: without them a kernel is much shorter.
#[test]
fn nvidias_compiler_checks_no_access_of_a_device_without_checks() {
    let step = |arguments: &[&str]| {
        let rows = rows(&[&["nv176", "--only", "gemv f32, a row"], arguments].concat())?;
        let [row] = &rows[..] else { panic!("{rows:?}") };
        Some(row.clone())
    };
    let (Some(usual), Some(unchecked)) = (step(&[]), step(&["--unchecked-access"])) else { return };
    assert_eq!([usual.unchecked_access, unchecked.unchecked_access], [false, true]);
    let [usual, unchecked] = [usual.instructions, unchecked.instructions];
    assert!(4 * unchecked < 3 * usual, "{usual} instructions, {unchecked} without checks");
}

/// The library predicts times of tiles from tables that this program has written: with the Mesa that wrote them, it writes the
/// same today.
#[test]
fn the_tables_of_inner_loops_are_what_the_compilers_make_of_the_kernels() {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/gemm/kernels/inner_loops");
    for target in TARGETS.into_iter().filter(|target| target.is_fetched) {
        let name = target.name;
        let path = std::env::temp_dir().join(format!("tilewise-isa-{name}-{}.rs", std::process::id()));
        let output = program(&[name, "--loops", path.to_str().unwrap()], None);
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert!(std::env::var("GPU_REQUIRED").as_deref() != Ok("1"), "GPU_REQUIRED=1, but {said}");
            println!("skipped: {said}");
            return;
        }
        let [now, kept] = [path.to_str().unwrap(), &format!("{tables}/{name}.rs")]
            .map(|file| std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}")));
        std::fs::remove_file(&path).unwrap();
        let [now, kept] = [&now, &kept].map(|text| text.lines().collect::<Vec<_>>());
        if now[0] != kept[0] {
            println!("skipped: another Mesa: {}", now[0]);
            continue;
        }
        let differs = |(now, kept): &(&&str, &&str)| now != kept;
        let first = now.iter().zip(&kept).find(differs);
        assert!(
            first.is_none() && now.len() == kept.len(),
            "{name}: {} lines, {} kept; the first that differs: {first:?}. Look for the reason, then write it anew: \
             tilewise-isa {name} --loops src/gemm/kernels/inner_loops/{name}.rs",
            now.len(),
            kept.len()
        );
    }
}

#[test]
fn a_wrong_argument_is_an_error_of_one_line() {
    assert_eq!(
        error(&["navi99"], None),
        "error: there is no target \"navi99\"; the targets are navi31, gfx1201, nv176, nv192, bmg, dg2"
    );
    let nowhere = error(&["navi31"], Some("/nonexistent"));
    assert!(
        nowhere.starts_with("error: ") && nowhere.contains("a shim that are not in /nonexistent"),
        "{nowhere}"
    );
    let unfetched = error(&["bmg"], None);
    assert!(
        unfetched.contains("TILEWISE_SHIMS names a folder") || unfetched.contains("cannot fetch"),
        "{unfetched}"
    );
    let no_table = error(&["nv192", "--loops", "table.rs"], None);
    assert_eq!(no_table, "error: the library has no table of inner loops of nv192");
    let no_folder = error(&["navi31", "--loops", "/no/such/folder/table.rs"], None);
    assert_eq!(no_folder, "error: /no/such/folder/table.rs: there is no such folder");
    let no_file = error(&["navi31", "--diff", "/no/such/file"], None);
    assert!(no_file.starts_with("error: /no/such/file: "), "{no_file}");
    let Some(rows) = rows(&["navi31", "--only", "softmax f32"]) else { return };
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(error(&["navi31", "--only", "no such word"], None), "error: no step contains that word");
    // Only rows of the same version of Mesa are compared.
    let folder = std::env::temp_dir().join(format!("tilewise-isa-diff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("rows.json");
    let path = path.to_str().unwrap();
    let lines = rows.iter().map(|row| serde_json::to_string(row).unwrap() + "\n").collect::<String>();
    std::fs::write(path, &lines).unwrap();
    let same = program(&["navi31", "--only", "softmax f32", "--diff", path], None);
    let said = String::from_utf8(same.stdout).unwrap();
    assert_eq!(
        said,
        "2 steps have the same code, 0 other code with the same figures; 0 changed, 0 worse, 0 new, 0 gone\n"
    );
    std::fs::write(path, lines.replace(&rows[0].mesa, "1.2.3")).unwrap();
    let other = program(&["navi31", "--only", "softmax f32", "--diff", path], None);
    let said = String::from_utf8(other.stderr).unwrap();
    assert_eq!(
        said,
        format!(
            "error: {path} was written with Mesa 1.2.3, but this is Mesa {}: they cannot be compared\n",
            rows[0].mesa
        )
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
