//! Kernels as a device gets them: the whole texts of a few, which `tests/data/kernels` holds for readers. `TILEWISE_WRITE=1 cargo test
//! --release --test plans samples` writes them anew.

use support::families::{F32, FAMILIES, Of};
use support::wgsl;
use tilewise::planning::{Plan, Problem, fixtures};

/// Families of which the first kernel is printed.
const SAMPLES: [(&str, &str); 3] =
    [("addition", "addition"), ("softmax", "softmax"), ("geometric product", "geometric_product")];

fn compare(file: &str, plan: &Plan) {
    let path = support::root().join("tests/data/kernels").join(file).with_extension("wgsl");
    let text = plan.steps()[0].kernel.specialize().unwrap();
    if std::env::var_os("TILEWISE_WRITE").is_some() {
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).unwrap();
        std::fs::write(&path, &text).unwrap();
    }
    let sample = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    assert!(text == sample, "{} is not what runs; TILEWISE_WRITE=1 writes:\n{text}", path.display());
}

#[test]
fn samples_are_the_kernels_that_run() {
    let caps = fixtures::bare_webgpu();
    compare("product", &wgsl::plain([64; 3], F32).plan(&caps).unwrap());
    for (family, file) in SAMPLES {
        let (_, planned) = FAMILIES.iter().find(|(name, _)| *name == family).expect("it is a family");
        compare(file, &planned(&Of::small(&caps)).unwrap());
    }
}
