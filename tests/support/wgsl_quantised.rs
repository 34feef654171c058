//! Products of 8 bits with scales, in every form that changes a kernel.

use super::limits;
use super::operand::View;
use super::wgsl;
use tilewise::gemm::GemmKernel;
use tilewise::planning::gemm::{Epilogue, GemmProblem, GemmTypes, LineScale, Pin, Previous, Scale};
use tilewise::{Activation, DType};

/// Every type of result with every kind of scales, and with biases, residuals and activations in turn.
pub fn quantised_forms() -> Vec<(GemmTypes, Epilogue)> {
    let mut forms = Vec::new();
    for (i, c) in [DType::F32, DType::F16, DType::Bf16, DType::I8].into_iter().enumerate() {
        forms.push((GemmTypes::new(DType::I8, c), Epilogue::default()));
        for (j, line_scale) in LineScale::ALL.into_iter().enumerate() {
            let real = [DType::F32, DType::F16, DType::Bf16][(i + j) % 3];
            let is_added = j == 2 && c != DType::I8;
            let epilogue = Epilogue {
                scale: [Scale::Alpha, Scale::One][j % 2],
                line_scale,
                previous: if is_added { Previous::Added } else { Previous::Overwritten },
                bias: (j > 0).then_some(real),
                residual: (i + j).is_multiple_of(2).then_some(c),
                activation: Activation::ALL[(4 * i + j) % Activation::ALL.len()],
            };
            forms.push((GemmTypes::new(DType::I8, c), epilogue));
        }
    }
    forms
}

/// Products of i8 with each of the forms, on both kernels, with results that are stored in vectors and by elements; and products of
/// e4m3 and e5m2 with the forms whose results are real, on the kernels that every device has.
pub fn quantised_products() -> Vec<GemmProblem> {
    let mut problems = Vec::new();
    let real = quantised_forms().into_iter().filter(|(types, _)| types.c.is_real());
    for (i, (types, epilogue)) in real.enumerate() {
        let types = GemmTypes { ab: wgsl::FP8[i % 2].ab, ..types };
        for (j, kernel) in [GemmKernel::Naive, GemmKernel::Tiled, GemmKernel::Gemv].into_iter().enumerate() {
            let view = [View::Plain, View::Gaps][(i + j) % 2];
            let tile = kernel.tiles().iter().min_by_key(|tile| tile.tm * tile.tn).expect("it has tiles");
            let product = wgsl::problem([4, 64, 128], types, [View::Plain, View::Plain, view]);
            problems.push(limits::finished(product, epilogue, 1).pinned(Pin::Tile(*tile)));
        }
    }
    for (i, (types, epilogue)) in quantised_forms().into_iter().enumerate() {
        for (j, kernel) in [GemmKernel::Naive, GemmKernel::Dot].into_iter().enumerate() {
            let view = [View::Plain, View::Gaps][(i + j) % 2];
            let tile = kernel.tiles()[i % kernel.tiles().len()];
            let product = wgsl::problem([40, 64, 128], types, [View::Plain, View::Plain, view]);
            problems.push(limits::finished(product, epilogue, 1).pinned(Pin::Tile(tile)));
        }
    }
    problems
}
