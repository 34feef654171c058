//! The products of flash-clifford and of CGENN, forward and every gradient: by definition in f64, and on the device.

use crate::layers::common::{blades_first, largest, near, read, upload};
use std::path::Path;
use support::safetensors::Safetensors;
use tilewise::clifford::layer::{Gate, GradeNorm, LayerProduct, ProductKind};
use tilewise::clifford::{BladeAxis, Blades, Multivectors, Signature};
use tilewise::reference::LayerProductReference;
use tilewise::{Gpu, Real, f16};

/// A product with its operands, (blade, row, feature), and what others say that it is.
struct Case<'a> {
    what: String,
    product: LayerProduct,
    kind: ProductKind,
    blades: Blades,
    /// Rows, features in and out.
    sizes: [usize; 3],
    x: &'a [f64],
    y: &'a [f64],
    g: &'a [f64],
    weight: &'a [f64],
    wanted: Vec<(Part, Vec<f64>)>,
}

/// What of a product others have.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Out,
    GradX,
    GradY,
    GradWeight,
    /// The gradients of the weights of these paths.
    GradWeightOf(Vec<usize>),
    /// Of each path's gradient the product with a vector, from the right or from the left.
    Probed(Vec<f64>, Side),
    /// The Frobenius norm of each path's gradient.
    Frobenius,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Right,
    Left,
}

/// The types that products are computed in on the device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Types {
    Single,
    /// In f16 as well.
    Both,
}

/// Results by their names: out, and the gradients of x, y and the weights.
type Results = [Vec<f64>; 4];

impl Case<'_> {
    /// By definition within `exactly`, on the device within what its types have.
    fn check(&self, exactly: f64, types: Types) {
        let reference = LayerProductReference::new(self.product, &self.blades, self.sizes[0]);
        let (x, y, g, w) = (self.x, self.y, self.g, self.weight);
        let (out, of) = match self.kind {
            ProductKind::Steerable => {
                (reference.steerable(x, y, w), reference.steerable_backward(x, y, w, g))
            }
            ProductKind::Connected => {
                (reference.connected(x, y, w), reference.connected_backward(x, y, w, g))
            }
        };
        self.compare(&[out, of.x, of.y, of.weight], exactly, "by definition");
        let Some(gpu) = support::gpu() else { return };
        let [single, half] = match self.kind {
            ProductKind::Steerable => [2e-6, 1e-3],
            ProductKind::Connected => [5e-6, 2e-3],
        };
        self.compare(&self.on_device::<f32>(&gpu), single, "f32");
        if types == Types::Both {
            self.compare(&self.on_device::<f16>(&gpu), half, "f16");
        }
    }

    fn on_device<T: Real>(&self, gpu: &Gpu) -> Results {
        let [rows, inputs, outputs] = self.sizes;
        let operand = |values: &[f64], features: usize| {
            let tensor = upload::<T>(gpu, values, &[self.blades.len(), rows, features]);
            Multivectors::new(tensor, &self.blades, BladeAxis::First).unwrap()
        };
        let [x, y] = [self.x, self.y].map(|values| operand(values, inputs));
        let g = operand(self.g, outputs);
        let paths = self.product.signature.paths().len();
        let is_forward = self.wanted.iter().all(|(part, _)| *part == Part::Out);
        let (out, of) = match self.kind {
            ProductKind::Steerable => {
                let w = upload::<T>(gpu, self.weight, &[inputs, paths]);
                let out = self.product.steerable(&x, &y, &w).unwrap();
                if is_forward {
                    return [read(out.tensor()), vec![], vec![], vec![]];
                }
                (out, self.product.steerable_backward(&x, &y, &w, &g).unwrap())
            }
            ProductKind::Connected => {
                let w = upload::<T>(gpu, self.weight, &[paths, inputs, outputs]);
                let out = self.product.connected(&x, &y, &w).unwrap();
                (out, self.product.connected_backward(&x, &y, &w, &g).unwrap())
            }
        };
        [read(out.tensor()), read(of.x.tensor()), read(of.y.tensor()), read(&of.weight)]
    }

    fn compare(&self, [out, x, y, weight]: &Results, relative: f64, how: &str) {
        let [_, inputs, outputs] = self.sizes;
        let matrix = inputs * outputs;
        for (part, want) in &self.wanted {
            let found = match part {
                Part::Out => out.clone(),
                Part::GradX => x.clone(),
                Part::GradY => y.clone(),
                Part::GradWeight => weight.clone(),
                Part::GradWeightOf(paths) => {
                    paths.iter().flat_map(|path| weight[path * matrix..][..matrix].to_vec()).collect()
                }
                Part::Probed(probe, side) => weight
                    .chunks(matrix)
                    .flat_map(|of_path| probed(of_path, [inputs, outputs], probe, *side))
                    .collect(),
                Part::Frobenius => {
                    weight.chunks(matrix).map(|w| w.iter().map(|w| w * w).sum::<f64>().sqrt()).collect()
                }
            };
            let most = relative * largest(want);
            near(&found, want, |_| most, &format!("{}, {how}: {part:?}", self.what));
        }
    }
}

fn probed(matrix: &[f64], [rows, cols]: [usize; 2], probe: &[f64], side: Side) -> Vec<f64> {
    let at = |i: usize, j: usize| matrix[i * cols + j];
    match side {
        Side::Right => (0..rows).map(|i| (0..cols).map(|j| at(i, j) * probe[j]).sum()).collect(),
        Side::Left => (0..cols).map(|j| (0..rows).map(|i| at(i, j) * probe[i]).sum()).collect(),
    }
}

/// The files of a kind, each with its name.
fn files(kind: &str) -> Vec<(std::path::PathBuf, String)> {
    let all = support::oracles::files("clifford", &["safetensors"]).into_iter();
    let named = all.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        (path, name)
    });
    named.filter(|(_, name)| name.starts_with(kind)).collect()
}

/// The algebra of a name such as `sgp_2d_b37_n65`: that of Euclidean space.
fn euclidean(name: &str) -> Signature {
    let dimension = name.split('_').find_map(|word| word.strip_suffix('d')?.parse().ok());
    Signature::new(dimension.unwrap_or_else(|| panic!("{name} names no dimension")), 0, 0).unwrap()
}

/// A file of `sgp_` or `fcgp_`, whose operands are in the file of `inputs_` beside it.
fn flash_clifford(path: &Path, name: &str, kind: ProductKind) {
    let (_, tag) = name.split_once('_').unwrap();
    let inputs = Safetensors::read(&path.with_file_name(format!("inputs_{tag}.safetensors")));
    let file = Safetensors::read(path);
    let (shape, x) = inputs.reals("x");
    let weight = if kind == ProductKind::Steerable { "sgp_weight" } else { "fcgp_weight" };
    let [y, g, weight] = ["y", "grad_out", weight].map(|name| inputs.reals(name).1);
    let plain = LayerProduct::new(euclidean(name));
    let mut seen = vec!["sel_index".to_owned(), "probe".to_owned()];
    for (prefix, product) in [
        ("norm", plain),
        ("nonorm", plain.norm(GradeNorm::None)),
        ("raw_product", plain.norm(GradeNorm::None).gate(Gate::None)),
    ] {
        let mut wanted = Vec::new();
        let mut want = |part: &str, of: &dyn Fn() -> Part| {
            let key = format!("{prefix}.{part}");
            if file.names().contains(&key) {
                wanted.push((of(), file.reals(&key).1));
                seen.push(key);
            }
        };
        let probe = || file.reals("probe").1;
        let chosen = || file.integers("sel_index").into_iter().map(|i| usize::try_from(i).unwrap()).collect();
        want("out", &|| Part::Out);
        want("grad_x", &|| Part::GradX);
        want("grad_y", &|| Part::GradY);
        want("grad_weight", &|| Part::GradWeight);
        want("grad_weight_sel", &|| Part::GradWeightOf(chosen()));
        want("grad_weight_dot_probe", &|| Part::Probed(probe(), Side::Right));
        want("grad_weightT_dot_probe", &|| Part::Probed(probe(), Side::Left));
        want("grad_weight_fro", &|| Part::Frobenius);
        if wanted.is_empty() {
            continue;
        }
        let case = Case {
            what: format!("{name}, {prefix}"),
            product,
            kind,
            blades: product.blades(),
            sizes: [shape[1], shape[2], shape[2]],
            x: &x,
            y: &y,
            g: &g,
            weight: &weight,
            wanted,
        };
        // Most are rounded to f32. In f16 the layer's own form is enough, on one driver.
        let is_both = prefix == "norm" && !support::is_short_sweep();
        case.check(1e-6, if is_both { Types::Both } else { Types::Single });
    }
    for key in file.names() {
        assert!(seen.contains(&key), "{name}: nothing checks {key}");
    }
}

#[test]
fn products_of_flash_clifford() {
    for (kind, product) in [("sgp_", ProductKind::Steerable), ("fcgp_", ProductKind::Connected)] {
        let files = files(kind);
        assert!(files.len() >= 2, "{kind}: {files:?}");
        files.iter().for_each(|(path, name)| flash_clifford(path, name, product));
    }
    for (path, name) in files("inputs_") {
        let products =
            ["sgp", "fcgp"].map(|kind| path.with_file_name(name.replace("inputs", kind) + ".safetensors"));
        assert!(products.iter().any(|path| path.exists()), "{name}: no product has these inputs");
    }
}

/// (out, in, path) as (path, in, out).
fn by_path(weight: &[f64], [outputs, inputs, paths]: [usize; 3]) -> Vec<f64> {
    let each = (0..paths).flat_map(|p| (0..inputs).flat_map(move |n| (0..outputs).map(move |m| (p, n, m))));
    each.map(|(p, n, m)| weight[(m * inputs + n) * paths + p]).collect()
}

/// Neither gate nor norm, tensors (row, feature, blade), weights (feature, path) and (out, in, path).
#[test]
fn products_of_cgenn() {
    let files = files("cgenn_");
    assert!(files.len() >= 4, "{files:?}");
    for (path, name) in files {
        let file = Safetensors::read(&path);
        let masks = file.integers("index_to_bitmap").into_iter().map(|mask| u8::try_from(mask).unwrap());
        let blades = Blades::new(support::oracles::signature(&name), &masks.collect::<Vec<_>>()).unwrap();
        let (shape, x) = file.reals("x");
        let first = |name: &str| blades_first(&file.reals(name).1, blades.len());
        let (x, y) = (blades_first(&x, blades.len()), first("y"));
        let product = LayerProduct::new(blades.signature()).norm(GradeNorm::None).gate(Gate::None);
        for (prefix, kind) in [("sgp", ProductKind::Steerable), ("fcgp", ProductKind::Connected)] {
            let (of_weight, weight) = file.reals(&format!("{prefix}_weight"));
            let arranged = |weight: Vec<f64>| match of_weight[..] {
                [outputs, inputs, paths] => by_path(&weight, [outputs, inputs, paths]),
                _ => weight,
            };
            let of = |part: &str| format!("{prefix}.{part}");
            let case = Case {
                what: format!("{name}, {prefix}"),
                product,
                kind,
                blades: blades.clone(),
                sizes: [shape[0], shape[1], of_weight[0]],
                x: &x,
                y: &y,
                g: &first(&format!("grad_out_{prefix}")),
                weight: &arranged(weight),
                wanted: vec![
                    (Part::Out, first(&of("out"))),
                    (Part::GradX, first(&of("grad_x"))),
                    (Part::GradY, first(&of("grad_y"))),
                    (Part::GradWeight, arranged(file.reals(&of("grad_weight")).1)),
                ],
            };
            case.check(1e-12, Types::Single);
        }
    }
}

/// A row with NaN has no norm: by definition, all of its elements of that grade are NaN, and no others.
#[test]
fn a_nan_makes_its_row_and_grade_nan_in_the_definition_of_the_norm() {
    let (signature, rows, features) = (Signature::CL2, 2, 3);
    let blades = signature.blades();
    for norm in [GradeNorm::Rms, GradeNorm::Invariant] {
        let product = LayerProduct::new(signature).norm(norm);
        let mut o = vec![1.0; blades.len() * rows * features];
        let place = |blade: usize, row: usize, feature: usize| (blade * rows + row) * features + feature;
        // Of e1, which has grade 1 with e2.
        o[place(1, 1, 0)] = f64::NAN;
        let found = LayerProductReference::new(product, &blades, rows).normalized(&o);
        for (blade, row, feature) in (0..4)
            .flat_map(|blade| (0..rows).flat_map(move |row| (0..features).map(move |n| (blade, row, n))))
        {
            let is_nan = found[place(blade, row, feature)].is_nan();
            assert_eq!(is_nan, row == 1 && [1, 2].contains(&blade), "{norm}: {blade}, {row}, {feature}");
        }
    }
}
